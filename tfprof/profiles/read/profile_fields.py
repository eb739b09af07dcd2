"""Columns of a saved profile as texts and messages; equal ones get the same number."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from google.protobuf.message import DecodeError

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.strings import StringTable
from tfprof.core.wire.lockstep import IrregularError
from tfprof.core.wire.scan import Columns, Texts
from tfprof.core.wire.text_index import TextIndex

if TYPE_CHECKING:
    from google.protobuf.message import Message

    MessageT = TypeVar("MessageT", bound=Message)

_NUMBER_BYTES = 8


def decode(payload: bytes) -> str:
    """A text of a message.

    Raises:
        IrregularError: It is not UTF-8.
    """
    try:
        return payload.decode()
    except UnicodeDecodeError:
        raise IrregularError from None


def parsed(message_class: type[MessageT], payload: bytes) -> MessageT:
    """A message, decoded by protobuf.

    Raises:
        IrregularError: The bytes are broken.
    """
    try:
        return message_class.FromString(payload)
    except (DecodeError, RuntimeWarning):
        raise IrregularError from None


def single(elements: Columns, n_rows: int) -> Texts:
    """The element of each row above, empty where there is none.

    Raises:
        IrregularError: Some row has several, which protobuf would merge.
    """
    if has_equal_neighbours(elements.parent):
        raise IrregularError
    texts = elements.text("value")
    start, length = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)
    start[elements.parent], length[elements.parent] = texts.start, texts.length
    return Texts(texts.data, start, length)


def counts_of(elements: Columns, n_rows: int) -> Int64Array:
    """How many elements each row above has, shape (n rows,)."""
    return np.bincount(elements.parent, minlength=n_rows)


def number_texts(texts: Texts) -> tuple[Int64Array, list[bytes]]:
    """Number equal texts alike, in order of first appearance.

    Returns:
        The number of each text, shape (n,), and the distinct texts by number.
    """
    index = TextIndex()
    numbers = index.intern(texts)
    return numbers, [index[number] for number in range(len(index))]


def number_lists(
    values: Int64Array, counts: Int64Array
) -> tuple[Int64Array, list[tuple[int, ...]]]:
    """The same for lists of numbers.

    Args:
        values: The values of one list after the other.
        counts: How many each list has, shape (n,).
    """
    length = counts * _NUMBER_BYTES
    numbers, distinct = number_texts(Texts(values.tobytes(), np.cumsum(length) - length, length))
    return numbers, [tuple(np.frombuffer(content, np.int64).tolist()) for content in distinct]


def number_rows(*columns: Int64Array) -> tuple[Int64Array, list[tuple[int, ...]]]:
    """The same for the rows of columns."""
    table = np.stack(columns, axis=1)
    return number_lists(table, np.full(len(table), len(columns), np.int64))


def intern_texts(texts: Texts, strings: StringTable) -> Int64Array:
    """Ids of texts, shape (n,).

    Raises:
        IrregularError: One is not UTF-8.
    """
    numbers, distinct = number_texts(texts)
    ids = np.array([strings.intern(decode(content)) for content in distinct], np.int64)
    return ids[numbers]


def has_equal_neighbours(values: Int64Array) -> bool:
    """Whether some number equals the one before it."""
    return bool((values[1:] == values[:-1]).any())


def has_repeats(first: Int64Array, second: Int64Array) -> bool:
    """Whether some pair of numbers occurs twice."""
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    return bool(((first[1:] == first[:-1]) & (second[1:] == second[:-1])).any())
