"""Reads the text form of messages."""

from __future__ import annotations

from typing import TypeVar

from google.protobuf.message import Message

from tfprof.core.wire import messages as pb

MessageT = TypeVar("MessageT", bound=Message)

_MANY = "\\" * 64


def message_of_text(message_class: type[MessageT], text: str) -> MessageT:
    """Parse the text form of a message; fields that are not known are left out.

    Args:
        message_class: Its class.
        text: The text.

    Raises:
        google.protobuf.text_format.ParseError: It is another text.
        ValueError: It holds a number out of range.
        DeprecationWarning: Where warnings are errors: it holds an invalid escape.
        RecursionError: It is nested too deeply.
    """
    from google.protobuf import text_format

    if _MANY in text:
        # protobuf takes time with the square of backslashes in a row; an octal number is the same.
        text = text.replace("\\\\", "\\134")
    return text_format.Parse(
        text, message_class(), allow_unknown_field=True, descriptor_pool=pb.private_pool()
    )
