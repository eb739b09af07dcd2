"""Answers about runs of any number of hosts, in memory that does not grow with their number.

A question first runs on one host alone, which shows the facts that it needs. An engine then gets
these facts of all other hosts at once, and the question runs on facts. The answer is the same as
that of a run whose hosts are all open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tfprof.captures.hosts.engines import Engine, OneProcess
from tfprof.captures.hosts.kept_part import KeptPart
from tfprof.captures.model.xspace import XSpace
from tfprof.captures.parts.condense import HostFile, failed
from tfprof.captures.parts.condensed import Asked, Facts, ProbedHost, condensed_run
from tfprof.captures.parts.part import HostPart, Part, Segment, Wanted, merge
from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.run.memo import Memo
from tfprof.captures.run.missing_hosts import Copy
from tfprof.captures.run.read_capture import read_capture
from tfprof.captures.run.remarks import remarks
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Host, Run, files_of, folder_of
from tfprof.core.progress import NoProgress, Progress
from tfprof.core.text.units import some
from tfprof.core.text.wording import plural
from tfprof.errors import TfprofError, UsageError
from tfprof.files.disk import size_of

if TYPE_CHECKING:
    from tfprof.files.open import Source

T = TypeVar("T")

_MERGED_AT_ONCE = 32
_MOST_NAMED = 3


class _NotKeptError(Exception):
    """A kept part lacks a fact."""


def _refused(wanted: Wanted) -> Part:
    raise _NotKeptError(wanted)


class Fleet:
    """The files of a run, and the engine that makes their parts.

    Attributes:
        name: Folder of the run.
        files: The files of its hosts.
        notes: Notes of the choice of the run.
        copies: Further files with the bytes of one of these.
        engine: The engine that makes parts.
        watch: Shows the progress of reading.
        n_missing: Number of hosts that the last answer lacks because of Ctrl-C.
        facts: The facts of the last answer.
        kept: Where their part is kept for further questions; None to keep none.
    """

    def __init__(
        self,
        name: str,
        files: Sequence[HostFile],
        notes: Sequence[Note] = (),
        copies: Sequence[Copy] = (),
        engine: Engine | None = None,
        watch: Progress | None = None,
    ) -> None:
        self.name, self.files = name, list(files)
        self.notes, self.copies = list(notes), list(copies)
        self.engine = engine or OneProcess()
        self.watch = watch or NoProgress()
        self.n_missing = 0
        self.facts: Facts | None = None
        self.kept: KeptPart | None = None

    def only(self, host: str | None) -> None:
        """Leave out all files but that of a host, if exactly one file has its name."""
        own = [file for file in self.files if file.label == host]
        if len(own) == 1:
            self.files, self.kept = own, None

    def ask(self, question: Callable[[Run], T], *, host: str | None = None) -> T:
        """The answer of all hosts to a question.

        Args:
            question: A function of a run, such as a tool. It runs more than once, first for one
                host alone; its answer and errors for this host are ignored.
            host: The host that the question is about, if it is about one.

        Raises:
            EmptyProfileError: No host is readable.
        """
        return question(self.run_for(question, host=host))

    def run_for(self, question: Callable[[Run], object], *, host: str | None = None) -> Run:
        """The run with all facts that a question needs; arguments and errors as ``ask``."""
        known = self._known_run(question)
        if known is not None:
            return known
        self.watch.stage(f"reading {plural(len(self.files), 'host')}")
        self.watch.expect(sum(file.n_bytes for file in self.files))
        with self.engine.begun(len(self.files) - 1):
            part, wanted = self._probed(question, host)
            part, left_out = self._of_others(part, wanted)
        if self.kept is not None and not self.n_missing:
            self.kept.keep(part)
        self.facts = Facts(part, self._more, self._reopened)
        run = condensed_run(self.name, self.facts, self.notes, self.copies, is_left_out=left_out)
        return replace(run, folder=folder_of(self.name, [file.path for file in self.files]))

    def _known_run(self, question: Callable[[Run], object]) -> Run | None:
        """The run of the kept part, if it has all that a question needs."""
        part = None if self.kept is None else self.kept.part()
        if part is None:
            return None
        facts = Facts(part, _refused, self._reopened)
        run = condensed_run(self.name, facts, self.notes, self.copies)
        try:
            question(run)
        except _NotKeptError:
            return None
        except TfprofError:  # the question raises it again
            pass
        facts.more, self.facts, self.n_missing = self._more, facts, 0
        return run

    def _probed(self, question: Callable[[Run], T], host: str | None) -> tuple[Part, Wanted]:
        """The part of the first readable host, and the facts that the question needs."""
        unread: list[tuple[HostFile, str]] = []
        part, wanted = Part(), Wanted()
        for file in sorted(self.files, key=lambda file: (file.label != host, file.place)):
            try:
                space = read_capture(file.path, file.memory_bytes)
            except TfprofError as error:
                unread.append((file, str(error)))
                continue
            asked = Asked()
            probe = ProbedHost(Host(file.label, space), asked, is_all=host is None)
            alike = (probe, probe.twin()) if len(self.files) > 1 else (probe,)
            with suppress(TfprofError):  # about this host; ``asked`` has the facts
                question(Run(self.name, alike, (), Memo()))
            notes = tuple(remark.note(file.label) for remark in remarks(space))
            one = HostPart(file.label, file.n_bytes, notes, asked.own)
            sums = {
                key: [Segment(file.place, file.place + 1, answer)]
                for key, answer in asked.summed.items()
            }
            part, wanted = Part({file.place: one}, sums), asked.wanted
            probe.memo.forget()
            break
        return part.merge(*(failed(file, wanted, error) for file, error in unread)), wanted

    def _of_others(self, part: Part, wanted: Wanted) -> tuple[Part, str]:
        """The merged parts of all hosts, and a text about those that Ctrl-C has left out."""
        others = [file for file in self.files if file.place not in part.hosts]
        parts, n_done = [part], len(part.hosts)
        self.watch.advance(sum(host.n_bytes for host in part.hosts.values()))
        made = self.engine.parts(others, wanted)
        try:
            for one in made:
                parts.append(one)
                n_done += len(one.hosts)
                self.watch.stage(f"reading hosts: {n_done} of {len(self.files)}")
                self.watch.advance(sum(host.n_bytes for host in one.hosts.values()))
                if len(parts) >= _MERGED_AT_ONCE:
                    parts = [merge(parts)]
        except KeyboardInterrupt:
            close = getattr(made, "close", None)
            if close is not None:
                close()
            whole = merge(parts)
            missing = [file.label for file in self.files if file.place not in whole.hosts]
            self.n_missing = len(missing)
            return whole, (
                f"interrupted: this is the answer of {len(whole.hosts)} of {len(self.files)} "
                f"hosts. Not read: {some(missing, _MOST_NAMED)}"
            )
        self.n_missing = 0
        return merge(parts), ""

    def _more(self, wanted: Wanted) -> Part:
        """Facts that the question needs only because of the other hosts."""
        assert self.facts is not None
        known = self.facts.part.hosts
        files = [f for f in self.files if f.place in known and not known[f.place].error]
        told = merge(self.engine.parts(files, wanted))
        unread = [
            failed(f, wanted, known[f.place].error)
            for f in self.files
            if f.place in known and known[f.place].error
        ]
        whole = told.merge(*unread)
        if self.kept is not None:
            self.kept.keep(whole)
        return whole

    def _reopened(self, place: int) -> XSpace:
        (file,) = (file for file in self.files if file.place == place)
        return read_xspace(file.path, memory_bytes=file.memory_bytes)


def fleet_of(
    source: Source | Sequence[Source],
    *,
    run: str | None = None,
    engine: Engine | None = None,
    watch: Progress | None = None,
) -> Fleet:
    """The files of a run, for questions that do not open all of them together.

    Args:
        source: A log folder, a run folder, or ``.xplane.pb`` files.
        run: The run of a log folder; by default the latest.
        engine: The engine that reads the files; by default this process, one after the other.
        watch: Shows the progress of reading.

    Raises:
        InputError: A path cannot be read.
        EmptyProfileError: A folder has no capture.
        UsageError: The run does not exist, or a source is not a path.
    """
    name, files, copies, notes = files_of(source, run)
    paths = []
    for file in files:
        if not isinstance(file, (str, Path)):
            raise UsageError(
                f"{type(file).__name__}: several processes read paths, and no bytes or messages; "
                "open these with tfprof.tools.open_run"
            )
        paths.append(str(file))
    listed = [HostFile(place, path, size_of(path)) for place, path in enumerate(paths)]
    return Fleet(name, listed, notes, copies, engine, watch)
