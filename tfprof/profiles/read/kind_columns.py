"""Kinds of the nodes of a serialized GraphDef, by columns: each different one is decoded once.

Most nodes have type and attributes in common with others. Which do is found without decoding any:
a node's type and attributes get numbers, equal bytes equal ones, and so do the rows of these
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from tfprof.columns.columns import BoolArray, Int64Array
from tfprof.graphs.model.graph_columns import AttrPlaces
from tfprof.graphs.model.program import Kind
from tfprof.graphs.read.program import KEPT_PRIVATE, LARGE_BYTES, NodeReader, small_value
from tfprof.wire import messages as pb
from tfprof.wire.scan import Texts
from tfprof.wire.text_index import TextIndex

_INT64_BYTES = 8

_FUNCTION = ord("R")
"""First byte of an attribute that names a function: the tag of its field 10."""

_VARIABLE = "VarHandleOp"

_NAMES = (b"container", b"debug_name", b"shared_name")
"""Attributes of ``VarHandleOp`` that tell which variable it is, and nothing of what it is like."""


class ScannedGraph:
    """Types and attributes of the nodes of a GraphDef.

    Args:
        attrs: Where in the graph its attributes are.
        keep_names: Tell variables with different names apart.

    Attributes:
        functions: The function library.
    """

    def __init__(self, attrs: AttrPlaces, *, keep_names: bool) -> None:
        functions = Texts(attrs.data, attrs.function_starts, attrs.function_lengths)
        self.functions = list(map(pb.FunctionDefSlices.FromString, functions))
        self._keeps_names = keep_names
        self._ops, self._op_numbers = attrs.op_types, attrs.op_numbers
        self._keys = [name.decode() for name in attrs.names]
        kept = _is_told(attrs.names)[attrs.name_numbers]
        if not keep_names and _VARIABLE in self._ops:
            is_variable = self._op_numbers == self._ops.index(_VARIABLE)
            is_name = np.array([name in _NAMES for name in attrs.names], np.bool_)
            kept &= ~(is_name[attrs.name_numbers] & is_variable[attrs.owners])
        at = np.flatnonzero(kept)
        starts, lengths = attrs.starts[at], attrs.lengths[at]
        self._key_of = attrs.name_numbers[at].astype(np.int64)
        self._values = Texts(attrs.data, starts.astype(np.int64), lengths.astype(np.int64))
        self._value_of, self._n_values = _value_numbers(self._values)
        self._decoded: dict[int, Any] = {}
        counts = np.bincount(attrs.owners[at], minlength=len(self._op_numbers))
        self._start = np.concatenate([[0], np.cumsum(counts)])
        self._first = np.zeros(0, np.int64)

    def kinds(self, reader: NodeReader) -> tuple[Int64Array, list[str]]:
        """Kind of each node, shape (n,), and the op type of each kind."""
        if not self._keeps_names:
            self._share_functions(reader)
        pairs = self._key_of * self._n_values + self._value_of
        kind_ids = _alike(self._op_numbers, self._start, pairs)
        self._first = _first(kind_ids)
        return kind_ids, [self._ops[i] for i in self._op_numbers[self._first].tolist()]

    def _share_functions(self, reader: NodeReader) -> None:
        """Take functions that share a body for the same one."""
        values = self._values
        shared = np.arange(self._n_values)
        of_body: dict[int, int] = {}
        told = np.flatnonzero(values.length)
        is_function = np.frombuffer(values.data, np.uint8)[values.start[told]] == _FUNCTION
        numbers, first = np.unique(self._value_of[told[is_function]], return_index=True)
        for number, place in zip(numbers.tolist(), told[is_function][first].tolist(), strict=True):
            body = reader.function(pb.AttrValue.FromString(values[place]).func.name)
            if body is not None:
                shared[number] = of_body.setdefault(id(body), number)
        self._value_of = shared[self._value_of]

    def kind(self, number: int, reader: NodeReader) -> Kind:
        """A kind."""
        node = int(self._first[number])
        places = range(int(self._start[node]), int(self._start[node + 1]))
        attrs = {self._keys[int(self._key_of[place])]: self._value(place) for place in places}
        return reader.kind_of(self._ops[int(self._op_numbers[node])], attrs)

    def _value(self, place: int) -> Any:
        number = int(self._value_of[place])
        if number not in self._decoded:
            data = self._values[place]
            self._decoded[number] = small_value(pb.AttrValue.FromString(data), len(data))
        return self._decoded[number]


def _alike(ops: Int64Array, start: Int64Array, pairs: Int64Array) -> Int64Array:
    """Number of each node, the same for those with the same type and attributes.

    Maps have no order, so the attributes of nodes may stand in any. What is different as it stands
    is put in order and compared again.

    Args:
        ops: Type of each node, shape (n,).
        start: Start of each node's attributes, shape (n + 1,).
        pairs: The attributes, a number for each name with a value.
    """
    numbers = _numbered(_lines(ops, start, pairs))[1]
    first = _first(numbers)
    counts = np.diff(start)[first]
    owner = np.repeat(np.arange(len(first)), counts)
    ends = np.cumsum(counts)
    places = np.arange(len(owner)) - (ends - counts)[owner] + start[first][owner]
    ordered = pairs[places][np.lexsort((pairs[places], owner))]
    distinct = _numbered(_lines(ops[first], np.concatenate([[0], ends]), ordered))[1]
    alike: Int64Array = distinct[numbers]
    return alike


def _first(numbers: Int64Array) -> Int64Array:
    """Where each number stands first; they are from 0 in order of appearance."""
    highest = np.maximum.accumulate(numbers)
    return np.flatnonzero(np.diff(highest, prepend=-1))


def _lines(ops: Int64Array, start: Int64Array, pairs: Int64Array) -> Texts:
    """Type and attributes of each node, as bytes."""
    starts = start + np.arange(len(start))  # each has its type before them
    numbers = np.empty(int(starts[-1]), np.int64)
    numbers[starts[:-1]] = ops
    is_pair = np.ones(len(numbers), np.bool_)
    is_pair[starts[:-1]] = False
    numbers[is_pair] = pairs
    bounds = starts * _INT64_BYTES
    return Texts(numbers.data.cast("B"), bounds[:-1], np.diff(bounds))


def _numbered(texts: Texts) -> tuple[TextIndex, Int64Array]:
    distinct = TextIndex()
    return distinct, distinct.intern(texts)


def _is_told(names: Sequence[bytes]) -> BoolArray:
    """Which attributes tell something here: private ones are for TensorFlow alone."""
    return np.array([name[:1] != b"_" or name in KEPT_PRIVATE for name in names], np.bool_)


def _value_numbers(values: Texts) -> tuple[Int64Array, int]:
    """Number of each value, and how many there are; large ones are taken to be all different."""
    is_large = values.length > LARGE_BYTES
    numbers = np.empty(len(values), np.int64)
    distinct, numbers[~is_large] = _numbered(values.take(np.flatnonzero(~is_large)))
    n_large = int(is_large.sum())
    numbers[is_large] = len(distinct) + np.arange(n_large)
    return numbers, len(distinct) + n_large


class KindTable(Sequence[Kind]):
    """Kinds that are decoded when they are asked for.

    Attributes:
        op_types: Op type of each.
    """

    def __init__(self) -> None:
        self.op_types: list[str] = []
        self._kinds: list[Kind | None] = []
        self._graphs: list[tuple[int, ScannedGraph, NodeReader]] = []

    def __len__(self) -> int:
        return len(self.op_types)

    @overload
    def __getitem__(self, number: int) -> Kind: ...
    @overload
    def __getitem__(self, number: slice) -> list[Kind]: ...
    def __getitem__(self, number: int | slice) -> Kind | list[Kind]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        kind = self._kinds[number]
        if kind is None:
            number %= len(self)
            first, graph, reader = next(
                part for part in reversed(self._graphs) if part[0] <= number
            )
            kind = self._kinds[number] = graph.kind(number - first, reader)
        return kind

    def add(self, kind: Kind) -> int:
        """Append a kind; returns its number."""
        self.op_types.append(kind.op)
        self._kinds.append(kind)
        return len(self.op_types) - 1

    def add_graph(self, graph: ScannedGraph, reader: NodeReader) -> Int64Array:
        """Append the kinds of a graph; returns the number of that of each of its nodes."""
        first = len(self.op_types)
        self._graphs.append((first, graph, reader))
        kind_ids, op_types = graph.kinds(reader)
        self.op_types += op_types
        self._kinds += [None] * len(op_types)
        return first + kind_ids
