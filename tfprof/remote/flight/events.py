"""What makes a flight recorder write: a slow step, a signal, the end of a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfprof.remote.flight.history import StepSeen

_SLACK_NS = 1_000_000
"""Between the clock of a snapshot's times and that of its events."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened.

    Attributes:
        text: What, for people.
        address: The worker's; empty if it is about all.
        step: The step for which the condition holds; None if it is about none.
        is_condition: Whether the user's condition holds; else it is written at once.
    """

    text: str
    address: str = ""
    step: StepSeen | None = None
    is_condition: bool = False


@dataclass(frozen=True, slots=True)
class StepHeld:
    """How much of a step is in a run.

    Attributes:
        step: The step.
        address: The worker's.
        seconds: Time of it that the run covers.
        has_mark: Whether the run has its mark, so that tools show it as a step.
    """

    step: StepSeen
    address: str
    seconds: float
    has_mark: bool

    @property
    def note(self) -> str:
        """What the run lacks of the step; empty if it has all of it."""
        if self.has_mark:
            return ""
        step, took = self.step, (self.step.end_ns - self.step.begin_ns) / 1e9
        which = f"{step} on {self.address}"
        if not self.seconds:
            return f"this run does not hold what it is named after: {which}, which an earlier run "\
                   "has, or which was not kept"  # fmt: skip
        rest = "it goes on" if step.is_open else "a snapshot has cut it"
        return (
            f"{which}; {rest}, so this run has no mark of it, but "
            f"{min(self.seconds, took):.3g} of the {took:.3g} s in which it ran"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data; times in seconds since 1970."""
        step = self.step
        return {
            "worker": self.address, "first": step.first, "last": step.last, "kind": step.kind,
            "seconds": round(step.seconds, 6), "least_seconds": round(step.least, 6),
            "is_open": step.is_open, "begin": step.begin_ns / 1e9, "end": step.end_ns / 1e9,
            "held_seconds": round(self.seconds, 6), "has_mark": self.has_mark,
        }  # fmt: skip


def held(step: StepSeen, address: str, spans: list[tuple[int, int]]) -> StepHeld:
    """How much of a step lies in the windows of a run.

    Args:
        step: The step.
        address: The worker's.
        spans: Begin and end of the windows of this worker.
    """
    common = [max(0, min(end, step.end_ns) - max(begin, step.begin_ns)) for begin, end in spans]
    has_mark = step.is_whole and any(
        begin - _SLACK_NS <= step.begin_ns and step.end_ns <= end + _SLACK_NS
        for begin, end in spans
    )
    return StepHeld(step, address, sum(common) / 1e9, has_mark)
