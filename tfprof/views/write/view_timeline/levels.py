"""What the allocators of each device had handed out over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.views.result import ViewTree
from tfprof.views.spans import differs_from_last
from tfprof.views.write.view_timeline.drawn import LAST_MICROS, tracks_of

MOST_HOLDERS: Final = 10
"""Ops that are named at the peak of an allocator."""


@dataclass(frozen=True, slots=True)
class Level:
    """One allocator of one device; a fact of the device, whatever ops are shown.

    Attributes:
        process: Device.
        allocator: Name.
        nanos: Times of change, ascending, shape (n,).
        bytes_in_use: From then on, shape (n,).
        holders: Op rows that held most at the peak, and their bytes; largest first.
    """

    process: str
    allocator: str
    nanos: Int64Array
    bytes_in_use: Int64Array
    holders: list[tuple[int, int]]

    @property
    def peak(self) -> int:
        """Place of the first sample with the most bytes in use."""
        return int(self.bytes_in_use.argmax())


def device_levels(tree: ViewTree, steps: Sequence[int]) -> list[Level]:
    """All levels that some steps recorded, by device and allocator in order of their names."""
    table = tree.profile.steps
    strings = table.strings.values
    tracks = tracks_of(strings)
    parts = [table.details[step].levels for step in steps]
    devices, allocators, micros, sizes = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("device_ids", "allocator_ids", "micros", "bytes_in_use")
    )
    pairs = devices * len(strings) + allocators
    order = np.lexsort((micros, pairs))
    bounds = np.flatnonzero(np.diff(pairs[order], prepend=-1, append=-1)).tolist()
    levels = []
    for first, stop in pairwise(bounds):
        chosen = order[first:stop]
        device, allocator = divmod(int(pairs[chosen[0]]), len(strings))
        chosen = chosen[differs_from_last(sizes[chosen])]
        peak_micros = int(micros[chosen[sizes[chosen].argmax()]])
        levels.append(
            Level(
                tracks[device].process,
                strings[allocator],
                np.clip(micros[chosen], 0, LAST_MICROS) * 1000,
                sizes[chosen],
                _holders(tree, steps, (device, allocator), peak_micros),
            )
        )
    return sorted(levels, key=lambda level: (level.process, level.allocator))


def _holders(
    tree: ViewTree, steps: Sequence[int], of: tuple[int, int], until_micros: int
) -> list[tuple[int, int]]:
    """What ops had allocated and not given back by a time, the largest first.

    Args:
        tree: The view.
        steps: The steps to look at.
        of: Device and allocator, ids in ``StepTable.strings``.
        until_micros: The time.
    """
    table, facts = tree.profile.steps, tree.facts
    made = [table.details[step].allocations for step in steps]
    counted = [(part.allocator_ids == of[1]) & (part.micros <= until_micros) for part in made]
    rows, op = np.unique(
        np.concatenate([part.rows[kept] for part, kept in zip(made, counted, strict=True)]),
        return_inverse=True,
    )
    held = np.zeros(len(rows), np.int64)
    sizes = [part.sizes[kept] for part, kept in zip(made, counted, strict=True)]
    np.add.at(held, op, np.concatenate(sizes))
    order = np.argsort(-held, kind="stable")
    held_by = zip(rows[order].tolist(), held[order].tolist(), strict=True)
    device = table.strings[of[0]]
    positive = ((row, size) for row, size in held_by if size > 0 and facts.device(row) == device)
    return list(islice(positive, MOST_HOLDERS))
