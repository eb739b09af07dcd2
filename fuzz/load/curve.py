"""Memory, descriptors, threads and children of a process, and whether they grow with requests."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_BARS: Final = "▁▂▃▄▅▆▇█"
_POINTS: Final = 40
_MIB: Final = 1 << 20

MOST_GROWTH: Final = 0.05
"""Most growth from the second quarter of the requests to the last that is called flat."""

_MOST_MIB: Final = 8.0
"""Growth of memory that is noise: what an allocator keeps of the largest answers."""

_MOST_NUMBER: Final = 8.0
"""The same of descriptors, threads and children: connections that are open at the moment."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A process and its children at one moment.

    Attributes:
        n_requests: Requests so far.
        memory_mib: Resident memory.
        n_descriptors: Open descriptors of the process alone.
        n_threads: Threads of the process alone.
        n_children: Processes that it has started.
    """

    n_requests: int
    memory_mib: float
    n_descriptors: int
    n_threads: int
    n_children: int


def sample_of(pid: int, n_requests: int = 0) -> Sample:
    """The process and its children now.

    Raises:
        OSError: It has ended.
    """
    process = Path(f"/proc/{pid}")
    children = list(_children(pid))
    return Sample(
        n_requests,
        sum(_memory_mib(one) for one in (pid, *children)),
        len(list((process / "fd").iterdir())),
        len(list((process / "task").iterdir())),
        len(children),
    )


def _children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            yield from map(int, (task / "children").read_text().split())
        except OSError:  # the thread has ended
            continue


def _memory_mib(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:  # a child has ended
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / _MIB


@dataclass(slots=True)
class Curve:
    """Samples of one process."""

    pid: int
    samples: list[Sample] = field(default_factory=list)

    def take(self, n_requests: int) -> Sample:
        """Take a sample after so many requests."""
        self.samples.append(sample_of(self.pid, n_requests))
        return self.samples[-1]

    def lines(self) -> Iterator[str]:
        """A line for each figure: its curve, its values, and whether it is flat."""
        for name, values, most in self._figures():
            begin, end = _medians(values)
            verdict = "flat" if is_flat(values, most) else "GROWS"
            yield (
                f"{name:>12} {bars(values)} least {min(values):,.0f}, most {max(values):,.0f}; "
                f"second quarter {begin:,.0f}, last {end:,.0f}: {verdict}"
            )

    def growing(self) -> list[str]:
        """A finding for each figure that grows."""
        return [
            f"{name} grows" for name, values, most in self._figures() if not is_flat(values, most)
        ]

    def _figures(self) -> Iterator[tuple[str, list[float], float]]:
        yield "memory, MiB", [one.memory_mib for one in self.samples], _MOST_MIB
        yield "descriptors", [float(one.n_descriptors) for one in self.samples], _MOST_NUMBER
        yield "threads", [float(one.n_threads) for one in self.samples], _MOST_NUMBER
        yield "children", [float(one.n_children) for one in self.samples], _MOST_NUMBER


def is_flat(values: Sequence[float], most: float) -> bool:
    """Whether the last quarter is as high as the second one, when caches have filled.

    Args:
        values: The figure at equal distances.
        most: Growth that is noise.
    """
    begin, end = _medians(values)
    return end - begin <= max(most, MOST_GROWTH * begin)


def _medians(values: Sequence[float]) -> tuple[float, float]:
    """The medians of the second and of the last quarter."""
    quarter = max(len(values) // 4, 1)
    return statistics.median(values[quarter : 2 * quarter] or values), statistics.median(
        values[-quarter:]
    )


def bars(values: Sequence[float]) -> str:
    """A curve from 0 to the largest value as one line of text."""
    size = max(len(values) / _POINTS, 1.0)
    means = []
    at = 0.0
    while round(at) < len(values):
        means.append(statistics.fmean(values[int(at) : max(int(at + size), int(at) + 1)]))
        at += size
    top = max(means) or 1.0
    return "".join(_BARS[min(int(mean / top * (len(_BARS) - 1) + 0.5), 7)] for mean in means)
