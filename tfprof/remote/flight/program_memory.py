"""Resident memory of the program that listens on an address of this machine (Linux)."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

from tfprof.remote.addresses import Address

_LISTENS = "0A"
_PROC = Path("/proc")


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
    if not _is_here(address.host):
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


def _is_here(host: str) -> bool:
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
