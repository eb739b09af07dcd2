"""The op table of a profile → ``Program``, whose nodes are the rows of the table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tfprof.columns.columns import Int64Array
from tfprof.columns.shapes import Shape
from tfprof.graphs.model.node_table import NodeTable, RowNames
from tfprof.graphs.model.program import GIVEN_FLOPS, Body, Kind, Program
from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.read.program import INPUT_OPS, NodeReader
from tfprof.profiles.model.ops import GraphNodes, OpTable, SavedNodes
from tfprof.profiles.read.kind_columns import KindTable, ScannedGraph
from tfprof.wire import messages as pb


def program_of_ops(
    ops: OpTable, given_flops: Mapping[int, int] | None = None, *, keep_names: bool = True
) -> Program:
    """Put the program together from the graphs that a profile has seen.

    Shapes are those of the table, which runs may have completed. Rows that only a run has named
    have the type of the kernel that ran, if the run tells it, and no attributes.

    Args:
        ops: The op table.
        given_flops: Float operations, by row, that somebody has told.
        keep_names: Nodes have the attributes that name variables, too, and functions that are
            equal but for names do not share a body.
    """
    parts = {id(part.graph): part for part in ops.definitions if isinstance(part, GraphNodes)}
    graphs = {key: ScannedGraph(part.attrs, keep_names=keep_names) for key, part in parts.items()}
    functions = [function for graph in graphs.values() for function in graph.functions]
    reader = NodeReader(functions, keep_names=keep_names)
    kinds = KindTable()
    kind_ids = np.full(len(ops), -1, np.int64)
    of_graph = {key: kinds.add_graph(graph, reader) for key, graph in graphs.items()}
    for part in ops.definitions:
        if isinstance(part, GraphNodes):
            kind_ids[part.rows] = of_graph[id(part.graph)][part.places]
        else:
            _add_saved(part, ops, kinds, kind_ids, reader)
    _add_kernels(ops, kinds, kind_ids)
    if given_flops:
        _tell_flops(given_flops, kinds, kind_ids)

    shapes = [_partial(shape) for shape in ops.shapes.shapes.values]
    lists = [tuple([shapes[i] for i in ids]) for ids in ops.shapes.lists.values]
    lists.append(())  # for "no list", id -1
    nodes = NodeTable(
        RowNames(ops.names.values, ops.name_ids.array),
        kinds,
        kinds.op_types,
        kind_ids,
        lists,
        ops.output_shapes_ids.array,
        ops.input_offsets(),
        ops.input_rows(),
        ops.input_ports,
    )
    inputs = {nodes.names[row]: row for row in nodes.of_types(INPUT_OPS).tolist()}
    return Program(Body("", nodes), reader.function, inputs=inputs)


def _add_saved(
    part: SavedNodes, ops: OpTable, kinds: KindTable, kind_ids: Int64Array, reader: NodeReader
) -> None:
    """Kinds of the rows that come from a saved profile, and that not only a run has named."""
    numbers: dict[int, int] = {}
    bounds = zip(part.rows.tolist(), part.start.tolist(), part.end.tolist(), strict=True)
    for row, start, end in bounds:
        if ops.label_op_ids.array[row] >= 0:
            continue
        node = pb.ProfileNodeSlices.FromString(part.data[start:end])
        kind = reader.kind(node.op, node.attrs[:])  # one object for equal ones
        if id(kind) not in numbers:
            numbers[id(kind)] = kinds.add(kind)
        kind_ids[row] = numbers[id(kind)]


def _add_kernels(ops: OpTable, kinds: KindTable, kind_ids: Int64Array) -> None:
    """Kinds of the rows that only a run has named."""
    rows = np.flatnonzero(kind_ids < 0)
    labels, places = np.unique(ops.label_op_ids.array[rows], return_inverse=True)
    types = ["" if label < 0 else ops.strings[label] for label in labels.tolist()]
    numbers = np.array([kinds.add(Kind(op_type, {}, ())) for op_type in types], np.int64)
    kind_ids[rows] = numbers[places.reshape(-1)]


def _tell_flops(given_flops: Mapping[int, int], kinds: KindTable, kind_ids: Int64Array) -> None:
    """Enter float operations that somebody has told into the kinds of their rows."""
    rows = np.fromiter(given_flops, np.int64, len(given_flops))
    numbers: dict[int, int] = {}
    counts = [numbers.setdefault(count, len(numbers)) for count in given_flops.values()]
    pairs, places = np.unique(
        kind_ids[rows] * len(numbers) + np.array(counts, np.int64), return_inverse=True
    )
    flops = list(numbers)
    told = []
    for pair in pairs.tolist():
        kind = kinds[pair // len(numbers)]
        attrs = {**kind.attrs, GIVEN_FLOPS: flops[pair % len(numbers)]}
        told.append(kinds.add(Kind(kind.op, attrs, kind.output_types, stateful=kind.stateful)))
    kind_ids[rows] = np.array(told, np.int64)[places.reshape(-1)]


def _partial(shape: Shape) -> PartialShape:
    if shape is None:
        return None
    return tuple([None if dim < 0 else dim for dim in shape])
