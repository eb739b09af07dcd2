"""What a process does to itself before it becomes a command: its limits, streams and user."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import struct
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress

NOBODY = 64999
"""A number that no user has."""


def prepare(steps: Sequence[Sequence[object]]) -> None:
    """Call functions of this module, each given by its name and its arguments."""
    for name, *arguments in steps:
        globals()[str(name)](*arguments)


def limit(kind: str, most: int) -> None:
    """Set a limit, such as of ``NOFILE``."""
    resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (most, most))


def limit_addresses(more: int) -> None:
    """Allow so many more bytes of addresses than this process has."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        used = int(file.read().split()[0]) * resource.getpagesize()
    limit("AS", used + more)


def close(*numbers: int) -> None:
    """Close standard streams."""
    for number in numbers:
        os.close(number)


def redirect(number: int, path: str) -> None:
    """Write a standard stream to another file."""
    os.dup2(os.open(path, os.O_WRONLY), number)


def break_pipe(number: int) -> None:
    """Make a standard stream a pipe that no process reads."""
    reading, writing = os.pipe()
    os.close(reading)
    os.dup2(writing, number)


def give_up_root(n_processes: int = 0) -> None:
    """Become a user without a name; 0 is any number of processes."""
    if n_processes:
        limit("NPROC", n_processes)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def take_terminal(columns: int, lines: int, has_gone: bool) -> None:
    """Have a terminal for stdin and stdout, whose text still reaches stdout's file."""
    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))
    if not has_gone and not os.fork():
        os.close(follower)
        with suppress(OSError):  # the other side has closed it
            os.write(leader, b"\x04")  # Ctrl-D: the end of what a user types
            while text := os.read(leader, 4096):
                os.write(1, text)
        os._exit(0)
    os.close(leader)
    for number in (0, 1):
        os.dup2(follower, number)
    os.close(follower)


def remove_folder() -> None:
    """Remove the working folder."""
    os.rmdir(os.getcwd())  # noqa: PTH106, PTH109


if __name__ == "__main__":  # STEPS COMMAND...
    prepare(json.loads(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
