"""Search, numbering and sorting of long columns of integers, natively where that was built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from tfprof.core.columns.columns import Int64Array, IntArray, blocks, narrowest
from tfprof.core.wire.compiled import is_native, native_module

_native: Any = native_module("lookup")

ScalarT = TypeVar("ScalarT", bound=np.generic)

_MOST_ROWS = 1 << 31

DENSE = 4
"""Up to this many possible numbers for each row, rows are counted instead of sorted."""


def places_in(
    column: IntArray, values: IntArray, side: Literal["left", "right"] = "left"
) -> Int64Array:
    """``np.searchsorted``, but faster if the values ascend, too.

    Args:
        column: Ascending, shape (n,).
        values: Shape (m,), ascending at least in long pieces.
        side: Before or behind those that are equal.

    Returns:
        Shape (m,).
    """
    if not (is_native() and _native is not None):
        places: Int64Array = np.searchsorted(column, values, side=side)
        return places
    places = np.empty(len(values), np.int64)
    _native.search(_of_words(column), _of_words(values), places, side == "right")
    return places


def is_among(values: IntArray, members: IntArray) -> npt.NDArray[np.bool_]:
    """``np.isin`` for long columns of integers that ascend at least in long pieces.

    Args:
        values: Shape (n,).
        members: Shape (m,), in any order.

    Returns:
        Shape (n,).
    """
    if not len(members):
        return np.zeros(len(values), np.bool_)
    ordered = np.sort(members)
    places = np.minimum(places_in(ordered, values), len(ordered) - 1)
    is_member: npt.NDArray[np.bool_] = ordered[places] == values
    return is_member


def _of_words(column: IntArray) -> IntArray:
    """With numbers of 32 or 64 bits, one behind the other."""
    if column.dtype not in (np.int32, np.int64):
        column = column.astype(np.int64)
    return np.ascontiguousarray(column)


def looked_up(table: npt.NDArray[ScalarT], places: IntArray) -> npt.NDArray[ScalarT]:
    """``table[places]`` for a long column of places, without widening all of them at once.

    Args:
        table: Shape (m,).
        places: 0 and above, shape (n,).
    """
    found = np.empty(len(places), table.dtype)
    for block in blocks(0, len(places)):
        table.take(places[block], mode="clip", out=found[block])
    return found


def numbered_rows(columns: Sequence[Int64Array]) -> tuple[IntArray, int]:
    """A number from 0 for each row of some columns, alike for equal rows, in no certain order.

    Args:
        columns: One or more of the same length.

    Returns:
        The numbers, shape (n,), and how many there are.
    """
    n_rows = len(columns[0])
    if is_native() and _native is not None and n_rows < _MOST_ROWS:
        numbers: IntArray = np.ascontiguousarray(columns[0])
        n_distinct = 0
        for column in columns[1:] or columns:
            found, first = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
            # NumPy's memory comes in large pages: such a table is read all over the place.
            slots = np.zeros(1 << (2 * n_rows).bit_length(), np.uint64)
            n_distinct = _native.number_pairs(
                numbers.astype(np.int64, copy=False), np.ascontiguousarray(column), slots, found,
                first,
            )  # fmt: skip
            if n_distinct < 0:
                break
            numbers = found
        else:
            return numbers, n_distinct
    return numbered_rows_pure(columns)


def numbered_rows_pure(columns: Sequence[Int64Array]) -> tuple[IntArray, int]:
    """The same in NumPy: numbers are the places of rows in order."""
    numbers: IntArray = np.zeros(len(columns[0]), np.int64)
    n_distinct = 1
    for column in columns:
        more, n_more = _ranks(column)
        if n_distinct > 1:
            # Ranks are below the number of rows: their products are far from the limit of 64 bits.
            both = np.multiply(numbers, n_more, dtype=np.int64)
            both += more
            more, n_more = _ranks(both)
        numbers, n_distinct = more, n_more
    return numbers, n_distinct


def _ranks(values: Int64Array) -> tuple[IntArray, int]:
    """The place of each value among the distinct ones in order, and how many these are."""
    if not len(values):
        return values, 0
    narrow = narrowest(len(values))
    lowest, highest = int(values.min()), int(values.max())
    if highest - lowest < DENSE * len(values):
        above = values - lowest
        is_there = np.zeros(highest - lowest + 1, np.bool_)
        is_there[above] = True
        ranks = np.cumsum(is_there, dtype=np.int64) - 1
        return ranks.astype(narrow)[above], int(ranks[-1]) + 1
    order = np.argsort(values)
    in_order = values[order]
    is_new = np.zeros(len(values), np.bool_)
    np.not_equal(in_order[1:], in_order[:-1], out=is_new[1:])
    ranks = np.cumsum(is_new, dtype=narrow)
    rank_of = np.empty(len(values), narrow)
    rank_of[order] = ranks
    return rank_of, int(ranks[-1]) + 1


def rows_by_key(keys: IntArray, size: int, first: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The rows of each key in their order, key by key, and the owner of each row.

    Args:
        keys: Of each row, from 0 and below ``size``, shape (n,), n below 2**31.
        size: How many keys there may be.
        first: The first row of each owner, and the number of rows, shape (n owners + 1,).

    Returns:
        The rows and their owners, shape (n,), and where the rows of each key begin and those of
        the last one end, shape (size + 1,).
    """
    rows, owners = np.empty((2, len(keys)), np.int32)
    begins = np.zeros(size + 1, np.int32)
    if is_native() and _native is not None:
        _native.order_by_key(
            np.ascontiguousarray(keys), np.ascontiguousarray(first, np.int32), begins[1:], rows,
            owners,
        )  # fmt: skip
        return rows, owners, begins
    rows[:], begins[1:] = rows_by(keys, size)
    owners[:] = np.repeat(np.arange(len(first) - 1), np.diff(first))[rows]
    return rows, owners, begins


def rows_by(numbers: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """The rows of each number in their order, number by number.

    Args:
        numbers: Of each row, from 0 and below ``size``, shape (n,).
        size: How many numbers there may be.

    Returns:
        The rows, shape (n,), and the place behind the last of each number, shape (size,).
    """
    if is_native() and _native is not None:
        numbers = _of_words(numbers)
        order, ends = np.empty(len(numbers), numbers.dtype), np.empty(size, numbers.dtype)
        _native.order_by(numbers, ends, order)
        return order, ends
    return (
        np.argsort(numbers, kind="stable"),
        np.cumsum(np.bincount(numbers, minlength=size)).astype(np.int64, copy=False),
    )
