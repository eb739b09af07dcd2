"""Parses a message; an error names the problem and its place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from tfprof.core.wire.compiled import is_native
from tfprof.core.wire.pool import MESSAGE, STRING, is_repeated
from tfprof.core.wire.walk import (
    END_GROUP,
    LENGTH_DELIMITED,
    MAX_HEAD_BYTES,
    START_GROUP,
    Field,
    WireError,
    read_varint,
    walk,
)
from tfprof.errors import MalformedProfileError

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.message import Message

    MessageT = TypeVar("MessageT", bound=Message)

MAX_MESSAGE_BYTES: Final = (1 << 31) - 1
"""Protobuf's own limit: sizes are signed 32-bit numbers."""

_MAX_DEPTH: Final = 100

_WIDTHS: Final = {1: 8, 6: 8, 16: 8, 2: 4, 7: 4, 15: 4}
"""Bytes of the numbers that are not varints, by type."""

_PACKED_TYPES: Final = frozenset({3, 4, 5, 8, 13, 14, 17, 18, *_WIDTHS})
_TOO_LONG: Final = re.compile(rb"[\x80-\xff]{10}")

_WITHOUT_VALUES: Final = (
    "Save the graph without the values of its variables and large constants, in a checkpoint"
)
_SMALLER: Final = {
    "GraphDef": _WITHOUT_VALUES,
    "MetaGraphDef": _WITHOUT_VALUES,
    "SavedModel": _WITHOUT_VALUES,
    "OpLogProto": "Write the op log of one program only",
    "ProfileProto": "Save fewer steps",
}
_SCANNED: Final = frozenset({"RunMetadata", "OpLogProto", "ProfileProto"})

BytesLike = bytes | bytearray | memoryview


class Breakage(NamedTuple):
    """The place from which a message is unreadable."""

    problem: str
    offset: int
    path: str
    truncated: bool


def parse(message_class: type[MessageT], data: BytesLike, *, source: str) -> MessageT:
    """Parse ``data`` as one message.

    Args:
        message_class: A generated message class, ours or of another package.
        data: The serialized message.
        source: Name of the data in errors, usually the file name.

    Returns:
        A new message that shares no memory with ``data``.

    Raises:
        MalformedProfileError: The data is over 2 GiB - 1, truncated or no such message.
    """
    from tfprof.core.wire.refusals import REFUSALS

    name = message_class.DESCRIPTOR.name
    size = len(data) if isinstance(data, (bytes, bytearray)) else data.nbytes
    if size > MAX_MESSAGE_BYTES:
        raise MalformedProfileError(
            f"{source}: {size} bytes are too many for {with_article(name)} message: protobuf ends "
            f"at {MAX_MESSAGE_BYTES} bytes (2 GiB - 1). {_remedy(name)}"
        )
    content = data if isinstance(data, bytes) else bytes(data)
    try:
        return message_class.FromString(content)
    except REFUSALS as error:
        raise MalformedProfileError(_explain(message_class, content, source, error)) from error


def _remedy(name: str) -> str:
    remedy = _SMALLER.get(name, "Record fewer steps, or split the file")
    if name in _SCANNED and not is_native():
        remedy += ". The compiled reader, which is not in use here, takes larger ones"
    return remedy


def with_article(name: str) -> str:
    """``a GraphDef``, ``an OpLogProto``, ``an XSpace``."""
    return f"an {name}" if name[0] in "AEIOaeioHXx" else f"a {name}"


def _explain(message_class: type[Message], data: bytes, source: str, error: Exception) -> str:
    name = message_class.DESCRIPTOR.name
    breakage = locate(message_class, data)
    if breakage is None:
        return (
            f"{source}: not a readable {name} message ({error}). "
            f"Check that this is the right file, or record it again."
        )
    where = f" in {breakage.path}" if breakage.path else ""
    if breakage.truncated:
        return (
            f"{source}: truncated {name} message: {breakage.problem} "
            f"at byte {breakage.offset}{where}; the data ends at byte {len(data)}. "
            "Copy or record the file again."
        )
    return (
        f"{source}: not {with_article(name)} message: {breakage.problem} "
        f"at byte {breakage.offset}{where}. "
        f"Check that this is the right file; if it is, it is damaged: record it again."
    )


