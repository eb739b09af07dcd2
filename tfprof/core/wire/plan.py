"""Plans: the parts of a message to read, as tables of columns.

A plan is a tree. Its root is a table with one row, the whole message. Each wanted repeated field is
a table with one row for each element; its column ``parent`` is the row that contains the element.
Fields of singular messages belong to the row around them and are named by their path.

    >>> plan = Plan("tensorflow.RunMetadata", [
    ...     present("step_stats"),
    ...     rows("step_stats.dev_stats", [
    ...         text("device"),
    ...         rows("node_stats", [text("node_name"), number("all_start_micros")]),
    ...     ]),
    ... ])
    >>> [table.name for table in plan.tables]
    ['', 'step_stats.dev_stats', 'step_stats.dev_stats.node_stats']

Of a repeated occurrence of a singular field, the last value counts, as in protobuf; messages are
merged.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tfprof.core.wire.compiled import native
from tfprof.core.wire.pool import MESSAGE, is_repeated, private_pool

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

    from tfprof.core.wire.lockstep import Int64Array


class Kind(enum.IntEnum):
    """How to read a field; the native scanner has the same numbers."""

    SKIP = 0
    INT64 = 1
    INT32 = 2
    UINT32 = 3
    BOOL = 4
    SINT64 = 5
    SINT32 = 6
    FIXED64 = 7
    FIXED32 = 8
    TEXT = 9
    MESSAGE = 10
    ROWS = 11
    VALUES = 12


class Wire(enum.IntEnum):
    """Wire type of a field."""

    VARINT = 0
    BITS_64 = 1
    LENGTH = 2
    BITS_32 = 5


MAX_DEPTH = 100
"""Levels of messages and groups that protobuf reads."""

_NUMBERS = {
    1: (Wire.BITS_64, Kind.FIXED64),  # double
    2: (Wire.BITS_32, Kind.FIXED32),  # float
    3: (Wire.VARINT, Kind.INT64),
    4: (Wire.VARINT, Kind.INT64),  # uint64: the same bits
    5: (Wire.VARINT, Kind.INT32),
    6: (Wire.BITS_64, Kind.FIXED64),
    7: (Wire.BITS_32, Kind.FIXED32),
    8: (Wire.VARINT, Kind.BOOL),
    13: (Wire.VARINT, Kind.UINT32),
    14: (Wire.VARINT, Kind.INT32),  # enum
    15: (Wire.BITS_32, Kind.FIXED32),
    16: (Wire.BITS_64, Kind.FIXED64),
    17: (Wire.VARINT, Kind.SINT32),
    18: (Wire.VARINT, Kind.SINT64),
}
"""Types of numbers. Those of fixed size are kept as bits, in an int64."""

Entries: TypeAlias = "Sequence[Wanted | WantedRows]"

Form = str
"""``number``, ``text``, ``present``, ``optional`` or ``oneof``."""


_SLOTS = {"number": 1, "present": 1, "text": 2, "optional": 3, "oneof": 3}
"""Integers of a column: a number; start and length of a text; member and both."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A wanted column.

    Attributes:
        path: The field, or a oneof, from the message of the table: ``memory_stats.size``.
        form: What to read of it.
    """

    path: str
    form: Form


@dataclass(frozen=True, slots=True)
class WantedRows:
    """A wanted table.

    Attributes:
        path: The repeated field, from the message of the table above.
        entries: Columns of its elements. Numbers and texts have the column ``value``.
    """

    path: str
    entries: tuple[Wanted | WantedRows, ...]


def number(path: str) -> Wanted:
    """A number, 0 where it is absent; of a floating-point or fixed type, its bits."""
    return Wanted(path, "number")


def text(path: str) -> Wanted:
    """A text, bytes or a message as bytes; empty where it is absent.

    Several messages are not merged: these are the bytes of the last one.
    """
    return Wanted(path, "text")


def present(path: str) -> Wanted:
    """1 where a message is present, else 0."""
    return Wanted(path, "present")


def oneof(path: str) -> Wanted:
    """Field number of the present member of a oneof, 0 if none, and its number, bits or text."""
    return Wanted(path, "oneof")


def optional(path: str) -> Wanted:
    """A number or text, and its field number if it is present, else 0; as a ``oneof``."""
    return Wanted(path, "optional")


def rows(path: str, entries: Entries = ()) -> WantedRows:
    """A table with a row for each element of a repeated field."""
    return WantedRows(path, tuple(entries))


@dataclass(slots=True)
class Action:
    """The action for a field.

    Attributes:
        kind: How to read it.
        descriptor: The field.
        wire: Wire type of its numbers.
        slot: First of its columns; -1 without one.
        level: Level of its messages; -1 if they are not read.
        table: The table that it adds rows to; -1 without one.
        element: Kind of its values, of numbers and of repeated fields.
        which: Column for the number of a oneof's member; -1 without one.
    """

    kind: Kind
    descriptor: FieldDescriptor
    wire: Wire = Wire.LENGTH
    slot: int = -1
    level: int = -1
    table: int = -1
    element: Kind = Kind.SKIP
    which: int = -1

    def numbers(self) -> list[int]:
        """For the native scanner."""
        return [
            self.kind, self.wire, self.slot, self.level, self.table, self.element, self.which,
        ]  # fmt: skip


@dataclass(slots=True)
class Table:
    """A table of a plan.

    Attributes:
        name: Path of its field from the root; empty for the root.
        parent: The table above, -1 for the root.
        level: Level of its rows; -1 for values.
        message: Full name of the message of its rows; empty for values.
        columns: First slot and form by path, ``value`` for values.
        n_slots: How many columns of integers it has, ``parent`` included.
    """

    name: str
    parent: int
    level: int = -1
    message: str = ""
    columns: dict[str, tuple[int, Form]] = field(default_factory=dict)
    n_slots: int = 1

    def add(self, path: str, form: Form) -> int:
        """A column; returns the first of its slots."""
        slot = self.n_slots
        self.columns[path] = (slot, form)
        self.n_slots += _SLOTS[form]
        return slot


class Plan:
    """A plan, checked against the definition of the message and compiled.

    Args:
        message: Full name of the message.
        entries: What to read of it.
        depth: How many messages are around it.

    Attributes:
        message: Full name of the message.
        entries: What is read of it.
        tables: The tables, each after its parent; the root is the first.
        levels: Kinds of messages that are read: the action for each field, by number.

    Raises:
        ValueError: The message has no such field, or it cannot be read like that.
    """

    def __init__(self, message: str, entries: Entries, depth: int = 0) -> None:
        self.message = message
        self.entries = entries
        self._depth = depth
        self.tables: list[Table] = []
        self.levels: list[dict[int, Action]] = []
        try:
            descriptor = private_pool().FindMessageTypeByName(message)
        except KeyError:
            raise ValueError(f"there is no message {message!r}") from None
        self._add_table(descriptor, entries, "", -1)
        self.slots = np.array([table.n_slots for table in self.tables], np.int64)
        self.actions, self.spans = self._numbers()

    @functools.cached_property
    def native(self) -> Any:
        """The plan for the native scanner; only where that was built."""
        return native.NativePlan(self.actions, self.spans, self.slots)

    def table(self, name: str) -> int:
        """The place of a table.

        Raises:
            KeyError: There is none of this name.
        """
        for place, table in enumerate(self.tables):
            if table.name == name:
                return place
        raise KeyError(name)

    def depth(self, table: int) -> int:
        """How many messages are around a row of a table of messages."""
        return int(self.spans.reshape(-1, 3)[self.tables[table].level, 2])

    def _add_table(self, descriptor: Descriptor, entries: Entries, name: str, parent: int) -> int:
        place = len(self.tables)
        self.tables.append(Table(name, parent, self._add_level(), descriptor.full_name))
        for entry in entries:
            path = entry.path.split(".")
            self._place(place, self.tables[place].level, descriptor, path, entry)
        return place

    def _add_level(self) -> int:
        self.levels.append({})
        return len(self.levels) - 1

    def _place(
        self,
        table: int,
        level: int,
        descriptor: Descriptor,
        path: Sequence[str],
        entry: Wanted | WantedRows,
    ) -> None:
        """Enter an entry into a level, or into the levels of the messages on its path."""
        name, rest = path[0], path[1:]
        if not rest and isinstance(entry, Wanted) and entry.form == "oneof":
            self._place_oneof(table, level, descriptor, name, entry)
            return
        field = descriptor.fields_by_name.get(name)
        if field is None:
            raise ValueError(f"{descriptor.full_name} has no field {name!r}")
        if rest:
            inner = self._nested(level, field)
            assert field.message_type is not None
            self._place(table, inner, field.message_type, rest, entry)
        elif isinstance(entry, WantedRows):
            self._place_rows(table, level, field, entry)
        elif entry.form == "present":
            self._nested(level, field)
            action = self.levels[level][field.number]
            if action.slot >= 0:
                raise ValueError(f"{field.full_name} is read twice")
            action.slot = self.tables[table].add(entry.path, "present")
        else:
            if is_repeated(field):
                raise ValueError(f"{field.full_name} is repeated: read its rows")
            action = self._single(field, entry.form)
            action.slot = self.tables[table].add(entry.path, entry.form)
            if entry.form == "optional":
                action.which, action.slot = action.slot, action.slot + 1
            self._enter(level, action)

    def _single(self, field: FieldDescriptor, form: Form) -> Action:
        if form == "optional":
            form = "number" if field.type in _NUMBERS else "text"
        if (form == "number") != (field.type in _NUMBERS):
            raise ValueError(f"{field.full_name} cannot be read as a {form}")
        if form == "text":
            return Action(Kind.TEXT, field, element=Kind.TEXT)
        wire, kind = _NUMBERS[field.type]
        return Action(kind, field, wire, element=kind)

    def _place_oneof(
        self, table: int, level: int, descriptor: Descriptor, name: str, entry: Wanted
    ) -> None:
        if name not in descriptor.oneofs_by_name:
            raise ValueError(f"{descriptor.full_name} has no oneof {name!r}")
        members = descriptor.oneofs_by_name[name].fields
        which = self.tables[table].add(entry.path, "oneof")
        for member in members:
            action = self._single(member, "number" if member.type in _NUMBERS else "text")
            action.which, action.slot = which, which + 1
            self._enter(level, action)

    def _place_rows(
        self, table: int, level: int, field: FieldDescriptor, entry: WantedRows
    ) -> None:
        if not is_repeated(field):
            raise ValueError(f"{field.full_name} is not repeated")
        above = self.tables[table].name
        name = f"{above}.{entry.path}" if above else entry.path
        action = Action(Kind.ROWS, field)
        self._enter(level, action)
        if field.type == MESSAGE and entry.entries:
            assert field.message_type is not None
            action.table = self._add_table(field.message_type, entry.entries, name, table)
            action.level = self.tables[action.table].level
            return
        if entry.entries:
            raise ValueError(f"{field.full_name} holds values, which have no fields")
        action.kind, action.table = Kind.VALUES, len(self.tables)
        values = Table(name, table)
        self.tables.append(values)
        is_number = field.type in _NUMBERS
        action.wire, action.element = _NUMBERS.get(field.type, (Wire.LENGTH, Kind.TEXT))
        action.slot = values.add("value", "number" if is_number else "text")

    def _nested(self, level: int, field: FieldDescriptor) -> int:
        known = self.levels[level].get(field.number)
        if known is not None and known.kind is Kind.MESSAGE:
            return known.level
        if field.type != MESSAGE or is_repeated(field):
            raise ValueError(f"{field.full_name} is not a singular message")
        inner = self._add_level()
        self._enter(level, Action(Kind.MESSAGE, field, level=inner))
        return inner

    def _enter(self, level: int, action: Action) -> None:
        number = action.descriptor.number
        if number in self.levels[level]:
            raise ValueError(f"{action.descriptor.full_name} is read twice")
        self.levels[level][number] = action

    def _numbers(self) -> tuple[Int64Array, Int64Array]:
        """Actions by field number; and the first action, size and depth of each level."""
        nothing = [0, -1, -1, -1, -1, 0, -1]
        table: list[list[int]] = []
        spans = []
        depths = [self._depth] * len(self.levels)  # a level comes before those in it
        for place, level in enumerate(self.levels):
            size = max(level, default=0) + 1
            spans.append([len(table), size, depths[place]])
            table += [level[n].numbers() if n in level else nothing for n in range(size)]
            for action in level.values():
                if action.level >= 0:
                    depths[action.level] = depths[place] + 1
        if max(depths) > MAX_DEPTH:
            raise ValueError(f"{self.message} is read deeper than {MAX_DEPTH} messages")
        return np.array(table, np.int64).ravel(), np.array(spans, np.int64).ravel()
