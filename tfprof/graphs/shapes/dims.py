"""Equal, different, joined and broadcast shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Number, maximum
from tfprof.graphs.model.tensors import Dims, PartialShape


def same_dim(one: Number | None, other: Number | None) -> Number | None:
    """The size that two shapes give for one dimension: a number rather than a symbol."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, int) and isinstance(other, int) and one != other:
        raise UnknownError(f"sizes {one} and {other} should be the same")
    return other if isinstance(other, int) else one


def same_shape(shapes: Iterable[PartialShape]) -> PartialShape:
    """One shape from several partial descriptions of it."""
    merged: PartialShape = None
    for shape in shapes:
        if merged is None:
            merged = shape
        elif shape is not None:
            if len(shape) != len(merged):
                raise UnknownError(f"shapes {merged} and {shape} should be the same")
            merged = tuple(map(same_dim, merged, shape))
    return merged


def common_shape(shapes: Sequence[PartialShape]) -> PartialShape:
    """The shape that fits each of several shapes: dimensions that differ are unknown."""
    known = [shape for shape in shapes if shape is not None]
    if not known or any(len(shape) != len(known[0]) for shape in known):
        return None
    return tuple(
        dims[0] if all(dim == dims[0] for dim in dims) else None
        for dims in zip(*known, strict=True)
    )


def compatible(one: PartialShape, other: PartialShape) -> bool:
    """Whether two shapes may be the same."""
    if one is None or other is None:
        return True
    known = [pair for pair in zip(one, other, strict=False) if None not in pair]
    return len(one) == len(other) and all(a == b for a, b in known)


def replaced(
    dims: Sequence[Number | None], axis: int, *sizes: Number | None
) -> tuple[Number | None, ...]:
    """A shape with other sizes, or none, in place of the one along an axis."""
    return (*dims[:axis], *sizes, *dims[axis + 1 :])


def inserted(
    dims: Sequence[Number | None], axis: int, size: Number | None
) -> tuple[Number | None, ...]:
    """A shape with one more dimension before an axis."""
    return (*dims[:axis], size, *dims[axis:])


def broadcast(*shapes: Dims) -> Dims:
    """The shape that some shapes broadcast to, by NumPy's rules.

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
    return right if isinstance(right, int) else maximum(left, right)
