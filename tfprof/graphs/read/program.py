"""GraphDef, MetaGraphDef or SavedModel, with its function library → ``Program``."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.names import NameTable
from tfprof.core.columns.numerals import whole_number
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.files.open import open_message
from tfprof.files.sniff import Format
from tfprof.graphs.model.graph_columns import GraphColumns
from tfprof.graphs.model.node_table import NodeTable
from tfprof.graphs.model.program import Body, Program
from tfprof.graphs.read.graphdef import GRAPH_FORMATS, graph_columns, meta_graph_of
from tfprof.graphs.read.library import CONTROL_PORT, NO_SLOT, NOWHERE, Library
from tfprof.graphs.read.node_columns import distinct_texts
from tfprof.graphs.read.saved_objects import variables_of

if TYPE_CHECKING:
    from tfprof.files.open import Source

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


DEFAULT_SIGNATURE = "serving_default"

_INITIALIZER = "__saved_model_init_op"
"""Signature that loads tables; it is not for callers."""


def open_program(source: Source, signature: str | None = None) -> Program:
    """Read a program.

    Args:
        source: A GraphDef, MetaGraphDef or SavedModel as message, bytes, file (binary or text,
            also compressed) or SavedModel folder. Of a SavedModel's graphs the one tagged
            ``serve`` is taken, else the first.
        signature: Signature whose results are wanted; by default ``serving_default``, else the
            first by name.

    Raises:
        UsageError: There is no such signature.
        UnknownFormatError: It is something else.
        MalformedProfileError: It is broken.
        EmptyProfileError: A SavedModel without a graph.
    """
    opened = open_message(source, GRAPH_FORMATS, argument="target")
    if opened.format is Format.GRAPH_DEF:
        if signature is not None:
            raise UsageError(f"signature={signature!r}: a GraphDef has no signatures")
        return read_program(opened.data or opened.message)
    meta_graph, label = meta_graph_of(opened), opened.label
    program = read_program(meta_graph.graph_def)
    program.variables = variables_of(meta_graph)
    chosen = _signature(meta_graph, label, signature)
    if chosen is not None:
        places = program.body.places()
        program.fetches = tuple(_places(chosen.outputs, places).values())
        program.inputs = _places(chosen.inputs, places)
    elif meta_graph.HasField("object_graph_def") and not program.inputs:
        raise EmptyProfileError(
            f"{label}: this SavedModel has no signature to call; save it with "
            "tf.saved_model.save(model, path, signatures=function.get_concrete_function(...))"
        )
    return program


def _signature(
    meta_graph: pb.MetaGraphDef, label: str, wanted: str | None
) -> pb.SignatureDef | None:
    names = sorted(name for name in meta_graph.signature_def if name != _INITIALIZER)
    if wanted is None:
        if not names:
            return None
        wanted = DEFAULT_SIGNATURE if DEFAULT_SIGNATURE in names else names[0]
    elif wanted not in names:
        there = f"it has {', '.join(names)}" if names else "it has none"
        raise UsageError(f"signature={wanted!r}: {label} has no such signature; {there}")
    return meta_graph.signature_def[wanted]


def _places(tensors: MutableMapping[str, pb.TensorInfo], places: dict[str, int]) -> dict[str, int]:
    """Place of the node of each tensor of a signature; parts of sparse tensors count, too."""
    place_of_name: dict[str, int] = {}
    for name in sorted(tensors):
        info = tensors[name]
        parts = [info.name]
        if info.WhichOneof("encoding") == "coo_sparse":
            sparse = info.coo_sparse
            parts = [sparse.values_tensor_name, sparse.indices_tensor_name,
                     sparse.dense_shape_tensor_name]  # fmt: skip
        for part in parts:
            place = places.get(part.partition(":")[0])
            if place is not None:
                place_of_name[name if len(parts) == 1 else f"{name}:{part}"] = place
    return place_of_name
