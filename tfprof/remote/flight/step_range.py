"""A run of certain steps of all workers: when they come, when they are over, and only them.

A snapshot cuts the step that is under way. So none is taken from shortly before the first of the
steps until the last one has ended; when that is follows from the steps before.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.slice.choice import SliceChoice
from tfprof.captures.slice.slice_capture import slice_capture
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.files.small_files import put
from tfprof.remote.flight.snapshots import Steps, marked_steps

_LEAD_STEPS, _LEAD_SECONDS = 3, 0.5
"""A snapshot comes so long before the first step at the latest, and after the last one."""
_SHORTEST_SECONDS = 0.2
_FEWEST_SNAPSHOTS = 3
"""A worker without marks in as many snapshots does not mark its steps, or waits."""
_PATIENCE_SECONDS, _PATIENCE = 30.0, 2.0


class StepRange(NamedTuple):
    """Steps by their numbers, both included."""

    first: int
    last: int

    def __str__(self) -> str:
        return (
            f"step {self.first}"
            if self.first == self.last
            else f"steps {self.first} to {self.last}"
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker is in its steps; times as those of its snapshots.

    Attributes:
        kind: Name of the steps that are counted: those that came first.
        earliest: Number of the first step that was recorded.
        number: Number of the latest step that has ended.
        end_ns: When it ended.
        period_ns: From the start of a step to that of the next; 0 if unknown.
        begin_ns: When the first step of the range began; None before.
    """

    kind: str
    earliest: int
    number: int
    end_ns: int
    period_ns: float = 0.0
    begin_ns: int | None = None


def place_after(
    place: Place | None, steps: Steps, window_ns: int, wanted: StepRange
) -> Place | None:
    """The place of a worker after a snapshot.

    Args:
        place: The place before.
        steps: The steps in it.
        window_ns: When it began.
        wanted: The steps to record.
    """
    if not steps.are_marked or not len(steps):
        return place
    kind = place.kind if place is not None else steps.kinds[0]
    own = steps.of(kind)
    if not len(own):
        return place
    starts, numbers = own.starts_ns + window_ns, own.numbers
    last = int(np.argmax(starts + own.durations_ns))
    end_ns = int(starts[last] + own.durations_ns[last])
    if place is None or numbers[last] < place.number:  # numbers began anew, as after a restart
        place = Place(kind, int(numbers.min()), 0, 0)
    period = place.period_ns
    if len(own) > 1 and numbers[-1] > numbers[0]:
        period = float(starts[-1] - starts[0]) / float(numbers[-1] - numbers[0])
    elif place.end_ns and numbers[last] > place.number:  # a step is longer than a snapshot
        period = float(end_ns - place.end_ns) / float(numbers[last] - place.number)
    begin_ns, inside = place.begin_ns, (numbers >= wanted.first) & (numbers <= wanted.last)
    if begin_ns is None and inside.any():
        begin_ns = int(starts[inside].min())
    return replace(
        place, number=int(numbers[last]), end_ns=end_ns, period_ns=period, begin_ns=begin_ns
    )


def seconds_to_snapshot(place: Place | None, wanted: StepRange, now_ns: int, usual: float) -> float:
    """Time until the next snapshot, so that none cuts one of the steps.

    Args:
        place: Where the worker is.
        wanted: The steps.
        now_ns: When the last snapshot ended.
        usual: Time until the next one otherwise, in seconds.
    """
    if place is None or place.number >= wanted.last or not place.period_ns:
        return usual
    lead = max(_LEAD_STEPS * place.period_ns, _LEAD_SECONDS * 1e9)
    before = place.end_ns + (wanted.first - place.number - 1) * place.period_ns - lead - now_ns
    behind = place.end_ns + (wanted.last - place.number) * place.period_ns + lead - now_ns
    if before > _SHORTEST_SECONDS * 1e9:
        return min(usual, before / 1e9)
    return max(behind / 1e9, _SHORTEST_SECONDS)


