"""What is visible of the processes of a job from this machine: state, use of the CPU, stacks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tfprof.captures.run.hang_record import Thread
from tfprof.errors import InputError
from tfprof.files.hooked_processes import HookedProcess, processes, stacks_of
from tfprof.remote.addresses import Address
from tfprof.remote.flight.program_memory import ProgramMemory, is_here
from tfprof.remote.hangs.stacks import faulthandler_stacks, py_spy_stacks

_SPY_SECONDS = 5.0
_STACK_SECONDS = 3.0
_ELSEWHERE = (
    "its process is not visible from here: run the recorder on its machine, or start the program "
    "with tfprof run"
)
_NO_SPY = "start the program with tfprof run, or install py-spy beside the recorder"


class Vitals(NamedTuple):
    """The state of a process.

    Attributes:
        is_stopped: Whether a signal or a debugger has stopped it.
        cpu_seconds: CPU time that it has used.
        n_bytes: Bytes that it has read and written.
    """

    is_stopped: bool
    cpu_seconds: float
    n_bytes: int


class Stacks(NamedTuple):
    """The stacks of a process.

    Attributes:
        threads: Its threads, the main thread first; empty if there are none.
        source: ``faulthandler`` or ``py-spy``; empty without stacks.
        reason: Why there are none.
    """

    threads: tuple[Thread, ...]
    source: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Process:
    """The process behind an address.

    Attributes:
        pid: Its number on this machine; None if it is not visible.
        hooked: How it describes itself; None unless ``tfprof run`` has started it.
    """

    pid: int | None
    hooked: HookedProcess | None

    @property
    def rank(self) -> int | None:
        """Its rank; None if nothing tells it."""
        return None if self.hooked is None else self.hooked.rank

    def vitals(self) -> Vitals | None:
        """Its state; None if it is gone, or not visible."""
        if self.pid is None:
            return None
        folder = Path("/proc", str(self.pid))
        try:
            stat = (folder / "stat").read_text("utf-8", "replace")
            fields = stat[stat.rindex(")") + 2 :].split()
            ticks = int(fields[11]) + int(fields[12])
            lines = (folder / "io").read_text().splitlines()
            moved = dict(line.split(": ") for line in lines)
            n_bytes = int(moved["rchar"]) + int(moved["wchar"])
        except (OSError, ValueError, IndexError, KeyError):
            return None
        return Vitals(fields[0] in "Tt", ticks / os.sysconf("SC_CLK_TCK"), n_bytes)

    def stacks(self) -> Stacks:
        """The Python stacks of its threads now."""
        reason = _ELSEWHERE
        if self.hooked is not None:
            try:
                text = stacks_of(self.hooked, _STACK_SECONDS)
                return Stacks(faulthandler_stacks(text), "faulthandler")
            except InputError as error:
                reason = str(error)
        if self.pid is None:
            return Stacks((), reason=reason)
        program = shutil.which("py-spy") or shutil.which("py-spy", path=Path(sys.executable).parent)
        if program is None:
            return Stacks((), reason=reason if self.hooked is not None else _NO_SPY)
        try:
            done = subprocess.run(
                [program, "dump", "--json", "--pid", str(self.pid)], capture_output=True,
                timeout=_SPY_SECONDS, check=True, text=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            return Stacks(py_spy_stacks(done.stdout), "py-spy")
        except subprocess.CalledProcessError as error:
            why = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
            return Stacks((), reason=f"py-spy failed: {why}")
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return Stacks((), reason=f"py-spy failed: {error}")


def process_of(address: Address, hooked: Iterable[HookedProcess]) -> Process:
    """The process that listens on an address, as far as it is visible.

    Args:
        address: Its profiler server.
        hooked: Processes that ``tfprof run`` has started.
    """
    pid = ProgramMemory(address).process
    is_local = is_here(address.host)
    for one in sorted(hooked, key=lambda each: -each.started_at):
        is_there = one.is_here if is_local else one.host == address.host
        if one.port == address.port and is_there and pid in (None, one.pid):
            return Process(pid, one)
    return Process(pid, None)


def hooked_in(folders: Iterable[str | os.PathLike[str]]) -> tuple[HookedProcess, ...]:
    """The processes in the first state folder that can be read; none without one."""
    for folder in folders:
        try:
            found = processes(folder)
        except InputError:
            continue
        if found:
            return found
    return ()
