"""GraphDef, MetaGraphDef and SavedModel → ``GraphColumns``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.columns import Int64Array
from tfprof.columns.shapes import Shape, ShapeTable
from tfprof.columns.strings import InternTable
from tfprof.errors import EmptyProfileError
from tfprof.files.open import open_message
from tfprof.files.sniff import Format
from tfprof.graphs.model.graph_columns import AttrPlaces, Attrs, AttrValue, GraphColumns
from tfprof.wire import messages as pb
from tfprof.wire.parsing import parse
from tfprof.wire.plan import Plan, rows, text
from tfprof.wire.scan import Columns, Texts, scan
from tfprof.wire.text_index import TextIndex

if TYPE_CHECKING:
    from tfprof.files.open import Source

KEPT_ATTRS = ("adj_x", "data_format", "ksize", "strides", "transpose_a")
"""Attributes that FLOP formulas read; the rest of a node's attributes stays behind."""

ELEMENT_TYPE = "T"
"""Kept as a ``DataType`` number, of the nodes that have one of ``KEPT_ATTRS``."""

GRAPH_FORMATS = (Format.GRAPH_DEF, Format.META_GRAPH_DEF, Format.SAVED_MODEL)


@functools.cache
def graph_plan() -> Plan:
    """What is read of the nodes of a GraphDef."""
    attrs = rows("attr", [text("key"), text("value")])
    return Plan(
        "tensorflow.GraphDef",
        [rows("node", [text("name"), text("op"), rows("input"), attrs]), rows("library.function")],
    )


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
        return _from_graph_def(opened.message, opened.data)
    if opened.format is Format.META_GRAPH_DEF:
        return _from_meta_graph(opened.message, opened.label)
    meta_graphs = opened.message.meta_graphs
    if not meta_graphs:
        raise EmptyProfileError(f"{opened.label}: this SavedModel holds no graph")
    serving = [graph for graph in meta_graphs if "serve" in graph.meta_info_def.tags]
    return _from_meta_graph((serving or meta_graphs)[0], opened.label)


def _from_meta_graph(meta_graph: pb.MetaGraphDef, label: str) -> GraphColumns:
    columns = _from_graph_def(meta_graph.graph_def)
    if "trainable_variables" in meta_graph.collection_def:
        variables = meta_graph.collection_def["trainable_variables"].bytes_list.value
        columns.trainable_variables = [_variable_op(variable, label) for variable in variables]
    return columns


def _variable_op(data: bytes, label: str) -> str:
    variable = parse(pb.VariableDef, data, source=f"{label}, collection trainable_variables")
    return str(variable.variable_name.partition(":")[0])


def _from_graph_def(graph: pb.GraphDef, data: bytes | None = None) -> GraphColumns:
    """Take the nodes; the function library holds no nodes of the graph."""
    if data is None:
        data = graph.SerializePartialToString(deterministic=True)
    _, nodes, inputs, attrs, functions = scan(graph_plan(), data)
    op_types, op_numbers = _numbered(nodes.text("op"))
    columns = GraphColumns(
        names=[name.decode() for name in nodes.text("name")],
        ops=[op_types[number] for number in op_numbers.tolist()],
        inputs=_by_owner(_decoded(inputs.text("value")), inputs.parent, len(nodes)),
        serialized=data,
    )
    reader = _AttrReader(attrs, len(nodes))
    columns.shape_ids = reader.ids("shape", lambda value: _shape_id(value, columns.shapes))
    columns.output_shapes_ids = reader.ids(
        "_output_shapes", lambda value: _list_id(value, columns.shapes)
    )
    columns.attrs_ids = reader.kept(columns.attrs)
    columns.places = reader.places(op_types, op_numbers, functions.text("value"))
    return columns


def _decoded(texts: Texts) -> list[str]:
    """Texts of which many are equal."""
    distinct, numbers = _numbered(texts)
    return [distinct[number] for number in numbers.tolist()]


def _numbered(texts: Texts) -> tuple[list[str], Int64Array]:
    """The different texts, and the place of each text in them, shape (n,)."""
    distinct = TextIndex()
    numbers = distinct.intern(texts)
    return [distinct[place].decode() for place in range(len(distinct))], numbers


def _by_owner(values: list[str], owner: Int64Array, n_owners: int) -> list[Sequence[str]]:
    ends = np.cumsum(np.bincount(owner, minlength=n_owners)).tolist()
    starts = [0, *ends][:-1]
    return [values[start:end] for start, end in zip(starts, ends, strict=True)]


