"""A single stat of all events of a plane, or of all entries of its metadata, as columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tfprof.captures.model.xspace_stats import (
    Buffer,
    ByteArray,
    IntArray,
    StatKind,
    StatMetadata,
    StatTable,
    StatValue,
    text_bounds,
    value_of,
)
from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows

TextNumbers: TypeAlias = Callable[[Buffer, Int64Array, Int64Array], tuple[Int64Array, list[bytes]]]
"""Numbers texts of a buffer, given by start and length; equal texts get the same number, in the
order of their first appearance."""


def number_texts(
    data: Buffer, start: Int64Array, length: Int64Array
) -> tuple[Int64Array, list[bytes]]:
    """A simple ``TextNumbers``, which takes one text after the other."""
    known: dict[bytes, int] = {}
    bounds = zip(start.tolist(), (start + length).tolist(), strict=True)
    numbers = [known.setdefault(bytes(data[first:end]), len(known)) for first, end in bounds]
    return np.array(numbers, np.int64), list(known)


Column: TypeAlias = npt.NDArray[Any]


class Found(NamedTuple):
    """Owners and rows of a stat.

    Attributes:
        owners: The owners that have it, ascending, shape (n,).
        rows: Its row in the table for each owner; the last one of several.
        table: The stats.
    """

    owners: IntArray
    rows: IntArray
    table: StatTable


def find_stat(table: StatTable, keys: list[int]) -> Found:
    """The owners that have a stat of these keys, and the last such stat of each."""
    if not keys:
        return Found(no_rows(), no_rows(), table)
    rows, owners = table.with_key(keys[0])
    if len(keys) > 1:
        found = [table.with_key(key) for key in keys]
        rows, owners = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(rows)
        rows, owners = rows[order], owners[order]
    is_last = np.ones(len(rows), np.bool_)
    is_last[:-1] = owners[1:] != owners[:-1]
    if is_last.all():
        return Found(owners, rows, table)
    return Found(owners[is_last], rows[is_last], table)


@dataclass(frozen=True, eq=False)
class StatColumn:
    """One stat of all events, in two forms: a row for each event that has it, or for every event.

    Properties with dense columns create them on each access; callers keep them.

    Attributes:
        n_events: Number of events; for a column of metadata entries, the number of entries.
        own: Events that have the stat themselves.
        inherited: Other events, whose metadata has it.
        names: Texts to which references point.
        number: Function that numbers texts.
    """

    n_events: int
    own: Found
    inherited: Found
    names: StatMetadata
    number: TextNumbers = number_texts

    def __len__(self) -> int:
        return self.n_events

    @cached_property
    def _order(self) -> Int64Array | None:
        """The order that sorts own and inherited events together; None if they are sorted."""
        if not len(self.inherited.owners) or not len(self.own.owners):
            return None
        return np.argsort(
            np.concatenate([self.own.owners, self.inherited.owners]), kind="stable"
        ).astype(np.int64)

    def _joined(self, own: Column, inherited: Column) -> Column:
        if not len(inherited):
            return own
        if not len(own):
            return inherited
        return np.concatenate([own, inherited])[self._order]

    @cached_property
    def events(self) -> IntArray:
        """The events that have the stat, ascending, shape (m,)."""
        return self._joined(self.own.owners, self.inherited.owners)

    @cached_property
    def held_kinds(self) -> ByteArray:
        """``StatKind`` of the value of each of ``events``, shape (m,); 0 for one without value."""
        own, inherited = self.own, self.inherited
        return self._joined(
            own.table.kinds.take(own.rows), inherited.table.kinds.take(inherited.rows)
        )

    @cached_property
    def held_values(self) -> Int64Array:
        """Integers of ``events``, or the bits of doubles; for texts, places in ``known_texts``."""
        if not self._has_texts:
            return self._raw
        (own, inherited), _ = self._numbered
        return self._joined(own, inherited)

    @property
    def kinds(self) -> ByteArray:
        """``StatKind`` of each event's value, 0 without one, shape (n events,)."""
        return self._spread(self.held_kinds, np.zeros(self.n_events, np.uint8))

    @property
    def present(self) -> BoolArray:
        """Whether each event has the stat, shape (n events,)."""
        is_present = self.held_kinds != StatKind.NONE
        return self._spread(is_present, np.zeros(self.n_events, np.bool_))

    @property
    def signed(self) -> Int64Array:
        """Signed and unsigned integers as signed numbers; 0 for events without one."""
        return self.integers(0)

    @property
    def unsigned(self) -> npt.NDArray[np.uint64]:
        """Signed and unsigned integers as unsigned numbers, such as ids; 0 for events without."""
        return self.signed.view(np.uint64)

    def integers(self, missing: int) -> Int64Array:
        """The same as ``signed``, with another number for events without one."""
        numbers = np.full(self.n_events, missing, np.int64)
        kinds = self.held_kinds
        chosen = (kinds == StatKind.UINT64) | (kinds == StatKind.INT64)
        return self._spread(self._raw, numbers, chosen)

    @property
    def held_floats(self) -> npt.NDArray[np.float64]:
        """Numbers of any kind, of ``events``, shape (m,); NaN for other values."""
        kinds, values = self.held_kinds, self._raw
        numbers = np.full(len(kinds), np.nan)
        for kind, type_ in (
            (StatKind.DOUBLE, "f8"),
            (StatKind.UINT64, "u8"),
            (StatKind.INT64, "i8"),
        ):
            np.copyto(numbers, values.view(type_), where=kinds == kind, casting="unsafe")
        return numbers

    @property
    def floats(self) -> npt.NDArray[np.float64]:
        """Numbers of any kind; NaN for events without one."""
        return self._spread(self.held_floats, np.full(self.n_events, np.nan))

    @cached_property
    def known_texts(self) -> list[str]:
        """The distinct texts, to whose places the ``held_values`` of ``events`` refer.

        They come from strings, bytes and references; bytes that are not UTF-8 become U+FFFD.
        """
        return self._numbered[1] if self._has_texts else []

    @cached_property
    def texts(self) -> tuple[IntArray, list[str]]:
        """Number of each event's text, -1 without one, and ``known_texts``."""
        numbers = np.full(self.n_events, -1, np.int32)
        if self._has_texts:
            self._spread(self.held_values, numbers, _is_text(self.held_kinds))
        return numbers, self.known_texts

    def value(self, event: int) -> StatValue:
        """The value of one event; None if it has none."""
        for part in (self.own, self.inherited):
            place = int(np.searchsorted(part.owners, event))
            if place < len(part.owners) and part.owners[place] == event:
                row, table = int(part.rows[place]), part.table
                return value_of(
                    int(table.kinds[row]), int(table.values[row]), table.data, self.names
                )
        return None

    def text(self, event: int) -> str:
        """The text of one event; empty if it has none."""
        value = self.value(event)
        if isinstance(value, bytes):
            return str(value, "utf-8", "replace")
        return value if isinstance(value, str) else ""

    @cached_property
    def _raw(self) -> Int64Array:
        """Values of ``events`` as in the tables."""
        return self._joined(
            *[part.table.values.take(part.rows) for part in (self.own, self.inherited)]
        )

    def _spread(self, held: Column, column: Column, chosen: BoolArray | None = None) -> Column:
        """Write the values of ``events`` into a column of all events."""
        if chosen is None or chosen.all():
            column[self.events] = held
        elif chosen.any():
            column[self.events[chosen]] = held[chosen]
        return column

    @cached_property
    def _has_texts(self) -> bool:
        return bool(_is_text(self.held_kinds).any())

    @cached_property
    def _numbered(self) -> tuple[tuple[Int64Array, Int64Array], list[str]]:
        """Own and inherited values with numbers for texts, and the texts."""
        numbers: dict[str, int] = {}
        own = self._number(self.own.table, self.own.rows, numbers)
        # There are few entries of the metadata and many events.
        table = self.inherited.table
        rows = _used(self.inherited.rows, len(table))
        of_row = np.zeros(len(table), np.int64)
        of_row[rows] = self._number(table, rows, numbers)
        return (own, of_row[self.inherited.rows]), list(numbers)

    def _number(self, table: StatTable, rows: IntArray, numbers: dict[str, int]) -> Int64Array:
        """The values of rows with numbers for texts; adds new texts to ``numbers``."""
        kinds, values = table.kinds.take(rows), table.values.take(rows)
        is_ref = kinds == StatKind.REF
        if is_ref.all():
            return self._number_refs(values, numbers)
        refs = np.flatnonzero(is_ref)
        values[refs] = self._number_refs(values[refs], numbers)
        inline = np.flatnonzero(_is_text(kinds) & ~is_ref)
        if len(inline):
            start, length = text_bounds(table.data, values[inline])
            ids, octets = self.number(table.data, start, length)
            texts = [str(one, "utf-8", "replace") for one in octets]
            values[inline] = _numbers_of(texts, numbers)[ids]
        return values

    def _number_refs(self, keys: Int64Array, numbers: dict[str, int]) -> Int64Array:
        rows = self.names.by_key.rows(keys) + 1  # 0: to nothing
        used = _used(rows, len(self.names) + 1)
        names = self.names.names
        texts = [names[row - 1] if row else "" for row in used.tolist()]
        of_row = np.zeros(len(self.names) + 1, np.int64)
        of_row[used] = _numbers_of(texts, numbers)
        return of_row.take(rows)


def _is_text(kinds: ByteArray) -> BoolArray:
    is_text: BoolArray = kinds >= StatKind.STR
    return is_text


def _used(values: IntArray, end: int) -> Int64Array:
    """The occurring numbers below ``end``, ascending."""
    is_used = np.zeros(end, np.bool_)
    is_used[values] = True
    return np.flatnonzero(is_used)


def _numbers_of(texts: list[str], numbers: dict[str, int]) -> Int64Array:
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)
