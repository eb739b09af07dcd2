"""What makes a flight recorder write: a slow step, a signal, the end of a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from tfprof.core.text.claims import Claim
from tfprof.remote.flight.history import StepSeen

_SLACK_NS = 1_000_000
"""Largest difference between the clock of a snapshot's times and that of its events."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened.

    Attributes:
        text: A description for users.
        address: Address of the worker; empty for an event of all workers.
        step: The step for which the condition holds; None for other events.
        is_condition: Whether the user's condition holds; other events are written at once.
        is_end: Whether a step ended that was reported while it was running.
        program: Number of the program, of those that ran at the address one after another.
        beside: Texts to write beside the captures, by the names of their files.
        last: A snapshot to write of a worker of which nothing is kept, by its address.
        is_range: Whether all workers are past the steps that are to be written.
    """

    text: str
    address: str = ""
    step: StepSeen | None = None
    is_condition: bool = False
    is_end: bool = False
    program: int = 0
    beside: Mapping[str, str] = field(default_factory=dict)
    last: Mapping[str, bytes] = field(default_factory=dict)
    is_range: bool = False

    @property
    def is_request(self) -> bool:
        """Whether the user requests the run, which is then written in any case."""
        return not self.address


def with_ends(events: Iterable[Event]) -> list[Event]:
    """The events, with each step that has ended since in place of its unfinished version."""
    found: list[Event] = []
    for event in events:
        if event.is_end:
            ended = replace(event, is_end=False)
            found = [ended if _is_end_of(event, one) else one for one in found]
        else:
            found.append(event)
    return found


def _is_end_of(end: Event, event: Event) -> bool:
    before, now = event.step, end.step
    if before is None or now is None or event.address != end.address:
        return False
    return before.is_open and now.is_same(before)


@dataclass(frozen=True, slots=True)
class StepHeld:
    """How much of a step a run holds.

    Attributes:
        step: The step.
        address: The worker's.
        seconds: Time of it that the run covers.
        has_mark: Whether the run has its mark, so that tools show it as a step. If a snapshot cut
            a step of ``tfprof.capture.step``, the mark is recreated.
    """

    step: StepSeen
    address: str
    seconds: float
    has_mark: bool

    @property
    def note(self) -> str:
        """What the run lacks of the step; empty if the step is complete."""
        return "" if self.has_mark and self.step.is_whole else self.claim.text

    @property
    def claim(self) -> Claim:
        """How much of the step the run has."""
        step, took = self.step, (self.step.end_ns - self.step.begin_ns) / 1e9
        words = "{parts} on {worker}, which this run holds"
        if self.has_mark and not step.is_whole:
            words = (
                "{parts} on {worker}; a snapshot has cut it: its mark was added, and {value:.3g} s "
                "of it were recorded, without the ops that were under way at the cut"
            )
        elif step.is_unseen:
            words = (
                "this run does not hold what it is named after: {parts} on {worker}, while nothing "
                "was recorded"
            )
        elif not self.seconds:
            words = (
                "this run does not hold what it is named after: {parts} on {worker}, which an "
                "earlier run has, or which was not kept"
            )
        elif not self.has_mark and step.is_open:
            words = (
                "{parts} on {worker}; this run has no mark of such a step, but {least_s:.3g} of "
                "the {span_s:.3g} s"
            )
        elif not self.has_mark:
            words = (
                "{parts} on {worker}; a snapshot has cut it, so this run has no mark of it, but "
                "{least_s:.3g} of the {span_s:.3g} s in which it ran"
            )
        return Claim(
            "step", "held_time", self.seconds, "s", scope=self.address, words=words,
            basis="the times of the snapshots that were kept", parts=(step.claim,),
            details={"worker": self.address, "span_s": took, "least_s": min(self.seconds, took)},
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data; times in seconds since 1970."""
        step = self.step
        return {
            "worker": self.address, "first": step.first, "last": step.last, "kind": step.kind,
            "seconds": round(step.seconds, 6), "least_seconds": round(step.least, 6),
            "is_open": step.is_open, "is_unseen": step.is_unseen,
            "begin": step.begin_ns / 1e9, "end": step.end_ns / 1e9,
            "held_seconds": round(self.seconds, 6), "has_mark": self.has_mark,
        }  # fmt: skip


def held(step: StepSeen, address: str, spans: Sequence[tuple[int, int]]) -> StepHeld:
    """How much of a step lies in the windows of a run.

    Args:
        step: The step.
        address: The worker's.
        spans: Begin and end of the windows of this worker.
    """
    common = [max(0, min(end, step.end_ns) - max(begin, step.begin_ns)) for begin, end in spans]
    if step.is_whole:
        has_mark = any(
            begin - _SLACK_NS <= step.begin_ns and step.end_ns <= end + _SLACK_NS
            for begin, end in spans
        )
    else:  # it gets a mark if it began within the run, and a window begins in the middle of it
        has_mark = (
            step.is_exact
            and any(step.begin_ns < begin <= step.end_ns for begin, _ in spans)
            and spans[0][0] <= step.begin_ns
        )
    return StepHeld(step, address, sum(common) / 1e9, has_mark)


_MOST_REASONS = 5
_PAUSE_NS = 100_000_000
"""A longer gap between two snapshots means that the recorder paused."""

Spans = Mapping[str, Sequence[tuple[int, int]]]
"""Begin and end of the snapshots of each worker in nanoseconds, in order, by its address."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The seconds around an event, as a run.

    Attributes:
        reason: What happened.
        time: When, in seconds since 1970.
        folder: The run's folder; empty if nothing could be written, or nothing was recorded.
        seconds: How much time the run covers.
        files: Its files, one for each worker.
        trouble: Why the run could not be written, or which workers are missing.
        steps: The steps for which the condition held, and how much of each the run holds.
        notes: What the run lacks of them.
        beside: Texts of further files of the run, by their names.
    """

    reason: str
    time: float
    folder: str
    seconds: float
    files: tuple[str, ...]
    trouble: str = ""
    steps: tuple[StepHeld, ...] = ()
    notes: tuple[str, ...] = ()
    beside: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data."""
        return {
            "reason": self.reason, "time": self.time, "folder": self.folder,
            "seconds": self.seconds, "files": list(self.files), "trouble": self.trouble,
            "steps": [step.to_dict() for step in self.steps], "notes": list(self.notes),
            "claims": [step.claim.to_dict() for step in self.steps],
        }  # fmt: skip


def reason_of(events: Sequence[Event]) -> str:
    """A description of the event for users."""
    texts = list(dict.fromkeys(event.text for event in events))
    reason = "; ".join(texts[:_MOST_REASONS]) or "what is kept of a program that has ended"
    if len(texts) > _MOST_REASONS:
        reason += f"; and {len(texts) - _MOST_REASONS} more"
    return reason


def steps_of(events: Sequence[Event], spans: Spans) -> tuple[StepHeld, ...]:
    """The steps of the events, and how much of each is kept."""
    return tuple(
        held(event.step, event.address, spans.get(event.address, ()))
        for event in events
        if event.step is not None
    )


def notes_of(steps: Sequence[StepHeld], spans: Spans, late: Sequence[str]) -> dict[str, list[str]]:
    """What a run lacks, by the address of the worker.

    Args:
        steps: The steps of its events.
        spans: Begin and end of the snapshots of each worker in the run.
        late: Workers that did not answer in time.
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
