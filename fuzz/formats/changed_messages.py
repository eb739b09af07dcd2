"""Messages that are changed in one value, and put together from parts that need not be messages."""

from __future__ import annotations

import random
from collections.abc import Callable

from google.protobuf.message import DecodeError

from fuzz.formats.messages import with_hostile_value
from tests.core.wire.random_messages import length_delimited as field_of
from tfprof.core.wire import messages as pb

__all__ = ["changed_message", "field_of"]


def changed_message(name: str) -> Callable[[random.Random, bytes], bytes]:
    """Makes messages of a type with a hostile value; bytes that are none stay as they are.

    Args:
        name: The type, as ``tfprof.core.wire.messages`` has it.
    """
    message_type = getattr(pb, name)

    def changed(chance: random.Random, data: bytes) -> bytes:
        try:
            message = message_type.FromString(data)
        except (DecodeError, RuntimeWarning):
            return data
        return with_hostile_value(chance, message)

    return changed
