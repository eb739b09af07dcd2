"""What is wrong with what a command has done under a fault."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.faults.commands import ROOT, Command
from fuzz.faults.machine import FILLER
from fuzz.faults.trial import OLD, Done
from tfprof.captures.read.xspace import read_xspace
from tfprof.errors import TfprofError

_KEPT = re.compile(
    rf"{FILLER}|workers\.txt|\.cache(/tfprof(/\w+(/\w+-\d+-[0-9a-f]{{8}})?)?)?"
    r"|\.local(/state(/tfprof(/history)?)?)?",
    re.ASCII,
)
"""What may be in the home folder."""

_PROBE = re.compile(r"[a-z0-9_]{8}", re.ASCII)
"""A file of one byte, by which Python's ``tempfile`` looks whether a folder can be written."""

_TRACES = re.compile(
    r"Traceback|Exception ignored|Fatal Python error|Segmentation|resource_tracker|"
    r"core dumped|terminate called|Current thread|Warning:"
)
_OF_LIBRARY = re.compile(
    r"Failed to start lifeguard thread|pollset_global_init|thread-local data: ABORT", re.ASCII
)
"""Last words of gRPC and of the C library where there is no memory for a thread, or no
descriptor: each ends the process at once, as SIGKILL does."""
_OURS = str(ROOT / "tfprof")
_PROGRAM = 'program.py", line'
_UNFLUSHED = 120
"""Python's own exit code where its streams cannot be written at its end."""
MOST_CODE = 6
"""The largest exit code with a meaning."""


def wrong(
    command: Command, done: Done, whole: Mapping[str, bytes | None], signal_: int = 0, *,
    is_deaf: bool = False, has_files: bool = True, is_other: bool = False, has_stdin: bool = True,
) -> list[str]:  # fmt: skip
    """What is wrong; nothing as a rule.

    Args:
        command: The command.
        done: What it has done.
        whole: The files of an undisturbed run.
        signal_: Signal that it got; 0 if it got none.
        is_deaf: Whether its messages are lost.
        has_files: Whether its folder was not taken away.
        is_other: Whether its input was changed, so that the answer is another one.
        has_stdin: Whether what it reads from stdin was there.
    """
    is_at_once = signal_ == signal.SIGKILL or _is_of_library(done)
    faults = [*_wrong_end(command, done, signal_, is_deaf)]
    if has_files:
        faults += _wrong_files(command, done, whole, is_other)
        if done.code == 0 and (has_stdin or not command.stdin):
            faults += [
                f"ends well without {name}"
                for name in command.outputs
                if done.files.get(name) == OLD
            ]
    if not is_at_once:
        faults += [f"left in the folder: {name}" for name in _left(command, done)]
        faults += [
            f"left in the temporary folder: {name}"
            for name in done.temporary
            if name != FILLER and not _PROBE.fullmatch(name)
        ]
        faults += [f"left at home: {name}" for name in done.home if not _KEPT.fullmatch(name)]
    return [*faults, *(f"left a process: {line}" for line in done.children)]


def _wrong_end(command: Command, done: Done, signal_: int, is_deaf: bool) -> Iterator[str]:
    if _is_of_library(done):
        return
    if done.code is None:
        yield f"hangs: {done.err[-300:]}"
        return
    trace = _TRACES.search(done.err)
    if trace is not None and not _is_of_python(done) and signal_ != signal.SIGKILL:
        yield f"prints: {done.err[max(0, trace.start() - 200) :][:1500]}"
    allowed = _codes(command, signal_) | ({_UNFLUSHED} if is_deaf else set())
    if done.code not in allowed and not _is_of_python(done):
        yield f"exit code {done.code}: {done.err[-300:]}"
    if not signal_ and not is_deaf and done.code not in command.ends and not done.err.strip():
        yield f"exit code {done.code} without a reason"


def _is_of_library(done: Done) -> bool:
    return done.code in (-signal.SIGABRT, 127) and _OF_LIBRARY.search(done.err) is not None


def _codes(command: Command, signal_: int) -> set[int]:
    if signal_ == 0:
        return {*range(MOST_CODE + 1), *command.ends}
    also = (128 + signal.SIGINT, -signal.SIGINT) if command.ready else ()  # which ends it
    return {*command.ends, 128 + signal_, -signal_, *also}


def _is_of_python(done: Done) -> bool:
    """Whether Ctrl-C came before the first line of tfprof, or it is the program of ``run``."""
    return _PROGRAM in done.err or ("KeyboardInterrupt" in done.err and _OURS not in done.err)


def _wrong_files(
    command: Command, done: Done, whole: Mapping[str, bytes | None], is_other: bool
) -> Iterator[str]:  # fmt: skip
    for name in command.outputs:
        now = done.files.get(name)
        if now is None:
            yield f"{name} is gone"
        elif now not in (OLD, whole[name]) and not (
            is_other or _is_whole(name, done.files, len(whole[name] or b""))
        ):
            yield f"{name} is neither old nor whole: {len(now)} bytes"
    runs = Counter(
        name.rpartition("/")[0]
        for name in done.files
        if "/profile/" in name and "/." not in name and name.endswith(".xplane.pb")
    )
    if command.n_files and not is_other:
        yield from (f"{run} has {n} captures of {command.n_files}" for run, n in runs.items()
                    if n != command.n_files)  # fmt: skip
    for name, now in done.files.items():
        if now is not None and name.endswith(".xplane.pb") and now != OLD:
            try:
                read_xspace(now)
            except TfprofError as error:
                yield f"{name} is damaged: {error}"


def _is_whole(name: str, files: Mapping[str, bytes | None], n_bytes: int) -> bool:
    """Whether a file whose content differs from run to run is complete."""
    now = files[name] or b""
    if name.endswith(".duckdb"):
        return _is_database(name, files)
    if name.endswith(".html"):
        return now.rstrip().endswith(b"</html>") and abs(len(now) - n_bytes) < 2000
    if name.endswith((".json", ".sarif")):
        try:
            json.loads(now)
        except ValueError:
            return False
        return True
    return name.endswith(".txt") and len(now) > 100


def _is_database(name: str, files: Mapping[str, bytes | None]) -> bool:
    """Whether DuckDB opens a file, with its journal, and finds the first run in it."""
    import duckdb

    with TemporaryDirectory(prefix="tfprof-faults-") as folder:
        for each in (name, f"{name}.wal"):
            if files.get(each) is not None:
                Path(folder, each).write_bytes(files[each] or b"")
        try:
            with duckdb.connect(str(Path(folder, name))) as connection:
                row = connection.execute("select count(*) from runs").fetchone()
        except duckdb.Error:
            return False
    return row is not None and row[0] in (1, 2)


def _left(command: Command, done: Done) -> Iterator[str]:
    allowed = (*command.outputs, *command.makes, FILLER)
    for name in done.files:
        if not any(fnmatchcase(name, pattern) for pattern in allowed) or "tmp" in name:
            yield name
