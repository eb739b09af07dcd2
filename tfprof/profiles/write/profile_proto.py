"""A profile → ``ProfileProto``, which ``load`` and TensorFlow's ``ProfilerFromFile`` read.

Maps are written in the order of their keys: equal profiles give equal bytes. The nodes come last,
so that a file that is cut off still has the strings of its call stacks. The model keeps only the
few attributes that formulas read. The others are copied from the serialized nodes of the ops, where
an attribute is encoded as in a ``ProfileNode`` except for the number of the field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.frames import NO_STACK, StackTable
from tfprof.core.columns.shapes import Shape, display_dims
from tfprof.core.columns.strings import StringTable
from tfprof.core.wire import messages as pb
from tfprof.core.wire.elements import split
from tfprof.core.wire.lockstep import IrregularError, Messages, Occurrences, read_fields
from tfprof.core.wire.parsing import MAX_MESSAGE_BYTES, parse
from tfprof.core.wire.varints import (
    encode_int64_fields,
    encode_varint,
    length_delimited,
    length_delimited_tag,
    varint_sizes,
)
from tfprof.core.wire.walk import LENGTH_DELIMITED
from tfprof.errors import UsageError
from tfprof.profiles.model.executions import Device
from tfprof.profiles.model.ops import GraphNodes, OpTable, SavedNodes
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.write.op_log import trace_message
from tfprof.profiles.write.profile_execs import encode_details, execution_fields
from tfprof.profiles.write.wire_encoding import encode_int_maps

_NODE = 1  # of GraphDef
_ATTR, _ATTRS = 5, 11  # of NodeDef and of ProfileNode
_KEY_TAG = 1 << 3 | LENGTH_DELIMITED  # of a map entry
_LONGEST_KEY = 127  # whose length takes one byte
_LOADED = "the loaded profile"
_ATTRS_TAG = _ATTRS << 3 | LENGTH_DELIMITED
_ENTRY_VALUE = 2  # of a map entry
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
        by_key = parse(pb.ProfileNode, copied[node], source=_LOADED)
        copied[node] = by_key.SerializeToString(deterministic=True)
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


def _is_tensor(fields: Occurrences, data: ByteArray) -> BoolArray:
    """Which attributes hold a tensor or a list of tensors.

    An AttrValue holds one field; its first byte gives the number of the field.
    """
    entries = fields.payloads(np.arange(len(fields.start)))
    start, end = read_fields(entries, _ENTRY_VALUE).last_payload(_ENTRY_VALUE)
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


# Fields of ProfileNode: numbers, or tags of length-delimited fields.
_INPUTS, _FLOAT_OPS, _ID, _SRC_OUTPUT_INDEX = 2, 8, 13, 14
_NAME, _SHAPE, _OP_TYPES = b"\x0a", b"\x22", b"\x2a"
_CANONICAL_DEVICE, _HOST_DEVICE, _OP, _TRACE = b"\x32", b"\x3a", b"\x4a", b"\x52"
_OUTPUT_SHAPES = b"\x7a"
_INPUT_PORTS = length_delimited_tag(1001)  # of ProfileNodeOwn
_FURTHER_RUNS = 1002  # of ProfileNodeOwn

_NODES, _VALUE, _INT_KEY = b"\x0a", b"\x12", b"\x08"
_PIECES_PER_GROUP = 1 << 16
_LARGEST = MAX_MESSAGE_BYTES - (1 << 24)
"""Bytes of nodes, without their tags and lengths."""


def profile_to_chunks(profile: Profile, *, constants: bool = True) -> Iterator[bytes]:
    """A profile as the bytes of a ProfileProto, some thousand nodes at a time.

    Args:
        profile: The profile.
        constants: Save attributes that hold tensors, too.

    Raises:
        UsageError: It would be larger than protobuf's 2 GiB.
        MalformedProfileError: The profile was loaded, and attributes of its ops are damaged.
    """
    return map(b"".join, _groups(profile, constants))


def _groups(profile: Profile, constants: bool) -> Iterator[list[bytes]]:
    """Pieces of the message; the nodes, which are most of it, come last."""
    ops = profile.ops
    strings = StringTable(["none"])
    traces = _traces(profile.stacks, ops.stack_ids.array, strings)
    head = pb.ProfileProto(
        has_trace=profile.has_traces,
        steps=profile.steps.steps,
        id_to_string=dict(enumerate(strings.values)),
        miss_accelerator_stream=profile.misses_accelerator_stream,
    ).SerializeToString(deterministic=True)
    if not profile.classic:
        head += encode_details(profile)
    yield [head]
    size = len(head)
    pieces: list[bytes] = []
    short = [encode_varint(length) for length in range(1 << 12)]
    keys = encode_int64_fields((1,), np.arange(len(ops), dtype=np.int64)[None])
    keys[:1] = [_INT_KEY + b"\x00"][: len(ops)]
    for key, fields in zip(keys, _node_fields(profile, traces, constants), strict=True):
        length = sum(map(len, fields))
        inner = short[length] if length < len(short) else encode_varint(length)
        length += len(key) + len(_VALUE) + len(inner)
        outer = short[length] if length < len(short) else encode_varint(length)
        pieces += (_NODES, outer, key, _VALUE, inner, *fields)
        size += length
        if len(pieces) >= _PIECES_PER_GROUP:
            yield pieces
            pieces = []
        if size > _LARGEST:
            raise UsageError(
                "this profile would be saved as more than 2 GiB, the limit of a protobuf message; "
                "leave the constants out (constants=False) or save fewer steps"
            )
    yield pieces


def _node_fields(
    profile: Profile, traces: list[bytes], constants: bool
) -> Iterator[tuple[bytes, ...]]:
    """The fields of each node, in the order of their numbers."""
    ops = profile.ops
    sources, input_ports = _source_ports(ops, classic=profile.classic)
    names = [ops.names[name_id] for name_id in ops.name_ids.array.tolist()]
    return zip(
        [length_delimited(_NAME, name.encode()) for name in names],
        _inputs(ops),
        _by_id(ops.shape_ids.array, lambda shape_id: _shape(ops.shapes.shapes[shape_id])),
        _op_types(profile),
        _by_id(ops.device_ids.array, lambda device_id: _devices(ops.strings[device_id])),
        encode_int64_fields((_FLOAT_OPS,), ops.float_ops.array[None]),
        _by_id(ops.op_ids.array, lambda op: length_delimited(_OP, ops.strings[op].encode())),
        traces,
        attribute_fields(ops, constants=constants),
        execution_fields(profile.steps, len(ops)),
        encode_int64_fields((_ID,), np.arange(len(ops), dtype=np.int64)[None]),
        sources,
        _by_id(ops.output_shapes_ids.array, lambda list_id: _shapes(ops.shapes.list_of(list_id))),
        input_ports,
        encode_int64_fields((_FURTHER_RUNS,), ops.static_runs.array[None] - 1),
        strict=True,
    )


def _by_id(ids: Int64Array, encode: Callable[[int], bytes]) -> list[bytes]:
    """The bytes of each row's id, nothing for -1; each distinct id is encoded once."""
    encoded = {-1: b""}
    for value in np.unique(ids[ids >= 0]).tolist():
        encoded[value] = encode(value)
    return [encoded[value] for value in ids.tolist()]


