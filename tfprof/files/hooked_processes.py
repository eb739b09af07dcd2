"""Processes that ``tfprof run`` has hooked: each describes itself in a file of one state folder.

The file ``HOST-PID.json`` appears at once and whole, when the process imports TensorFlow or JAX,
and goes when it ends in order. A file whose process is gone was left by a kill, ``os._exit`` or a
crash of the interpreter.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from tfprof.errors import InputError
from tfprof.files.removal import remove_surely

STATE_FOLDER = ".tfprof"
"""The state folder in a log folder, unless another one is given."""

_POLL_SECONDS = 0.02
_QUIET_POLLS = 5
"""A dump of stacks is complete when its file has not grown for so many looks."""
_MOST_BYTES = 1 << 20


_PIDS: Final = 1 << 31
"""More than any number of a process."""


@dataclass(frozen=True, slots=True)
class HookedProcess:
    """A process of a program, as it describes itself.

    Attributes:
        pid: Its number on its host.
        host: Name of its host.
        rank: Its number among the processes of its job, where the environment names it.
        port: Port of its profiler server; None before the server runs, and without one.
        framework: ``tensorflow`` or ``jax``.
        argv: Its arguments, the program first.
        python: The interpreter.
        started_at: When the hook began, in seconds since 1970.
        stacks: File to which it writes the Python stacks of its threads on ``signal``; None where
            it cannot.
        stacks_reason: Why it cannot.
        signal: Number of the signal.
        ticks: Start of the process in ticks since the boot of its host (field 22 of
            ``/proc/PID/stat``), which a later process of the same number does not share; None where
            the system has none.
        is_capturing: Whether a capture of ``tfprof run`` is under way.
        run: Name of the run that its captures go to.
    """

    pid: int
    host: str
    rank: int | None = None
    port: int | None = None
    framework: str = ""
    argv: tuple[str, ...] = ()
    python: str = ""
    started_at: float = 0.0
    stacks: str | None = None
    stacks_reason: str = ""
    signal: int | None = None
    ticks: int | None = None
    is_capturing: bool = False
    run: str = ""

    @property
    def is_here(self) -> bool:
        """Whether it runs, or ran, on this host."""
        return self.host == socket.gethostname()

    @property
    def is_alive(self) -> bool | None:
        """Whether it still runs; None on another host, where that is not visible."""
        if not self.is_here:
            return None
        if self.ticks is not None:
            return start_ticks(self.pid) == self.ticks
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:  # of another user, so it is there
            return True
        return True

    @property
    def address(self) -> str:
        """``HOST:PORT`` of its profiler server; empty without one."""
        return f"{self.host}:{self.port}" if self.port else ""

    def __str__(self) -> str:
        rank = "" if self.rank is None else f"rank {self.rank}, "
        return f"{rank}process {self.pid} on {self.host}"


def file_name(host: str, pid: int) -> str:
    """The name of a process's file; processes of several hosts may share a folder."""
    return f"{host.replace('/', '_')}-{pid}.json"


def write_process(folder: Path, process: HookedProcess) -> Path:
    """Write the file of a process, which replaces its earlier one at once.

    Raises:
        OSError: The folder cannot be written.
    """
    path = folder / file_name(process.host, process.pid)
    unfinished = path.with_suffix(".tmp")
    try:
        unfinished.write_text(json.dumps(asdict(process)), "utf-8")
        unfinished.replace(path)
    finally:
        with contextlib.suppress(OSError):
            remove_surely(unfinished)
    return path


def processes(folder: str | os.PathLike[str]) -> tuple[HookedProcess, ...]:
    """The processes that describe themselves in a state folder, by rank, host and number.

    A log folder that holds a state folder is taken for that. Files that are damaged, or that
    describe something else, are left out; processes that are gone are not: see ``is_alive``.

    Raises:
        InputError: The folder cannot be read.
    """
    place = Path(folder)
    if (place / STATE_FOLDER).is_dir():
        place = place / STATE_FOLDER
    try:
        paths = sorted(path for path in place.iterdir() if path.suffix == ".json")
    except OSError as error:
        raise InputError(
            f"{place}: cannot be read: {error.strerror}. Give the state folder of 'tfprof run', "
            f"which is LOGDIR/{STATE_FOLDER} by default"
        ) from error
    found = [process for path in paths if (process := read_process(path)) is not None]
    unranked = 1 << 62
    return tuple(
        sorted(
            found,
            key=lambda each: (unranked if each.rank is None else each.rank, each.host, each.pid),
        )
    )


