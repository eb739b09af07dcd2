"""What a history keeps of a run: its identity, surroundings and key figures."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from tfprof.captures.facts.compilations import calls_of_functions
from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.framework import words_for
from tfprof.captures.facts.recording import recording
from tfprof.captures.read.xspace import DAMAGED
from tfprof.captures.run.run import Run
from tfprof.core.version import __version__
from tfprof.errors import MalformedProfileError
from tfprof.files.disk import (
    files_below,
    is_folder,
    read_file,
    refuse_pipe,
    state_of,
    unreadable,
)
from tfprof.files.remote.path import AnyPath, RemotePath, as_path, named, resolved
from tfprof.files.run_folder import capture_files, runs
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.resolve import CAPTURES, resolve
from tfprof.insight.budgets.key_figures import KeyFigure, key_figures
from tfprof.insight.budgets.subject import Subject, subject_of

_MEASURED_BY = "tfprof that measured"
_TIME_IN_NAME = re.compile(r"(\d{4})_(\d\d)_(\d\d)_(\d\d)_(\d\d)_(\d\d)")
_NUMBER_OF_STEP = re.compile(r"\s*\d+(\s*\(cut\))?$")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run of a history.

    Attributes:
        id: Digest of its files: the same run in two places is one.
        name: Its name in its log folder.
        program: What it ran: the folder above its log, its steps, and functions they call.
        began_ns: Start, in ns since 1970; None if neither the run nor its name has it.
        machine: Names of its machines.
        hardware: Number and type of its devices, and of hosts if there are several.
        framework: TensorFlow or JAX; empty if unknown.
        commit: Commit of the program; empty if unknown.
        source: Where it was read.
        versions: Versions of software, by name; also that of the tfprof that measured it.
        labels: What its user noted.
        figures: Its key figures, by name.
    """

    id: str
    name: str
    program: str
    began_ns: int | None
    machine: str
    hardware: str
    framework: str = ""
    commit: str = ""
    source: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, KeyFigure] = field(default_factory=dict)

    @property
    def began(self) -> datetime | None:
        """Start as a time."""
        known = self.began_ns
        return None if known is None else datetime.fromtimestamp(known / 1e9, timezone.utc)

    @property
    def order(self) -> tuple[int, str, str]:
        """Runs of a history are sorted by this: by time, those of unknown time first."""
        return self.began_ns or 0, self.name, self.id


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run in a folder that has not been read.

    Attributes:
        name: Its name in the folder.
        path: What to open.
        files: Its files.
    """

    name: str
    path: str
    files: tuple[AnyPath, ...]

    @property
    def is_one_recording(self) -> bool:
        """Whether its folder has the name of a time, so that another recording has another one."""
        return _time_in(self.name) is not None

    @property
    def source(self) -> str:
        """Its full path."""
        path = as_path(self.path)
        return named(path if isinstance(path, RemotePath) else path.absolute())

    def state(self) -> str:
        """Sizes and times of its files, which change with their content.

        Raises:
            InputError: A file has vanished.
        """
        try:
            return repr([(file.name, state_of(file)) for file in self.files])
        except OSError as error:
            raise unreadable(self.path, error) from error

    def digest(self) -> str:
        """A digest of the content of its files.

        Raises:
            InputError: One cannot be read.
        """
        whole = hashlib.sha256()
        for file in sorted(self.files, key=lambda each: each.name):
            content = hashlib.sha256(read_file(file)).hexdigest()
            whole.update(f"{file.name}\0{content}\n".encode("utf-8", "surrogateescape"))
        return whole.hexdigest()[:16]


def found_runs(paths: Sequence[str | os.PathLike[str]]) -> list[FoundRun]:
    """The runs in some paths: those of log folders, run folders, and files.

    Raises:
        InputError: A folder cannot be read.
    """
    found = []
    for one in resolve(paths):
        top = as_path(one.path)
        if not is_folder(one.path):
            found.append(FoundRun(top.name, one.path, (top,)))
        elif one.kind in CAPTURES and not capture_files(top):
            found += [
                FoundRun(name, named(place), tuple(capture_files(place)))
                for name, place in runs(top).items()
            ]
        else:
            files = tuple(capture_files(top) or files_below(one.path))
            name = top.name or resolved(top).name
            found += [FoundRun(name, one.path, files)] if files else []
    return found


def record_of(
    found: FoundRun,
    program: str = "",
    commit: str = "",
    labels: Mapping[str, str] | None = None,
    subject: Subject | None = None,
) -> RunRecord:
    """Read a run.

    Args:
        found: Where it lies.
        program: What it ran; empty for what its files show.
        commit: Commit of the program.
        labels: What to note.
        subject: The same run, if it has been opened.

    Raises:
        InputError: It cannot be read, or only in part, or is none.
    """
    refuse_pipe(found.path)
    digest = found.digest()
    if subject is None:
        [opened, *_] = open_paths([found.path])
        subject = subject_of(opened, [found.path])
        if subject.run is not None:
            _refuse_damaged(subject.run)
    record = RunRecord(
        digest, found.name, program or _program(found, subject), _time_in(found.name), "", "",
        commit=commit, source=found.source, labels=labels or {}, figures=key_figures(subject),
        versions={_MEASURED_BY: __version__},
    )  # fmt: skip
    return record if subject.run is None else _with_surroundings(record, subject.run)


def _refuse_damaged(run: Run) -> None:
    """Refuse captures with unreadable parts: their numbers are those of the rest."""
    for host in run.hosts:
        for notice in host.space.notices:
            if notice.code == DAMAGED:
                raise MalformedProfileError(str(notice))


def _with_surroundings(record: RunRecord, run: Run) -> RunRecord:
    told = [recording(host) for host in run.hosts]
    began = [int(one.began_ns or 0) for one in told if one.began is not None]
    known = environment(run)
    devices = f"{known.n_cores} × {known.device_type}" if known.n_cores else "CPU only"
    hosts = f", {len(run.hosts)} hosts" if len(run.hosts) > 1 else ""
    return replace(
        record,
        began_ns=min(began) if began else record.began_ns,
        machine=", ".join(sorted({host.machine for host in run.hosts})),
        hardware=devices + hosts,
        framework=words_for(run.hosts).framework,
        versions={
            **record.versions, **dict(sorted(i for one in told for i in one.versions.items())),
        },
    )  # fmt: skip


def look_at(subject: Subject) -> None:
    """Request all that a record holds besides key figures, to find the facts of hosts to collect.

    Args:
        subject: A captured run.
    """
    assert subject.run is not None
    nothing = FoundRun("", "", ())
    _with_surroundings(RunRecord("", "", _program(nothing, subject), None, "", ""), subject.run)


def _program(found: FoundRun, subject: Subject) -> str:
    """The folder above the log, the names of the steps, and the functions that most steps call.

    Runs of two programs with the same names look the same.
    """
    parts = [found.name.rpartition("/")[0]]
    if subject.run is not None:
        steps = subject.steps
        parts.append(", ".join(sorted({_NUMBER_OF_STEP.sub("", name) for name in steps.names})))
        called = {
            name
            for host in subject.run.hosts
            for name, n_calls in calls_of_functions(host).items()
            if n_calls and 2 * n_calls >= steps.n_steps
        }
        parts.append(", ".join(sorted(called)))
    return "/".join(dict.fromkeys(filter(None, parts))) or "program"


def _time_in(name: str) -> int | None:
    """The time in the name of a run folder, as TensorFlow and JAX write it, in ns."""
    match = _TIME_IN_NAME.search(name)
    try:
        told = datetime(*map(int, match.groups()), tzinfo=timezone.utc) if match else None  # type: ignore[misc,arg-type]
    except ValueError:
        return None
    return None if told is None else int(told.timestamp()) * 1_000_000_000