def _inputs(ops: OpTable) -> list[bytes]:
    """Input index → id; inputs that are in no graph have no id and are left out."""
    offsets, producers = ops.input_offsets(), ops.input_rows()
    index = np.arange(len(producers)) - np.repeat(offsets[:-1], np.diff(offsets))
    known = producers >= 0
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])[offsets]
    return encode_int_maps(_INPUTS, index[known], producers[known], bounds)


def _source_ports(ops: OpTable, *, classic: bool) -> tuple[list[bytes], list[bytes]]:
    """The output that each input reads, -1 for a control input. The original always writes 0.

    The format has one output for each source: of several the last one stays, data before
    control.

    Returns:
        Id of a source → output of each row; and all outputs of the rows for which that is not
        enough, in a field of our own.
    """
    offsets, producers = ops.input_offsets(), ops.input_rows()
    consumers = np.repeat(np.arange(len(ops)), np.diff(offsets))
    ports = np.zeros_like(producers) if classic else ops.input_ports
    order = np.lexsort((np.arange(len(ports)), ports >= 0, producers, consumers))
    is_last = np.ones(len(order), np.bool_)
    is_last[:-1] = (np.diff(consumers[order]) != 0) | (np.diff(producers[order]) != 0)
    is_first = np.append(np.True_, is_last)[:-1]
    saved = np.empty_like(ports)
    saved[order] = ports[order][is_last][np.cumsum(is_first) - 1]
    lost = (producers < 0) | (saved != ports)

    kept = order[is_last & (producers[order] >= 0)]
    bounds = np.searchsorted(consumers[kept], np.arange(len(ops) + 1))
    maps = encode_int_maps(_SRC_OUTPUT_INDEX, producers[kept], ports[kept], bounds)
    additions = [b""] * len(ops)
    for row in np.unique(consumers[lost]).tolist():
        numbers = map(_signed_varint, ports[offsets[row] : offsets[row + 1]].tolist())
        additions[row] = length_delimited(_INPUT_PORTS, b"".join(numbers))
    return maps, additions


