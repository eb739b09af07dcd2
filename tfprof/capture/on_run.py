"""What a program does with a run once it is written, such as logging it to a tracker."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from tfprof.capture.session import Capture
from tfprof.captures.run.run import Run

_log = logging.getLogger("tfprof")

OnRun = Callable[[Run, int], Any]
"""Receives a run and the number of its first step or batch."""


def hand_over(capture: Capture, number: int, on_run: OnRun | None) -> None:
    """Give the run of a finished capture to its receiver; an error is logged, and ends nothing."""
    if on_run is None:
        return
    try:
        on_run(capture.run, number)
    except Exception as error:  # trackers raise what they like, such as errors of a network
        name = getattr(on_run, "__name__", repr(on_run))
        _log.warning("%s: %s: %s; the program goes on", name, type(error).__name__, error)
