"""Sums, products and extremes of small tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import Element
from tfprof.graphs.shapes.arguments import axis_in
from tfprof.graphs.shapes.rules import Rules
from tfprof.graphs.shapes.small_arrays import Folded, ValueRules, array
from tfprof.graphs.shapes.value_arithmetic import (
    Real,
    computed,
    dtype_of,
    larger,
    operand,
    result_in,
    smaller,
)
from tfprof.graphs.shapes.value_conditions import both, either

RULES: ValueRules = Rules()


def _numeric(function: Callable[[Any, Any], Real | None]) -> Callable[..., Element]:
    return lambda one, other: computed(function, one, other)


_REDUCTIONS: dict[str, tuple[Callable[..., Element], Element]] = {
    "Sum": (_numeric(operator.add), 0),
    "Prod": (_numeric(operator.mul), 1),
    "Max": (_numeric(larger), None),
    "Min": (_numeric(smaller), None),
    "All": (both, True),
    "Any": (either, False),
}


@RULES.of(*_REDUCTIONS)
def _reduce(op: OpCall) -> Folded:
    elements, dtype = array(op, 0), dtype_of(op)
    axes = sorted({axis_in(axis, elements.ndim) for axis in op.known_ints(1)})
    kept = [axis for axis in range(elements.ndim) if axis not in axes]
    n_rows, n_in_row = (math.prod(elements.shape[axis] for axis in side) for side in (kept, axes))
    flat = elements.transpose([*kept, *axes]).ravel().tolist()
    rows = (flat[row * n_in_row : (row + 1) * n_in_row] for row in range(n_rows))
    return [tuple(_reduced(op.type, row, dtype) for row in rows)]


def _reduced(op_type: str, row: list[Element], dtype: int) -> Element:
    function, start = _REDUCTIONS[op_type]
    result = reduce(function, row) if row else start
    if isinstance(result, (bool, tuple)):
        return result
    return result_in(operand(result), dtype)
