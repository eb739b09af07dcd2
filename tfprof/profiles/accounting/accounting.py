"""The metrics of each op."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.shapes import Shape, display_dims
from tfprof.profiles.accounting.what_ran import recorded_runs
from tfprof.profiles.model.ops import FloatOps
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import MEASURES

METRICS = ("run_count", "exec_micros", *MEASURES[1:], "parameters", "float_ops")
"""The numbers every view carries, in the row order of its matrices. Times are microseconds."""

METRIC_ROW = {name: row for row, name in enumerate(METRICS)}

_EXEC_MICROS = METRIC_ROW["exec_micros"]
_PARAMETERS = METRIC_ROW["parameters"]
_FLOAT_OPS = METRIC_ROW["float_ops"]

Float64Array = npt.NDArray[np.float64]

_LARGEST_TOTAL = 9.2e18
"""A little less than 2^63, for the rounding of floating-point sums."""


class Metrics:
    """The numbers of ``METRICS`` for a list of things; each is computed when first read.

    It reads like an array of shape (len(METRICS), n): ``metrics[METRIC_ROW["peak_bytes"]]`` and
    ``metrics[METRIC_ROW["peak_bytes"], place]`` compute one of them, ``metrics[:, places]`` and
    ``np.asarray(metrics)`` all.

    Args:
        column: Computes the numbers of a row of ``METRICS``, shape (n,).
        size: Number of things.
        never_negative: No number can be less than 0.

    Example:
        >>> ones = Metrics(lambda row: np.full(3, row), 3)
        >>> ones.shape, ones[2].tolist(), int(ones[4, 0])
        ((10, 3), [2, 2, 2], 4)
    """

    __slots__ = ("_column", "_columns", "_is_made", "_size", "never_negative")

    def __init__(
        self, column: Callable[[int], Int64Array], size: int, *, never_negative: bool = False
    ) -> None:
        self.never_negative = never_negative
        self._column = column
        self._size = size
        self._is_made = False
        self._columns: list[Int64Array | None] = [None] * len(METRICS)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of metrics and of things."""
        return len(METRICS), self._size

    def __len__(self) -> int:
        return len(METRICS)

    def __getitem__(self, key: Any) -> Int64Array:
        first, *rest = key if isinstance(key, tuple) else (key,)
        if isinstance(first, (int, np.integer)):
            column = self._one(range(len(METRICS))[first])
            return column[rest[0]] if rest else column
        columns = [self._one(row) for row in np.arange(len(METRICS))[first].tolist()]
        if rest:
            columns = [column[rest[0]] for column in columns]
        return np.stack(columns) if columns else np.zeros((0, self._size), np.int64)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        return np.asarray(self[:], dtype)

    def __getattr__(self, name: str) -> Any:
        # Whatever else an array has: ``copy``, ``tolist``, ``sum`` … of all metrics. Not what
        # NumPy itself looks up, which would point into an array that is gone.
        if name.startswith("_"):
            raise AttributeError(f"metrics have no attribute {name!r}")
        return getattr(self[:], name)

    def _one(self, row: int) -> Int64Array:
        column = self._columns[row]
        if column is None:
            column = self._columns[row] = self._column(row)
        return column

    def map(self, change: Callable[[Int64Array], Int64Array], size: int) -> Metrics:
        """Metrics of other things, each made of a column of these, and only when read.

        Columns that serve only to make others are not kept.
        """
        made = Metrics(
            lambda row: change(self._passing(row)), size, never_negative=self.never_negative
        )
        made._is_made = True
        return made

    def _passing(self, row: int) -> Int64Array:
        is_kept = self._columns[row] is not None or not self._is_made
        return self._one(row) if is_kept else self._column(row)


FloatOpsLater = Callable[[Callable[[FloatOps], Int64Array]], Callable[[], Int64Array]]
"""Delays a computation from what ops cost to the float operations of their runs, shape (n,)."""


