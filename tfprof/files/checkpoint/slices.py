"""Parts of tensors: their elements and their keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from tfprof.core.wire import messages as pb
from tfprof.files.checkpoint.dtypes import Array

WHOLE: Final = -1
"""Length of a range that is the whole dimension."""

SLICE_KEY_START: Final = b"\x00"
"""First byte of keys of parts; names of variables do not begin with it."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a tensor.

    Attributes:
        ranges: Start and length in each dimension; the length may be ``WHOLE``.
    """

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, message: pb.TensorSliceProto) -> Slice:
        """Read it."""
        return cls(
            tuple(
                (extent.start, extent.length if extent.HasField("length") else WHOLE)
                for extent in message.extent
            )
        )

    def key(self, name: str) -> bytes:
        """Key of this part of a variable: its name and ranges, written so that keys sort."""
        escaped = name.encode().replace(b"\x00", b"\x00\xff")
        rank = len(self.ranges)
        n_bytes = (rank.bit_length() + 7) // 8
        parts = [SLICE_KEY_START, escaped, b"\x00\x01", bytes([n_bytes])]
        parts.append(rank.to_bytes(n_bytes, "big"))
        parts += [_sortable(number) for both in self.ranges for number in both]
        return b"".join(parts)

    def place(self, shape: Sequence[int]) -> tuple[slice, ...] | None:
        """Where the part is in a tensor of a shape; None if it does not fit."""
        if len(self.ranges) != len(shape):
            return None
        place = []
        for (start, length), size in zip(self.ranges, shape, strict=True):
            # A whole dimension starts at 0.
            end = size if length == WHOLE else start + length
            if not 0 <= start <= end <= size or (length == WHOLE and start):
                return None
            place.append(slice(start, end))
        return tuple(place)


def n_elements(place: Iterable[slice]) -> int:
    """How many elements there are at a place."""
    return prod(part.stop - part.start for part in place)


def may_cover(shape: Sequence[int], places: Sequence[Iterable[slice]]) -> bool:
    """Whether parts have exactly as many elements as the whole.

    Then reading them takes time in proportion to the size of the whole.
    """
    whole = prod(shape)
    return 0 < len(places) <= max(whole, 1) and sum(map(n_elements, places)) == whole


def assembled(
    shape: Sequence[int], parts: Sequence[tuple[tuple[slice, ...], Array]]
) -> Array | None:
    """A tensor out of its parts.

    Args:
        shape: Its shape.
        parts: Where each part is, and its elements; they ``may_cover`` it.

    Returns:
        None if parts overlap.
    """
    if len(parts) == 1:
        return parts[0][1].reshape(shape)
    tensor = np.empty(shape, parts[0][1].dtype)
    missing = np.ones(shape, np.bool_)
    for place, values in parts:
        tensor[place] = values.reshape([part.stop - part.start for part in place])
        missing[place] = False
    return None if missing.any() else tensor


def _sortable(number: int) -> bytes:
    """A signed number in the fewest bytes; the leading bits give their number."""
    size = ~number if number < 0 else number
    length = size.bit_length() // 7 + 1
    header = ((1 << length) - 1) << (7 * length)
    return (number % (1 << 8 * length) ^ header).to_bytes(length, "big")
