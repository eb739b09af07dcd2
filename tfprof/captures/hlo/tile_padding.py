"""The padding of arrays that lie in tiles, as on TPUs."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from tfprof.captures.model.hlo import Instruction, Shape


class Tiled(NamedTuple):
    """A dimension in tiles.

    Attributes:
        dimension: Its number.
        size: Its size.
        tile_size: Size of a tile in this dimension.
    """

    dimension: int
    size: int
    tile_size: int

    @property
    def padded_size(self) -> int:
        """The size with the rest of the last tile."""
        return -(-self.size // self.tile_size) * self.tile_size

    @property
    def growth(self) -> float:
        """By how much padding multiplies the size."""
        return self.padded_size / self.size


def tiled_dimensions(shape: Shape) -> list[Tiled]:
    """The dimensions of a not empty array that its outermost tiles divide; none without tiles."""
    layout = shape.layout
    if layout is None or not layout.tiles or not shape.is_array or not shape.n_elements:
        return []
    return [
        Tiled(place, shape.dimensions[place], size)
        for place, size in zip(layout.minor_to_major, reversed(layout.tiles[0]), strict=False)
        if size > 0 and 0 <= place < len(shape.dimensions)
    ]


def padded_bytes(shape: Shape) -> int:
    """Bytes of an array with the padding of its tiles."""
    return round(shape.n_bytes * prod(one.growth for one in tiled_dimensions(shape)))


def most_padded(one: Instruction) -> Shape | None:
    """The operand or result of an instruction with the most bytes of padding; None without any."""
    arrays = [leaf for leaf in _arrays(one) if padded_bytes(leaf) > leaf.n_bytes]
    return max(arrays, key=lambda leaf: padded_bytes(leaf) - leaf.n_bytes, default=None)


def padding_share(one: Instruction) -> float:
    """Part of the bytes of an instruction's operands and result that is padding."""
    arrays = _arrays(one)
    whole = sum(map(padded_bytes, arrays))
    return 1 - sum(leaf.n_bytes for leaf in arrays) / whole if whole else 0.0


def _arrays(one: Instruction) -> list[Shape]:
    leaves = (leaf for each in (one, *one.operands) for leaf in each.shape.leaves)
    return [leaf for leaf in leaves if leaf.is_array]
