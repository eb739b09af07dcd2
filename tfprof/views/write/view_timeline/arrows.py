"""Arrows of a lossless timeline: what an execution waited for, and which kernel it launched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.profiles.model.executions import ACCELERATOR, HOST
from tfprof.profiles.model.ops import OpTable
from tfprof.views.spans import differs_from_last, expand_spans
from tfprof.views.write.trace_json import blocks
from tfprof.views.write.view_timeline.drawn import Drawn

MOST_ARROWS_INTO: Final = 8
"""Arrows that lead to one execution: those from the inputs that it had to wait for longest."""


class LastRuns:
    """Finds the last scheduling of an op before another execution began, in the same step."""

    def __init__(self, drawn: Drawn) -> None:
        self._drawn = drawn
        self._n_steps = len(drawn.spans)
        order = np.argsort(drawn.starts, kind="stable")
        self._rank = np.empty(len(order), np.int64)
        self._rank[order] = np.arange(len(order))
        scheduled = np.flatnonzero((drawn.kinds == HOST) & (drawn.rows >= 0))
        keys = self._keys(drawn.rows[scheduled], scheduled)
        by_key = np.argsort(keys)
        self._sorted = keys[by_key]
        self._scheduled = scheduled[by_key]

    def _keys(self, rows: Int64Array, executions: Int64Array) -> Int64Array:
        """Sortable by op, step and start."""
        groups = rows.astype(np.int64) * self._n_steps + self._drawn.steps[executions]
        keys: Int64Array = groups * len(self._rank) + self._rank[executions]
        return keys

    def before(self, rows: Int64Array, executions: Int64Array) -> Int64Array:
        """For each op, its last execution that began before the given one, or -1."""
        if not len(self._sorted):
            return np.full(len(rows), -1, np.int64)
        keys = self._keys(rows, executions)
        at = np.searchsorted(self._sorted, keys) - 1
        size = len(self._rank)
        same = (at >= 0) & (self._sorted[at] // size == keys // size)
        return np.where(same, self._scheduled[at], -1)


def dataflow(drawn: Drawn, ops: OpTable, last: LastRuns) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Arrows from the inputs of scheduled ops, if these ran in another thread.

    Yields:
        Places in ``drawn`` that arrows leave, and those that they lead to.
    """
    offsets, producers = ops.input_offsets(), ops.input_rows()
    scheduled = np.flatnonzero((drawn.kinds == HOST) & (drawn.rows >= 0))
    for block in blocks(len(scheduled)):
        target = scheduled[block]
        edges, which = expand_spans(offsets, drawn.rows[target])
        rows, target = producers[edges], target[which]
        known = rows >= 0
        target = target[known]
        yield _most_awaited(drawn, last.before(rows[known], target), target)


def launches(drawn: Drawn, last: LastRuns) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Arrows from the scheduling of an op to its kernels; yields what ``dataflow`` does."""
    kernels = np.flatnonzero((drawn.kinds == ACCELERATOR) & (drawn.rows >= 0))
    for block in blocks(len(kernels)):
        target = kernels[block]
        yield _most_awaited(drawn, last.before(drawn.rows[target], target), target)


def _most_awaited(
    drawn: Drawn, source: Int64Array, target: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """Distinct arrows from other threads; of too many into a target, those that end last."""
    kept = (source >= 0) & (drawn.threads[source] != drawn.threads[target])
    source, target = source[kept], target[kept]
    order = np.lexsort((source, -drawn.ends[source], target))
    source, target = source[order], target[order]
    fresh = differs_from_last(source, target)
    source, target = source[fresh], target[fresh]
    first = np.searchsorted(target, target, side="left")
    kept = np.arange(len(target)) - first < MOST_ARROWS_INTO
    return source[kept], target[kept]
