"""The op table of a profile → ``Program``, whose nodes are the rows of the table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.wire import messages as pb
from tfprof.graphs.model.node_table import Kind, NodeTable, RowNames
from tfprof.graphs.model.program import GIVEN_FLOPS, Program
from tfprof.graphs.read.kinds import KindTable
from tfprof.graphs.read.library import Library
from tfprof.graphs.read.program import program_of
from tfprof.profiles.model.ops import GraphNodes, OpTable, SavedNodes


def program_of_ops(
    ops: OpTable, given_flops: Mapping[int, int] | None = None, *, keep_names: bool = True
) -> Program:
    """Make one program of the graphs of a profile.

    Shapes are those of the table, which runs may have completed. Ops seen only at run time have
    the type of their kernel, if the run names it, and no attributes.

    Args:
        ops: The op table.
        given_flops: Known float operations, by row.
        keep_names: Keep the attributes that name variables; functions that differ only in names
            then do not share a body.
    """
    graphs = {id(part.graph): part for part in ops.definitions if isinstance(part, GraphNodes)}
    library = Library([(part.graph, part.attrs) for part in graphs.values()], keep_names=keep_names)
    kinds = library.kinds
    kind_ids = np.full(len(ops), -1, np.int64)
    of_graph = {key: library.add_graph(part.attrs) for key, part in graphs.items()}
    for part in ops.definitions:
        if isinstance(part, GraphNodes):
            kind_ids[part.rows] = of_graph[id(part.graph)][part.places]
        else:
            _add_saved(part, ops, kinds, kind_ids)
    _add_kernels(ops, kinds, kind_ids)
    if given_flops:
        _add_flops(given_flops, kinds, kind_ids)
    nodes = NodeTable(
        RowNames(ops.names.values, ops.name_ids.array),
        kinds,
        kind_ids,
        library.shape_lists.values,
        library.shape_list_map(ops.shapes)[ops.output_shapes_ids.array],
        ops.input_offsets(),
        ops.input_rows(),
        ops.input_ports,
    )
    return program_of(nodes, library)


def _add_saved(part: SavedNodes, ops: OpTable, kinds: KindTable, kind_ids: Int64Array) -> None:
    """Kinds of the rows of a saved profile, without ops seen only at run time."""
    bounds = zip(part.rows.tolist(), part.start.tolist(), part.end.tolist(), strict=True)
    for row, start, end in bounds:
        if ops.label_op_ids.array[row] < 0:
            node = pb.ProfileNodeSlices.FromString(part.data[start:end])
            kind_ids[row] = kinds.of_entries(node.op, node.attrs[:])


def _add_kernels(ops: OpTable, kinds: KindTable, kind_ids: Int64Array) -> None:
    """Kinds of the ops seen only at run time."""
    rows = np.flatnonzero(kind_ids < 0)
    labels, places = np.unique(ops.label_op_ids.array[rows], return_inverse=True)
    types = ["" if label < 0 else ops.strings[label] for label in labels.tolist()]
    numbers = np.array([kinds.append(Kind(op_type, {}, ())) for op_type in types], np.int64)
    kind_ids[rows] = numbers[places.reshape(-1)]


def _add_flops(given_flops: Mapping[int, int], kinds: KindTable, kind_ids: Int64Array) -> None:
    """Give rows with known float operations kinds that hold them."""
    numbers: dict[tuple[int, int], int] = {}
    for row, flops in given_flops.items():
        key = (int(kind_ids[row]), flops)
        if key not in numbers:
            kind = kinds[key[0]]
            attrs = {**kind.attrs, GIVEN_FLOPS: flops}
            numbers[key] = kinds.append(
                Kind(kind.op, attrs, kind.output_types, stateful=kind.stateful)
            )
        kind_ids[row] = numbers[key]
