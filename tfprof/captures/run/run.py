"""A captured run: the files of its hosts, and the results that all tools share.

>>> from tfprof.captures.run.run import open_run
>>> run = open_run("logs")                                             # doctest: +SKIP
>>> [host.name for host in run.hosts], len(run.hosts[0].groups())      # doctest: +SKIP
(['worker0'], 12)
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from tfprof.captures.events.steps.eager import ran_eagerly
from tfprof.captures.events.steps.forest import Forest, build_forest
from tfprof.captures.events.steps.grouping import Groups, find_groups
from tfprof.captures.events.timeline.build_timeline import build_timeline
from tfprof.captures.events.timeline.graph_ops import with_graph_ops
from tfprof.captures.events.timeline.threadpool import Regions, with_regions
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace import SLICE_ENDS, XSpace
from tfprof.captures.rules import OURS, REFERENCE, Rules
from tfprof.captures.run.fact import Key, fact
from tfprof.captures.run.gathered_notes import gathered, gathered_unread
from tfprof.captures.run.host_programs import host_programs
from tfprof.captures.run.jax_sessions import capture_of, is_of_jax
from tfprof.captures.run.memo import Memo
from tfprof.captures.run.missing_hosts import (
    Copy,
    absent_hosts,
    copy_note,
    without_copies,
)
from tfprof.captures.run.read_capture import read_capture
from tfprof.captures.run.remarks import remarks
from tfprof.captures.run.result import Note, listed
from tfprof.core.columns.columns import BoolArray
from tfprof.core.columns.mixins import DiffMixin, NotebookMixin
from tfprof.core.text.units import bytes_of
from tfprof.core.text.wording import plural
from tfprof.errors import EmptyProfileError, InputError, TfprofError, UsageError
from tfprof.files.disk import is_folder
from tfprof.files.remote.path import as_path, is_remote, named
from tfprof.files.run_folder import host_name, run_files

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfprof.files.open import Source

T = TypeVar("T")

_MOST_NAMED = 5

_ADDRESS = re.compile(r"(.+)_\d{1,5}")
"""``client.trace`` names files ``address_port``."""


class Host:
    """The capture of one host.

    Attributes:
        name: Name of its file, up to ``.xplane.pb``; unique in a run.
        rules: The rules by which its results are computed.
        memo: Cache of the results of tools by these rules.
    """

    def __init__(self, name: str, space: XSpace) -> None:
        self.name, self._space = name, space
        self.rules, self.memo = OURS, Memo()
        self._first: Host | None = None

    def __repr__(self) -> str:
        return f"<Host {self.name!r}>"

    @property
    def has_events(self) -> bool:
        """Whether its events are available without reading them again."""
        return True

    @property
    def space(self) -> XSpace:
        """Its events, as recorded."""
        return self._space

    @property
    def machine(self) -> str:
        """Name of the machine; workers on one machine share it."""
        return _machine(self)

    @property
    def base_ns(self) -> int:
        """The zero of its times, in ns since 1970."""
        return _base_ns(self)

    def sums(self, hosts: Sequence[Host], key: Key) -> Callable[[], Any] | None:
        """Return the sum of a fact over these hosts, if available without their own answers.

        Args:
            hosts: The hosts.
            key: The fact, with its options.
        """
        return None

    def by(self, rules: Rules) -> Host:
        """Return the same host by these rules; both share the decoded events."""
        first = self._first or self
        if rules.name == first.rules.name:
            return first
        return first.memo.own(("by", self.name, rules.name), lambda: first._by(rules))

    def _by(self, rules: Rules) -> Self:
        other = copy.copy(self)
        other.rules, other.memo, other._first = rules, self.memo.part(rules.name), self
        return other

    @property
    def address(self) -> str:
        """Address of the profiler's service, from the name of its file; empty without one."""
        match = _ADDRESS.fullmatch(self.name)
        return match[1] if match else ""

    @property
    def timeline(self) -> Timeline:
        """Its events in order of time, with regions of thread pools.

        By the rules of tfprof, kernels in graphs have the instruction found for them.
        """
        recorded = self._with_regions()[0]
        if self.rules.ignores_graphs:
            return recorded
        return self.memo.once("with graph ops", lambda: self._with_graph_ops(recorded))

    def _with_graph_ops(self, recorded: Timeline) -> Timeline:
        return with_graph_ops(recorded, partial(host_programs, self))

    def forest(self, *, classic: bool = False) -> Forest:
        """Return its events with their parents and the events that lead to them.

        Args:
            classic: Use the rules of the reference.
        """
        return self._in_mode(classic)._forest()

    def groups(self, *, classic: bool = False) -> Groups:
        """Its steps."""
        return self._in_mode(classic)._groups()

    def eager(self, *, classic: bool = False) -> BoolArray:
        """Which of its events ran eagerly, shape (n events,)."""
        return self._in_mode(classic)._eager()

    def _in_mode(self, classic: bool) -> Host:
        return self.by(REFERENCE) if classic else self

    def _forest(self) -> Forest:
        linked = None if self.rules.ignores_thread_pools else self._with_regions()[1]
        return self.memo.once("forest", lambda: build_forest(self.timeline, linked))

    def _groups(self) -> Groups:
        forest = self._forest()
        return self.memo.once("groups", lambda: find_groups(forest, rules=self.rules))

    def _eager(self) -> BoolArray:
        forest = self._forest()
        return self.memo.once("eager", lambda: ran_eagerly(forest))

    def period_ends(self) -> Mapping[int, int]:
        """Ends of the periods of steps in ps, by group, where a slice lacks the next step."""
        given = self.space.slice_facts.get(SLICE_ENDS)
        if not isinstance(given, bytes) or len(given) % 8:
            return {}
        return dict(enumerate(np.frombuffer(given, "<i8").tolist()))

    def _with_regions(self) -> tuple[Timeline, Regions]:
        if self._first is not None:
            return self._first._with_regions()
        return self.memo.once("timeline", lambda: with_regions(build_timeline(self.space)))


