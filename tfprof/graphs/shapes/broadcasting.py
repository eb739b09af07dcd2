"""Shapes that combine by NumPy's broadcasting, with unknown dimensions among them."""

from __future__ import annotations

from itertools import zip_longest

from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Number, maximum
from tfprof.graphs.model.tensors import Dims


def broadcast(*shapes: Dims) -> Dims:
    """The shape that some shapes broadcast to.

    If one dimension is unknown and the other a number above 1, the result is that number: the
    unknown one is equal to it, or 1.
    """
    result: Dims = ()
    for shape in shapes:
        pairs = zip_longest(reversed(result), reversed(shape), fillvalue=1)
        result = tuple(_joined(left, right) for left, right in pairs)[::-1]
    return result


def _joined(left: Number, right: Number) -> Number:
    if right in (1, left):
        return left
    if left == 1:
        return right
    if isinstance(left, int) and isinstance(right, int):
        raise UnknownError(f"dimensions of {left} and {right} do not broadcast")
    if isinstance(left, int):
        return left
    if isinstance(right, int):
        return right
    return maximum(left, right)
