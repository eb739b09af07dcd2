"""The steps of a worker over many snapshots, with those that a snapshot has cut.

A step that is under way when a snapshot is taken loses its mark: of it only the time is known that
lies between its neighbours. Without this, the very steps that take long would never be seen.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from tfprof.remote.flight.snapshots import Steps

MOST_BEFORE = 1000
"""Steps that a step is compared with."""
FEWEST_BEFORE = 10
"""With fewer the usual time of a step is unknown."""


class StepSeen(NamedTuple):
    """A step, or what is known of it.

    Attributes:
        first: Its number; of a cut one the first number that it may have. -1 without numbers.
        last: Its number; of a cut one the last number that it may have. -1 while it goes on.
        seconds: How long it took; of a cut one what its neighbours and the snapshot itself leave
            for it, if other cut ones took as long as usual; of one that goes on how long it has
            taken so far.
        is_whole: Whether it was recorded whole.
    """

    first: int
    last: int
    seconds: float
    is_whole: bool

    def __str__(self) -> str:
        if self.is_whole:
            which = "a step" if self.first < 0 else f"step {self.first}"
            return f"{which} took {self.seconds:.3g} s"
        if self.last < 0:
            which = "a step" if self.first < 0 else f"a step from {self.first} on"
            return f"{which} has taken {self.seconds:.3g} s so far"
        which = f"step {self.first}"
        if self.last > self.first:
            which = f"one of the steps {self.first} to {self.last}"
        return f"{which} took about {self.seconds:.3g} s"


class StepHistory:
    """Takes in the steps of one snapshot after the other."""

    def __init__(self) -> None:
        self._before: deque[float] = deque(maxlen=MOST_BEFORE)
        self._last: tuple[int, int] | None = None  # number and end of the last whole step
        self._open_was_told = False
        self._disturbed_seconds = 0.0  # since the last whole step
        self.are_marked = False
        self.n_steps = 0

    def baseline(self, now: Steps) -> dict[str, float | None]:
        """What steps are compared with: ``median``, ``mean`` and ``p99`` of those before them.

        Args:
            now: The steps themselves, which count where there are too few before them.
        """
        seconds = np.array(self._before)
        if len(seconds) < FEWEST_BEFORE:
            seconds = np.concatenate([seconds, now.durations_ns / 1e9])
        if len(seconds) < FEWEST_BEFORE:
            return {"median": None, "mean": None, "p99": None}
        return {
            "median": float(np.median(seconds)),
            "mean": float(seconds.mean()),
            "p99": float(np.quantile(seconds, 0.99)),
        }

    def add(
        self,
        steps: Steps,
        start_ns: int,
        stop_ns: int,
        usual_seconds: float | None,
        answer_seconds: float = 0.0,
    ) -> list[StepSeen]:
        """The new steps, in order of time; they count among those before the next ones.

        Args:
            steps: Steps of a snapshot.
            start_ns: When the snapshot began.
            stop_ns: When it ended.
            usual_seconds: What a step takes usually, if that is known.
            answer_seconds: How long the program took to hand the snapshot out. Meanwhile it is
                slower, which is no fault of the steps that this snapshot cuts.
        """
        if not len(steps):
            self._disturbed_seconds += answer_seconds
            return self._still_open(start_ns, stop_ns)
        if steps.are_marked and not self.are_marked:  # what was guessed before were no steps
            self.are_marked, self._last = True, None
            self._before.clear()
        starts = steps.starts_ns + start_ns
        ends = (starts + steps.durations_ns).tolist()
        numbers = steps.numbers.tolist() if steps.are_marked else [-1] * len(steps)
        seconds = (steps.durations_ns / 1e9).tolist()
        found = self._cut(numbers[0], int(starts[0]), usual_seconds)
        found += [
            StepSeen(number, number, took, is_whole=True)
            for number, took in zip(numbers, seconds, strict=True)
        ]
        self._last = (numbers[-1], ends[-1])
        self._open_was_told = False
        self._disturbed_seconds = answer_seconds
        self._before.extend(seconds)
        self.n_steps += len(steps)
        return found

    def told(self, step: StepSeen) -> None:
        """A step was reported; one that goes on is not reported again."""
        self._open_was_told = not step.is_whole

    def _cut(
        self, next_number: int, next_start_ns: int, usual_seconds: float | None
    ) -> list[StepSeen]:
        """What lies between the last whole step and the next one, over a snapshot."""
        if self._last is None or self._open_was_told or usual_seconds is None:
            return []
        number, end_ns = self._last
        n_cut = next_number - number - 1
        if number < 0 or n_cut < 1 or next_start_ns <= end_ns:
            return []  # without numbers nobody knows how many there were
        seconds = (next_start_ns - end_ns) / 1e9 - (n_cut - 1) * usual_seconds
        seconds -= self._disturbed_seconds
        return [StepSeen(number + 1, next_number - 1, max(seconds, 0.0), is_whole=False)]

    def _still_open(self, start_ns: int, stop_ns: int) -> list[StepSeen]:
        """A whole snapshot without the end of any step: one goes on, for so long."""
        if self._last is None or self._open_was_told or self._last[1] > start_ns:
            return []
        number, end_ns = self._last
        first = number + 1 if number >= 0 else -1
        return [StepSeen(first, -1, (stop_ns - end_ns) / 1e9, is_whole=False)]
