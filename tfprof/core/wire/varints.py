"""Writes the wire format: single fields, and columns of numbers all at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tfprof.core.wire.walk import LENGTH_DELIMITED, MAX_VARINT_BYTES, MORE

if TYPE_CHECKING:
    from tfprof.core.wire.lockstep import Int64Array

_PAYLOAD_BITS = 7


def encode_varint(value: int) -> bytes:
    """A non-negative number as a varint."""
    encoded = bytearray()
    while value >= MORE:
        encoded.append(value & 0x7F | MORE)
        value >>= _PAYLOAD_BITS
    encoded.append(value)
    return bytes(encoded)


def length_delimited_tag(field: int) -> bytes:
    """Tag of a string, bytes or message field."""
    return encode_varint(field << 3 | LENGTH_DELIMITED)


def length_delimited(tag: bytes, payload: bytes) -> bytes:
    """A string, bytes or message field."""
    size = len(payload)
    if size < 1 << 7:
        return b"%b%c%b" % (tag, size, payload)
    if size < 1 << 14:
        return b"%b%c%c%b" % (tag, size & 0x7F | MORE, size >> 7, payload)
    return tag + encode_varint(size) + payload


def length_delimited_each(tag: bytes, payloads: Iterable[bytes]) -> list[bytes]:
    """A string, bytes or message field for each payload."""
    payloads = list(payloads)
    heads = {size: tag + encode_varint(size) for size in set(map(len, payloads))}
    return [heads[len(payload)] + payload for payload in payloads]


def encode_int64_fields(fields: Sequence[int], values: Int64Array) -> list[bytes]:
    """Records of int64 fields; zeros are left out, as proto3 does.

    Args:
        fields: Field numbers.
        values: Shape (number of fields, number of records).

    Returns:
        The encoded fields of each record.
    """
    records, which = np.nonzero(values.T)
    numbers = values[which, records].view(np.uint64)
    tags = np.array([field << 3 for field in fields], np.int64)[which]
    tag_sizes = varint_sizes(tags.view(np.uint64))
    sizes = varint_sizes(numbers)
    ends = np.cumsum(tag_sizes + sizes)
    starts = ends - tag_sizes - sizes
    data = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    put_varints(data, starts, tags.view(np.uint64), tag_sizes)
    put_varints(data, starts + tag_sizes, numbers, sizes)

    per_record = np.bincount(records, minlength=values.shape[1])
    bounds = np.concatenate([[0], ends])[np.concatenate([[0], np.cumsum(per_record)])].tolist()
    encoded = data.tobytes()
    return [encoded[start:end] for start, end in pairwise(bounds)]


def varint_sizes(numbers: npt.NDArray[np.uint64]) -> Int64Array:
    """Bytes that each number takes as a varint."""
    sizes = np.ones(len(numbers), np.int64)
    for size in range(1, MAX_VARINT_BYTES):
        larger = numbers >= np.uint64(1 << (_PAYLOAD_BITS * size))
        if not larger.any():
            break
        sizes += larger
    return sizes


def put_varints(
    data: npt.NDArray[np.uint8],
    starts: Int64Array,
    numbers: npt.NDArray[np.uint64],
    sizes: Int64Array,
) -> None:
    """Write numbers at their places: the first byte of all of them, then the second, and so on."""
    for place in range(int(sizes.max()) if len(sizes) else 0):
        there = sizes > place
        if not there.all():
            starts, numbers, sizes = starts[there], numbers[there], sizes[there]
        low = (numbers & np.uint64(0x7F)).astype(np.uint8)
        low[sizes > place + 1] |= MORE
        data[starts + place] = low
        numbers = numbers >> np.uint64(_PAYLOAD_BITS)
