"""Counts by element type.

Arithmetic on integers, truth values and strings is no float work. A complex addition is 2 float
operations, a multiplication 6 (4 products, 2 sums), a multiply-add 4 real ones.
"""

from __future__ import annotations

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.symbolic import Number
from tfprof.graphs.model.tensors import (
    COMPLEX_TYPES,
    DT_BOOL,
    DT_RESOURCE,
    DT_STRING,
    DT_VARIANT,
    INTEGER_TYPES,
    QUANTIZED_TYPES,
    REF,
)

_NO_FLOATS = INTEGER_TYPES | QUANTIZED_TYPES | {DT_BOOL, DT_STRING, DT_RESOURCE, DT_VARIANT}


def element_type(op: OpCall, index: int = 0) -> int:
    """Element type of an input, references stripped; 0 if unknown, which counts as float."""
    return op.input(index).dtype % REF


def is_complex(dtype: int) -> bool:
    """Whether elements are complex numbers."""
    return dtype in COMPLEX_TYPES


def steps(n: Number, m: Number) -> Number:
    """Operations that reduce n elements to m."""
    left = n - m
    return max(left, 0) if isinstance(left, int) else left


def additions(count: Number, dtype: int) -> Number:
    """Float operations of additions or comparisons of elements."""
    if dtype in _NO_FLOATS:
        return 0
    return 2 * count if is_complex(dtype) else count


def multiplications(count: Number, dtype: int) -> Number:
    """Float operations of multiplications of elements."""
    if dtype in _NO_FLOATS:
        return 0
    return 6 * count if is_complex(dtype) else count


def real_multiply_adds(count: Number, dtype: int) -> Number:
    """Real multiply-adds of multiply-adds of elements of any type."""
    return 4 * count if is_complex(dtype) else count


def float_work(count: Number, dtype: int) -> Number:
    """The count, or 0 if elements are not floats."""
    return 0 if dtype in _NO_FLOATS else count
