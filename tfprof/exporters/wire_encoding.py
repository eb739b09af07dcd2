"""Columns to protobuf bytes: all records of a table at once.

Setting message fields one by one from Python costs more than computing them did; encoding a
whole column with NumPy and letting protobuf's own parser build the messages is several times
faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tfprof.model.columns import Int64Array

_LENGTH_DELIMITED = 2
_PAYLOAD_BITS = 7
_MORE = 0x80
_MAX_VARINT_BYTES = 10
_KEY_TAG = 1 << 3
_VALUE_TAG = 2 << 3


def encode_varint(value: int) -> bytes:
    """A non-negative number as a varint."""
    encoded = bytearray()
    while value >= _MORE:
        encoded.append(value & 0x7F | _MORE)
        value >>= _PAYLOAD_BITS
    encoded.append(value)
    return bytes(encoded)


def length_delimited_tag(field: int) -> bytes:
    """Tag of a string, bytes or message field."""
    return encode_varint(field << 3 | _LENGTH_DELIMITED)


def length_delimited(tag: bytes, payload: bytes) -> bytes:
    """A string, bytes or message field."""
    size = len(payload)
    if size < 1 << 7:
        return b"%b%c%b" % (tag, size, payload)
    if size < 1 << 14:
        return b"%b%c%c%b" % (tag, size & 0x7F | _MORE, size >> 7, payload)
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
    _put_varints(data, starts, tags.view(np.uint64), tag_sizes)
    _put_varints(data, starts + tag_sizes, numbers, sizes)

    per_record = np.bincount(records, minlength=values.shape[1])
    bounds = np.concatenate([[0], ends])[np.concatenate([[0], np.cumsum(per_record)])].tolist()
    encoded = data.tobytes()
    return [encoded[start:end] for start, end in pairwise(bounds)]


def encode_packed(field: int, values: Int64Array) -> list[bytes]:
    """A packed repeated int64 field of each record, zeros included.

    Args:
        field: Field number.
        values: Shape (elements per record, number of records).

    Returns:
        The encoded field of each record.
    """
    numbers = np.ascontiguousarray(values.T).reshape(-1).view(np.uint64)
    sizes = varint_sizes(numbers)
    ends = np.cumsum(sizes)
    data = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    _put_varints(data, ends - sizes, numbers, sizes)
    bounds = [0, *ends[len(values) - 1 :: len(values)].tolist()]
    tag = length_delimited_tag(field)
    encoded = data.tobytes()
    return [length_delimited(tag, encoded[start:end]) for start, end in pairwise(bounds)]


def encode_int_maps(
    field: int, keys: Int64Array, values: Int64Array, bounds: Int64Array
) -> list[bytes]:
    """A map field of integers to integers of each record; entries hold key and value, also 0.

    Args:
        field: Field number, at most 15.
        keys: Keys of all records, one record after the other, shape (n,).
        values: Values, shape (n,).
        bounds: First entry of each record, and n, shape (number of records + 1,).

    Returns:
        The encoded entries of each record.
    """
    key_numbers, value_numbers = keys.view(np.uint64), values.view(np.uint64)
    key_sizes, value_sizes = varint_sizes(key_numbers), varint_sizes(value_numbers)
    payloads = key_sizes + value_sizes + 2  # and a tag of one byte for each
    ends = np.cumsum(payloads + 2)
    starts = ends - payloads
    data = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    data[starts - 2] = field << 3 | _LENGTH_DELIMITED
    data[starts - 1] = payloads
    data[starts] = _KEY_TAG
    _put_varints(data, starts + 1, key_numbers, key_sizes)
    starts = starts + 1 + key_sizes
    data[starts] = _VALUE_TAG
    _put_varints(data, starts + 1, value_numbers, value_sizes)
    places = np.concatenate([[0], ends])[bounds].tolist()
    encoded = data.tobytes()
    return [encoded[start:end] for start, end in pairwise(places)]


def varint_sizes(numbers: npt.NDArray[np.uint64]) -> Int64Array:
    """Bytes that each number takes as a varint."""
    sizes = np.ones(len(numbers), np.int64)
    for size in range(1, _MAX_VARINT_BYTES):
        larger = numbers >= np.uint64(1 << (_PAYLOAD_BITS * size))
        if not larger.any():
            break
        sizes += larger
    return sizes


def _put_varints(
    data: npt.NDArray[np.uint8],
    starts: Int64Array,
    numbers: npt.NDArray[np.uint64],
    sizes: Int64Array,
) -> None:
    """Write numbers at their places, one byte of all of them at a time."""
    for place in range(int(sizes.max()) if len(sizes) else 0):
        there = sizes > place
        if not there.all():
            starts, numbers, sizes = starts[there], numbers[there], sizes[there]
        low = (numbers & np.uint64(0x7F)).astype(np.uint8)
        low[sizes > place + 1] |= _MORE
        data[starts + place] = low
        numbers = numbers >> np.uint64(_PAYLOAD_BITS)
