"""Shapes of slices."""

from __future__ import annotations

from typing import NamedTuple

from tfprof.graphs.model.op_call import OpCall, UnknownError, sound
from tfprof.graphs.model.symbolic import Number, ceil_div, maximum, minimum
from tfprof.graphs.shapes.rules import SHAPES, Shapes


class Part(NamedTuple):
    """The part that a slice takes of one dimension, or a new dimension.

    Attributes:
        axis: The dimension; -1 for a new one, of size 1.
        begin: First index, None for the first of the dimension.
        end: Index after the last one, None for the end of the dimension.
        stride: Steps from one index to the next.
        single: Whether it takes only the index ``begin``, and removes the dimension.
        known: Whether ``begin``, ``end`` and ``stride`` are known.
    """

    axis: int
    begin: Number | None = None
    end: Number | None = None
    stride: int = 1
    single: bool = False
    known: bool = True


def strided_parts(op: OpCall, rank: int, first: int) -> list[Part]:
    """The parts of a ``StridedSlice`` and similar ops, dimension by dimension.

    Args:
        op: The op.
        rank: Number of dimensions that are sliced.
        first: Input with the begins, followed by ends and strides.
    """
    triples = _triples(op, first)
    n = len(triples)
    masks = _Masks.of(op)
    ellipsis = next((place for place in range(n) if masks.ellipsis >> place & 1), n)
    sliced = sum(1 for place in range(n) if place != ellipsis and not masks.new_axis >> place & 1)
    if sliced > rank:
        raise UnknownError(f"a slice along {sliced} of {rank} dimensions")
    parts: list[Part] = []
    axis = 0
    for place in range(n + (ellipsis == n)):
        if place == ellipsis:
            parts += [Part(axis + step) for step in range(rank - sliced)]
            axis += rank - sliced
        elif masks.new_axis >> place & 1:
            parts.append(Part(-1))
        else:
            parts.append(masks.part(axis, place, triples[place]))
            axis += 1
    return parts


def _triples(op: OpCall, first: int) -> list[tuple[Number | None, ...]]:
    """Begin, end and stride of each part, None for unknown ones."""
    inputs = [op.spelled_numbers(first + place) for place in range(3)]
    n = next((len(numbers) for numbers in inputs if numbers is not None), None)
    if n is None:
        raise UnknownError("it is unknown how many dimensions are sliced")
    return list(zip(*((None,) * n if part is None else part for part in inputs), strict=True))


class _Masks(NamedTuple):
    """The bits of a strided slice, one for each part that it spells out."""

    begin: int
    end: int
    ellipsis: int
    new_axis: int
    shrink_axis: int

    @classmethod
    def of(cls, op: OpCall) -> _Masks:
        masks = cls(*(op.integer(f"{name}_mask") for name in cls._fields))
        if masks.ellipsis & (masks.ellipsis - 1):
            raise UnknownError("a slice has two ellipses")
        return masks

    def part(self, axis: int, place: int, triple: tuple[Number | None, ...]) -> Part:
        begin, end, stride = triple
        if stride == 0:
            raise UnknownError("a slice has a stride of 0")
        if self.shrink_axis >> place & 1:
            return Part(axis, begin, single=True, known=begin is not None)
        from_start, to_end = bool(self.begin >> place & 1), bool(self.end >> place & 1)
        known = (from_start or begin is not None) and (to_end or end is not None)
        if not isinstance(stride, int):
            return Part(axis, known=False)
        return Part(
            axis, None if from_start else begin, None if to_end else end, stride, known=known
        )


def part_size(dim: Number, part: Part) -> Number | None:
    """Number of indices that a part takes of a dimension, None if unknown."""
    if not part.known:
        return None
    begin = None if part.begin is None else _from_start(part.begin, dim)
    end = None if part.end is None else _from_start(part.end, dim)
    if part.stride < 0:  # the same indices in ascending order
        begin, end = (None if bound is None else bound + 1 for bound in (end, begin))
    low = 0 if begin is None else maximum(begin, 0)
    high = dim if end is None else minimum(end, dim)
    count = maximum(high - low, 0)
    if low == 0 and (end is None or end == dim or (isinstance(end, int) and end >= 0)):
        count = high  # simpler than a maximum with 0: sizes are never negative
    return ceil_div(count, abs(part.stride))


def _from_start(index: Number, dim: Number) -> Number:
    """An index counted from the start.

    A symbolic one counts from the end only if it is negative for all values of its unknowns.
    """
    negative = index < 0 if isinstance(index, int) else maximum(index, 0) == 0
    return index + dim if negative else index


@SHAPES.of("StridedSlice")
def _strided_slice(op: OpCall) -> Shapes:
    dims = op.shape(0)
    sizes = [
        1 if part.axis < 0 else part_size(dims[part.axis], part)
        for part in strided_parts(op, len(dims), 1)
        if not part.single
    ]
    return [tuple(sizes)]


@SHAPES.of("Slice")
def _slice(op: OpCall) -> Shapes:
    """A size of -1 means all elements from the begin on."""
    dims = op.shape(0)
    nothing = (None,) * len(dims)
    begins, sizes = (op.spelled_numbers(index) for index in (1, 2))
    begins, sizes = nothing if begins is None else begins, nothing if sizes is None else sizes
    if not len(begins) == len(sizes) == len(dims):
        raise UnknownError(f"begins and sizes of a slice do not fit {len(dims)} dimensions")
    rests = [None if b is None else dim - b for dim, b in zip(dims, begins, strict=True)]
    return [sound(tuple(n if n != -1 else r for n, r in zip(sizes, rests, strict=True)))]


@SHAPES.of("RandomCrop")
def _random_crop(op: OpCall) -> Shapes:
    """A box of a given height and width out of an image."""
    dims = op.shape_of_rank(0, 3)
    height, width = op.spelled_numbers(1) or (None, None)
    return [(height, width, dims[2])]