def locate(message_class: type[Message], data: bytes) -> Breakage | None:
    """Find the innermost place at which ``data`` cannot be this message.

    Only the path to the broken place is walked in Python; protobuf's own parser checks the other
    fields, so this stays fast on large files.

    Returns:
        The place, or None if nothing is found to be wrong.
    """
    view = memoryview(data)
    start, stop = 0, len(data)
    descriptor: Any = message_class.DESCRIPTOR
    path: list[str] = []
    breakage: Breakage | None = None
    is_cut = False
    for _ in range(_MAX_DEPTH):
        step = _broken_child(view, start, stop, descriptor)
        if step is None:
            break
        is_cut = step.cut_off
        truncated = step.cut_off and (breakage is None or breakage.truncated)
        breakage = Breakage(step.problem, step.offset, _shown(path), truncated)
        if step.field is None or step.child is None or step.child.type != MESSAGE:
            return breakage
        path.append(step.child.name + (f"[{step.nth}]" if is_repeated(step.child) else ""))
        descriptor = step.child.message_type
        start, stop = step.field.offset, min(stop, step.field.offset + step.field.value)
    if breakage is None or is_cut:  # the part of the last field that is there is sound
        return breakage
    # Every part is sound and yet the whole is refused: nothing else is left.
    problem = f"messages are nested deeper than the {_MAX_DEPTH} levels that protobuf reads"
    return breakage._replace(problem=problem)


def _shown(path: list[str]) -> str:
    """A field path short enough for a message."""
    return ".".join(path if len(path) <= 8 else [*path[:4], "...", *path[-3:]])


class _Step(NamedTuple):
    """The first broken field of one message, and its index among the fields of its number."""

    problem: str
    offset: int
    field: Field | None
    child: FieldDescriptor | None
    nth: int
    cut_off: bool


def _broken_child(view: memoryview, start: int, stop: int, descriptor: Descriptor) -> _Step | None:
    fields = descriptor.fields_by_number
    seen: dict[int, int] = {}
    groups: list[Field] = []
    try:
        for field in walk(view, start, stop):
            child, index = None if groups else fields.get(field.number), 0
            problem = _head_problem(view, field, stop) or _group_problem(field, groups)
            if not problem and child is not None and field.wire_type == LENGTH_DELIMITED:
                index = seen[field.number] = seen.get(field.number, -1) + 1
                payload = view[field.offset : field.offset + field.value]
                problem = _payload_problem(child, payload)
                if problem:
                    named = f"field {field.number} ({child.name}) {problem}"
                    return _Step(named, field.tag_offset, field, child, index, cut_off=False)
            if problem:
                return _Step(problem, field.tag_offset, None, None, 0, cut_off=False)
    except WireError as error:
        cut, child, index = error.field, None, 0
        if cut is not None and not groups:
            child, index = fields.get(cut.number), seen.get(cut.number, -1) + 1
        return _Step(error.problem, error.offset, cut, child, index, error.cut_off)
    if groups:
        problem = f"the group of field {groups[-1].number} does not end"
        return _Step(problem, groups[-1].tag_offset, None, None, 0, cut_off=False)
    return None


def _head_problem(view: memoryview, field: Field, stop: int) -> str:
    """Why protobuf does not read a field's tag or length, or nothing."""
    _, after_tag = read_varint(view, field.tag_offset, stop)
    if after_tag - field.tag_offset > MAX_HEAD_BYTES:
        return f"the tag of field {field.number} takes more than five bytes"
    if field.wire_type == LENGTH_DELIMITED and (
        field.offset - after_tag > MAX_HEAD_BYTES or field.value > MAX_MESSAGE_BYTES
    ):
        return f"the length of field {field.number} is more than protobuf reads"
    return ""


def _group_problem(field: Field, groups: list[Field]) -> str:
    """The problem of a group's mark, or nothing; ``groups`` holds the open ones."""
    if field.wire_type == START_GROUP:
        groups.append(field)
    elif field.wire_type == END_GROUP and (not groups or groups.pop().number != field.number):
        return f"field {field.number} ends a group that has not begun"
    return ""


def _payload_problem(child: FieldDescriptor, payload: memoryview) -> str:
    """Why this payload is not a value of the field, or nothing."""
    if child.type == STRING:
        try:
            str(payload, "utf-8")
        except UnicodeDecodeError:
            return "holds text that is not UTF-8"
    if child.type == MESSAGE:
        from google.protobuf.message_factory import GetMessageClass

        from tfprof.core.wire.refusals import REFUSALS

        assert child.message_type is not None
        try:
            GetMessageClass(child.message_type).FromString(bytes(payload))
        except REFUSALS:
            return f"does not hold {with_article(child.message_type.name)} message"
    if child.type in _PACKED_TYPES and is_repeated(child):
        return _packed_problem(child.type, payload)
    return ""


def _packed_problem(type_: int, payload: memoryview) -> str:
    """Why this payload is not a packed list of numbers, or nothing."""
    width = _WIDTHS.get(type_)
    is_cut = len(payload) % width if width else len(payload) and payload[-1] >= 0x80
    if is_cut:
        return "ends within a number"
    if not width and _TOO_LONG.search(payload):
        return "holds a number of more than ten bytes"
    return ""
