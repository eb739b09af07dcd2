"""``ViewTree`` → ``GraphNodeProto`` (scope, graph) and ``MultiGraphNodeProto`` (op, code).

Messages are built in place, so a result of any depth is complete; only beyond
``MAX_PROTO_LEVELS`` is it cut, because protobuf's own runtime crashes when it serializes
messages nested 50,000 deep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfprof._wire import messages as pb
from tfprof.analysis.accounting import METRICS
from tfprof.analysis.input_shapes import CONTROL_INPUT
from tfprof.model.columns import BoolArray, Int64Array
from tfprof.views.result import NO_OP, ViewTree

MAX_PROTO_LEVELS = 5000
"""Deepest nesting of a returned message."""

_GRAPH_NODE_FIELDS = (*METRICS, *(f"total_{name}" for name in METRICS), "total_definition_count")
_MULTI_FIELDS = tuple(
    prefix + name for prefix in ("", "total_") for name in METRICS if name != "run_count"
)


def view_to_proto(tree: ViewTree) -> pb.GraphNodeProto | pb.MultiGraphNodeProto:
    """The view as the message that TensorFlow's API returns.

    A cut at ``MAX_PROTO_LEVELS`` adds a notice to the profile; the ``ViewTree`` has every row.
    """
    if tree.kind in ("scope", "graph"):
        root: Any = pb.GraphNodeProto(name=tree.name)
        _fill_tree(tree, root, _graph_node_filler(tree))
    else:
        root = pb.MultiGraphNodeProto(name=tree.name)
        _fill_tree(tree, root, _multi_node_filler(tree))
    return root


def _fill_tree(tree: ViewTree, root: Any, fill: Callable[[Any, int], None]) -> None:
    """Fill the root and add every row below it, as deep as protobuf can take it."""
    messages = [root]
    fill(root, 0)
    names = tree.names
    parents = tree.parent.tolist()
    too_deep = _beyond(tree, MAX_PROTO_LEVELS)
    for row in range(1, len(tree)):
        if too_deep is not None and too_deep[row]:
            messages.append(None)
            continue
        message = messages[parents[row]].children.add(name=names[row])
        messages.append(message)
        fill(message, row)
    if too_deep is not None:
        tree.profile.notices.add_once(
            "proto-too-deep",
            f"nodes below level {MAX_PROTO_LEVELS} are not in the returned message, which "
            "protobuf could not serialize; view() has them all",
            int(too_deep.sum()),
        )


def _beyond(tree: ViewTree, levels: int) -> BoolArray | None:
    """Rows deeper than a level; None if there are none."""
    if len(tree) <= levels:
        return None
    deep = tree.depth >= levels
    return deep if deep.any() else None


def _graph_node_filler(tree: ViewTree) -> Callable[[Any, int], None]:
    values = np.concatenate([tree.own, tree.total, tree.definitions[None]])
    rows = _nonzero_fields(_GRAPH_NODE_FIELDS, values)
    op_rows = tree.op_rows.tolist()
    describe = _OpDescriber(tree)

    def fill(message: Any, row: int) -> None:
        for name, value in rows[row]:
            setattr(message, name, value)
        if op_rows[row] != NO_OP:
            describe(message, op_rows[row])

    return fill


def _multi_node_filler(tree: ViewTree) -> Callable[[Any, int], None]:
    values = np.concatenate([tree.own[1:], tree.total[1:]])
    rows = _nonzero_fields(_MULTI_FIELDS, values)
    member_values = tree.op_metrics[:, tree.members]
    ones = np.ones((1, member_values.shape[1]), np.int64)
    members = _nonzero_fields(
        _GRAPH_NODE_FIELDS, np.concatenate([member_values, member_values, ones])
    )
    member_rows = tree.members.tolist()
    offsets = tree.member_offsets.tolist()
    describe = _OpDescriber(tree)
    ops = tree.ops
    names = ops.names.values
    name_ids = ops.name_ids.array.tolist()

    def fill(message: Any, row: int) -> None:
        for name, value in rows[row]:
            setattr(message, name, value)
        for place in range(offsets[row], offsets[row + 1]):
            op_row = member_rows[place]
            node = message.graph_nodes.add(name=names[name_ids[op_row]])
            for name, value in members[place]:
                setattr(node, name, value)
            describe(node, op_row)

    return fill


def _nonzero_fields(
    names: tuple[str, ...], values: Int64Array
) -> list[list[tuple[str, int]]]:
    """For each column of ``values`` the fields to set: proto3 does not write zeros."""
    fields: list[list[tuple[str, int]]] = [[] for _ in range(values.shape[1])]
    columns, which = np.nonzero(values.T)
    found = values[which, columns]
    for column, field, value in zip(
        columns.tolist(), which.tolist(), found.tolist(), strict=True
    ):
        fields[column].append((names[field], value))
    return fields


class _OpDescriber:
    """Adds what a GraphNodeProto says about an op besides numbers: device and input shapes."""

    def __init__(self, tree: ViewTree) -> None:
        self._strings = tree.ops.strings.values
        self._device_ids = tree.ops.device_ids.array.tolist()
        shapes = tree.input_shapes
        self._offsets = shapes.offsets.tolist()
        self._shape_ids = shapes.shape_ids
        self._dims = shapes.dims
        self._encoded: dict[bytes, bytes] = {}

    def __call__(self, message: Any, op_row: int) -> None:
        device_id = self._device_ids[op_row]
        if device_id >= 0:
            message.devices.append(self._strings[device_id])
        start, end = self._offsets[op_row], self._offsets[op_row + 1]
        if start != end:
            key = self._shape_ids[start:end].tobytes()
            encoded = self._encoded.get(key)
            if encoded is None:
                encoded = self._encoded[key] = self._encode(self._shape_ids[start:end].tolist())
            message.MergeFromString(encoded)

    def _encode(self, shape_ids: list[int]) -> bytes:
        """The ``input_shapes`` field alone; ops with equal inputs share these bytes."""
        node = pb.GraphNodeProto()
        for index, shape_id in enumerate(shape_ids):
            if shape_id == CONTROL_INPUT:
                continue
            shape = node.input_shapes[index]
            dims = self._dims[shape_id]
            if not dims:
                shape.unknown_rank = True
            for size in dims:
                shape.dim.add(size=size)
        encoded: bytes = node.SerializeToString()
        return encoded
