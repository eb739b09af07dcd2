"""Which ops of a profile ran and how often, also inside another op, and the metrics of each.

An op without a record in a step was not needed for the results of the step, was in a branch that
was not taken, or gave the same result as another op. But TensorFlow's optimizer also changes where
ops run, and these count:

* several ops become one kernel under the name of the last one: a convolution, its bias and its
  activation (``grappler/optimizers/remapper.cc``),
* the ops of a function run in place of its call, under the call's name
  (``common_runtime/inline_function_utils.cc``, ``lower_functional_ops.cc``),
* a product includes a transposition and gets a new name
  (``grappler/optimizers/arithmetic_optimizer.cc``),
* XLA makes one program of many ops; the run metadata do not say which.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.described import Described
from tfprof.core.columns.shapes import Shape, display_dims
from tfprof.profiles.model.ops import FloatOps, GraphNodes, OpTable
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import MEASURES

_FUSED = frozenset((
    "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv2D", "Conv3D",
    "DepthwiseConv2dNative", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3",
    "MatMul",
))  # fmt: skip
"""Ops that TensorFlow fuses others with; every fused kernel contains one of them."""

_FUSED_WITH = _FUSED | frozenset((
    "Add", "AddV2", "BiasAdd", "Elu", "Erf", "Erfc", "LeakyRelu", "Maximum", "Mul", "Pow",
    "Relu", "Relu6", "Sigmoid", "Softplus", "Square", "Squeeze", "Sub", "Tanh",
))  # fmt: skip
"""Ops that a fused kernel may contain."""

_MOST_LEVELS = 16
"""Longest chain of ops to look for in one kernel; TensorFlow's are shorter."""

_XLA = re.compile(r"_?XlaRun|_?XlaLaunch|_?XlaCompile|_XlaRunV2|XlaLaunchV2")

_RENAMED = re.compile(r"(?P<scope>.*/)?ArithmeticOptimizer/[A-Za-z]+_(?P<name>[^/]+)")


class WhatRan(NamedTuple):
    """How ops without a record ran.

    Attributes:
        within: Row of the op that an op ran inside of, or under whose name; -1 for others,
            shape (n,).
        is_elsewhere: Ops that ran under other names, an unknown number of times, shape (n,).
        has_xla: XLA ran some of the ops; which ones is unknown.
    """

    within: Int64Array
    is_elsewhere: BoolArray
    has_xla: bool


def what_ran(ops: OpTable, recorded: BoolArray) -> WhatRan:
    """Find the ops that have no record, but ran.

    Args:
        ops: The ops.
        recorded: Which ops have a record in some step, shape (n,).
    """
    type_ids = ops.op_ids.array
    within = _fused(ops, type_ids, recorded)
    is_elsewhere = np.zeros(len(ops), np.bool_)
    has_xla = False
    for row in np.flatnonzero(recorded & only_at_run_time(ops)).tolist():
        label = int(ops.label_op_ids.array[row])
        has_xla |= label >= 0 and _XLA.fullmatch(ops.strings[label]) is not None
        name = ops.name(row)
        renamed = _RENAMED.fullmatch(name)
        if renamed is not None:
            original = ops.row((renamed["scope"] or "") + renamed["name"])
            if original >= 0 and not recorded[original]:
                within[original] = row
        scope = name.rpartition("/")[0]
        while scope:
            call = ops.row(scope)
            if call >= 0 and not recorded[call]:
                is_elsewhere[call] = True
            scope = scope.rpartition("/")[0]
    return WhatRan(within, is_elsewhere, has_xla)


def recorded_runs(
    ops: OpTable, recorded: BoolArray, runs: Int64Array, static_runs: Int64Array
) -> Int64Array:
    """How often each op ran, shape (n,).

    Args:
        ops: The ops.
        recorded: Which ops have a record in some step, shape (n,).
        runs: How often the recorded ops ran, shape (n,).
        static_runs: How often one run of the program runs each op, shape (n,).
    """
    if not recorded.any():
        return static_runs
    ran = what_ran(ops, recorded)
    if ran.has_xla:
        return np.where(recorded, runs, static_runs)
    elsewhere = np.where(ran.is_elsewhere, static_runs, 0)
    indirectly = np.where(ran.within >= 0, runs[ran.within], elsewhere)
    return np.where(recorded, runs, indirectly)


