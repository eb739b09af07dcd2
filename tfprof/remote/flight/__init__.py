"""A flight recorder: records programs continuously and keeps the last seconds."""

from __future__ import annotations

from tfprof.remote.flight.conditions import Condition, condition
from tfprof.remote.flight.events import Saved
from tfprof.remote.flight.limits import Limits
from tfprof.remote.flight.observed import Observed
from tfprof.remote.flight.overhead import Overhead
from tfprof.remote.flight.recorder import FlightRecorder
from tfprof.remote.flight.step_range import StepRange

__all__ = [
    "Condition", "FlightRecorder", "Limits", "Observed", "Overhead", "Saved", "StepRange",
    "condition",
]  # fmt: skip