def op_metrics(
    profile: Profile,
    step: int,
    *,
    classic: bool,
    static_float_ops: bool = False,
    later: FloatOpsLater | None = None,
) -> Metrics:
    """All metrics of all ops, as they are now.

    ``float_ops`` is the count of one run times the number of runs; the static count if nothing
    was recorded. In classic mode it is the static count for each op without a record
    (``tfprof_node.h``).

    Args:
        profile: The profile.
        step: A step that was added, or negative for the average.
        classic: Let parameters and float operations wrap at 64 bits, as in the original.
            Otherwise, if totals would wrap, the largest counts are left out, with a notice.
        static_float_ops: Count the float operations of one run of the program according to the
            graph, not those of the recorded runs.
        later: Needed if the table of ops does not hold the float operations yet: takes a function
            that computes the column from them, and returns a function without arguments that
            gives the column.
    """
    ops = profile.ops
    n_ops = len(ops)
    measures = profile.steps.measures(step, n_ops)
    shape_ids = ops.shape_ids.array

    def of_runs(known: FloatOps) -> Int64Array:
        runs = known.runs
        if classic and not static_float_ops:
            runs = np.where(measures.recorded, measures.values[0], runs)
        elif not static_float_ops:
            runs = recorded_runs(ops, measures.recorded, measures.values[0], runs)
        counts = known.flops * runs
        if classic:
            return counts
        exact = known.flops.astype(np.float64) * runs
        return _without_overflow(profile, "float operations", counts, exact)

    counted = of_runs(ops.static_float_ops()) if later is None else later(of_runs)

    def column(row: int) -> Int64Array:
        if row == _EXEC_MICROS:
            return measures.exec_micros
        if row == _PARAMETERS:
            return _parameters(profile, shape_ids, classic)
        if row == _FLOAT_OPS:
            return counted() if callable(counted) else counted
        measured: Int64Array = measures.values[MEASURES.index(METRICS[row])]
        return measured

    never_negative = not classic and not (measures.values < 0).any()
    if never_negative and n_ops:
        sums = measures.values.sum(axis=1, dtype=np.float64)
        never_negative = float(sums.max()) < _LARGEST_TOTAL / 2
    return Metrics(column, n_ops, never_negative=never_negative)


def _without_overflow(
    profile: Profile, what: str, counts: Int64Array, exact: Float64Array
) -> Int64Array:
    """The counts; if their sum does not fit into 64 bits, without the largest of them.

    Args:
        profile: Gets a notice.
        what: What is counted.
        counts: Count of each op, wrapped at 64 bits, shape (n,).
        exact: The same, not wrapped, shape (n,).
    """
    fits = float(np.abs(exact).sum()) < _LARGEST_TOTAL
    too_large: BoolArray = np.zeros(len(counts), np.bool_)
    if not fits:
        too_large = np.abs(exact) > _LARGEST_TOTAL / len(counts)
    profile.notices.set(
        f"too-many-{what.replace(' ', '-')}",
        f"ops have so many {what} that totals would not fit into 64 bits; theirs count as 0",
        int(too_large.sum()),
    )
    return np.where(too_large, 0, counts) if not fits else counts


def parameter_count(shape: Shape) -> int:
    """Elements of a shape: the product of its dimensions, 1 for a scalar, 0 if any is unknown."""
    dims = display_dims(shape)
    return math.prod(dims) if dims and min(dims) >= 0 else 0


def _parameters(profile: Profile, shape_ids: Int64Array, classic: bool) -> Int64Array:
    counts = [parameter_count(shape) for shape in profile.ops.shapes.shapes.values]
    counts.append(0)  # for "no shape", id -1
    wrapped = np.array([(count + 2**63) % 2**64 - 2**63 for count in counts], np.int64)[shape_ids]
    if classic:
        return wrapped
    exact = np.array([min(count, 2**80) for count in counts], np.float64)[shape_ids]
    return _without_overflow(profile, "parameters", wrapped, exact)
