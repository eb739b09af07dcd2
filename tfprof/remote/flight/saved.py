"""What a flight recorder has written: a run, why, and what it holds of the steps it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tfprof.remote.flight.events import Event, StepHeld, held

_MOST_REASONS = 5
_PAUSE_NS = 100_000_000
"""So long nothing is recorded between two snapshots where the recorder paused, and not else."""

Spans = Mapping[str, Sequence[tuple[int, int]]]
"""Begin and end of the snapshots of each worker in nanoseconds, in order, by its address."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The seconds around an event, as a run.

    Attributes:
        reason: What happened.
        time: When, in seconds since 1970.
        folder: The run's folder; empty if it could not be written, or there was nothing to write.
        seconds: How much time the run covers.
        files: Its files, one of each worker.
        trouble: Why it could not be written, or which workers are missing.
        steps: The steps for which the condition held, and how much of each the run has.
        notes: What the run lacks of them.
    """

    reason: str
    time: float
    folder: str
    seconds: float
    files: tuple[str, ...]
    trouble: str = ""
    steps: tuple[StepHeld, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "reason": self.reason, "time": self.time, "folder": self.folder,
            "seconds": self.seconds, "files": list(self.files), "trouble": self.trouble,
            "steps": [step.to_dict() for step in self.steps], "notes": list(self.notes),
            "claims": [step.claim.to_dict() for step in self.steps],
        }  # fmt: skip


def reason_of(events: Sequence[Event]) -> str:
    """What happened, for people."""
    texts = list(dict.fromkeys(event.text for event in events))
    reason = "; ".join(texts[:_MOST_REASONS]) or "what is kept of a program that has ended"
    if len(texts) > _MOST_REASONS:
        reason += f"; and {len(texts) - _MOST_REASONS} more"
    return reason


def steps_of(events: Sequence[Event], spans: Spans) -> tuple[StepHeld, ...]:
    """The steps that events are about, and what of them is kept."""
    return tuple(
        held(event.step, event.address, spans.get(event.address, ()))
        for event in events
        if event.step is not None
    )


def notes_of(steps: Sequence[StepHeld], spans: Spans, late: Sequence[str]) -> dict[str, list[str]]:
    """What a run lacks, by the address of the worker.

    Args:
        steps: The steps that it is about.
        spans: What of each worker is in it.
        late: Workers that have not answered in time.
    """
    notes: dict[str, list[str]] = {}
    for address, own in spans.items():
        notes.setdefault(address, []).extend(_pauses(address, own))
    for step in steps:
        notes.setdefault(step.address, []).extend([step.note] if step.note else [])
    for address in late:
        notes.setdefault(address, []).append(
            f"{address} has not answered in time; its last seconds are not in this run"
        )
    return notes


def _pauses(address: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    between = [begin - end for (_, end), (begin, _) in pairwise(spans)]
    pauses = [passed_ns / 1e9 for passed_ns in between if passed_ns > _PAUSE_NS]
    if not pauses:
        return []
    whole, word = (spans[-1][1] - spans[0][0]) / 1e9, "pause" if len(pauses) == 1 else "pauses"
    return [
        f"{address}: nothing was recorded in {sum(pauses):.1f} of {whole:.1f} s, in {len(pauses)} "
        f"{word}"
    ]
