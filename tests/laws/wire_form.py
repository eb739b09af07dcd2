"""Other bytes of the same message."""

from __future__ import annotations

from typing import Any

from tfprof.core.wire.pool import is_repeated
from tfprof.core.wire.varints import encode_varint
from tfprof.core.wire.walk import VARINT, walk

_OTHER_VALUE = b"\x4d"


def backwards(message: Any) -> bytes:
    """The fields of a message, and of those in it, from the last number to the first.

    Each varint comes twice, first with another value: the last one counts.
    """
    return _backwards(message.SerializeToString(), message.DESCRIPTOR)


def _backwards(data: bytes, kind: Any) -> bytes:
    found = list(walk(data))
    stops = [*[field.tag_offset for field in found[1:]], len(data)]
    parts = []
    for field, stop in zip(found, stops, strict=False):
        own = kind.fields_by_number.get(field.number)
        part = data[field.tag_offset : stop]
        if own is not None and own.message_type is not None:
            inner = _backwards(data[field.offset : stop], own.message_type)
            tag = encode_varint(field.number << 3 | field.wire_type)
            part = tag + encode_varint(len(inner)) + inner
        elif own is not None and field.wire_type == VARINT and not is_repeated(own):
            part = data[field.tag_offset : field.offset] + _OTHER_VALUE + part
        parts.append((field.number, part))
    return b"".join(part for _, part in sorted(parts, key=lambda one: -one[0]))
