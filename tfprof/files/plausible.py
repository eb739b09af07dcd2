"""Checks whether raw bytes could be a message of a given type.

Protobuf data carries no type, and its parser accepts nearly anything: a field of the wrong
wire type is silently kept as unknown. So a wrong file is found by comparing the first few
hundred fields with the descriptor.
"""

from __future__ import annotations

import codecs
import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tfprof.core.wire.pool import is_repeated
from tfprof.core.wire.walk import (
    END_GROUP,
    FIXED32,
    FIXED64,
    LENGTH_DELIMITED,
    START_GROUP,
    VARINT,
    Field,
    WireError,
    walk,
)

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.descriptor_pb2 import DescriptorProto

    from tfprof.files.disk import FileParts

MAX_FIELDS: Final = 300
MAX_DEPTH: Final = 4
_MAX_TEXT: Final = 4096

_TYPE_STRING: Final = 9
_TYPE_GROUP: Final = 10
_TYPE_MESSAGE: Final = 11
_TYPE_BYTES: Final = 12
_FIXED64_TYPES: Final = frozenset({1, 6, 16})  # double, fixed64, sfixed64
_FIXED32_TYPES: Final = frozenset({2, 7, 15})  # float, fixed32, sfixed32
_LENGTH_TYPES: Final = frozenset({_TYPE_STRING, _TYPE_MESSAGE, _TYPE_BYTES})

_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(slots=True)
class Evidence:
    """Evidence for and against one message type.

    Attributes:
        known: Fields that fit the descriptor, at all depths.
        unknown: Fields whose number the descriptor neither has nor reserves.
        odd: Texts with control characters: legal, but rarely what a name looks like.
        complaint: The first impossible field, with its byte offset; empty if none.
        truncated: The data end inside a field.
    """

    known: int = 0
    unknown: int = 0
    odd: int = 0
    complaint: str = ""
    truncated: bool = False

    @property
    def flawless(self) -> bool:
        """Whether there is no evidence against the type."""
        return not (self.complaint or self.unknown or self.truncated)

    @property
    def score(self) -> int:
        """Score for ranking possible types."""
        return self.known - 4 * self.unknown - 2 * self.odd


def examine(data: memoryview | FileParts, descriptor: Descriptor) -> Evidence:
    """Compare the beginning of ``data`` with ``descriptor``; bounded work, never raises."""
    examination = _Examination(data)
    examination.message(0, len(data), descriptor, 0)
    return examination.found


class _Examination:
    """The data, and the evidence so far."""

    def __init__(self, data: memoryview | FileParts) -> None:
        self.data = data
        self.found = Evidence()

    def message(self, start: int, stop: int, descriptor: Descriptor, depth: int) -> None:
        """Examine one message; recursion ends at MAX_DEPTH."""
        counts = self.found
        fields = descriptor.fields_by_number
        try:
            for field in walk(self.data, start, stop):
                self._field(field, fields.get(field.number), descriptor, depth)
                if counts.complaint or counts.known + counts.unknown >= MAX_FIELDS:
                    return
        except WireError as error:
            if not (error.cut_off and stop == len(self.data)):
                counts.complaint = f"{error.problem} at byte {error.offset}"
                return
            counts.truncated = True
            if error.field is not None:
                present = error.field._replace(value=stop - error.field.offset)
                self._field(present, fields.get(present.number), descriptor, depth)

    def _field(
        self, field: Field, child: FieldDescriptor | None, parent: Descriptor, depth: int
    ) -> None:
        """Count one field, or complain about it."""
        counts = self.found
        if child is None:
            if field.wire_type in (START_GROUP, END_GROUP):
                counts.complaint = f"field {field.number} is a group at byte {field.tag_offset}"
            elif field.number not in _reserved(parent):
                counts.unknown += 1
            return
        packed = field.wire_type == LENGTH_DELIMITED and child.type not in _LENGTH_TYPES
        if field.wire_type != _wire_type(child) and not (packed and is_repeated(child)):
            self._complain(field, child, f"has wire type {field.wire_type}")
            return
        counts.known += 1
        if child.type == _TYPE_STRING:
            self._string(field, child)
        elif child.type == _TYPE_MESSAGE and child.message_type and depth + 1 < MAX_DEPTH:
            end = field.offset + field.value
            self.message(field.offset, end, child.message_type, depth + 1)
        elif packed and not self._cut(field) and not self._packs(field, child):
            self._complain(field, child, "holds part of a number")

    def _string(self, field: Field, child: FieldDescriptor) -> None:
        stop = field.offset + min(field.value, _MAX_TEXT)
        payload = bytes(self.data[field.offset : stop])
        whole = field.value <= _MAX_TEXT and not self._cut(field)
        try:
            # Incremental, because the end may fall inside a character.
            text = codecs.getincrementaldecoder("utf-8")().decode(payload, whole)
        except UnicodeDecodeError:
            self._complain(field, child, "holds text that is not UTF-8")
            return
        self.found.odd += bool(_CONTROL.search(text))

    def _packs(self, field: Field, child: FieldDescriptor) -> bool:
        """Whether a packed payload is made of whole numbers."""
        width = {FIXED64: 8, FIXED32: 4}.get(_wire_type(child))
        if width:
            return field.value % width == 0
        return not field.value or self.data[field.offset + field.value - 1] < 0x80

    def _cut(self, field: Field) -> bool:
        """Whether the data may end within this field."""
        return self.found.truncated and field.offset + field.value == len(self.data)

    def _complain(self, field: Field, child: FieldDescriptor, problem: str) -> None:
        label = f"field {field.number} ({child.name})"
        self.found.complaint = f"{label} {problem} at byte {field.tag_offset}"


def _wire_type(child: FieldDescriptor) -> int:
    if child.type in _LENGTH_TYPES:
        return LENGTH_DELIMITED
    if child.type in _FIXED64_TYPES:
        return FIXED64
    if child.type in _FIXED32_TYPES:
        return FIXED32
    return START_GROUP if child.type == _TYPE_GROUP else VARINT


@functools.lru_cache(maxsize=256)
def _reserved(descriptor: Descriptor) -> frozenset[int]:
    """Field numbers of TensorFlow's schema, present or past, that ours leaves out."""
    spans = _schema(descriptor).reserved_range
    return frozenset(n for span in spans for n in range(span.start, span.end))


@functools.lru_cache(maxsize=256)
def field_names(descriptor: Descriptor) -> frozenset[str]:
    """Names that a text proto of this type may start a field with, reserved ones included."""
    return frozenset([*descriptor.fields_by_name, *_schema(descriptor).reserved_name])


def _schema(descriptor: Descriptor) -> DescriptorProto:
    """The declaration of a message, from that of its file: where protobuf is Python alone, as on
    machines without a wheel of it, a message of a private pool has none of its own."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    names: list[str] = []
    around: Descriptor | None = descriptor
    while around is not None:
        names.append(around.name)
        around = around.containing_type
    declared = FileDescriptorProto.FromString(descriptor.file.serialized_pb).message_type
    for name in reversed(names):
        found = next(one for one in declared if one.name == name)
        declared = found.nested_type
    return found
