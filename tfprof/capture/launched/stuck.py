"""Ends a process that SIGTERM does not end, because its main thread is in a call of C.

Python runs handlers of signals in the main thread, between calls. Without the handler that saves
captures, the signal would end such a process at once: one that waits in a collective, for example.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading

_GRACE_SECONDS = 3.0


class StuckMain:
    """Whether SIGTERM has come, and the main thread has stood still since."""

    def __init__(self) -> None:
        self._pipe: tuple[int, int] | None = None
        self._place: tuple[int, int] | None = None
        self._came: float | None = None

    def install(self) -> None:
        """Learn of signals as they come, unless the program does; in its main thread only."""
        if os.name != "posix" or threading.current_thread() is not threading.main_thread():
            return
        pipe = os.pipe()
        for end in pipe:
            os.set_blocking(end, False)
        before = signal.set_wakeup_fd(pipe[1], warn_on_full_buffer=False)
        self._pipe = pipe
        if before != -1:
            self.remove()
            signal.set_wakeup_fd(before)

    def remove(self) -> None:
        """Learn of no more signals; a child of ``fork`` must not report its own to its parent."""
        pipe, self._pipe = self._pipe, None
        if pipe is None:
            return
        with contextlib.suppress(ValueError, OSError):
            present = signal.set_wakeup_fd(-1)
            if present not in (-1, pipe[1]):
                signal.set_wakeup_fd(present)
        for end in pipe:
            os.close(end)

    def is_due(self, now: float) -> bool:
        """Whether to end the process; call it again and again.

        Args:
            now: Seconds that never go back.
        """
        if self._pipe is None:
            return False
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        place = None if frame is None else (id(frame), frame.f_lasti)
        del frame
        if place != self._place:
            self._place, self._came = place, None
        with contextlib.suppress(OSError):  # nothing has come
            if signal.SIGTERM in os.read(self._pipe[0], 4096):
                self._came = now
        return self._came is not None and now - self._came > _GRACE_SECONDS


def end_process() -> None:
    """End this process by SIGTERM, from a thread in which Python cannot reset the handler."""
    import ctypes

    ctypes.CDLL(None).signal(int(signal.SIGTERM), None)
    os.kill(os.getpid(), signal.SIGTERM)