def read_process(path: Path) -> HookedProcess | None:
    """What a file says of its process; None if it is damaged, or no such file."""
    try:
        with path.open("rb") as stream:
            value = json.loads(stream.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    known: dict[str, Any] = {}
    for each in fields(HookedProcess):
        if each.name in value:
            known[each.name] = value[each.name]
    with contextlib.suppress(TypeError, ValueError):
        process = HookedProcess(**{**known, "argv": tuple(known.get("argv", ()))})
        if _is_plausible(process):
            return process
    return None


def _is_plausible(process: HookedProcess) -> bool:
    numbers = (process.rank, process.port, process.signal, process.ticks)
    texts = (process.host, process.framework, process.python, process.run, process.stacks_reason)
    return (
        type(process.pid) is int
        and 0 < process.pid < _PIDS
        and all(number is None or type(number) is int for number in numbers)
        and all(isinstance(text, str) for text in (*texts, *process.argv))
        and (process.stacks is None or isinstance(process.stacks, str))
        and isinstance(process.started_at, (int, float))
    )


def start_ticks(pid: int) -> int | None:
    """When a process of this host began, in ticks since its boot; None if unknown or gone."""
    try:
        text = Path("/proc", str(pid), "stat").read_text("utf-8", "replace")
        state, *rest = text[text.rindex(")") + 1 :].split()  # its name may have spaces
        return None if state in "ZX" else int(rest[18])
    except (OSError, ValueError, IndexError):
        return None


def stacks_of(process: HookedProcess, seconds: float = 5.0) -> str:
    """The Python stacks of all threads of a process now, the most recent call first.

    ``faulthandler`` writes them in a signal handler of C, so this works while the process holds
    the interpreter's lock or waits in a call of C.

    Args:
        process: A process of this host.
        seconds: How long to wait.

    Raises:
        InputError: There are none: the process is gone, on another host, or cannot write them.
    """
    if process.stacks is None or process.signal is None:
        raise InputError(f"{process}: has no stacks: {process.stacks_reason or 'no file is named'}")
    if not process.is_here:
        raise InputError(f"{process}: its stacks can be read on its own host only")
    if not process.is_alive:
        raise InputError(f"{process}: is gone, so it has no stacks")
    first, last = getattr(signal, "SIGRTMIN", 0), getattr(signal, "SIGRTMAX", -1)
    if not first <= process.signal <= last:  # who can write the folder must end no process by it
        raise InputError(f"{process}: signal {process.signal} is not one for stacks")
    if not _catches(process.pid, process.signal):
        raise InputError(
            f"{process}: does not write stacks any more: it has replaced its program (os.exec) or "
            f"its handler of signal {process.signal}"
        )
    try:
        path = Path(process.stacks)
        before = path.stat().st_size
        os.kill(process.pid, process.signal)
        return _grown(path, before, seconds)
    except OSError as error:
        raise InputError(f"{process}: has no stacks: {error.strerror or error}") from error


def _grown(path: Path, before: int, seconds: float) -> str:
    """What is appended to a file, once it stops growing.

    Raises:
        OSError: Nothing is, or the file cannot be read.
    """
    until = time.monotonic() + seconds
    size, n_quiet = before, 0
    while n_quiet < _QUIET_POLLS:
        if time.monotonic() > until:
            if size == before:
                raise TimeoutError(None, f"it wrote nothing within {seconds:g} s")
            break
        time.sleep(_POLL_SECONDS)
        now = path.stat().st_size
        n_quiet = n_quiet + 1 if now == size > before else 0
        size = now
    with path.open("rb") as stream:
        stream.seek(before)
        return stream.read(_MOST_BYTES).decode("utf-8", "replace")


def _catches(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal, which would end it otherwise.

    After ``os.exec`` a process has its number, but no handler.
    """
    try:
        for line in Path("/proc", str(pid), "status").read_text("utf-8", "replace").splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    except (OSError, ValueError, IndexError):
        return False
    return False
