"""The elements of one big repeated field, found without copying or decoding them."""

from __future__ import annotations

import numpy as np

from tfprof._wire.lockstep import Messages
from tfprof._wire.walk import LENGTH_DELIMITED, walk

_PADDING = bytes(16)


def split(data: bytes, number: int) -> tuple[Messages, bytes]:
    """Split a message into the elements of a repeated message field, and all other fields.

    Args:
        data: The serialized message.
        number: Number of the field.

    Raises:
        WireError: The bytes stop being protobuf; what is inside the elements is not looked at.
    """
    starts: list[int] = []
    sizes: list[int] = []
    others: list[bytes] = []
    end = 0  # of the last element so far
    for field in walk(memoryview(data)):
        if field.number == number and field.wire_type == LENGTH_DELIMITED:
            if field.tag_offset > end:
                others.append(data[end : field.tag_offset])
            starts.append(field.offset)
            sizes.append(field.value)
            end = field.offset + field.value
    others.append(data[end:])
    start = np.array(starts, np.int64)
    if end + len(_PADDING) > len(data):
        data += _PADDING  # ``lockstep`` reads some bytes further
    return Messages(data, start, start + np.array(sizes, np.int64)), b"".join(others)
