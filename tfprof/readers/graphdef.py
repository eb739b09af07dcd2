"""GraphDef, MetaGraphDef and SavedModel → ``GraphColumns``."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from tfprof._wire import messages as pb
from tfprof._wire.parsing import parse
from tfprof.errors import EmptyProfileError
from tfprof.model.ops import Attrs, AttrValue, GraphColumns
from tfprof.model.shapes import Shape, ShapeTable
from tfprof.readers.open import open_message
from tfprof.readers.sniff import Format

if TYPE_CHECKING:
    from tfprof.readers.open import Source

KEPT_ATTRS = ("adj_x", "data_format", "ksize", "strides", "transpose_a")
"""Attributes that FLOP formulas read; the rest of a node's attributes stays behind."""

ELEMENT_TYPE = "T"
"""Kept as a ``DataType`` number, of the nodes that have one of ``KEPT_ATTRS``."""

GRAPH_FORMATS = (Format.GRAPH_DEF, Format.META_GRAPH_DEF, Format.SAVED_MODEL)


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
    columns = GraphColumns(serialized=data)
    decode = _AttrReader(columns)
    for node in graph.node:
        columns.names.append(node.name)
        columns.ops.append(node.op)
        columns.inputs.append(list(node.input))
        decode.append(node.attr)
    return columns


class _AttrReader:
    """Reads the attributes that matter; equal serialized values are decoded once."""

    def __init__(self, columns: GraphColumns) -> None:
        self._columns = columns
        self._shapes: ShapeTable = columns.shapes
        self._shape_ids: dict[bytes, int] = {}
        self._list_ids: dict[bytes, int] = {}
        self._attrs_ids: dict[tuple[tuple[str, bytes], ...], int] = {}

    def append(self, attr: MutableMapping[str, pb.AttrValue]) -> None:
        columns = self._columns
        shape_id = list_id = -1
        if "shape" in attr:
            value = attr["shape"]
            if value.WhichOneof("value") == "shape":
                shape_id = self._shape_id(value.shape)
        if "_output_shapes" in attr:
            value = attr["_output_shapes"]
            if value.WhichOneof("value") == "list":
                list_id = self._list_id(value)
        columns.shape_ids.append(shape_id)
        columns.output_shapes_ids.append(list_id)
        columns.attrs_ids.append(self._attrs_id(attr))

    def _shape_id(self, shape: pb.TensorShapeProto) -> int:
        key = shape.SerializeToString()
        found = self._shape_ids.get(key)
        if found is None:
            found = self._shape_ids[key] = self._shapes.intern(decode_shape(shape))
        return found

    def _list_id(self, value: pb.AttrValue) -> int:
        key = value.SerializeToString()
        found = self._list_ids.get(key)
        if found is None:
            shapes = [decode_shape(shape) for shape in value.list.shape]
            found = self._list_ids[key] = self._shapes.intern_list(shapes)
        return found

    def _attrs_id(self, attr: MutableMapping[str, pb.AttrValue]) -> int:
        present = [name for name in KEPT_ATTRS if name in attr]
        if not present:
            return 0
        if ELEMENT_TYPE in attr:
            present.append(ELEMENT_TYPE)
        key = tuple([(name, attr[name].SerializeToString()) for name in present])
        found = self._attrs_ids.get(key)
        if found is None:
            values: list[tuple[str, AttrValue]] = []
            for name in present:
                value = plain_attr(attr[name])
                if value is not None:
                    values.append((name, value))
            attrs: Attrs = tuple(values)
            found = self._attrs_ids[key] = self._columns.attrs.intern(attrs)
        return found


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
