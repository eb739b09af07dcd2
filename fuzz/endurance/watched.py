"""What a process holds, sample by sample, and whether that is flat."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

STEADY = 2 / 3
"""The last part of a run, which counts: before it, caches fill."""
NOISE = 3.0
"""Standard deviations of the samples around their line that growth may have."""
SLACK_BYTES = 1 << 20
"""Growth that it may have besides: allocators take memory by the megabyte."""
EVEN = 1.25
"""What must keep something for each unit keeps at most this many times as much in the end."""


class Sample(NamedTuple):
    """A process at a moment.

    Attributes:
        done: Number of steps, runs, opens or pages so far.
        resident_bytes: Resident memory.
        descriptors: Open descriptors.
        threads: Threads.
        files: Files in its ``TMPDIR``.
    """

    done: int
    resident_bytes: int
    descriptors: int
    threads: int
    files: int


def sample_of(process: int, done: int) -> Sample:
    """Look at a process that has the ``TMPDIR`` of this one."""
    own = Path("/proc", str(process))
    pages = int(Path(own, "statm").read_text().split()[1])
    files = sum(len(names) for _, _, names in os.walk(os.environ["TMPDIR"]))
    descriptors, threads = (len([*Path(own, name).iterdir()]) for name in ("fd", "task"))
    return Sample(done, pages * os.sysconf("SC_PAGE_SIZE"), descriptors, threads, files)


@dataclass(frozen=True)
class Verdict:
    """Whether a run was flat.

    Attributes:
        growth_bytes: Growth over the steady part, by the line through its samples.
        allowed_bytes: Growth that is noise.
        per_unit_bytes: Growth of one unit.
        grown: Counts that are larger at the end: descriptors, threads, files.
        is_flat: Whether nothing grew, or whether what must grow did so evenly.
    """

    growth_bytes: float
    allowed_bytes: float
    per_unit_bytes: float
    grown: tuple[str, ...]
    is_flat: bool


def verdict_on(samples: Sequence[Sample], *, keeps: bool) -> Verdict:
    """Judge a run.

    A count has grown if the least of the last third is above that of the second, or the most above
    all before. A thread that starts and ends may be there at any sample.

    Args:
        samples: Its samples, in order.
        keeps: Whether each unit must be kept, so that memory grows by as much each time.
    """
    every = np.array(samples, np.float64)
    steady = every[round(len(samples) * (1 - STEADY)) :]
    done, memory = steady[:, 0], steady[:, 1]
    slope, start = np.polyfit(done, memory, 1)
    rest = memory - (slope * done + start)
    growth = slope * (done[-1] - done[0])
    allowed = NOISE * float(rest.std()) + SLACK_BYTES
    half = len(steady) // 2
    last = len(every) - len(steady) + half
    grown = tuple(
        name
        for column, name in enumerate(Sample._fields)
        if column > 1
        and (
            every[last:, column].min() > steady[:half, column].min()
            or every[last:, column].max() > every[:last, column].max()
        )
    )
    is_even = growth <= allowed
    if keeps:
        slopes = [np.polyfit(done[part], memory[part], 1)[0]
                  for part in (slice(half), slice(half, None))]  # fmt: skip
        is_even = slopes[1] <= EVEN * max(slopes[0], 0.0)
    return Verdict(float(growth), allowed, float(slope), grown, is_even and not grown)
