"""Keys that are pressed while a command runs, one at a time and without Enter."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_POLL_SECONDS = 0.2


@contextmanager
def keys(pressed: Callable[[str], None]) -> Iterator[bool]:
    """Call a function for each key, in a thread.

    Yields:
        Whether keys are read: only at a terminal of POSIX, and in its foreground.
    """
    try:
        import termios
        import tty
    except ImportError:
        yield False
        return
    try:
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        is_ours = os.tcgetpgrp(terminal) == os.getpgrp()
    except (OSError, ValueError, AttributeError, termios.error):  # no terminal, or none at all
        yield False
        return
    if not is_ours:  # the terminal would stop us
        yield False
        return
    over = threading.Event()
    thread = threading.Thread(target=_read, args=(terminal, pressed, over), daemon=True)
    tty.setcbreak(terminal)  # Ctrl-C stays a signal
    try:
        thread.start()
        yield True
    finally:
        over.set()
        thread.join()
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _read(terminal: int, pressed: Callable[[str], None], over: threading.Event) -> None:
    while not over.is_set():
        ready, _, _ = select.select([terminal], [], [], _POLL_SECONDS)
        if not ready:
            continue
        data = os.read(terminal, 1)
        if not data:
            return
        pressed(data.decode("ascii", "replace"))