class _AttrReader:
    """Reads the attributes that matter; equal serialized values are decoded once.

    Args:
        attrs: The attributes of all nodes.
        n_nodes: How many nodes there are.
    """

    def __init__(self, attrs: Columns, n_nodes: int) -> None:
        self._owner, self._n_nodes = attrs.parent, n_nodes
        self._names = TextIndex()
        self._name_numbers = self._names.intern(attrs.text("key"))
        self._numbers = {self._names[i].decode(): i for i in range(len(self._names))}
        self._values = attrs.text("value")

    def places(self, op_types: list[str], op_numbers: Int64Array, functions: Texts) -> AttrPlaces:
        """Where all attributes are, and the functions."""
        return AttrPlaces(
            self._values.data,
            op_types,
            op_numbers,
            [self._names[number] for number in range(len(self._names))],
            self._owner.astype(np.int32),
            self._name_numbers.astype(np.int32),
            self._values.start.astype(np.int32),
            self._values.length.astype(np.int32),
            functions.start.copy(),  # the scan itself may go
            functions.length.copy(),
        )

    def ids(self, name: str, decode: Callable[[pb.AttrValue], int]) -> list[int]:
        """What is made of an attribute of each node; -1 where there is none."""
        value_of_node, distinct = self._value_numbers(name)
        made = [decode(pb.AttrValue.FromString(distinct[i])) for i in range(len(distinct))]
        ids: list[int] = np.array([*made, -1], np.int64)[value_of_node].tolist()
        return ids

    def kept(self, table: InternTable[Attrs]) -> list[int]:
        """Ids of the attributes that formulas read, 0 for nodes with none of them."""
        names = (*KEPT_ATTRS, ELEMENT_TYPE)
        found = [self._value_numbers(name) for name in names]
        combinations = np.stack([numbers for numbers, _ in found], axis=1)
        combinations[(combinations[:, :-1] < 0).all(axis=1)] = -1
        rows, first, place = np.unique(combinations, axis=0, return_index=True, return_inverse=True)
        ids = np.zeros(len(rows), np.int64)
        for row in np.argsort(first).tolist():
            if rows[row].max(initial=-1) >= 0:
                values = {
                    name: plain_attr(pb.AttrValue.FromString(distinct[number]))
                    for name, number, (_, distinct) in zip(
                        names, rows[row].tolist(), found, strict=True
                    )
                    if number >= 0
                }
                known = [(name, value) for name, value in values.items() if value is not None]
                ids[row] = table.intern(tuple(known))
        kept: list[int] = ids[place.reshape(-1)].tolist()
        return kept

    def _value_numbers(self, name: str) -> tuple[Int64Array, TextIndex]:
        """Number of the value of an attribute of each node, -1 without one; and the values."""
        distinct = TextIndex()
        numbers = np.full(self._n_nodes, -1, np.int64)
        places = np.flatnonzero(self._name_numbers == self._numbers.get(name, -1))
        values = self._values
        # Of a key that stands twice, the last value counts.
        numbers[self._owner[places]] = distinct.intern(
            Texts(values.data, values.start[places], values.length[places])
        )
        return numbers, distinct


def _shape_id(value: pb.AttrValue, shapes: ShapeTable) -> int:
    is_shape = value.WhichOneof("value") == "shape"
    return shapes.shapes.intern(decode_shape(value.shape)) if is_shape else -1


def _list_id(value: pb.AttrValue, shapes: ShapeTable) -> int:
    if value.WhichOneof("value") != "list":
        return -1
    return shapes.intern_list([decode_shape(shape) for shape in value.list.shape])


def decode_shape(shape: pb.TensorShapeProto) -> Shape:
    """A TensorShapeProto as a tuple, -1 for unknown dimensions; None for unknown rank.

    Dimensions win over a contradicting ``unknown_rank``, as in the original.
    """
    dims = tuple([dim.size for dim in shape.dim])
    return None if shape.unknown_rank and not dims else dims


def plain_attr(value: pb.AttrValue) -> AttrValue | None:
    """An attribute as a plain value; None for kinds that no formula reads."""
    kind = value.WhichOneof("value")
    if kind == "b":
        return bool(value.b)
    if kind == "i":
        return int(value.i)
    if kind == "type":
        return int(value.type)
    if kind == "s":
        return value.s.decode("utf-8", "replace")
    if kind == "list":
        return tuple(value.list.i)
    return None
