"""``ViewTree`` → ``GraphNodeProto`` (scope, graph) and ``MultiGraphNodeProto`` (op, code).

A result of any depth is complete; only beyond ``MAX_PROTO_LEVELS`` is it cut, because
protobuf's own runtime crashes when it serializes messages nested 50,000 deep.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, Protocol

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.wire import messages as pb
from tfprof.core.wire.encode import (
    ELEMENT,
    LEFT_OUT,
    ROOT,
    Column,
    Rows,
    Values,
    encode_tree,
    subtree_heights,
)
from tfprof.errors import UsageError
from tfprof.files.checkpoint.variable_values import VariableValue
from tfprof.profiles.accounting.accounting import METRIC_ROW, METRICS
from tfprof.profiles.accounting.op_facts import CONTROL_INPUT
from tfprof.profiles.model.executions import NO_OP
from tfprof.views.result import ViewTree

MOST_VALUES: Final = 100_000
"""How many values a message holds of a variable; above, the original warns that it may halt."""

_CLASSIC_TYPES: Final = ("float32", "float64", "int32", "int64", "string")
_INT64_MAX: Final = (1 << 63) - 1


def tensor_values(tree: ViewTree) -> dict[int, pb.TFProfTensorProto]:
    """The values that a view shows, by row.

    Variables that are cut at ``MOST_VALUES`` add a notice to the profile; classic mode cuts none.

    Raises:
        InputError: They cannot be read.
    """
    if not tree.shows_values:
        return {}
    messages = {}
    n_cut = 0
    for row in range(len(tree)):
        value = tree.value_of(row)
        if value is None:
            continue
        classic = tree.options.classic
        messages[row] = _classic_message(value) if classic else _message(value)
        n_cut += not classic and value.flat.size > MOST_VALUES
    tree.profile.notices.set(
        "values-cut",
        f"variables have more values than the first {MOST_VALUES} in the returned message; "
        "tfprof.open_checkpoint reads all",
        n_cut,
    )
    return messages


def _message(value: VariableValue) -> pb.TFProfTensorProto:
    """Values as they are; those that are neither real numbers nor texts are written as texts."""
    message = pb.TFProfTensorProto(dtype=value.type_number)
    values = value.flat[:MOST_VALUES]
    if values.dtype == np.object_:
        message.value_str.extend(_texts(values.tolist()))
    elif values.dtype.kind == "f":
        message.value_double.extend(values.astype(np.float64).tolist())
    elif values.dtype.kind == "c" or (values.size and values.max() > _INT64_MAX):
        message.value_str.extend(map(str, values.tolist()))
    else:
        message.value_int64.extend(values.astype(np.int64).tolist())
    return message


def _classic_message(value: VariableValue) -> pb.TFProfTensorProto:
    """Floats with six digits, as ``tfprof_tensor.h`` writes them; nothing of other types."""
    message = pb.TFProfTensorProto(dtype=value.type_number)
    if value.dtype not in _CLASSIC_TYPES:
        return message
    if value.dtype == "string":
        message.value_str.extend(_texts(value.flat.tolist()))
    elif value.dtype.startswith("float"):
        message.value_double.extend(float(f"{number:.6g}") for number in value.flat.tolist())
    else:
        message.value_int64.extend(value.flat.tolist())
    return message


def _texts(values: list[bytes]) -> list[str]:
    return [text.decode("utf-8", "backslashreplace") for text in values]


MAX_PROTO_LEVELS = 5000
"""Deepest nesting of a returned message."""

_PARSED_LEVELS = 90
"""Height of subtrees that are parsed in one go: protobuf refuses more than 100 levels, and the
input shapes of the innermost node need some."""

_GROUP_METRICS = tuple(name for name in METRICS if name != "run_count")
"""What a MultiGraphNodeProto has."""


class _ByMetric(Protocol):
    """Columns in the order of ``METRICS``."""

    def __getitem__(self, row: int, /) -> Int64Array: ...


def view_to_proto(tree: ViewTree) -> pb.GraphNodeProto | pb.MultiGraphNodeProto:
    """The view as the message that TensorFlow's API returns.

    A cut at ``MAX_PROTO_LEVELS`` adds a notice to the profile; the ``ViewTree`` has every row.

    Raises:
        UsageError: It would be larger than protobuf's 2 GiB.
    """
    if tree.kind in ("scope", "graph"):
        node = pb.GraphNodeProto()
        _assemble(tree, node, _graph_node_columns(tree))
        return node
    group = pb.MultiGraphNodeProto()
    _assemble(tree, group, _multi_node_columns(tree))
    return group


def _assemble(tree: ViewTree, root: Any, columns: dict[str, Column]) -> None:
    """Encode the rows and merge them into the root, each under its parent.

    Subtrees that are no higher than protobuf parses are parsed as they are; the root and every
    row above them are messages of their own, into which these are merged.

    Args:
        tree: The view.
        root: An empty message.
        columns: Of what the fields of the rows are made.
    """
    parents = tree.parent
    heights = subtree_heights(parents)
    if heights[0] > MAX_PROTO_LEVELS:
        parents = np.where(_too_deep(tree), LEFT_OUT, parents)
        heights = subtree_heights(parents)
    is_message: BoolArray = heights > _PARSED_LEVELS
    is_message[0] = True
    is_element = (parents >= 0) & is_message[parents]
    written_in = np.where(is_message, ROOT, np.where(is_element, ELEMENT, parents))
    try:
        data, starts = encode_tree(type(root), columns, written_in)
    except OverflowError as error:
        raise UsageError(
            f"the message of this {tree.kind} view would be larger than 2 GiB, the limit of "
            "protobuf; show fewer nodes, or use view(), which has no limit"
        ) from error

    tops = np.flatnonzero((written_in == ROOT) | (written_in == ELEMENT))
    owners = np.where(is_message[tops], tops, parents[tops])
    first = np.append(np.True_, owners[1:] != owners[:-1])
    bounds = pairwise([*starts[tops[first]].tolist(), len(data)])
    messages = {0: root}
    for owner, (start, end) in zip(owners[first].tolist(), bounds, strict=True):
        message = messages.get(owner)
        if message is None:
            message = messages[owner] = messages[int(parents[owner])].children.add()
        message.MergeFromString(data[start:end])


def _too_deep(tree: ViewTree) -> BoolArray:
    """Rows below the last level, with a notice."""
    deep: BoolArray = tree.depth >= MAX_PROTO_LEVELS
    tree.profile.notices.set(
        "proto-too-deep",
        f"nodes below level {MAX_PROTO_LEVELS} are not in the returned message, which protobuf "
        "could not serialize; view() has them all",
        int(deep.sum()),
    )
    return deep


def _graph_node_columns(tree: ViewTree) -> dict[str, Column]:
    columns: dict[str, Column] = {
        "name": Values(tree.names),
        "total_definition_count": tree.definitions,
        **_metric_columns(tree.own, tree.total),
        **_op_columns(tree, tree.op_rows),
    }
    values = tensor_values(tree)
    if values:
        ids = np.full(len(tree), -1, np.int64)
        ids[list(values)] = np.arange(len(values))
        encoded = [message.SerializeToString() for message in values.values()]
        columns["tensor_value"] = Values(encoded, ids)
    return columns


def _multi_node_columns(tree: ViewTree) -> dict[str, Column]:
    bounds = tree.member_offsets
    return {
        "name": Values(tree.names),
        "graph_nodes": Rows(_member_columns(tree), bounds[:-1], bounds[1:]),
        **_metric_columns(tree.own, tree.total, _GROUP_METRICS),
    }


def _member_columns(tree: ViewTree) -> dict[str, Column]:
    """The ``graph_nodes`` of all rows: own values, total = own, one definition."""
    ops, members = tree.ops, tree.members
    own = [tree.op_metrics[row][members] for row in range(len(METRICS))]
    return {
        "name": Values(ops.names.values, ops.name_ids.array[members]),
        "total_definition_count": np.broadcast_to(np.int64(1), len(members)),
        **_metric_columns(own, own),
        **_op_columns(tree, members),
    }


def _metric_columns(
    own: _ByMetric, total: _ByMetric, names: tuple[str, ...] = METRICS
) -> dict[str, Column]:
    columns: dict[str, Column] = {name: own[METRIC_ROW[name]] for name in names}
    return columns | {f"total_{name}": total[METRIC_ROW[name]] for name in names}


def _op_columns(tree: ViewTree, op_rows: Int64Array) -> dict[str, Column]:
    """The device and input shapes of an op in a GraphNodeProto."""
    shapes = tree.input_shapes
    is_op = op_rows != NO_OP
    device_ids = np.append(tree.facts.device_ids, -1)[op_rows]  # NO_OP takes the last one
    has_shape = shapes.shape_ids != CONTROL_INPUT
    kept_before = np.concatenate([[0], np.cumsum(has_shape)])[shapes.offsets]
    index = np.arange(len(has_shape)) - np.repeat(shapes.offsets[:-1], np.diff(shapes.offsets))
    shape_ids = shapes.shape_ids[has_shape]
    entries: dict[str, Column] = {
        "key": index[has_shape],
        "value": Values(_encoded_shapes(shapes.dims, shape_ids), shape_ids),
    }
    start, stop = kept_before[op_rows], kept_before[np.where(is_op, op_rows + 1, 0)]
    return {
        "devices": Values(tree.ops.strings.values, device_ids),
        "input_shapes": Rows(entries, np.where(is_op, start, 0), np.where(is_op, stop, 0)),
    }


def _encoded_shapes(dims: list[tuple[int, ...]], used: Int64Array) -> list[bytes]:
    """A TensorShapeProto for each shape id that is used."""
    is_used = np.zeros(len(dims), np.bool_)
    is_used[used] = True
    encoded = [b""] * len(dims)
    for shape_id in np.flatnonzero(is_used).tolist():
        shape = pb.TensorShapeProto(unknown_rank=not dims[shape_id])
        for size in dims[shape_id]:
            shape.dim.add(size=size)
        encoded[shape_id] = shape.SerializeToString()
    return encoded
