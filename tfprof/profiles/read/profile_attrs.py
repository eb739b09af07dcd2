"""Shapes and attributes of the nodes of a saved profile; equal ones are decoded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.shapes import Shape, display_dims
from tfprof.core.wire import messages as pb
from tfprof.core.wire.lockstep import IrregularError
from tfprof.core.wire.text_index import TextIndex
from tfprof.graphs.read.attr_values import decode_shape, plain_attr
from tfprof.graphs.read.graphdef import ELEMENT_TYPE, KEPT_ATTRS
from tfprof.profiles.model.ops import OpTable
from tfprof.profiles.read.profile_fields import (
    counts_of,
    number_lists,
    number_rows,
    number_texts,
    parsed,
    single,
)
from tfprof.profiles.read.profile_plan import NODE, Tables

_WANTED = ("shape", "_output_shapes", *KEPT_ATTRS, ELEMENT_TYPE)
_OUTPUT_SHAPES = f"{NODE}.output_shapes"
_NONE = -1


def read_attrs(ops: OpTable, tables: Tables, fresh: Sequence[int]) -> None:
    """Fill in shapes and attributes.

    The attributes hold the graph's shapes, also scalars and unknown ranks. The shapes of the node
    itself win where they differ, as a shape that only a run has shown.

    Args:
        ops: The table, with all its rows.
        tables: Tables of the saved profile.
        fresh: Place of the node of each row.

    Raises:
        IrregularError: Protobuf has to read the messages first.
    """
    (shape_attr, outputs_attr, *kept), values = _wanted_attrs(tables)
    shape = tables[f"{NODE}.shape"]
    shapes, dims = number_lists(shape.number("value"), counts_of(shape, len(tables["nodes"])))
    lists, output_dims = _output_shapes(tables)

    def shape_id(attr: int, own: int) -> int:
        value = None if attr == _NONE else parsed(pb.AttrValue, values[attr])
        if value is not None and value.WhichOneof("value") == "shape":
            return ops.shapes.intern(_closer(decode_shape(value.shape), dims[own]))
        return ops.shapes.intern(dims[own]) if dims[own] else _NONE

    def list_id(attr: int, own: int) -> int:
        value = None if attr == _NONE else parsed(pb.AttrValue, values[attr])
        is_list = value is not None and value.WhichOneof("value") == "list"
        if not output_dims[own] and not is_list:
            return _NONE
        shapes = [decode_shape(shape) for shape in value.list.shape] if value and is_list else []
        shapes += [None] * len(output_dims[own])
        return ops.shapes.intern_list(list(map(_closer, shapes, output_dims[own])))

    def attrs_id(*attrs: int) -> int:
        present = [
            (name, values[attr])
            for name, attr in zip((*KEPT_ATTRS, ELEMENT_TYPE), attrs, strict=True)
            if attr != _NONE
        ]
        if [name for name, _ in present] == [ELEMENT_TYPE]:  # useless alone
            present = []
        plain = [(name, plain_attr(parsed(pb.AttrValue, value))) for name, value in present]
        return ops.attrs.intern(tuple([(name, v) for name, v in plain if v is not None]))

    ops.shape_ids.array[:] = _by_key(shape_id, shape_attr, shapes)[fresh]
    ops.output_shapes_ids.array[:] = _by_key(list_id, outputs_attr, lists)[fresh]
    ops.attrs_ids.array[:] = _by_key(attrs_id, *kept)[fresh]


def _by_key(make: Callable[..., int], *columns: Int64Array) -> Int64Array:
    """The id that ``make`` gives for each row of the columns; asked once for each distinct row."""
    rows, distinct = number_rows(*columns)
    return np.array([make(*key) for key in distinct], np.int64)[rows]


def _wanted_attrs(tables: Tables) -> tuple[list[Int64Array], list[bytes]]:
    """Id of the serialized value of each wanted attribute, by node, or -1; and the values."""
    attrs = tables[f"{NODE}.attrs"]
    names = TextIndex()
    names.extend(list(_WANTED))
    place = names.find(attrs.text("key"))
    wanted = np.flatnonzero(place >= 0)
    values = single(tables[f"{NODE}.attrs.value"], len(attrs))
    ids, distinct = number_texts(values.take(wanted))
    value_ids = np.full((len(_WANTED), len(tables["nodes"])), _NONE, np.int64)
    value_ids[place[wanted], attrs.parent[wanted]] = ids
    return list(value_ids), distinct


def _output_shapes(tables: Tables) -> tuple[Int64Array, list[list[tuple[int, ...]]]]:
    """An id for each node, and by id the dimensions of each output.

    Raises:
        IrregularError: An index is missing, or there twice.
    """
    entries, sizes = tables[_OUTPUT_SHAPES], tables[f"{_OUTPUT_SHAPES}.value.int64_values"]
    dims_ids, dims = number_lists(sizes.number("value"), counts_of(sizes, len(entries)))
    pairs = np.stack([entries.number("key"), dims_ids], axis=1)
    ids, lists = number_lists(pairs, 2 * counts_of(entries, len(tables["nodes"])))
    dims_of_outputs = []
    for members in lists:
        by_index = dict(zip(members[::2], members[1::2], strict=True))
        if sorted(by_index) != list(range(len(members) // 2)):
            raise IrregularError
        dims_of_outputs.append([dims[by_index[index]] for index in range(len(by_index))])
    return ids, dims_of_outputs


def _closer(attr: Shape, dims: tuple[int, ...]) -> Shape:
    """The attribute's shape if it is displayed as ``dims``, else the shape of ``dims``."""
    return attr if display_dims(attr) == dims else (dims or None)
