"""A terminal for a live view: full screen, single keys, resizing; restored at the end.

It uses plain ANSI sequences, which every terminal of the last decades supports; no curses.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any

from tfprof.cli.keys import Keyboard
from tfprof.cli.output import is_terminal
from tfprof.cli.top_view import Line

_ENTER = "\x1b[?1049h\x1b[?25l"
_HOME, _END_OF_LINE, _END_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"
_LEAVE = f"{_HOME}{_END_OF_SCREEN}\x1b[?25h\x1b[?1049l"
"""Wiped first: some terminals, such as Linux's console, have one screen only."""
_STYLES = {"title": "\x1b[1m", "head": "\x1b[7m", "trouble": "\x1b[31m"}
_PLAIN = "\x1b[0m"


def can_be_live() -> bool:
    """Whether there is a terminal that can be drawn on."""
    return os.name == "posix" and is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb"


class LiveScreen:
    """The terminal, used as a context; the caller sees Ctrl-C as KeyboardInterrupt.

    Args:
        in_colour: Whether lines have styles.
    """

    def __init__(self, in_colour: bool) -> None:
        self._in_colour = in_colour
        self._stack = contextlib.ExitStack()
        self._keyboard: Keyboard | None = None
        self._wake = self._waker = -1
        self._lock = threading.Lock()  # a thread may wake while the pipe is closed

    def __enter__(self) -> LiveScreen:
        with self._stack:
            self._wake, self._waker = os.pipe()
            self._stack.callback(self._close_pipe)
            os.set_blocking(self._wake, False)
            os.set_blocking(self._waker, False)
            before = signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
            self._stack.callback(signal.set_wakeup_fd, before)
            self._handle(signal.SIGWINCH, lambda *_: None)  # the pipe wakes, and the size is read
            self._handle(signal.SIGTERM, _terminated)
            self._handle(signal.SIGHUP, _terminated)
            self._handle(signal.SIGTSTP, self._suspended)
            with contextlib.suppress(OSError):
                self._keyboard = Keyboard()
            self._stack.callback(self._give_back)
            self._take()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _handle(self, number: int, handler: Any) -> None:
        self._stack.callback(signal.signal, number, signal.signal(number, handler))

    def _close_pipe(self) -> None:
        with self._lock:
            os.close(self._wake)
            os.close(self._waker)
            self._waker = -1

    def _take(self) -> None:
        """Take the screen and the keyboard."""
        if self._keyboard is not None:
            self._keyboard.take()
        _write(_ENTER)

    def _give_back(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal has gone
            _write(_LEAVE)
        if self._keyboard is not None:
            self._keyboard.give_back()

    def _suspended(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-Z: the shell gets the terminal as it was, and ``fg`` goes on."""
        self._give_back()
        ours = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # goes on here
        signal.signal(signal.SIGTSTP, ours)
        self._take()

    @property
    def size(self) -> tuple[int, int]:
        """Current columns and lines of the terminal; LINES and COLUMNS have its first size."""
        try:
            size = os.get_terminal_size(sys.__stdout__.fileno())  # type: ignore[union-attr]
        except (OSError, ValueError, AttributeError):
            size = shutil.get_terminal_size()
        return size.columns, size.lines

    def wake(self) -> None:
        """End ``wait``, from another thread."""
        with self._lock, contextlib.suppress(BlockingIOError):  # full of calls not yet seen
            if self._waker >= 0:
                os.write(self._waker, b"w")

    def wait(self) -> str:
        """Wait for keys, a new size or ``wake``.

        Returns:
            The keys; empty if there are none.
        """
        keyboard = self._keyboard
        if keyboard is not None and keyboard.has_ended:
            keyboard = None
        watched: list[int | Keyboard] = [self._wake, *([] if keyboard is None else [keyboard])]
        ready = select.select(watched, [], [])[0]
        if self._wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, 4096)
        return keyboard.read() if keyboard is not None and keyboard in ready else ""

    def draw(self, lines: Sequence[Line]) -> None:
        """Draw a whole screen."""
        # Wiped before it is written: behind a line as wide as the screen the cursor stays on the
        # last character, which many terminals would wipe, too.
        wiped = [_END_OF_LINE] * (len(lines) - 1) + [_END_OF_SCREEN]
        drawn = [f"{wipe}{self._styled(line)}" for wipe, line in zip(wiped, lines, strict=True)]
        _write(_HOME + "\r\n".join(drawn))

    def _styled(self, line: Line) -> str:
        style = _STYLES.get(line.style, "") if self._in_colour else ""
        return f"{style}{line.text}{_PLAIN}" if style else line.text


def _terminated(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)  # as shells report it


def _write(text: str) -> None:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()
