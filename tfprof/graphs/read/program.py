"""GraphDef with its function library → ``Program``."""

from __future__ import annotations

import numpy as np

from tfprof.columns.numerals import whole_number
from tfprof.graphs.model.graph_columns import GraphColumns
from tfprof.graphs.model.node_table import NodeTable
from tfprof.graphs.model.program import Body, Program
from tfprof.graphs.read.graphdef import graph_columns
from tfprof.graphs.read.library import CONTROL_PORT, NO_SLOT, NOWHERE, Library
from tfprof.wire import messages as pb

INPUT_OPS = frozenset(
    ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "IteratorGetNext",
     "IteratorGetNextSync", "QueueDequeueManyV2", "QueueDequeueUpToV2", "QueueDequeueV2")
)  # fmt: skip
"""Ops that are inputs of a graph."""


def read_program(source: pb.GraphDef | bytes) -> Program:
    """Read the nodes of a graph, or of the valid bytes of one; functions are read on demand."""
    graph = graph_columns(source)
    library = Library([(graph.serialized, graph.places)])
    edges = np.array(_edges(graph), np.int64).reshape(-1, 2)[graph.inputs.numbers]
    nodes = NodeTable(
        graph.names,
        library.kinds,
        library.add_graph(graph.places),
        library.shape_lists.values,
        library.shape_list_map(graph.shapes)[graph.output_shapes_ids],
        graph.inputs.offsets,
        edges[:, 0].copy(),
        edges[:, 1].copy(),
    )
    return program_of(nodes, library)


def program_of(nodes: NodeTable, library: Library) -> Program:
    """The program whose graph has these nodes."""
    inputs = {nodes.names[place]: place for place in nodes.of_types(INPUT_OPS)}
    return Program(Body("", nodes), library.function, inputs=inputs)


def _edges(graph: GraphColumns) -> list[tuple[int, int]]:
    """Node and output that each different text of an input refers to."""
    places = {name: place for place, name in enumerate(graph.names)}
    edges = []
    for text in graph.inputs.texts:
        if text[:1] == "^":
            edges.append((places.get(text[1:], -1), CONTROL_PORT))
            continue
        place, slot = places.get(text, -1), 0
        if place < 0:
            name, _, number = text.rpartition(":")
            place, slot = places.get(name, -1), whole_number(number, -1)
        edges.append((place, slot) if place >= 0 and 0 <= slot < NO_SLOT else NOWHERE)
    return edges