def _shape(shape: Shape) -> bytes:
    dims = display_dims(shape)
    return length_delimited(_SHAPE, b"".join(map(_signed_varint, dims))) if dims else b""


def _shapes(shapes: list[Shape]) -> bytes:
    """Output index → dimensions."""
    entries = []
    for index, shape in enumerate(shapes):
        dims = b"".join(map(_signed_varint, display_dims(shape)))
        numbers = length_delimited(b"\x0a", dims) if dims else b""
        key = _INT_KEY + encode_varint(index)
        entries.append(length_delimited(_OUTPUT_SHAPES, key + length_delimited(_VALUE, numbers)))
    return b"".join(entries)


def _signed_varint(value: int) -> bytes:
    return encode_varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def _op_types(profile: Profile) -> list[bytes]:
    """Op type, device and added types, in byte order."""
    ops = profile.ops
    types = ops.type_ids(classic=profile.classic)
    encoded: dict[tuple[int, ...], bytes] = {}
    fields = []
    for row, ids in enumerate(zip(types.tolist(), ops.device_ids.array.tolist(), strict=True)):
        key = (*ids, *ops.added_types.get(row, ()))
        if key not in encoded:
            texts = sorted({ops.strings[string_id] for string_id in key if string_id >= 0})
            encoded[key] = b"".join(length_delimited(_OP_TYPES, text.encode()) for text in texts)
        fields.append(encoded[key])
    return fields


def _devices(name: str) -> bytes:
    host = Device.from_name(name).host_name
    return length_delimited(_CANONICAL_DEVICE, name.encode()) + length_delimited(
        _HOST_DEVICE, host.encode()
    )


def _traces(stacks: StackTable, stack_ids: Int64Array, strings: StringTable) -> list[bytes]:
    """Call stacks; strings get their ids in order of first use."""
    frames: dict[int, bytes] = {}
    encoded = {NO_STACK: b""}
    fields = []
    for stack in stack_ids.tolist():
        if stack not in encoded:
            frame_ids = stacks.frame_ids(stack)
            for frame_id in frame_ids:
                if frame_id not in frames:
                    trace = trace_message(stacks.frames[frame_id], strings)
                    frames[frame_id] = length_delimited(b"\x0a", trace.SerializeToString())
            code = b"".join([frames[frame_id] for frame_id in frame_ids])
            encoded[stack] = length_delimited(_TRACE, code)
        fields.append(encoded[stack])
    return fields
