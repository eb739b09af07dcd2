"""Deadlines of other programs: what waits for one goes on when its time is over."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

SECONDS = 120.0
"""Long, as a busy machine imports TensorFlow in a minute; far below the limit of a test."""


@contextlib.contextmanager
def at_most(process: Any, seconds: float = SECONDS) -> Iterator[None]:
    """Kill a program that runs longer than a time, so that reading its output ends.

    Args:
        process: What has ``kill``, such as a ``subprocess.Popen``.
        seconds: The time.
    """
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def next_line(process: Any, seconds: float = SECONDS) -> Any:
    """The next line that a program prints; empty at its end, and when its time is over."""
    with at_most(process, seconds):
        return process.stdout.readline()