def would_cut(place: Place | None, wanted: StepRange, now_ns: int) -> bool:
    """Whether a snapshot would cut one of the steps now, as the busy machine woke up late."""
    if place is None or place.number >= wanted.last or not place.period_ns:
        return False
    begin = place.end_ns + (wanted.first - place.number - 1) * place.period_ns
    behind = place.end_ns + (wanted.last - place.number) * place.period_ns
    return begin - max(place.period_ns, _SHORTEST_SECONDS * 1e9) < now_ns < behind


class Watched(NamedTuple):
    """What is known of a worker.

    Attributes:
        address: Its server.
        place: Where it is in its steps; None if no step was seen.
        is_recording: Whether it is recorded now.
        n_snapshots: How many snapshots there were.
    """

    address: str
    place: Place | None
    is_recording: bool
    n_snapshots: int


class StepsAwaited:
    """Waits until all workers are past the steps, or cannot be waited for.

    Args:
        wanted: The steps.
    """

    def __init__(self, wanted: StepRange) -> None:
        self.wanted = wanted
        self._since: float | None = None

    def is_due(self, workers: Sequence[Watched], now: float) -> bool:
        """Whether to write the run now.

        Args:
            workers: All workers.
            now: Seconds that never go back.
        """
        states = [self._is_past(worker) for worker in workers]
        if not any(states):
            return False
        self._since = now if self._since is None else self._since
        passed = now - self._since
        return all(
            is_past or passed >= self._patience(worker)
            for is_past, worker in zip(states, workers, strict=True)
        )

    def notes(self, workers: Sequence[Watched]) -> dict[str, str]:
        """What the run lacks of a worker, by its address."""
        return {each.address: text for each in workers if (text := self._lack(each))}

    def _is_past(self, worker: Watched) -> bool:
        return worker.place is not None and worker.place.number >= self.wanted.last

    def _patience(self, worker: Watched) -> float:
        """How long to wait for a worker that is behind the first one."""
        if not worker.is_recording:
            return 0.0
        if worker.place is None:
            return 0.0 if worker.n_snapshots >= _FEWEST_SNAPSHOTS else _PATIENCE_SECONDS
        left = self.wanted.last - worker.place.number + 1
        return max(_PATIENCE_SECONDS, _PATIENCE * left * worker.place.period_ns / 1e9)

    def _lack(self, worker: Watched) -> str:
        place, wanted = worker.place, self.wanted
        if place is None:
            why = "marks no steps: mark them with tfprof.capture.step"
            if not worker.n_snapshots:
                why = "is not recorded"
            return f"{worker.address} {why}, and is not in this run"
        if place.earliest > wanted.last:
            return (f"{worker.address} had passed {wanted} already when its recording began, at "
                    f"step {place.earliest}, and is not in this run")  # fmt: skip
        if place.number < wanted.first or place.begin_ns is None:
            return f"{worker.address} got to step {place.number} only, and is not in this run"
        if place.number < wanted.last:
            return (f"{worker.address} got to step {place.number} only; what it had of {wanted} is "
                    "in this run")  # fmt: skip
        if place.earliest > wanted.first:
            return (f"{worker.address} had passed step {wanted.first} already when its recording "
                    f"began; this run has its steps from {place.earliest} on")  # fmt: skip
        return ""


def cut_to(data: bytes, wanted: StepRange) -> tuple[bytes, list[int]]:
    """A capture of one host with the wanted steps only, and their numbers.

    Raises:
        EmptyProfileError: It has none of them.
        InputError: There is no room for it on the disk.
    """
    numbers = np.unique(marked_steps(read_xspace(data)).numbers)
    numbers = numbers[(numbers >= wanted.first) & (numbers <= wanted.last)]
    if not len(numbers):
        raise EmptyProfileError(f"none of {wanted} was recorded")
    # As of a time of its own: the place among the steps of this host alone would match it wrongly
    # with others, whose steps began with another number.
    choice = SliceChoice(steps=(int(numbers[0]), int(numbers[-1])), time=(None, None))
    with tempfile.TemporaryDirectory(prefix="tfprof-") as folder:
        whole, part = Path(folder, "whole.xplane.pb"), Path(folder, "part.xplane.pb")
        put(whole, data)
        try:
            slice_capture(whole, part, choice)
        except UsageError as error:
            raise EmptyProfileError(f"{wanted}: cannot be cut out: {error}") from error
        return part.read_bytes(), numbers.tolist()