@fact
def _machine(host: Host) -> str:
    return host.space.hostnames[0] if host.space.hostnames else "localhost"


@fact
def _base_ns(host: Host) -> int:
    return host.timeline.axis.base_ns


@dataclass(frozen=True, eq=False, repr=False)
class Run(NotebookMixin, DiffMixin):
    """The hosts of a run.

    Attributes:
        name: Folder of the run; empty for files and bytes.
        hosts: Its hosts, in the order of their names.
        notes: Notes on unreadable files and on the choice of the run.
        memo: Cache of the results of tools on all hosts together.
        folder: Path of its folder; empty for files and bytes.
    """

    name: str
    hosts: tuple[Host, ...]
    notes: tuple[Note, ...]
    memo: Memo
    folder: str = ""

    def __repr__(self) -> str:
        named_run = f"Run {self.name}".rstrip()
        return f"<{named_run} of {plural(len(self.hosts), 'host')}>"

    @property
    def rules(self) -> Rules:
        """The rules by which its results are computed."""
        return self.hosts[0].rules if self.hosts else OURS

    def in_mode(self, *, classic: bool) -> Run:
        """Return the same run by the rules of the reference in classic mode, else this run.

        Both share the same events, but each has its own cache of results.
        """
        if not classic or self.rules.name == REFERENCE.name:
            return self

        def make() -> Run:
            return replace(self, hosts=tuple(h.by(REFERENCE) for h in self.hosts), memo=Memo())

        return self.memo.once(("reference", self.hosts), make)

    def chosen(self, host: str | None) -> tuple[Host, ...]:
        """Select the hosts by the name of a file or machine; all for None.

        Raises:
            UsageError: There is no such host.
        """
        if host is None:
            return self.hosts
        hosts = tuple(h for h in self.hosts if h.name == host)
        hosts = hosts or tuple(h for h in self.hosts if h.machine == host)
        if not hosts:
            names = listed([h.name for h in self.hosts])
            raise UsageError(f"no host {host!r} in this run; it has: {names}")
        return hosts


def open_run(
    source: Source | Sequence[Source], *, run: str | None = None, memory: int | str | None = None
) -> Run:
    """Open a capture of the TensorFlow 2 profiler.

    This reads the files. The first tool that needs a result computes it.

    Args:
        source: A log folder, a run folder, ``.xplane.pb`` files (also compressed), the bytes or
            message of an XSpace, or what JAX 0.12 holds in memory (``jax.profiler.ProfileSession``
            or ``ProfileData``); or a list of files.
        run: Which run of a log folder; by default the latest.
        memory: How much memory the events of all hosts and the results from them may take: bytes,
            or a text such as ``4G``. Files hold the rest (``read_xspace``). By default all is in
            memory.

    Raises:
        InputError: A path is unreadable, or the disk has no room for data that exceeds the memory.
        EmptyProfileError: A folder has no capture.
        UsageError: There is no such run, or one of several paths is a folder.
        MalformedProfileError: None of the files is readable.
    """
    opened = files_of(source, run)
    memory_bytes = bytes_of(memory) if isinstance(memory, str) else memory
    hosts, damage = _hosts(opened, memory_bytes)
    folder = folder_of(opened.name, opened.files)
    return Run(opened.name, tuple(hosts), (*opened.notes, *damage), Memo(), folder)


def folder_of(name: str, files: Sequence[Any]) -> str:
    """Path of the folder of a run; empty for files without a folder.

    Args:
        name: The name of the run; empty without a folder.
        files: Its files.
    """
    return named(as_path(files[0]).parent) if name and files else ""


