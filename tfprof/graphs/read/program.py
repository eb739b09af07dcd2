"""GraphDef with its function library → ``Program``."""

from __future__ import annotations

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.names import NameTable
from tfprof.core.columns.numerals import whole_number
from tfprof.core.wire import messages as pb
from tfprof.graphs.model.graph_columns import GraphColumns
from tfprof.graphs.model.node_table import NodeTable
from tfprof.graphs.model.program import Body, Program
from tfprof.graphs.read.graphdef import graph_columns
from tfprof.graphs.read.library import CONTROL_PORT, NO_SLOT, NOWHERE, Library
from tfprof.graphs.read.node_columns import distinct_texts

INPUT_OPS = frozenset(
    ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "IteratorGetNext",
     "IteratorGetNextSync", "QueueDequeueManyV2", "QueueDequeueUpToV2", "QueueDequeueV2")
)  # fmt: skip
"""Ops that are inputs of a graph."""


def read_program(source: pb.GraphDef | bytes) -> Program:
    """Read the nodes of a graph, or of the valid bytes of one; functions are read on demand."""
    graph = graph_columns(source)
    library = Library([(graph.serialized, graph.places)])
    sources, ports = _edges(graph)
    nodes = NodeTable(
        graph.names,
        library.kinds,
        library.add_graph(graph.places),
        library.shape_lists.values,
        library.shape_list_map(graph.shapes)[graph.output_shapes_ids],
        graph.inputs.offsets,
        sources,
        ports,
    )
    return program_of(nodes, library)


def program_of(nodes: NodeTable, library: Library) -> Program:
    """The program whose graph has these nodes."""
    inputs = {nodes.names[place]: place for place in nodes.of_types(INPUT_OPS)}
    return Program(Body("", nodes), library.function, inputs=inputs)


def _edges(graph: GraphColumns) -> tuple[Int64Array, Int64Array]:
    """Node and output that each input refers to."""
    names = NameTable()
    numbers = names.intern_texts(graph.name_texts)
    places = np.full(len(names) + 1, -1, np.int64)  # the last entry is for unknown names
    places[numbers] = np.arange(len(numbers))  # of nodes with one name, the last counts
    texts, is_control = graph.inputs.without_marks()
    sources = places[names.find_texts(texts)]
    ports = np.where(is_control, CONTROL_PORT, 0)
    unknown = np.flatnonzero((sources < 0) & ~is_control)
    written, which = distinct_texts(texts.take(unknown))
    edges = [_edge(text, names, places) for text in written]
    sources[unknown], ports[unknown] = np.array(edges, np.int64).reshape(-1, 2)[which].T
    return sources, ports


def _edge(text: str, names: NameTable, places: Int64Array) -> tuple[int, int]:
    """Node and output of a data input that is not the name of a node."""
    name, _, number = text.rpartition(":")
    place, slot = int(places[names.find(name)]), whole_number(number, -1)
    return (place, slot) if place >= 0 and 0 <= slot < NO_SLOT else NOWHERE
