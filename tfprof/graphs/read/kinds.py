"""The kinds of the nodes of a program, found by columns; each different one is decoded once.

Most nodes share type and attributes with others. These are found without decoding: a node's type
and attributes get numbers, the same for equal bytes, and so do the rows of these numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.strings import InternTable
from tfprof.core.wire import messages as pb
from tfprof.core.wire.scan import Texts
from tfprof.core.wire.text_index import TextIndex
from tfprof.graphs.model.graph_columns import AttrPlaces
from tfprof.graphs.model.node_table import Kind
from tfprof.graphs.model.program import GIVEN_FLOPS, Body
from tfprof.graphs.read.attr_values import base_type, plain_value
from tfprof.graphs.read.node_columns import first_places
from tfprof.graphs.read.op_outputs import is_stateful, output_types

LARGE_BYTES = 1 << 14
"""Attributes that take more are constants, which are not compared."""

KEPT_PRIVATE = frozenset(
    name.encode() for name in ("_handle_dtypes", "_handle_shapes", GIVEN_FLOPS)
)
"""Attributes with a leading underscore that are needed here."""

_INT64_BYTES = 8

_VALUE_BITS = 32
"""Bits for the number of a value, below that of its name."""

_FUNCTION = ord("R")
"""First byte of an attribute that names a function: the tag of its field 10."""

_VARIABLE = "VarHandleOp"

_VARIABLE_NAMES = (b"container", b"debug_name", b"shared_name")
"""Attributes of ``VarHandleOp`` that identify the variable."""


@dataclass(frozen=True, slots=True)
class _Undecoded:
    """Kinds with consecutive numbers, encoded as in a graph.

    Attributes:
        op_types: Op type of each.
        starts: Start of each kind's attributes in the next two, shape (n + 1,).
        keys: Numbers of the attributes' names.
        value_numbers: Numbers of the attributes' values.
        values: The values.
    """

    op_types: list[str]
    starts: list[int]
    keys: list[int]
    value_numbers: list[int]
    values: Texts


class KindTable:
    """Kinds, decoded on demand.

    Args:
        signatures: Signature of each function of the program, by name.
        keep_names: Variables with different names have different kinds.

    Attributes:
        op_types: Op type of each.
    """

    def __init__(self, signatures: Mapping[str, pb.OpDef], *, keep_names: bool = True) -> None:
        self.op_types: list[str] = []
        self._signatures = signatures
        self._keep_names = keep_names
        self._kinds: list[Kind | None] = []
        self._first: list[int] = []
        self._undecoded: list[_Undecoded] = []
        self._ops = InternTable[str]()
        self._keys = InternTable[bytes]()
        self._values = TextIndex()
        self._n_large = 0
        self._lines = TextIndex()
        self._kind_of_line: list[int] = []
        self._of_entries: dict[tuple[str, tuple[bytes, ...]], int] = {}
        self._decoded: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.op_types)

    def __getitem__(self, number: int) -> Kind:
        kind = self._kinds[number]
        if kind is None:
            place = bisect_right(self._first, number) - 1
            kind = self._kinds[number] = self._decode(
                self._undecoded[place], number - self._first[place]
            )
        return kind

    def append(self, kind: Kind) -> int:
        """Add a kind; returns its number."""
        self.op_types.append(kind.op)
        self._kinds.append(kind)
        return len(self.op_types) - 1

    def make(self, op: str, attrs: Mapping[str, Any]) -> Kind:
        """A kind of this type with these attributes."""
        called = self._signatures.get(op)
        if called is None:
            types = tuple(map(base_type, output_types(op, attrs)))
            return Kind(op, attrs, types, stateful=is_stateful(op))
        return Kind(op, attrs, tuple(base_type(output.type) for output in called.output_arg))

    def add(
        self, places: AttrPlaces, function: Callable[[str], Body | None] | None = None
    ) -> Int64Array:
        """Add the kinds of the nodes of a graph.

        Args:
            places: Op types and attributes of the nodes.
            function: Body of a function by name. Names of functions with the same body are equal;
                without this argument, all names differ.

        Returns:
            The number of each node's kind, shape (n,).
        """
        op_map = np.array([*map(self._ops.intern, places.op_types)], np.int64)
        key_map = np.array([*map(self._keys.intern, places.names)], np.int64)
        rows = np.flatnonzero(self._is_compared(places))
        ops, keys = op_map[places.op_numbers], key_map[places.name_numbers[rows]]
        starts, lengths = places.starts[rows], places.lengths[rows]
        values = Texts(places.data, starts.astype(np.int64), lengths.astype(np.int64))
        value_numbers = self._value_numbers(values)
        compared = value_numbers
        if function is not None:
            compared = _with_shared_bodies(values, value_numbers, function)
        counts = np.bincount(places.owners[rows], minlength=len(ops))
        offsets = np.concatenate([[0], np.cumsum(counts)])
        alike, first, lines = self._lines_of(ops, offsets, (keys << _VALUE_BITS) + compared)

        distinct, places_of_first = np.unique(lines, return_index=True)
        # A new line is a new kind.
        fresh = first[places_of_first[distinct >= len(self._kind_of_line)]]
        of_fresh = places_in(offsets, fresh)
        self._first.append(len(self))
        self._kind_of_line += range(len(self), len(self) + len(fresh))
        undecoded = _Undecoded(
            [self._ops[number] for number in ops[fresh].tolist()],
            [0, *np.cumsum(counts[fresh]).tolist()],
            keys[of_fresh].tolist(),
            value_numbers[of_fresh].tolist(),
            values.take(of_fresh),
        )
        self._undecoded.append(undecoded)
        self.op_types += undecoded.op_types
        self._kinds += [None] * len(fresh)
        kind_ids: Int64Array = np.array(self._kind_of_line, np.int64)[lines][alike]
        return kind_ids

    def of_entries(self, op: str, entries: Sequence[bytes]) -> int:
        """Number of the kind with this type and these serialized ``AttrEntry`` messages."""
        key = (op, tuple(sorted(entries)))
        if key not in self._of_entries:
            named = map(pb.AttrEntry.FromString, entries)
            attrs = {
                each.name: plain_value(each.value)
                for each in named
                if is_needed(each.name.encode())
            }
            self._of_entries[key] = self.append(self.make(op, attrs))
        return self._of_entries[key]

    def _is_compared(self, places: AttrPlaces) -> BoolArray:
        """Which attributes distinguish kinds."""
        names = places.names
        needed: BoolArray
        needed = np.array([is_needed(name) for name in names], np.bool_)[places.name_numbers]
        if not self._keep_names and _VARIABLE in places.op_types:
            is_variable = places.op_numbers == places.op_types.index(_VARIABLE)
            is_name = np.array([name in _VARIABLE_NAMES for name in names], np.bool_)
            needed &= ~(is_name[places.name_numbers] & is_variable[places.owners])
        return needed

    def _value_numbers(self, values: Texts) -> Int64Array:
        """Number of each value; large values count as all different."""
        is_large = values.length > LARGE_BYTES
        numbers = np.empty(len(values), np.int64)
        numbers[~is_large] = 2 * self._values.intern(values.take(np.flatnonzero(~is_large)))
        n_large = int(is_large.sum())
        numbers[is_large] = 2 * np.arange(self._n_large, self._n_large + n_large) + 1
        self._n_large += n_large
        return numbers

    def _lines_of(
        self, ops: Int64Array, offsets: Int64Array, pairs: Int64Array
    ) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Find nodes with the same type and attributes.

        Maps have no order, so attributes may come in any. Nodes that differ in the order of the
        file are sorted and compared again.

        Args:
            ops: Type of each node, shape (n,).
            offsets: Start of each node's attributes, shape (n + 1,).
            pairs: The attributes, a number for each name with a value.

        Returns:
            A number for each node, shape (n,): the same for nodes that are equal in the order of
            the file; the first node with each number, and its line among those of all graphs,
            shape (m,).
        """
        numbers = TextIndex().intern(_lines(ops, offsets, pairs))
        nodes = first_places(numbers)
        counts = np.diff(offsets)[nodes]
        own = pairs[places_in(offsets, nodes)]
        ordered = own[np.lexsort((own, np.repeat(np.arange(len(nodes)), counts)))]
        starts = np.concatenate([[0], np.cumsum(counts)])
        return numbers, nodes, self._lines.intern(_lines(ops[nodes], starts, ordered))

    def _decode(self, kinds: _Undecoded, place: int) -> Kind:
        attrs: dict[str, Any] = {}
        for at in range(kinds.starts[place], kinds.starts[place + 1]):
            number = kinds.value_numbers[at]
            if number not in self._decoded:
                self._decoded[number] = plain_value(pb.AttrValue.FromString(kinds.values[at]))
            attrs[self._keys[kinds.keys[at]].decode()] = self._decoded[number]
        return self.make(kinds.op_types[place], attrs)


