"""What metrics count of a worker, from the beginning of the recording on."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from tfprof.remote.flight.watched import WatchedSnapshot
from tfprof.remote.metrics.exposition import Histogram
from tfprof.remote.metrics.figures import Figures

BOUNDS_SECONDS = tuple(
    digit * 10.0**power for power in range(-4, 3) for digit in (1.0, 2.5, 5.0)
)  # fmt: skip
"""Upper bounds of the buckets of step times, from 0.1 ms to 500 s."""

_MOST_KINDS = 20
OTHER_KINDS = "(others)"
"""Further kinds together: a program whose steps all have other names makes no endless metrics."""


@dataclass(slots=True)
class StepTimes:
    """Times of the steps of one kind.

    Attributes:
        counts: Steps in each bucket, one more than ``BOUNDS_SECONDS``.
        total_seconds: Sum of their times.
        latest: The number of the latest step; None if steps have no numbers.
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_SECONDS) + 1))
    total_seconds: float = 0.0
    latest: int | None = None

    def add(self, seconds: float) -> None:
        """Add a step; not one that ends before it began, with which the sum would fall."""
        if seconds < 0:
            return
        self.counts[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        self.total_seconds += seconds

    @property
    def histogram(self) -> Histogram:
        """All steps so far."""
        return Histogram(BOUNDS_SECONDS, tuple(self.counts), self.total_seconds)


@dataclass(slots=True)
class WorkerTotals:
    """Counts of a worker, which go on when its program comes back.

    Attributes:
        kinds: Times of steps by kind.
        n_cut: Steps whose time is an estimate, because snapshots have cut them.
        n_unreadable: Damaged snapshots.
        are_marked: Whether the program marks its steps.
        figures: Those of the latest snapshot that was examined; None before the first.
        figures_ns: The end of that snapshot, since 1970.
        seen_at: When the latest snapshot came, by the monotonic clock.
        examined_at: When the latest one was examined; likewise.
    """

    kinds: dict[str, StepTimes] = field(default_factory=dict)
    n_cut: int = 0
    n_unreadable: int = 0
    are_marked: bool = False
    figures: Figures | None = None
    figures_ns: int = 0
    seen_at: float = 0.0
    examined_at: float = float("-inf")

    def add(self, snapshot: WatchedSnapshot) -> None:
        """Add the steps of a snapshot."""
        look = snapshot.look
        self.are_marked |= look.steps.are_marked
        self.n_unreadable += bool(snapshot.data) and look.times is None
        for step in snapshot.steps:
            if not step.is_exact:
                self.n_cut += 1
                continue
            times = self._of(step.kind)
            times.add(step.seconds)
            if step.last >= 0:
                times.latest = step.last

    def add_figures(self, figures: Figures, snapshot: WatchedSnapshot) -> None:
        """Add the figures of a snapshot, and its steps if only these have found any."""
        self.figures, self.figures_ns = figures, snapshot.end_ns
        if not self.are_marked and not len(snapshot.look.steps):
            self._add_guessed(figures.guessed_seconds)

    def _add_guessed(self, seconds: Sequence[float]) -> None:
        for each in seconds:
            self._of("").add(each)

    def _of(self, kind: str) -> StepTimes:
        kind = kind.strip()
        known = kind in self.kinds or len(self.kinds) < _MOST_KINDS
        return self.kinds.setdefault(kind if known else OTHER_KINDS, StepTimes())
