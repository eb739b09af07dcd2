"""Which ops of a profile ran, and how often: also inside another op or under another name.

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

import re
from typing import NamedTuple

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.profiles.model.ops import GraphNodes, OpTable

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
    too (``NoOp``); in a saved profile, which has no graph, it cannot be told from the others.
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
