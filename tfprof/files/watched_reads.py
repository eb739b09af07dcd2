"""What a computation reads from files: their states, so that its result can be used again.

Python reports each file that is opened and each folder that is listed to *audit hooks*. What is not
reported, such as a look whether a file exists, is covered by the state of the folder around it.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

State = tuple[int, ...]
"""Mode, size, and times of change of a file or folder; empty if it does not exist.

The second time cannot be set by a program (on Windows it is that of creation), so that a file that
was written anew has another state even where its size and first time are the same.
"""

_LISTED: Final = ("os.listdir", "os.scandir")
_BEYOND_FILES: Final = (
    "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.fork", "os.forkpty",
    "os.posix_spawn", "os.system", "os.exec",
)  # fmt: skip
"""What makes a result depend on more than files; child processes read files unseen."""

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_OF_THE_SYSTEM: Final = ("/proc/", "/sys/")
_LATELY_NS: Final = 2_000_000_000
"""Clocks of file systems tick up to this far apart: two changes may have the same time."""

_MOST_FILES: Final = 2_000


class WatchedReads:
    """Files that this process has read since the watch began.

    A hook cannot be removed, so there should be one watch in a process.

    Args:
        ignored: Folders that do not count, with a separator at the end of each.
    """

    def __init__(self, ignored: tuple[str, ...]) -> None:
        self._ignored = (*ignored, *_OF_THE_SYSTEM)
        self._states: dict[str, State] = {}
        self._is_complete = True
        self._is_watching = False

    def begin(self) -> None:
        """Watch from now on."""
        self._is_watching = True
        sys.addaudithook(self._heard)

    def end(self, began_ns: int) -> Mapping[str, State] | None:
        """End the watch.

        Args:
            began_ns: When it began, as ``time.time_ns``.

        Returns:
            The states of files and folders before they were read. None if the result depends on
            more than these, if something was written, or if one of them has changed since, or so
            shortly before that another change could go unnoticed.
        """
        self._is_watching = False
        if not self._is_complete:
            return None
        if changed_lately(self._states.values(), began_ns):
            return None
        is_same = all(state_of(path) == state for path, state in self._states.items())
        return self._states if is_same else None

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._is_watching:
            return
        if event == "open":
            self._opened(*args)
        elif event in _LISTED:
            self._add(args[0])
        elif event in _BEYOND_FILES:
            self._is_complete = False

    def _opened(self, path: object, mode: str | None, flags: int) -> None:
        is_written = bool(set(mode or "") & set("wax+")) or bool(flags & _WRITES)
        if not is_written:
            self._read(path)
        elif not isinstance(path, str) or not (path == os.devnull or ".pyc" in path):
            self._is_complete = False

    def _read(self, path: object) -> None:
        """Add a file, and the folder around it, where others could have been read instead."""
        name = self._add(path)
        if name:
            self._add(os.path.dirname(name))  # noqa: PTH120

    def _add(self, path: object) -> str:
        if isinstance(path, int):
            return ""  # it was opened by its name before
        name = os.path.abspath(os.fsdecode(path or "."))  # type: ignore[arg-type]  # noqa: PTH100
        if f"{name}{os.sep}".startswith(self._ignored) or name in self._states:
            return ""
        self._states[name] = state = state_of(name)
        is_stream = bool(state) and not (stat.S_ISREG(state[0]) or stat.S_ISDIR(state[0]))
        self._is_complete &= not is_stream and len(self._states) <= _MOST_FILES
        return name


def changed_lately(states: Iterable[State], now_ns: int | None = None) -> bool:
    """Whether one of some files was changed so shortly before now that a state proves nothing."""
    now_ns = time.time_ns() if now_ns is None else now_ns
    return any(when > now_ns - _LATELY_NS for state in states for when in state[2:])


def state_of(path: str) -> State:
    """The state of a file or folder."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return ()
    return found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns
