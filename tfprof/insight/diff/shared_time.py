"""Time of steps, shared among what ran: parts that add up to the steps.

Times of ops on several threads and devices add up to more than the step took. Here each moment of
a step counts once: where several things run at once, each gets an equal part of the moment. What
runs on a device goes before what runs on the host meanwhile, and waiting, copying and compiling go
before both where a step is known to do so. Of ops inside each other the inner one counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfprof.core.columns.columns import BoolArray, Int64Array

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spans:
    """Things that ran, each of shape (n,).

    Attributes:
        step: The step of each.
        what: Number of the thing that ran, from 0.
        start: When, in any unit.
        end: Until when.
        parent: The span of the same thread around it, -1 without one.
    """

    step: Int64Array
    what: Int64Array
    start: Int64Array
    end: Int64Array
    parent: Int64Array

    def __len__(self) -> int:
        return len(self.step)

    @classmethod
    def none(cls) -> Spans:
        """Nothing ran."""
        return cls(*(np.zeros(0, np.int64) for _ in range(5)))

    def only(self, kept: BoolArray) -> Spans:
        """Some of the spans; the parent of each becomes the next one around that is kept."""
        if kept.all():
            return self
        parent = self.parent
        while True:
            lost = (parent >= 0) & ~kept[np.maximum(parent, 0)]
            if not lost.any():
                break
            parent = np.where(lost, parent[np.maximum(parent, 0)], parent)
        places = np.append(np.cumsum(kept) - 1, -1)
        columns = (self.step, self.what, self.start, self.end, places[parent])
        return Spans(*(column[kept] for column in columns))

    def on_axis(self, windows: Int64Array, offsets: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Starts and ends, cut to the windows, which are laid side by side."""
        low, high = windows[self.step, 0], windows[self.step, 1]
        shift = offsets[self.step] - low
        return (
            np.clip(self.start, low, high) + shift,
            np.maximum(np.clip(self.end, low, high), np.clip(self.start, low, high)) + shift,
        )


@dataclass(frozen=True, eq=False)
class Layer:
    """What runs at one level, such as on devices.

    Attributes:
        spans: What ran.
        kinds: Kinds of time in which its spans count; empty for all.
    """

    spans: Spans
    kinds: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class SharedTime:
    """Parts of the steps, in the unit of the spans.

    Attributes:
        by_layer: Time of each thing of a layer in each step, shape (n_steps, n things).
        rest: The remaining time of each kind, shape (n_steps,).
    """

    by_layer: tuple[Float64Array, ...]
    rest: dict[int, Float64Array]


NOTHING = 0
"""The kind of time without known activity."""


def shared_time(
    windows: Int64Array,
    layers: Sequence[Layer],
    sizes: Sequence[int],
    kinds: Spans | None = None,
    default: int = NOTHING,
) -> SharedTime:
    """Share the time of steps.

    Args:
        windows: Start and end of each step, shape (n_steps, 2).
        layers: What ran, the layers that go first in front.
        sizes: How many things each layer has.
        kinds: Spans of kinds of time, with the kind in ``what``; the largest wins. None if all
            time is of the default kind.
        default: The kind of time without any.
    """
    n_steps = len(windows)
    lengths = np.maximum(windows[:, 1] - windows[:, 0], 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    on_axis = [layer.spans.on_axis(windows, offsets[:-1]) for layer in layers]
    of_kinds = None if kinds is None else kinds.on_axis(windows, offsets[:-1])
    ends = [*on_axis, *([] if of_kinds is None else [of_kinds])]
    bounds = np.unique(np.concatenate([offsets, *(column for pair in ends for column in pair)]))
    pieces = np.diff(bounds)
    step_of = np.searchsorted(offsets, bounds[:-1], side="right") - 1
    kind = np.full(len(pieces), default, np.int64)
    if kinds is not None and of_kinds is not None:
        first, last = (np.searchsorted(bounds, column) for column in of_kinds)
        for number in np.unique(kinds.what).tolist():  # in ascending order: the largest wins
            chosen = kinds.what == number
            kind[_running(first[chosen], last[chosen], len(pieces)) > 0] = number
    free = np.ones(len(pieces), np.bool_)
    shares = []
    for layer, size, (start, end) in zip(layers, sizes, on_axis, strict=True):
        spans = layer.spans
        first, last = np.searchsorted(bounds, start), np.searchsorted(bounds, end)
        outermost = spans.parent < 0
        count = _running(first[outermost], last[outermost], len(pieces))
        taken = free & (count > 0)
        if layer.kinds:
            taken &= np.isin(kind, layer.kinds)
        parts = np.where(taken, pieces / np.maximum(count, 1), 0.0)
        so_far = np.concatenate([[0.0], np.cumsum(parts)])
        own = so_far[last] - so_far[first]
        inner = ~outermost
        own = own - np.bincount(spans.parent[inner], own[inner], len(own))
        cells = np.bincount(spans.step * size + spans.what, own, n_steps * size)
        shares.append(np.maximum(cells.reshape(n_steps, size), 0.0))
        free &= ~taken
    rest: dict[int, Float64Array] = {}
    for number in np.unique(kind[free]).tolist():
        left = free & (kind == number)
        amounts = pieces[left].astype(np.float64)
        rest[number] = np.bincount(step_of[left], amounts, n_steps).astype(np.float64)
    return SharedTime(tuple(shares), rest)


def _running(first: Int64Array, last: Int64Array, n_pieces: int) -> Int64Array:
    """How many spans cover each piece of time."""
    changes = np.bincount(first, minlength=n_pieces + 1) - np.bincount(last, minlength=n_pieces + 1)
    count: Int64Array = np.cumsum(changes)[:n_pieces]
    return count
