"""Columns to protobuf bytes: all records of a table at once.

Encoding a whole column with NumPy is several times faster than setting message fields one by one.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.wire.varints import (
    length_delimited,
    length_delimited_tag,
    put_varints,
    varint_sizes,
)
from tfprof.core.wire.walk import LENGTH_DELIMITED

_KEY_TAG = 1 << 3
_VALUE_TAG = 2 << 3


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
    put_varints(data, ends - sizes, numbers, sizes)
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
    data[starts - 2] = field << 3 | LENGTH_DELIMITED
    data[starts - 1] = payloads
    data[starts] = _KEY_TAG
    put_varints(data, starts + 1, key_numbers, key_sizes)
    starts = starts + 1 + key_sizes
    data[starts] = _VALUE_TAG
    put_varints(data, starts + 1, value_numbers, value_sizes)
    places = np.concatenate([[0], ends])[bounds].tolist()
    encoded = data.tobytes()
    return [encoded[start:end] for start, end in pairwise(places)]