class RunFiles(NamedTuple):
    """The files of a run.

    Attributes:
        name: Folder of the run; empty for files and bytes.
        files: One for each host.
        copies: Further files with the same bytes.
        notes: Notes on the choice of the run, and on hosts without a file.
    """

    name: str
    files: list[Any]
    copies: list[Copy]
    notes: list[Note]


def files_of(source: Source | Sequence[Source], run: str | None = None) -> RunFiles:
    """Find the files of a run; arguments and errors are the same as for ``open_run``."""
    sources: list[Any] = list(source) if isinstance(source, (list, tuple)) else [source]
    if not sources:
        raise EmptyProfileError("no files: give a log folder, a run folder or .xplane.pb files")
    notes: list[Note] = []
    sources = [named(one) if is_remote(one) else one for one in sources]  # hides secrets
    sources = [capture_of(one) if is_of_jax(one) else one for one in sources]
    name, files = "", list(sources)
    folders = [one for one in sources if _is_folder(one, is_alone=len(sources) == 1)]
    if folders and len(sources) > 1:
        raise UsageError(
            f"{folders[0]}: a folder among several paths; give one folder alone, or the files of "
            "one run"
        )
    if folders:
        name, own_files, others = run_files(as_path(folders[0]), run)
        files = list(own_files)
        if others:
            notes.append(Note("info", _others(others)))
        if own_files:
            notes += absent_hosts(own_files[0].parent, own_files)
    elif run is not None:
        raise UsageError(f"run={run!r} chooses a run of a log folder; {sources[0]!r} is none")
    elif all(isinstance(one, (str, Path)) for one in files):
        files.sort(key=lambda path: (host_name(path), str(path)))  # as the files of a folder
    return RunFiles(name, *without_copies(files), gathered(notes))


def _is_folder(source: Any, *, is_alone: bool) -> bool:
    """Whether a source is a folder. One of several counts as a file if the check fails."""
    try:
        return isinstance(source, (str, Path)) and is_folder(source)
    except InputError:  # reading it reports why, as for one host of several
        if is_alone:
            raise
        return False


def _others(runs: Sequence[str]) -> str:
    count = "another run is" if len(runs) == 1 else f"{len(runs)} other runs are"
    latest = ", the latest" if len(runs) > _MOST_NAMED else ""
    return f"{count} in this folder{latest}: {', '.join(runs[-_MOST_NAMED:])}"


def _hosts(run: RunFiles, memory_bytes: int | None) -> tuple[list[Host], list[Note]]:
    """The readable hosts, and notes on the others."""
    errors: list[TfprofError] = []
    read: list[ReadHost] = []
    of_each = None if memory_bytes is None else memory_bytes // max(1, len(run.files))
    for number, file in enumerate(run.files):
        label = host_name(file) if isinstance(file, (str, Path)) else f"host {number}"
        try:
            space = read_capture(file, of_each)
        except TfprofError as error:
            errors.append(error)
            read.append(ReadHost(label, error=str(error)))
            continue
        notes = tuple(remark.note(label) for remark in remarks(space))
        read.append(ReadHost(label, partial(Host, space=space), notes))
    if len(errors) == len(read):
        raise errors[0]
    return hosts_of(dict(enumerate(read)), run.copies)


class ReadHost(NamedTuple):
    """A file of a run.

    Attributes:
        label: Name of its host, as long as no other host has the same name.
        make: Makes the host by its name; None if the file is unreadable.
        notes: Notes on the host.
        error: Why the file is unreadable.
    """

    label: str
    make: Callable[[str], Host] | None = None
    notes: tuple[Note, ...] = ()
    error: str = ""


def hosts_of(
    files: Mapping[int, ReadHost], copies: Sequence[Copy] = ()
) -> tuple[list[Host], list[Note]]:
    """Make the hosts of a run with distinct names, and notes on them and on missing hosts.

    Args:
        files: The files of the run by their places, in order.
        copies: Files with the same bytes as one of these.
    """
    hosts: list[Host] = []
    notes: list[Note] = []
    unread: list[Note] = []
    names: set[str] = set()
    for label, make, own, error in files.values():
        if make is None:
            unread.append(Note("warning", f"not read, so no result includes it: {error}", label))
            continue
        name, again = label, 2
        while name in names:
            name, again = f"{label} ({again})", again + 1
        names.add(name)
        hosts.append(make(name))
        if name != label:
            notes.append(Note("info", f"another file has the name {label!r}, too", name))
        notes += [replace(note, host=name) for note in own]
    for same in copies:
        first = files.get(same.first)
        if first is not None and first.make is None:
            error = first.error.replace(str(same.first_path), str(same.path))
            said = f"not read, so no result includes it: {error}"
            unread.append(Note("warning", said, same.label))
        elif first is not None:
            notes.append(copy_note(same, first.label))
    if copies:
        unread.sort(key=lambda note: note.host)
    n_files = len(files) + len(copies)
    return hosts, [*gathered_unread(unread, n_files), *gathered(notes)]
