"""Handlers of signals for a block of a command."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


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
