"""Shapes and attributes of the nodes of a saved profile; equal ones are decoded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from tfprof._wire import messages as pb
from tfprof._wire.lockstep import IrregularError, Messages, Occurrences
from tfprof.model.columns import BoolArray, Int64Array
from tfprof.model.ops import OpTable
from tfprof.model.shapes import Shape, display_dims
from tfprof.readers.graphdef import ELEMENT_TYPE, KEPT_ATTRS, decode_shape, plain_attr
from tfprof.readers.profile_fields import (
    fields_of,
    last,
    number_payloads,
    number_rows,
    packed_numbers,
    parsed,
    payloads,
    repeated,
    single_values,
)

# Fields of ProfileNode.
SHAPE, ATTRS, OUTPUT_SHAPES = 4, 11, 15

_SHAPE_ATTR, _OUTPUT_SHAPES_ATTR = "shape", "_output_shapes"
_WANTED = {
    name.encode(): place
    for place, name in enumerate((_SHAPE_ATTR, _OUTPUT_SHAPES_ATTR, *KEPT_ATTRS, ELEMENT_TYPE))
}
_KEY_TAG = 0x0A

ValueT = TypeVar("ValueT")
_NONE = -1


def read_attrs(ops: OpTable, nodes: Occurrences, fresh: Sequence[int]) -> None:
    """Fill in shapes and attributes.

    The attributes say what the graph's shapes are, a scalar or an unknown rank, say. What the
    node itself says wins where it shows something else, such as a shape that only a run has told.

    Args:
        ops: The table, which has the rows.
        nodes: Fields of the nodes.
        fresh: Place of the node of each row.

    Raises:
        IrregularError: Protobuf has to read the messages first.
    """
    (shape_attr, outputs_attr, *kept), values = _wanted_attrs(nodes)
    shapes, dims = _interned(nodes, SHAPE, _shape_of)
    lists, output_dims = _interned(nodes, OUTPUT_SHAPES, _output_shapes_of)

    def shape_id(attr: int, own: int) -> int:
        value = None if attr == _NONE else parsed(pb.AttrValue, values[attr])
        if value is not None and value.WhichOneof("value") == "shape":
            return ops.shapes.intern(_closer(decode_shape(value.shape), dims[own]))
        return ops.shapes.intern(dims[own]) if dims[own] else _NONE

    def list_id(attr: int, own: int) -> int:
        value = None if attr == _NONE else parsed(pb.AttrValue, values[attr])
        is_list = value is not None and value.WhichOneof("value") == "list"
        if own == _NONE and not is_list:
            return _NONE
        told = [decode_shape(shape) for shape in value.list.shape] if value and is_list else []
        told += [None] * len(output_dims[own])
        return ops.shapes.intern_list(list(map(_closer, told, output_dims[own])))

    def attrs_id(*attrs: int) -> int:
        present = [
            (name, values[attr])
            for name, attr in zip((*KEPT_ATTRS, ELEMENT_TYPE), attrs, strict=True)
            if attr != _NONE
        ]
        if [name for name, _ in present] == [ELEMENT_TYPE]:  # of no use alone
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


def _wanted_attrs(nodes: Occurrences) -> tuple[list[Int64Array], list[bytes]]:
    """For each wanted attribute the id of its serialized value by node, or -1; and the values."""
    owner, entries = nodes.nested(ATTRS)
    candidates = _may_be_wanted(entries)
    pairs = fields_of(
        Messages(entries.data, entries.start[candidates], entries.end[candidates]), 1, 2
    )
    found = np.full((len(_WANTED), len(nodes.messages)), _NONE, np.int64)
    keys = [_WANTED.get(key, _NONE) for key in payloads(last(pairs, 1))]
    ids, values = number_payloads(single_values(pairs, 2))
    place = np.array(keys, np.int64)
    wanted = place != _NONE
    found[place[wanted], owner[candidates][wanted]] = ids[wanted]
    return list(found), values


def _may_be_wanted(entries: Messages) -> BoolArray:
    """Which map entries may have a wanted key, by the length and first letter of the key.

    An entry that does not begin with its key, as all writers do it, may have any.
    """
    data = np.frombuffer(entries.data, np.uint8)
    wanted = np.zeros((256, 256), np.bool_)
    for name in _WANTED:
        wanted[len(name), name[0]] = True
    start = entries.start
    found: BoolArray = (data[start] != _KEY_TAG) | wanted[data[start + 1], data[start + 2]]
    return found


def _interned(
    nodes: Occurrences, number: int, decode: Callable[[list[bytes]], ValueT]
) -> tuple[Int64Array, list[ValueT]]:
    """A repeated field as a whole: an id for each node, -1 without it, and the values by id.

    The last of the values is that of nodes without the field.
    """
    owner, elements = repeated(nodes, number)
    places = np.arange(len(nodes.messages))
    first, end = np.searchsorted(owner, places), np.searchsorted(owner, places, side="right")
    there = np.flatnonzero(first < end)
    first, end = first[there], end[there]
    # From the first element to the last; what may stand between them does no harm.
    spans = Messages(elements.data, elements.start[first], elements.end[end - 1])
    numbers, _ = number_payloads(spans)
    values = []
    for place in np.unique(numbers, return_index=True)[1].tolist():
        of_node = slice(int(first[place]), int(end[place]))
        parts = Messages(elements.data, elements.start[of_node], elements.end[of_node])
        values.append(decode(list(payloads(parts))))
    ids = np.full(len(places), _NONE, np.int64)
    ids[there] = numbers
    return ids, [*values, decode([])]


def _shape_of(elements: list[bytes]) -> tuple[int, ...]:
    return tuple([number for element in elements for number in packed_numbers(element)])


def _output_shapes_of(entries: list[bytes]) -> list[tuple[int, ...]]:
    """Dimensions by output index.

    Raises:
        IrregularError: An index is missing, or there twice.
    """
    dims: dict[int, tuple[int, ...]] = {}
    for payload in entries:
        entry = parsed(pb.OutputShapesEntrySlices, payload)
        dims[entry.index] = tuple(entry.dims.int64_values)
    if sorted(dims) != list(range(len(entries))):
        raise IrregularError
    return [dims[index] for index in range(len(entries))]


def _closer(told: Shape, dims: tuple[int, ...]) -> Shape:
    """A shape that shows as ``dims``: that of the attribute, if it does."""
    return told if display_dims(told) == dims else (dims or None)
