"""Handlers of signals: for a block of a command, and those of every command."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

_ENDING = ("SIGTERM", "SIGHUP")
_SIGNALLED = 128
"""As shells do, added to the number of the signal that ended a program."""


@contextmanager
def handled(handlers: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Handle signals within the block; those that this system lacks are left out.

    Args:
        handlers: What runs, in the main thread, by names such as ``SIGTERM``.
    """
    before = []
    for name, work in handlers.items():
        number = getattr(signal, name, None)
        if number is not None:
            before.append((number, signal.signal(number, lambda *_, work=work: work())))
    try:
        yield
    finally:
        for number, handler in before:
            # None is a handler that was not set by Python, and cannot be set again by it.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def clean_up_at_signals() -> None:
    """Let SIGTERM and SIGHUP unwind this process, which then removes what it has not finished.

    What the caller ignores, as ``nohup`` does, stays ignored.
    """
    for number in _numbers():
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _unwind)


def end_at_signals() -> None:
    """Let all signals end this process at once: nothing is left to clean up, nor to report."""
    for number in (*_numbers(), signal.SIGINT):
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def _unwind(number: int, frame: FrameType | None) -> None:
    for each in _numbers():  # a closing terminal sends two of them
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(_SIGNALLED + number)


def _numbers() -> list[signal.Signals]:
    return [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
