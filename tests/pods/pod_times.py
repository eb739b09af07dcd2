"""When things happen on hosts that train together, told from one host that was recorded.

Time is stretched, never cut: the moments of the recorded host map to moments of each simulated one,
in the same order, so that nesting and order of events stay as they were. Each step of a host takes
a little more or less; on a straggler its input or its compute takes times as long. Hosts wait for
each other: a collective ends everywhere at once, when the last host has come to it. Where no
collectives were recorded, they wait between steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, NamedTuple

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.intervals import Float64Array

_TRANSFER = 0.25
"""The part of a recorded collective that is work: the rest was waiting, which depends on hosts."""


class Part(IntEnum):
    """What a host does."""

    COMPUTE = 0
    INPUT = 1
    WAIT = 2
    BETWEEN = 3


class Spans(NamedTuple):
    """Intervals of time.

    Attributes:
        starts_ps: Since the beginning of the capture, shape (n,).
        stops_ps: Their ends, shape (n,).
    """

    starts_ps: Float64Array
    stops_ps: Float64Array


@dataclass(frozen=True)
class Segments:
    """The recorded time, cut where the host begins to do something else.

    Attributes:
        bounds_ps: Since the beginning, ascending, shape (n + 1,).
        parts: ``Part`` of each segment, shape (n,).
        steps: Number of the step, from 0; -1 between steps. Shape (n,).
    """

    bounds_ps: Float64Array
    parts: Int64Array
    steps: Int64Array

    @property
    def lengths_ps(self) -> Float64Array:
        """How long each segment takes, shape (n,)."""
        return np.diff(self.bounds_ps)


def segments(steps: Spans, inputs: Spans, waits: Spans, end_ps: float) -> Segments:
    """Cut the time.

    Args:
        steps: The steps, which do not overlap.
        inputs: When the host waits for its input.
        waits: When it is in a collective; input counts first.
        end_ps: When the capture ends.
    """
    bounds = np.unique(np.concatenate([[0.0, end_ps], *steps, *inputs, *waits]))
    middles = (bounds[1:] + bounds[:-1]) / 2
    in_step = _covered(steps, middles)
    parts = np.where(in_step, int(Part.COMPUTE), int(Part.BETWEEN))
    parts[_covered(waits, middles)] = Part.WAIT
    parts[_covered(inputs, middles) & in_step] = Part.INPUT
    if not (parts == Part.WAIT).any():
        parts[parts == Part.BETWEEN] = Part.WAIT
    order = np.sort(steps.starts_ps)
    numbers = np.where(in_step, np.searchsorted(order, middles) - 1, -1)
    return Segments(bounds, parts, numbers)


@dataclass(frozen=True)
class Late:
    """Why a host is slower than others.

    Attributes:
        what: Which part of its steps.
        factor: That part takes so many times as long.
    """

    what: Literal["input", "compute"]
    factor: float


class PodTimes:
    """The times of all hosts.

    Args:
        recorded: The time of the recorded host.
        late: Of each host, why it is slower; None for most.
        noise: Deviation of the logarithm of the time that a step takes.
        seed: Which noise.
    """

    def __init__(
        self, recorded: Segments, late: list[Late | None], noise: float, seed: int
    ) -> None:
        self.recorded, self._late, self._noise, self._seed = recorded, late, noise, seed
        self._waits = recorded.parts == Part.WAIT
        begins = self._waits & ~np.concatenate([[False], self._waits[:-1]])
        self._meetings = np.cumsum(begins)  # work before meeting n has n, the wait has n + 1
        self._n_meetings = int(begins.sum())
        lengths = recorded.lengths_ps[self._waits]
        self._wait_ps = _sums(self._meetings[self._waits] - 1, lengths, self._n_meetings)
        self._last_ps = np.zeros(self._n_meetings)
        for host in range(len(late)):
            np.maximum(self._last_ps, self._work_ps(self._work(host)), out=self._last_ps)

    def slopes(self, host: int) -> Float64Array:
        """How many times as long each segment takes on a host, shape (n segments,)."""
        slopes = self._work(host)
        ends = self._last_ps - self._work_ps(slopes) + _TRANSFER * self._wait_ps
        slopes[self._waits] = (ends / self._wait_ps)[self._meetings[self._waits] - 1]
        return slopes

    def longest(self) -> Float64Array:
        """How many times as long each segment takes at most, on any host, shape (n segments,)."""
        longest = np.zeros(len(self.recorded.parts))
        for host in range(len(self._late)):
            np.maximum(longest, self.slopes(host), out=longest)
        return longest

    def step_ps(self, host: int) -> Float64Array:
        """How long each step takes on a host, shape (n steps,)."""
        return self._by_step(self.slopes(host) * self.recorded.lengths_ps)

    def added_ps(self, host: int) -> Float64Array:
        """How much longer each step is at work because the host is late, shape (n steps,)."""
        late = self._late[host]
        if late is None:
            return self._by_step(np.zeros(len(self.recorded.parts)))
        is_slower = self.recorded.parts == Part[late.what.upper()]
        extra = self._work(host) * (1 - 1 / late.factor) * is_slower
        return self._by_step(extra * self.recorded.lengths_ps)

    def _by_step(self, values: Float64Array) -> Float64Array:
        inside = self.recorded.steps >= 0
        return _sums(self.recorded.steps[inside], values[inside])

    def _work(self, host: int) -> Float64Array:
        """What work takes; of waiting, nothing that counts."""
        steps = self.recorded.steps
        random = np.random.default_rng([self._seed, host])
        of_steps = np.exp(self._noise * random.standard_normal(steps.max(initial=-1) + 2))
        slopes: Float64Array = of_steps[steps]  # what is between steps has the last
        late = self._late[host]
        if late is not None:
            slopes[self.recorded.parts == Part[late.what.upper()]] *= late.factor
        return slopes

    def _work_ps(self, slopes: Float64Array) -> Float64Array:
        """Time at work before each meeting, shape (n meetings,)."""
        works = ~self._waits
        spent = (slopes * self.recorded.lengths_ps)[works]
        return _sums(self._meetings[works], spent, self._n_meetings + 1)[: self._n_meetings]


def _sums(places: Int64Array, values: Float64Array, n: int = 0) -> Float64Array:
    sums: Any = np.bincount(places, values, n)
    return np.asarray(sums, np.float64)


def _covered(spans: Spans, moments: Float64Array) -> BoolArray:
    """Whether each moment is in any of the spans."""
    begun = np.searchsorted(np.sort(spans.starts_ps), moments)
    ended = np.searchsorted(np.sort(spans.stops_ps), moments)
    covered: BoolArray = begun > ended
    return covered
