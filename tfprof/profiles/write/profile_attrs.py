"""Attributes of saved nodes, copied as bytes.

The model keeps only the few attributes that formulas read. The others are copied from the
serialized nodes of the ops, where an attribute is encoded as in a ``ProfileNode`` except for the
number of the field.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.wire import messages as pb
from tfprof.core.wire.elements import split
from tfprof.core.wire.lockstep import IrregularError, Messages, Occurrences, read_fields
from tfprof.core.wire.parsing import parse
from tfprof.core.wire.varints import varint_sizes
from tfprof.core.wire.walk import LENGTH_DELIMITED
from tfprof.profiles.model.ops import GraphNodes, OpTable, SavedNodes

_NODE = 1  # of GraphDef
_ATTR, _ATTRS = 5, 11  # of NodeDef and of ProfileNode
_KEY_TAG = 1 << 3 | LENGTH_DELIMITED  # of a map entry
_LONGEST_KEY = 127  # whose length takes one byte
_LOADED = "the loaded profile"
_ATTRS_TAG = _ATTRS << 3 | LENGTH_DELIMITED
_VALUE = 2  # of a map entry
_LIST = 1  # of AttrValue
_LIST_TAG, _TENSOR_TAG = _LIST << 3 | 2, 8 << 3 | 2  # of AttrValue; lists hold tensors as 8, too

ByteArray = npt.NDArray[np.uint8]


def attribute_fields(ops: OpTable, *, constants: bool) -> list[bytes]:
    """The field ``attrs`` of each row; empty for rows that no graph has defined.

    Args:
        ops: The op table.
        constants: Include tensors, the values of constants.

    Raises:
        MalformedProfileError: Attributes of a loaded profile are damaged.
    """
    fields_by_row = [b""] * len(ops)
    for nodes in ops.definitions:
        messages, number = _messages(nodes)
        try:
            fields = _copy(messages, number, constants)
            if isinstance(nodes, SavedNodes):
                # Read as one map: loading has decoded only the attributes that it needs.
                pb.ProfileNode.FromString(b"".join(fields))
        except (IrregularError, DecodeError):
            fields = _convert(messages, number, constants)
        for row, field in zip(nodes.rows.tolist(), fields, strict=True):
            fields_by_row[row] = field
    return fields_by_row


def _messages(nodes: GraphNodes | SavedNodes) -> tuple[Messages, int]:
    """The serialized nodes, and the number of their field of attributes."""
    if isinstance(nodes, SavedNodes):
        return Messages(nodes.data, nodes.start, nodes.end), _ATTRS
    messages, _ = split(nodes.graph, _NODE)
    places = nodes.places
    return Messages(messages.data, messages.start[places], messages.end[places]), _ATTR


def _copy(messages: Messages, number: int, constants: bool) -> list[bytes]:
    """The attributes of each node, by their bytes.

    Raises:
        IrregularError: The bytes are not as protobuf's own writers make them.
    """
    fields = read_fields(messages, number)
    data = np.frombuffer(messages.data, np.uint8).copy()
    end = fields.start + fields.value
    start = fields.start - 1 - varint_sizes(fields.value.view(np.uint64))
    if not (data[start] == number << 3 | LENGTH_DELIMITED).all():
        raise IrregularError
    data[start] = _ATTRS_TAG
    order = np.lexsort((start, fields.owner))
    if not constants:
        order = order[~_is_tensor(fields, data)[order]]
    start, end, owner = start[order], end[order], fields.owner[order]
    keys = _key_beginnings(data, fields.start[order])
    unsorted = (owner[1:] == owner[:-1]) & (keys[1:] <= keys[:-1])

    # Adjacent attributes of a node are one slice.
    first = np.ones(len(start), np.bool_)
    first[1:] = (owner[1:] != owner[:-1]) | (start[1:] != end[:-1])
    last = np.ones(len(start), np.bool_)
    last[:-1] = first[1:]
    encoded = data.tobytes()
    copied = [b""] * len(messages)
    for node, begin, stop in zip(
        owner[first].tolist(), start[first].tolist(), end[last].tolist(), strict=True
    ):
        copied[node] += encoded[begin:stop]
    for node in np.unique(owner[1:][unsorted]).tolist():
        copied[node] = _by_key(copied[node])
    return copied


def _key_beginnings(data: ByteArray, start: Int64Array) -> npt.NDArray[np.uint64]:
    """The first eight bytes of the keys of map entries, as numbers of the same order.

    Raises:
        IrregularError: An entry does not begin with its key.
    """
    size = data[start + 1].astype(np.int64)
    if not (data[start] == _KEY_TAG).all() or (size > _LONGEST_KEY).any():
        raise IrregularError
    words: npt.NDArray[np.uint64] = np.ndarray(
        (len(data) - 7,), np.dtype(">u8"), data, strides=(1,)
    )
    unused = (8 * np.maximum(8 - size, 0)).astype(np.uint64)
    # Two shifts, as no number can be shifted by all of its 64 bits.
    half = unused >> np.uint64(1)
    rest = unused - half
    begin: npt.NDArray[np.uint64] = words[start + 2].astype(np.uint64)
    begin >>= half
    begin >>= rest
    begin <<= half
    begin <<= rest
    return begin


def _by_key(field: bytes) -> bytes:
    attrs = parse(pb.ProfileNode, field, source=_LOADED)
    return attrs.SerializeToString(deterministic=True)


def _is_tensor(fields: Occurrences, data: ByteArray) -> BoolArray:
    """Which attributes hold a tensor or a list of tensors.

    An AttrValue holds one field; its first byte gives the number of the field.
    """
    entries = fields.payloads(np.arange(len(fields.start)))
    start, end = read_fields(entries, _VALUE).last_payload(_VALUE)
    first = np.where(start < end, data[start], 0)
    is_tensor: BoolArray = first == _TENSOR_TAG
    lists = np.flatnonzero(first == _LIST_TAG)
    values = Messages(fields.messages.data, start[lists], end[lists])
    start, end = read_fields(values, _LIST).last_payload(_LIST)
    is_tensor[lists] = np.where(start < end, data[start], 0) == _TENSOR_TAG
    return is_tensor


def _convert(messages: Messages, number: int, constants: bool) -> list[bytes]:
    """The attributes of each node, read and written by protobuf."""
    converted = []
    for start, end in zip(messages.start.tolist(), messages.end.tolist(), strict=True):
        data = messages.data[start:end]
        attrs = (
            parse(pb.ProfileNode, data, source=_LOADED).attrs
            if number == _ATTRS
            else parse(pb.NodeDef, data, source="graph").attr
        )
        kept = {
            name: value
            for name, value in attrs.items()
            if constants or not (value.HasField("tensor") or value.list.tensor)
        }
        converted.append(pb.ProfileNode(attrs=kept).SerializeToString(deterministic=True))
    return converted
