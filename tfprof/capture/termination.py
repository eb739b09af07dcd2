"""Saves a capture when the process receives SIGTERM, as from cluster managers."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


class Termination:
    """A handler of SIGTERM for as long as a capture lasts.

    It is installed only where the signal would end the process, or over another one of this kind,
    which saves next; never in place of a program's own handler, and only from the main thread,
    which alone can. It saves the capture, and the process ends by the signal as it would have.

    Args:
        save: Saves the capture; does nothing if it is over.
    """

    def __init__(self, save: Callable[[], None]) -> None:
        self._save = save
        self._holder: threading.Thread | None = None
        self._is_pending = False
        self._before: Any = signal.SIG_DFL

    def install(self) -> None:
        """Handle the signal, if the program does not."""
        if os.name != "posix" or not _is_main_thread():
            return
        handler = signal.getsignal(signal.SIGTERM)
        if handler is signal.SIG_DFL or is_handled_here():
            self._before = signal.signal(signal.SIGTERM, self._on_signal)

    def release(self) -> None:
        """Leave the signal as it was, unless the program has taken it meanwhile.

        Another thread than the main one cannot; then the handler stays, and ends the process.
        """
        if os.name == "posix" and _is_main_thread() and self._is_installed:
            signal.signal(signal.SIGTERM, self._before)

    @property
    def _is_installed(self) -> bool:
        return getattr(signal.getsignal(signal.SIGTERM), "__self__", None) is self

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """While this thread saves the capture, the signal waits until that is done."""
        self._holder = threading.current_thread()
        try:
            yield
        finally:
            self._holder = None
            if self._is_pending:
                self._pass_on()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._holder is threading.current_thread():
            self._is_pending = True
            return
        try:
            self._save()
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        """Let an earlier one save, too, or end the process."""
        if callable(self._before):
            self._before(signal.SIGTERM, None)
        else:
            _end()


def is_handled_here() -> bool:
    """Whether a handler of this kind has the signal, so that it ends the process."""
    return isinstance(getattr(signal.getsignal(signal.SIGTERM), "__self__", None), Termination)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _end() -> None:
    """End the process by the signal, as it would have ended without a handler."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)
