"""GraphDef, MetaGraphDef and SavedModel → ``GraphColumns``."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.shapes import ShapeTable
from tfprof.core.columns.strings import InternTable
from tfprof.core.wire import messages as pb
from tfprof.core.wire.plan import Plan, rows
from tfprof.core.wire.scan import scan
from tfprof.errors import EmptyProfileError
from tfprof.files.open import open_message
from tfprof.files.sniff import Format
from tfprof.graphs.model.graph_columns import AttrPlaces, Attrs, GraphColumns, InputTexts
from tfprof.graphs.read.attr_values import decode_shape, plain_attr
from tfprof.graphs.read.node_columns import (
    NODE_ENTRIES,
    attr_places,
    decoded_ids,
    input_offsets,
    value_numbers,
)
from tfprof.graphs.read.saved_objects import TRAINABLE_COLLECTION, collected_variables

if TYPE_CHECKING:
    from tfprof.files.open import Opened, Source

KEPT_ATTRS = ("adj_x", "data_format", "ksize", "strides", "transpose_a")
"""Attributes that FLOP formulas of classic mode read."""

ELEMENT_TYPE = "T"
"""Kept as a ``DataType`` number, of the nodes that have one of ``KEPT_ATTRS``."""

GRAPH_FORMATS = (Format.GRAPH_DEF, Format.META_GRAPH_DEF, Format.SAVED_MODEL)


@functools.cache
def graph_plan() -> Plan:
    """The fields that are read of the nodes of a GraphDef."""
    return Plan("tensorflow.GraphDef", [rows("node", NODE_ENTRIES), rows("library.function")])


def read_graph(source: Source) -> GraphColumns:
    """Read a graph.

    Args:
        source: A GraphDef, MetaGraphDef or SavedModel as message, bytes, file (binary or text,
            also compressed) or SavedModel folder. Of a SavedModel's graphs the one tagged
            ``serve`` is taken, else the first.

    Raises:
        UnknownFormatError: It is something else.
        MalformedProfileError: It is broken.
        EmptyProfileError: A SavedModel without a graph.
    """
    opened = open_message(source, GRAPH_FORMATS, argument="graph")
    if opened.format is Format.GRAPH_DEF:
        return graph_columns(opened.data or opened.message)
    meta_graph = meta_graph_of(opened)
    columns = graph_columns(meta_graph.graph_def)
    columns.trainable_variables = collected_variables(
        meta_graph, TRAINABLE_COLLECTION, f"{opened.label}, "
    )
    return columns


def meta_graph_of(opened: Opened) -> pb.MetaGraphDef:
    """A MetaGraphDef, or the graph of a SavedModel that is tagged ``serve``, else the first.

    Raises:
        EmptyProfileError: It has none.
    """
    if opened.format is Format.META_GRAPH_DEF:
        meta_graph: pb.MetaGraphDef = opened.message
        return meta_graph
    meta_graphs: list[pb.MetaGraphDef] = list(opened.message.meta_graphs)
    if not meta_graphs:
        raise EmptyProfileError(f"{opened.label}: this SavedModel holds no graph")
    serving = [graph for graph in meta_graphs if "serve" in graph.meta_info_def.tags]
    return (serving or meta_graphs)[0]


def graph_columns(source: pb.GraphDef | bytes) -> GraphColumns:
    """The nodes of a graph, or of the valid bytes of one; ``library.py`` reads its functions."""
    data = source
    if not isinstance(data, bytes):
        data = data.SerializePartialToString(deterministic=True)
    _, nodes, inputs, attrs, functions = scan(graph_plan(), data)
    places = attr_places(nodes, attrs, functions.text("value"))
    shapes, kept = ShapeTable(), InternTable[Attrs]([()])
    return GraphColumns(
        nodes.text("name"),
        InputTexts(inputs.text("value"), input_offsets(inputs, len(nodes))),
        places,
        decoded_ids(places, "shape", lambda value: _shape_id(value, shapes)),
        decoded_ids(places, "_output_shapes", lambda value: _list_id(value, shapes)),
        _kept(places, kept),
        shapes,
        kept,
        data,
    )


def _kept(places: AttrPlaces, table: InternTable[Attrs]) -> Int64Array:
    """Ids of the attributes that formulas read, 0 for nodes with none of them."""
    names = (*KEPT_ATTRS, ELEMENT_TYPE)
    columns = [value_numbers(places, name) for name in names]
    is_kept = np.zeros(len(places.op_numbers), np.bool_)
    for numbers, _ in columns[:-1]:
        is_kept |= numbers >= 0
    nodes = np.flatnonzero(is_kept)
    combinations = np.stack([numbers[nodes] for numbers, _ in columns], axis=1)
    distinct, first, place = np.unique(combinations, axis=0, return_index=True, return_inverse=True)
    ids = np.zeros(len(distinct), np.int64)
    for row in np.argsort(first).tolist():
        attrs = [
            (name, plain_attr(pb.AttrValue.FromString(values[number])))
            for name, number, (_, values) in zip(
                names, distinct[row].tolist(), columns, strict=True
            )
            if number >= 0
        ]
        ids[row] = table.intern(tuple((name, value) for name, value in attrs if value is not None))
    kept = np.zeros(len(is_kept), np.int64)
    kept[nodes] = ids[place.reshape(-1)]
    return kept


def _shape_id(value: pb.AttrValue, shapes: ShapeTable) -> int:
    is_shape = value.WhichOneof("value") == "shape"
    return shapes.shapes.intern(decode_shape(value.shape)) if is_shape else -1


def _list_id(value: pb.AttrValue, shapes: ShapeTable) -> int:
    is_list = value.WhichOneof("value") == "list"
    return shapes.intern_list(list(map(decode_shape, value.list.shape))) if is_list else -1
