"""The progress of one worker, from its snapshots."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tfprof.remote.flight.watched import WatchedSnapshot
from tfprof.remote.hangs.collectives import n_worked

_MOST_ENDS = 64
_MOST_BYTES = 8 << 20
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Progress:
    """What a worker has done, as far as its snapshots go; times on their axis, in ns.

    Attributes:
        begin_ns: Begin of the snapshot with the latest progress.
        latest_ns: When it last ended a step, or an op.
        covered_ns: End of the last snapshot.
        arrived: When that arrived, by our monotonic clock.
        step: Number of the last step; None without one.
        ends_ns: Ends of the last steps.
        snapshots: The latest snapshots with progress, and those since.
    """

    begin_ns: int
    latest_ns: int
    covered_ns: int
    arrived: float
    step: int | None = None
    ends_ns: tuple[int, ...] = ()
    snapshots: tuple[bytes, ...] = ()

    @property
    def quiet_seconds(self) -> float:
        """How long it had made no progress at the end of the last snapshot."""
        return max(0.0, (self.covered_ns - self.latest_ns) / 1e9)

    @property
    def usual_seconds(self) -> float | None:
        """The usual time from the end of a step to that of the next one; None if unknown."""
        if len(self.ends_ns) <= _FEWEST:
            return None
        return float(np.median(np.diff(np.sort(self.ends_ns)))) / 1e9


def after(before: Progress | None, snapshot: WatchedSnapshot, arrived: float) -> Progress | None:
    """The progress with another snapshot; None while there was none.

    Without a step in it, an event of an op counts: an evaluation between steps is work.
    """
    ends = tuple(step.end_ns for step in snapshot.steps)
    worked = bool(ends) or n_worked(snapshot.data) > 0
    if before is None:
        if not worked:
            return None
        before = Progress(snapshot.begin_ns, snapshot.end_ns, snapshot.end_ns, arrived)
    kept = (*before.snapshots, snapshot.data) if snapshot.data else before.snapshots
    while len(kept) > 1 and sum(map(len, kept)) > _MOST_BYTES:
        kept = kept[1:]
    found = replace(before, covered_ns=snapshot.end_ns, arrived=arrived, snapshots=kept)
    if not worked:
        return found
    numbers = [step.last for step in snapshot.steps if step.last >= 0]
    return replace(
        found, begin_ns=snapshot.begin_ns, step=max(numbers) if numbers else before.step,
        latest_ns=max(ends) if ends else snapshot.end_ns,
        ends_ns=(*before.ends_ns, *ends)[-_MOST_ENDS:],
    )  # fmt: skip
