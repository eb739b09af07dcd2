"""Columns from protobuf's messages: the reference, which reads whatever protobuf reads.

The messages have only the fields of the plan, with texts as bytes, as the native scanner does not
read other fields, either.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tfprof.core.wire.plan import Action, Kind, Plan
from tfprof.core.wire.pool import BYTES, MESSAGE
from tfprof.core.wire.scanned import Columns

_INT32, _ENUM = 5, 14
_OPTIONAL, _REPEATED = 1, 3
_FIXED64, _FIXED32 = 6, 7
_AS_BITS = {1: _FIXED64, 16: _FIXED64, 2: _FIXED32, 15: _FIXED32, _ENUM: _INT32}
"""Types with the same bytes as another one, which Python does not interpret."""

_classes: WeakKeyDictionary[Plan, Any] = WeakKeyDictionary()


def scan_messages(plan: Plan, data: bytes) -> list[Columns]:
    """As ``tfprof.core.wire.scan.scan``."""
    message_class = _classes.get(plan)
    if message_class is None:
        message_class = _classes[plan] = message_class_of(plan)
    return _Reader(plan).read(message_class.FromString(data))


def message_class_of(plan: Plan) -> Any:
    """A message class with the fields of a plan."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    file = FileDescriptorProto(name="plan.proto", package="plan", syntax="proto3")
    for place, level in enumerate(plan.levels):
        message = file.message_type.add(name=f"Level{place}")
        oneofs: dict[int, int] = {}
        if not level:  # of a message without fields, upb lets broken ones pass
            field: Any = message.field.add(name="unread", number=1)
            field.label, field.type = _OPTIONAL, BYTES
        for number, action in sorted(level.items()):
            field = message.field.add(name=f"f{number}", number=number)
            repeated = action.kind in (Kind.ROWS, Kind.VALUES)
            field.label = _REPEATED if repeated else _OPTIONAL
            if action.level >= 0:
                field.type, field.type_name = MESSAGE, f".plan.Level{action.level}"
            elif action.element is Kind.TEXT:
                field.type = BYTES
            else:
                field.type = _AS_BITS.get(action.descriptor.type, action.descriptor.type)
            if action.which >= 0:
                if action.which not in oneofs:
                    oneofs[action.which] = len(oneofs)
                    message.oneof_decl.add(name=f"which{action.which}")
                field.oneof_index = oneofs[action.which]
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName("plan.Level0"))


class _Reader:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._slots: list[list[Any]] = [[] for _ in plan.tables]
        self._texts: list[bytes] = []
        self._size = 0

    def read(self, root: Any) -> list[Columns]:
        self._fill(0, [root], [0])
        data = b"".join(self._texts)
        return [
            Columns(data, table.columns, [np.array(slot, np.int64) for slot in slots])
            for table, slots in zip(self._plan.tables, self._slots, strict=True)
        ]

    def _fill(self, table: int, messages: list[Any], parents: list[int]) -> None:
        n_slots = self._plan.tables[table].n_slots
        self._slots[table] = [parents, *([[0] * len(messages)] * (n_slots - 1))]
        self._fill_level(table, self._plan.tables[table].level, messages)

    def _fill_level(self, table: int, level: int, messages: Sequence[Any]) -> None:
        slots = self._slots[table]
        for number, action in self._plan.levels[level].items():
            name = f"f{number}"
            get = operator.attrgetter(name)
            if action.kind is Kind.MESSAGE:
                if action.slot >= 0:
                    slots[action.slot] = [int(message.HasField(name)) for message in messages]
                self._fill_level(table, action.level, list(map(get, messages)))
            elif action.kind in (Kind.ROWS, Kind.VALUES):
                self._fill_rows(action, [list(get(message)) for message in messages])
            elif action.which >= 0:
                self._fill_member(table, action, name, messages)
            elif action.kind is Kind.TEXT:
                slots[action.slot], slots[action.slot + 1] = self._places(map(get, messages))
            else:
                slots[action.slot] = _integers(list(map(get, messages)))

    def _fill_rows(self, action: Action, elements: list[list[Any]]) -> None:
        parents = [row for row, elements_of in enumerate(elements) for _ in elements_of]
        elements_of = list(itertools.chain.from_iterable(elements))
        if action.kind is Kind.ROWS:
            self._fill(action.table, elements_of, parents)
        elif action.element is Kind.TEXT:
            self._slots[action.table] = [parents, *self._places(elements_of)]
        else:
            self._slots[action.table] = [parents, _integers(elements_of)]

    def _fill_member(self, table: int, action: Action, name: str, messages: Sequence[Any]) -> None:
        slots = self._slots[table]
        which, value, length = (list(slots[action.which + i]) for i in range(3))
        number = action.descriptor.number
        for row, message in enumerate(messages):
            if message.WhichOneof(f"which{action.which}") != name:
                continue
            which[row] = number
            if action.kind is Kind.TEXT:
                (value[row],), (length[row],) = self._places([getattr(message, name)])
            else:
                (value[row],) = _integers([getattr(message, name)])
        slots[action.which : action.which + 3] = which, value, length

    def _places(self, texts: Any) -> tuple[list[int], list[int]]:
        starts, lengths = [], []
        for text in texts:
            starts.append(self._size)
            lengths.append(len(text))
            self._texts.append(text)
            self._size += len(text)
        return starts, lengths


def _integers(values: list[Any]) -> list[int]:
    """Numbers as the native scanner keeps them, in an int64."""
    return [(int(value) + 2**63) % 2**64 - 2**63 for value in values]