def not_run(ops: OpTable, recorded: BoolArray) -> Int64Array:
    """Rows of the ops that certainly did not run; none if nothing was recorded."""
    if not recorded.any() or (ran := what_ran(ops, recorded)).has_xla:
        return np.zeros(0, np.int64)
    return np.flatnonzero(~(recorded | ran.is_elsewhere | (ran.within >= 0)))


def only_at_run_time(ops: OpTable) -> BoolArray:
    """Ops that no graph defines.

    Their type is their own name, as in ``TFStats::AddRunMeta``. A node of a graph may be named so,
    too (``NoOp``); in a saved profile, which has no graph, it looks like the others.
    """
    is_undefined = ops.is_own_type()
    for nodes in ops.definitions:
        if isinstance(nodes, GraphNodes):
            is_undefined[nodes.rows] = False
    has_inputs: BoolArray = np.diff(ops.input_offsets()) > 0
    return is_undefined & ~has_inputs


def _fused(ops: OpTable, type_ids: Int64Array, recorded: BoolArray) -> Int64Array:
    """The op that each op ran inside of, -1 for others.

    All outputs of such an op flow into that op, possibly through other ops without a record.
    """
    n = len(ops)
    within: Int64Array = np.full(n, -1, np.int64)
    may_fuse = np.array([text in _FUSED_WITH for text in ops.strings.values], np.bool_)[type_ids]
    is_fused = np.array([text in _FUSED for text in ops.strings.values], np.bool_)[type_ids]
    if not (is_fused & ~recorded).any():
        return within
    sources, readers = ops.input_rows(), np.repeat(np.arange(n), np.diff(ops.input_offsets()))
    is_part = may_fuse & ~recorded
    wanted = (sources >= 0) & (ops.input_ports >= 0)
    wanted[wanted] = is_part[sources[wanted]]
    sources, readers = sources[wanted], readers[wanted]
    for _ in range(_MOST_LEVELS):
        ends_in = np.where(recorded[readers] & may_fuse[readers], readers, within[readers])
        lowest, highest = np.full(n, n), np.full(n, -1)
        np.minimum.at(lowest, sources, ends_in)
        np.maximum.at(highest, sources, ends_in)
        ends = np.where(is_part & (lowest == highest), highest, -1)
        if (ends == within).all():
            break
        within = ends
    makes_one = np.zeros(n, np.bool_)
    makes_one[within[is_fused & (within >= 0)]] = True
    return np.where((within >= 0) & makes_one[within], within, -1)


REQUESTED = Described("requested_bytes", "number", "bytes", "memory requested")
MEMORY = (
    REQUESTED,
    Described("peak_bytes", "number", "bytes", "sum of the allocators' peaks"),
    Described("residual_bytes", "number", "bytes", "memory still held when it ended"),
    Described("output_bytes", "number", "bytes", "memory of the outputs"),
)
METRIC_COLUMNS = (
    Described("run_count", "number", "runs", "executions per step that have a time"),
    Described("exec_micros", "number", "µs", "accelerator and CPU time per step", "both"),
    Described("accelerator_exec_micros", "number", "µs", "time on accelerators per step", "device"),
    Described("cpu_exec_micros", "number", "µs",
              "time on CPUs per step, launching work included", "host"),
    *MEMORY,
    Described("parameters", "number", "elements", "size of trainable and other variables"),
    Described("float_ops", "number", "operations", "float operations of its runs"),
)  # fmt: skip
"""The numbers every view carries, in the row order of its matrices."""

METRICS = tuple(column.name for column in METRIC_COLUMNS)

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
