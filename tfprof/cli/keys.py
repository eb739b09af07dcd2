"""Keys of a terminal, one at a time and without Enter."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_POLL_SECONDS = 0.2
_KEYS_AT_ONCE = 64
_LOCAL_MODES = 3


class Keyboard:
    """The keyboard of the terminal that standard input is; while it is taken, keys are not shown.

    Ctrl-C and Ctrl-Z stay signals.

    Raises:
        OSError: Standard input is not a terminal, or the system is not POSIX.
    """

    def __init__(self) -> None:
        try:
            import termios

            self._number = sys.stdin.fileno()
            termios.tcgetattr(self._number)
        except ImportError as error:
            raise OSError("terminals of POSIX only") from error
        except (ValueError, AttributeError, termios.error) as error:
            raise OSError("standard input is not a terminal") from error
        self._before: list[Any] | None = None
        self.has_ended = False
        """Whether the terminal has gone: no key will come."""

    def fileno(self) -> int:
        """The descriptor for ``select``."""
        return self._number

    @property
    def is_in_foreground(self) -> bool:
        """Whether it is ours; the system stops a background program that reads the terminal."""
        try:
            return os.tcgetpgrp(self._number) == os.getpgrp()
        except OSError:
            return False

    def take(self) -> None:
        """Receive each key at once."""
        import termios
        import tty

        self._before = termios.tcgetattr(self._number)
        tty.setcbreak(self._number)

    def take_again(self) -> None:
        """Receive each key at once again: shells reset that while a program is stopped."""
        import termios
        import tty

        with contextlib.suppress(termios.error, OSError):
            local = termios.tcgetattr(self._number)[_LOCAL_MODES]
            if local & termios.ICANON and self.is_in_foreground:
                tty.setcbreak(self._number)

    def give_back(self) -> None:
        """Restore its mode, if it is still there."""
        import termios

        if self._before is not None:
            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self._number, termios.TCSADRAIN, self._before)

    def read(self) -> str:
        """Wait for keys; empty at the end, and for keys of other alphabets."""
        keys = os.read(self._number, _KEYS_AT_ONCE)
        self.has_ended = not keys
        return keys.decode("ascii", "ignore")


@contextmanager
def keys(pressed: Callable[[str], None]) -> Iterator[bool]:
    """Call a function for each key, in a thread.

    Yields:
        Whether keys are read: only at a terminal of POSIX, and in its foreground.
    """
    try:
        keyboard = Keyboard()
    except OSError:
        yield False
        return
    if not keyboard.is_in_foreground:
        yield False
        return
    over = threading.Event()
    thread = threading.Thread(target=_read, args=(keyboard, pressed, over), daemon=True)
    keyboard.take()
    try:
        thread.start()
        yield True
    finally:
        over.set()
        thread.join()
        keyboard.give_back()


def _read(keyboard: Keyboard, pressed: Callable[[str], None], over: threading.Event) -> None:
    while not over.is_set() and not keyboard.has_ended:
        keyboard.take_again()
        ready, _, _ = select.select([keyboard], [], [], _POLL_SECONDS)
        for key in keyboard.read() if ready else "":
            pressed(key)
