"""A message with a field of every type that protobuf has, which tfprof's own have not.

A singular field has the number of its type, a packed one 100 more, an unpacked one 200 more.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from tfprof.core.wire.plan import Entries, Plan

TYPES = {
    "double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed64": 6, "fixed32": 7,
    "bool": 8, "string": 9, "inner": 11, "bytes": 12, "uint32": 13, "enum": 14, "sfixed32": 15,
    "sfixed64": 16, "sint32": 17, "sint64": 18,
}  # fmt: skip
"""``FieldDescriptor.TYPE_*`` by name; ``inner`` is a message."""

NUMBERS = sorted(set(TYPES) - {"string", "bytes", "inner"})
ROOT = "kinds.Kinds"
_OPTIONAL, _REPEATED = 1, 3


def _file() -> FileDescriptorProto:
    file = FileDescriptorProto(name="kinds.proto", package="kinds", syntax="proto3")
    enum = file.enum_type.add(name="Enum")
    for name, value in (("NONE", 0), ("ONE", 1), ("LESS", -1)):
        enum.value.add(name=name, number=value)
    kinds = file.message_type.add(name="Kinds")
    for name, kind in TYPES.items():
        _typed(kinds.field.add(name=name, number=kind, label=_OPTIONAL), kind)
        _typed(kinds.field.add(name=f"many_{name}", number=100 + kind, label=_REPEATED), kind)
        if name in NUMBERS:
            field: Any = kinds.field.add(name=f"unpacked_{name}", number=200 + kind)
            field.label, field.options.packed = _REPEATED, False
            _typed(field, kind)
    _map(kinds, "inner_by_text", 300, (9, 11))
    _map(kinds, "double_by_number", 301, (5, 1))
    kinds.oneof_decl.add(name="choice")
    for place, name in enumerate(("int64", "string", "inner", "float", "bool", "sint32")):
        field = kinds.field.add(name=f"one_{name}", number=401 + place, label=_OPTIONAL)
        field.oneof_index = 0
        _typed(field, TYPES[name])
    inner = file.message_type.add(name="Inner")
    inner.field.add(name="number", number=1, label=_OPTIONAL, type=3)
    inner.field.add(name="text", number=2, label=_OPTIONAL, type=9)
    kind = inner.field.add(name="kinds", number=3, label=_OPTIONAL, type=11)
    kind.type_name = ".kinds.Kinds"
    return file


def _typed(field: Any, kind: int) -> None:
    field.type = kind
    if kind in (11, 14):
        field.type_name = {11: ".kinds.Inner", 14: ".kinds.Enum"}[kind]


def _map(message: Any, name: str, number: int, kinds: tuple[int, int]) -> None:
    entry = message.nested_type.add(name=name.title().replace("_", "") + "Entry")
    entry.options.map_entry = True
    for place, kind in enumerate(kinds):
        field: Any = FieldDescriptorProto(name=("key", "value")[place], number=place + 1)
        field.label = _OPTIONAL
        _typed(field, kind)
        entry.field.append(field)
    field = message.field.add(name=name, number=number, label=_REPEATED, type=11)
    field.type_name = f".kinds.Kinds.{entry.name}"


_pool = DescriptorPool()
_pool.AddSerializedFile(_file().SerializeToString())
DESCRIPTOR = _pool.FindMessageTypeByName(ROOT)
Kinds: Any = GetMessageClass(DESCRIPTOR)
Inner: Any = GetMessageClass(_pool.FindMessageTypeByName("kinds.Inner"))


def plan_of(entries: Entries) -> Plan:
    """A plan for ``Kinds``."""
    with patch("tfprof.core.wire.plan.private_pool", lambda: _pool):
        return Plan(ROOT, entries)
