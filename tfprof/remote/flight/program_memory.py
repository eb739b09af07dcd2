"""Resident memory of the program that listens on an address of this machine (Linux)."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

from tfprof.core.text.units import human_memory
from tfprof.errors import TfprofError
from tfprof.remote.addresses import Address
from tfprof.remote.flight.pacing import GROWTH_BYTES

_LISTENS = "0A"
_PROC = Path("/proc")
_REMARK_BYTES = 512 << 20
"""Growth at which the first remark comes."""


class ProgramMemory:
    """The resident memory of the program that listens on an address.

    It is visible if the program runs on this machine, under this user.

    Attributes:
        process: The number of its process; None if it is not visible.
    """

    def __init__(self, address: Address) -> None:
        self.process = _listener(address)

    def resident_bytes(self) -> int | None:
        """Its resident memory now, bytes; None if it is not visible."""
        return None if self.process is None else _resident(self.process)


class MemoryLimitError(TfprofError):
    """The program holds more memory than it may."""


class MemoryWatch:
    """Watches the memory of a program while it is recorded.

    Attributes:
        before: Bytes before recording began; None if that is not visible.
        now: Bytes at the last look; likewise.
        process: The number of its process; likewise.

    Args:
        address: Where it listens.
        most_bytes: Memory at which it is recorded no more; None for no limit.
        say: Receives remarks on a program that grows.
    """

    def __init__(
        self, address: Address, most_bytes: int | None, say: Callable[[str], None]
    ) -> None:
        self._address, self._most, self._say = address, most_bytes, say
        self._program: ProgramMemory | None = None
        self.before: int | None = None
        self.now: int | None = None
        self._taken: int | None = None  # at the last snapshot
        self._next_remark = _REMARK_BYTES

    @property
    def process(self) -> int | None:
        """See the class."""
        return None if self._program is None else self._program.process

    def found(self) -> int | None:
        """Find the program that listens there now, and return what it holds."""
        self._program = ProgramMemory(self._address)
        return self._program.resident_bytes()

    def begin(self, held: int | None) -> None:
        """Recording begins."""
        self.before = self.now = self._taken = held

    def needs_a_look(self) -> bool:
        """Whether it holds more than it may, or has grown much since the last snapshot."""
        return self._is_too_large() or (self.now or 0) - (self._taken or 0) > GROWTH_BYTES

    def check(self) -> None:
        """After a snapshot: stop at the limit, and report a program that grows.

        Raises:
            MemoryLimitError: The program holds more than it may.
        """
        is_too_large = self._is_too_large()
        held = self._taken = self.now
        if held is None:
            return
        if is_too_large:
            raise MemoryLimitError(
                f"the program holds {human_memory(held)} of memory, and the limit is "
                f"{human_memory(self._most or 0)}: it is not recorded any more. Raise the limit, "
                "or record less with --host-tracer-level 1"
            )
        if self.before is not None and held - self.before > self._next_remark:
            self._next_remark *= 2
            self._say(
                f"{self._address}: the program holds {human_memory(held)} of memory, "
                f"{human_memory(held - self.before)} more than before it was recorded"
            )

    def _is_too_large(self) -> bool:
        self.now = self._program.resident_bytes() if self._program is not None else None
        return self._most is not None and self.now is not None and self.now > self._most


def own_bytes() -> int | None:
    """Resident memory of this process now, bytes; None where it is not visible."""
    return _resident(os.getpid())


def _resident(process: int) -> int | None:
    try:
        pages = int((_PROC / str(process) / "statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") or None  # one that has ended holds nothing


def _listener(address: Address) -> int | None:
    """The process that listens there; None if that is another machine or another user's."""
    if not is_here(address.host):
        return None
    sockets = {f"socket:[{inode}]" for inode in _inodes(address.port)}
    if not sockets:
        return None
    for process in _processes():
        with contextlib.suppress(OSError):
            for descriptor in (_PROC / str(process) / "fd").iterdir():
                with contextlib.suppress(OSError):
                    if str(descriptor.readlink()) in sockets:
                        return process
    return None


def is_here(host: str) -> bool:
    """Whether a name is one of this machine: only its own addresses can be bound."""
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    except OSError:
        return False
    for family, kind, protocol, _, place in found:
        try:
            with socket.socket(family, kind, protocol) as own:
                own.bind(place)
            return True
        except OSError:
            continue
    return False


def _inodes(port: int) -> set[str]:
    """Sockets that listen on a port, as the kernel numbers them."""
    found = set()
    for table in "tcp", "tcp6":
        with contextlib.suppress(OSError, ValueError, IndexError):
            for line in (_PROC / "net" / table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    found.add(fields[9])
    return found


def _processes() -> list[int]:
    """Numbers of the processes, this one and the youngest first."""
    with contextlib.suppress(OSError):
        others = [int(each.name) for each in _PROC.iterdir() if each.name.isdigit()]
        return [os.getpid(), *sorted(set(others) - {os.getpid()}, reverse=True)]
    return []
