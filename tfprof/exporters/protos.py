"""``ViewTree`` → ``GraphNodeProto`` (scope, graph) and ``MultiGraphNodeProto`` (op, code).

A result of any depth is complete; only beyond ``MAX_PROTO_LEVELS`` is it cut, because
protobuf's own runtime crashes when it serializes messages nested 50,000 deep.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from tfprof._wire import messages as pb
from tfprof.analysis.accounting import METRICS
from tfprof.analysis.input_shapes import CONTROL_INPUT
from tfprof.exporters.tensor_values import tensor_values
from tfprof.exporters.wire_encoding import (
    encode_int64_fields,
    encode_varint,
    length_delimited,
    length_delimited_each,
    length_delimited_tag,
    varint_sizes,
)
from tfprof.model.columns import BoolArray, Int64Array
from tfprof.views.result import NO_OP, ViewTree

MAX_PROTO_LEVELS = 5000
"""Deepest nesting of a returned message."""

_PARSED_LEVELS = 90
"""Height of subtrees that are parsed in one go: protobuf refuses more than 100 levels, and the
input shapes of the innermost node need some."""

_GRAPH_NODE_FIELDS = (*METRICS, *(f"total_{name}" for name in METRICS), "total_definition_count")
_MULTI_FIELDS = tuple(
    prefix + name for prefix in ("", "total_") for name in METRICS if name != "run_count"
)


def view_to_proto(tree: ViewTree) -> pb.GraphNodeProto | pb.MultiGraphNodeProto:
    """The view as the message that TensorFlow's API returns.

    A cut at ``MAX_PROTO_LEVELS`` adds a notice to the profile; the ``ViewTree`` has every row.
    """
    if tree.kind in ("scope", "graph"):
        node = pb.GraphNodeProto()
        _assemble(tree, node, _graph_node_heads(tree))
        return node
    group = pb.MultiGraphNodeProto()
    _assemble(tree, group, _multi_node_heads(tree))
    return group


def _assemble(tree: ViewTree, root: Any, heads: list[bytes]) -> None:
    """Merge the encoded nodes into the root, each under its parent.

    From the leaves up, nodes are packed into their parent's bytes until a subtree is as high as
    protobuf parses; the nodes above are messages of their own, which take those bytes in.

    Args:
        tree: The view.
        root: An empty message.
        heads: Encoded fields of each row but its children.
    """
    tag = length_delimited_tag(root.DESCRIPTOR.fields_by_name["children"].number)
    if int(tree.depth.max()) < _PARSED_LEVELS:
        root.MergeFromString(_packed(tree, heads, tag))
        return
    parents = tree.parent.tolist()
    left_out = _beyond(tree, MAX_PROTO_LEVELS)
    below: dict[int, list[bytes | int]] = {}  # packed children, or their rows; last one first
    heights: dict[int, int] = {}
    for row in range(len(heads) - 1, 0, -1):
        if left_out is not None and left_out[row]:
            continue
        parent = parents[row]
        height = heights.get(row, 1)
        if height >= heights.get(parent, 1):
            heights[parent] = height + 1
        if height > _PARSED_LEVELS:
            below.setdefault(parent, []).append(row)
            continue
        body = heads[row]
        children = below.pop(row, None)
        if children:
            children.reverse()
            body += b"".join(children)  # type: ignore[arg-type]  # rows stand only above
        packed = length_delimited(tag, body)
        siblings = below.get(parent)
        if siblings is None:
            below[parent] = [packed]
        else:
            siblings.append(packed)

    messages = {0: root}
    for row in sorted({0, *below}):
        message = messages.pop(row)
        message.MergeFromString(heads[row])
        run: list[bytes] = []
        for child in reversed(below.get(row, ())):
            if isinstance(child, bytes):
                run.append(child)
                continue
            message.MergeFromString(b"".join(run))
            run = []
            messages[child] = message.children.add()
        message.MergeFromString(b"".join(run))


def _packed(tree: ViewTree, heads: list[bytes], tag: bytes) -> bytes:
    """All nodes in one go: in preorder, the bytes of a node are followed by its children's.

    Only the sizes have to be known before, level by level from the leaves up.
    """
    sizes = np.fromiter(map(len, heads), np.int64, len(heads))
    depth = tree.depth
    by_depth = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[by_depth], np.arange(int(depth.max()) + 2))
    for start, end in reversed(list(pairwise(bounds.tolist()))[1:]):
        rows = by_depth[start:end]
        whole = sizes[rows] + varint_sizes(sizes[rows].view(np.uint64)) + len(tag)
        np.add.at(sizes, tree.parent[rows], whole)
    lengths = sizes[1:].tolist()
    prefixes = {length: tag + encode_varint(length) for length in set(lengths)}
    parts = [b""] * (2 * len(heads) - 1)
    parts[::2] = heads
    parts[1::2] = [prefixes[length] for length in lengths]
    return b"".join(parts)


def _beyond(tree: ViewTree, levels: int) -> BoolArray | None:
    """Rows deeper than a level, with a notice; None if there are none."""
    if len(tree) <= levels:
        return None
    deep: BoolArray = tree.depth >= levels
    if not deep.any():
        return None
    tree.profile.notices.set(
        "proto-too-deep",
        f"nodes below level {levels} are not in the returned message, which protobuf could not "
        "serialize; view() has them all",
        int(deep.sum()),
    )
    return deep


def _field_numbers(message_class: Any, names: tuple[str, ...]) -> list[int]:
    by_name = message_class.DESCRIPTOR.fields_by_name
    return [by_name[name].number for name in names]


def _named(message_class: Any, names: Iterable[str]) -> list[bytes]:
    """The encoded ``name`` field of each name."""
    tag = length_delimited_tag(message_class.DESCRIPTOR.fields_by_name["name"].number)
    return length_delimited_each(tag, map(str.encode, names))


def _graph_node_heads(tree: ViewTree) -> list[bytes]:
    names = _named(pb.GraphNodeProto, tree.names)
    values = np.concatenate([tree.own, tree.total, tree.definitions[None]])
    numbers = encode_int64_fields(_field_numbers(pb.GraphNodeProto, _GRAPH_NODE_FIELDS), values)
    ops = _OpDescriber(tree).describe(tree.op_rows)
    heads = list(map(b"".join, zip(names, numbers, ops, strict=True)))
    for row, message in tensor_values(tree).items():
        heads[row] += pb.GraphNodeProto(tensor_value=message).SerializeToString()
    return heads


def _multi_node_heads(tree: ViewTree) -> list[bytes]:
    names = _named(pb.MultiGraphNodeProto, tree.names)
    values = np.concatenate([tree.own[1:], tree.total[1:]])
    numbers = encode_int64_fields(_field_numbers(pb.MultiGraphNodeProto, _MULTI_FIELDS), values)
    members = _member_fields(tree)
    bounds = pairwise(tree.member_offsets.tolist())
    return [
        b"".join((name, number, *members[start:end]))
        for name, number, (start, end) in zip(names, numbers, bounds, strict=True)
    ]


def _member_fields(tree: ViewTree) -> list[bytes]:
    """The ``graph_nodes`` of all rows: own values, total = own, one definition."""
    ops = tree.ops
    name_ids = ops.name_ids.array[tree.members].tolist()
    names = _named(pb.GraphNodeProto, map(ops.names.values.__getitem__, name_ids))
    own = tree.op_metrics[:, tree.members]
    ones = np.ones((1, len(name_ids)), np.int64)
    values: Int64Array = np.concatenate([own, own, ones])
    numbers = encode_int64_fields(_field_numbers(pb.GraphNodeProto, _GRAPH_NODE_FIELDS), values)
    described = _OpDescriber(tree).describe(tree.members)
    tag = length_delimited_tag(
        pb.MultiGraphNodeProto.DESCRIPTOR.fields_by_name["graph_nodes"].number
    )
    nodes = map(b"".join, zip(names, numbers, described, strict=True))
    return length_delimited_each(tag, nodes)


class _OpDescriber:
    """What a GraphNodeProto says about an op besides numbers: its device and input shapes.

    Ops with the same device and input shapes share their bytes.
    """

    def __init__(self, tree: ViewTree) -> None:
        self._strings = tree.ops.strings
        self._device_ids = tree.facts.device_ids
        self._shapes = tree.input_shapes

    def describe(self, op_rows: Int64Array) -> list[bytes]:
        """The encoded fields of ops; nothing for ``NO_OP``."""
        if not len(self._device_ids):
            return [b""] * len(op_rows)
        shapes = self._shapes
        width = shapes.shape_ids.itemsize
        data = shapes.shape_ids.tobytes()
        columns = (
            np.where(op_rows == NO_OP, NO_OP, self._device_ids[op_rows]).tolist(),
            (shapes.offsets[op_rows] * width).tolist(),
            np.where(op_rows == NO_OP, 0, shapes.offsets[op_rows + 1] * width).tolist(),
        )
        known: dict[tuple[int, bytes], bytes] = {}
        find = known.get
        described = []
        for device, start, end in zip(*columns, strict=True):
            key = device, data[start:end]
            encoded = find(key)
            if encoded is None:
                encoded = known[key] = self._encode(
                    device, np.frombuffer(key[1], shapes.shape_ids.dtype)
                )
            described.append(encoded)
        return described

    def _encode(self, device: int, shape_ids: Int64Array) -> bytes:
        node = pb.GraphNodeProto()
        if device >= 0:
            node.devices.append(self._strings[device])
        self._add_shapes(node, shape_ids.tolist())
        encoded: bytes = node.SerializeToString()
        return encoded

    def _add_shapes(self, node: pb.GraphNodeProto, shape_ids: list[int]) -> None:
        for index, shape_id in enumerate(shape_ids):
            if shape_id == CONTROL_INPUT:
                continue
            shape = node.input_shapes[index]
            dims = self._shapes.dims[shape_id]
            if not dims:
                shape.unknown_rank = True
            for size in dims:
                shape.dim.add(size=size)