def is_needed(name: bytes) -> bool:
    """Whether an attribute is needed: most private ones are only for TensorFlow."""
    return name[:1] != b"_" or name in KEPT_PRIVATE


def _with_shared_bodies(
    values: Texts, numbers: Int64Array, function: Callable[[str], Body | None]
) -> Int64Array:
    """Numbers of values, one for all names of functions that have the same body."""
    there = np.flatnonzero(values.length)
    is_function = np.frombuffer(values.data, np.uint8)[values.start[there]] == _FUNCTION
    named = there[is_function]
    distinct, first, places = np.unique(numbers[named], return_index=True, return_inverse=True)
    of_body: dict[int, int] = {}
    shared = []
    for number, place in zip(distinct.tolist(), named[first].tolist(), strict=True):
        body = function(pb.AttrValue.FromString(values[place]).func.name)
        shared.append(number if body is None else of_body.setdefault(id(body), number))
    result = numbers.copy()
    result[named] = np.array(shared, np.int64)[places.reshape(-1)]
    return result


def places_in(offsets: Int64Array, owners: Int64Array) -> Int64Array:
    """Places of the entries of some owners, one owner after the other.

    Args:
        offsets: Start of the entries of each owner, shape (n + 1,).
        owners: The owners.
    """
    counts = offsets[owners + 1] - offsets[owners]
    ends = np.cumsum(counts)
    shifts = offsets[owners] - (ends - counts)
    places: Int64Array = np.arange(int(counts.sum())) + np.repeat(shifts, counts)
    return places


def _lines(ops: Int64Array, offsets: Int64Array, pairs: Int64Array) -> Texts:
    """Type and attributes of each node, as bytes."""
    starts = offsets + np.arange(len(offsets))  # each has its type before them
    numbers = np.empty(int(starts[-1]), np.int64)
    numbers[starts[:-1]] = ops
    is_pair = np.ones(len(numbers), np.bool_)
    is_pair[starts[:-1]] = False
    numbers[is_pair] = pairs
    bounds = starts * _INT64_BYTES
    return Texts(numbers.data.cast("B"), bounds[:-1], np.diff(bounds))
