"""A message as bytes or as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.core.wire import messages as pb
from tfprof.core.wire.parsing import parse
from tfprof.files.open import CLASSES, open_bytes
from tfprof.files.sniff import Format

if TYPE_CHECKING:
    from tfprof.files.open import Source


def message_bytes(source: Source, kind: Format) -> bytes:
    """The serialized message of a file, which may hold it as text.

    Raises:
        InputError: It is broken.
    """
    return bytes(open_bytes(source, kind, argument="path")[0])


def text_of(data: bytes, kind: Format, source: str = "message") -> tuple[bytes, int]:
    """A serialized message in protobuf's text format.

    Args:
        data: The message.
        kind: Its type.
        source: Its name in errors.

    Returns:
        The text, and how many bytes of the message it leaves out: fields that are not in
        tfprof's definition of the message.

    Raises:
        MalformedProfileError: It is broken.
    """
    from google.protobuf import text_format

    message = parse(getattr(pb, CLASSES[kind]), data, source=source)
    whole = message.ByteSize()
    message.DiscardUnknownFields()
    text: str = text_format.MessageToString(
        message, as_utf8=True, descriptor_pool=pb.private_pool()
    )
    return text.encode(), whole - message.ByteSize()
