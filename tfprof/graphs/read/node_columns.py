"""Nodes of a scanned GraphDef or FunctionDef as columns; equal texts are decoded once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tfprof.core.columns.columns import Int64Array, no_rows
from tfprof.core.wire import messages as pb
from tfprof.core.wire.plan import Entries, rows, text
from tfprof.core.wire.scan import Columns, Texts
from tfprof.core.wire.text_index import TextIndex, strings
from tfprof.graphs.model.graph_columns import AttrPlaces

NODE_ENTRIES: Entries = (
    text("name"), text("op"), rows("input"), rows("attr", [text("key"), text("value")]),
)  # fmt: skip
"""Fields of a NodeDef for a plan: tables of nodes, inputs and attributes."""


def attr_places(nodes: Columns, attrs: Columns, functions: Texts | None = None) -> AttrPlaces:
    """Types of nodes, and positions of their attributes.

    Args:
        nodes: The nodes.
        attrs: The attributes of all nodes.
        functions: The functions of the graph; None if they are not needed.
    """
    op_types, op_numbers = distinct_texts(nodes.text("op"))
    names = TextIndex()
    name_numbers = names.intern(attrs.text("key"))
    values = attrs.text("value")
    return AttrPlaces(
        values.data,
        op_types,
        op_numbers,
        [names[number] for number in range(len(names))],
        attrs.parent.astype(np.int32),
        name_numbers.astype(np.int32),
        values.start.astype(np.int32),
        values.length.astype(np.int32),
        # Copies: the scan itself may go.
        no_rows() if functions is None else functions.start.copy(),
        no_rows() if functions is None else functions.length.copy(),
    )


def input_offsets(inputs: Columns, n_nodes: int) -> Int64Array:
    """Start of each node's inputs, shape (n + 1,)."""
    offsets = np.zeros(n_nodes + 1, np.int64)
    np.cumsum(np.bincount(inputs.parent, minlength=n_nodes), out=offsets[1:])
    return offsets


def distinct_texts(texts: Texts) -> tuple[list[str], Int64Array]:
    """The different texts, and the place of each text in them, shape (n,)."""
    numbers = TextIndex().intern(texts)
    return strings(texts.take(first_places(numbers))), numbers


def first_places(numbers: Int64Array) -> Int64Array:
    """First place of each number; numbers begin at 0, in order of appearance."""
    highest = np.maximum.accumulate(numbers)
    return np.flatnonzero(np.diff(highest, prepend=-1))


def decoded_ids(
    places: AttrPlaces, name: str, decode: Callable[[pb.AttrValue], int], missing: int = -1
) -> Int64Array:
    """Number decoded from an attribute of each node, equal values once, shape (n,).

    Args:
        places: Positions of the attributes.
        name: Name of the attribute.
        decode: From a value to a number.
        missing: The number of a node without the attribute.
    """
    numbers, values = value_numbers(places, name)
    made = [decode(pb.AttrValue.FromString(values[i])) for i in range(len(values))]
    ids: Int64Array = np.array([*made, missing], np.int64)[numbers]
    return ids


def value_numbers(places: AttrPlaces, name: str) -> tuple[Int64Array, TextIndex]:
    """Number of the value of an attribute of each node, -1 without one; and the values."""
    values = TextIndex()
    numbers = np.full(len(places.op_numbers), -1, np.int64)
    key = name.encode()
    if key in places.names:
        rows = np.flatnonzero(places.name_numbers == places.names.index(key))
        starts, lengths = places.starts[rows], places.lengths[rows]
        texts = Texts(places.data, starts.astype(np.int64), lengths.astype(np.int64))
        # If a key is repeated, the last value counts.
        numbers[places.owners[rows]] = values.intern(texts)
    return numbers, values
