"""``ViewTree`` → ``GraphNodeProto`` (scope, graph) and ``MultiGraphNodeProto`` (op, code).

A result of any depth is complete; only beyond ``MAX_PROTO_LEVELS`` is it cut, because
protobuf's own runtime crashes when it serializes messages nested 50,000 deep.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfprof._wire import messages as pb
from tfprof.analysis.accounting import METRICS
from tfprof.analysis.input_shapes import CONTROL_INPUT
from tfprof.exporters.wire_encoding import (
    encode_int64_fields,
    length_delimited,
    length_delimited_tag,
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


def _named(message_class: Any, names: list[str]) -> list[bytes]:
    """The encoded ``name`` field of each name."""
    tag = length_delimited_tag(message_class.DESCRIPTOR.fields_by_name["name"].number)
    return [length_delimited(tag, name.encode()) for name in names]


def _graph_node_heads(tree: ViewTree) -> list[bytes]:
    names = _named(pb.GraphNodeProto, list(tree.names))
    values = np.concatenate([tree.own, tree.total, tree.definitions[None]])
    numbers = encode_int64_fields(_field_numbers(pb.GraphNodeProto, _GRAPH_NODE_FIELDS), values)
    described = _OpDescriber(tree)
    ops = [b"" if row == NO_OP else described(row) for row in tree.op_rows.tolist()]
    return [b"".join(parts) for parts in zip(names, numbers, ops, strict=True)]


def _multi_node_heads(tree: ViewTree) -> list[bytes]:
    names = _named(pb.MultiGraphNodeProto, list(tree.names))
    values = np.concatenate([tree.own[1:], tree.total[1:]])
    numbers = encode_int64_fields(_field_numbers(pb.MultiGraphNodeProto, _MULTI_FIELDS), values)
    members = _member_fields(tree)
    bounds = tree.member_offsets.tolist()
    return [
        b"".join((names[row], numbers[row], *members[bounds[row] : bounds[row + 1]]))
        for row in range(len(tree))
    ]


def _member_fields(tree: ViewTree) -> list[bytes]:
    """The ``graph_nodes`` of all rows: own values, total = own, one definition."""
    ops = tree.ops
    rows = tree.members.tolist()
    name_ids = ops.name_ids.array[tree.members].tolist()
    names = _named(pb.GraphNodeProto, [ops.names[name_id] for name_id in name_ids])
    own = tree.op_metrics[:, tree.members]
    values: Int64Array = np.concatenate([own, own, np.ones((1, len(rows)), np.int64)])
    numbers = encode_int64_fields(_field_numbers(pb.GraphNodeProto, _GRAPH_NODE_FIELDS), values)
    described = _OpDescriber(tree)
    tag = length_delimited_tag(
        pb.MultiGraphNodeProto.DESCRIPTOR.fields_by_name["graph_nodes"].number
    )
    return [
        length_delimited(tag, names[place] + numbers[place] + described(row))
        for place, row in enumerate(rows)
    ]


class _OpDescriber:
    """What a GraphNodeProto says about an op besides numbers: its device and input shapes.

    Ops with the same device and input shapes share their bytes.
    """

    def __init__(self, tree: ViewTree) -> None:
        shapes = tree.input_shapes
        self._strings = tree.ops.strings
        self._device_ids = tree.facts.device_ids.tolist()
        self._offsets = shapes.offsets.tolist()
        self._shape_bytes = shapes.shape_ids.tobytes()
        self._shape_ids = shapes.shape_ids
        self._dims = shapes.dims
        self._known: dict[tuple[int, bytes], bytes] = {}

    def __call__(self, op_row: int) -> bytes:
        """The encoded fields of an op."""
        start, end = self._offsets[op_row], self._offsets[op_row + 1]
        width = self._shape_ids.itemsize
        key = (self._device_ids[op_row], self._shape_bytes[start * width : end * width])
        encoded = self._known.get(key)
        if encoded is None:
            node = pb.GraphNodeProto()
            if key[0] >= 0:
                node.devices.append(self._strings[key[0]])
            self._add_shapes(node, self._shape_ids[start:end].tolist())
            encoded = self._known[key] = node.SerializeToString()
        return encoded

    def _add_shapes(self, node: pb.GraphNodeProto, shape_ids: list[int]) -> None:
        for index, shape_id in enumerate(shape_ids):
            if shape_id == CONTROL_INPUT:
                continue
            shape = node.input_shapes[index]
            dims = self._dims[shape_id]
            if not dims:
                shape.unknown_rank = True
            for size in dims:
                shape.dim.add(size=size)
