"""Nodes of a saved profile → ``OpTable`` and call stacks; equal attributes are decoded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.frames import EMPTY_STACK, NO_STACK
from tfprof.core.columns.shapes import Shape, display_dims
from tfprof.core.wire import messages as pb
from tfprof.core.wire.lockstep import IrregularError
from tfprof.core.wire.refusals import REFUSALS
from tfprof.core.wire.text_index import TextIndex
from tfprof.graphs.read.attr_values import decode_shape, plain_attr
from tfprof.graphs.read.graphdef import ELEMENT_TYPE, KEPT_ATTRS
from tfprof.profiles.model.ops import OpTable
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.read.oplog import StackReader
from tfprof.profiles.read.profile_fields import (
    NODE,
    Damage,
    Tables,
    counts_of,
    decode,
    has_equal_neighbours,
    intern_texts,
    number_lists,
    number_rows,
    number_texts,
    parsed,
    single,
)

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
    """The id from ``make`` for each row of the columns; called once for each distinct row."""
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


_GAPS = 64
"""Missing inputs that a node may have in any case."""


class OpReader:
    """Fills the ops of a profile.

    Args:
        profile: An empty profile.
        tables: Tables of the saved profile; the ids of the nodes ascend.
        n_bytes: Size of the saved profile.
        damage: Receives reports of damage.
    """

    def __init__(self, profile: Profile, tables: Tables, n_bytes: int, damage: Damage) -> None:
        self._profile = profile
        self._tables = tables
        self._nodes = tables["nodes"]
        self._ids = self._nodes.number("key")
        self._n_bytes = n_bytes
        self._damage = damage
        self._names = [decode(name) for name in self._nodes.text("value.name")]

    def read(self) -> list[int]:
        """Read all nodes; returns the places of those that became rows.

        Raises:
            IrregularError: Protobuf has to read the messages first.
            MalformedProfileError: The nodes contradict themselves.
        """
        ops, nodes = self._profile.ops, self._nodes
        fresh = ops.add_named(self._names, *self._inputs())
        ops.op_ids.array[:] = intern_texts(nodes.text("value.op"), ops.strings)[fresh]
        devices = nodes.text("value.canonical_device")
        there = np.flatnonzero(devices.length)
        device_ids = np.full(len(self._names), -1, np.int64)
        device_ids[there] = intern_texts(devices.take(there), ops.strings)
        ops.device_ids.array[:] = device_ids[fresh]
        ops.float_ops.array[:] = nodes.number("value.float_ops")[fresh]
        ops.static_runs.array[:] = nodes.number("value.further_runs")[fresh] + 1
        ops.stack_ids.array[:] = self._stacks()[fresh]
        self._add_types(fresh)
        read_attrs(ops, self._tables, fresh)
        return fresh

    def _place(self, node: int) -> str:
        return f"node {self._ids[node]} ({self._names[node]!r})"

    def _inputs(self) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Number of inputs of each node; place of each source, or -1; output index of each source.

        An input that the map leaves out keeps its place: its source is in no graph. The output
        indices of ``ProfileNodeOwn``, our addition to the format, go before the format's.
        """
        inputs, added = self._tables[f"{NODE}.inputs"], self._tables[f"{NODE}.input_ports"]
        owner, index, sources = inputs.parent, inputs.number("key"), inputs.number("value")
        # Gaps take memory, which must not grow faster than the file.
        n_nodes = len(self._ids)
        allowed = _GAPS + self._n_bytes // (n_nodes or 1)
        bad = (index < 0) | (index >= np.bincount(owner, minlength=n_nodes)[owner] + allowed)
        self._damage.report(
            "impossible-input",
            bad,
            lambda i: f"{self._place(int(owner[i]))}: impossible input index {index[i]}",
            "inputs were left out: their index is impossible",
        )
        places = self._places(
            sources,
            lambda i: f"{self._place(int(owner[i]))}: inputs[{index[i]}] names node {sources[i]}",
        )
        ports = self._ports(owner, places)
        owner, index, places, ports = owner[~bad], index[~bad], places[~bad], ports[~bad]
        counts = np.zeros(n_nodes, np.int64)
        np.maximum.at(counts, owner, index + 1)
        n_added = np.bincount(added.parent, minlength=n_nodes)
        counts = np.maximum(counts, n_added)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        table = np.full((2, int(offsets[-1])), -1, np.int64)
        table[1] = 0
        table[:, offsets[owner] + index] = places, ports
        nth = np.arange(len(added)) - (np.cumsum(n_added) - n_added)[added.parent]
        table[1, offsets[added.parent] + nth] = added.number("value")
        return counts, table[0], table[1]

    def _places(self, ids: Int64Array, naming: Callable[[int], str]) -> Int64Array:
        """Places of nodes by id, -1 for unknown ids."""
        places = np.searchsorted(self._ids, ids)
        there = np.append(self._ids, 0)
        unknown = (places == len(self._ids)) | (there[places] != ids)
        self._damage.report(
            "unknown-input",
            unknown,
            lambda i: f"{naming(i)}, which is not there",
            "inputs have no source: the nodes that they name are not in the profile",
        )
        places[unknown] = -1
        return places

    def _ports(self, owner: Int64Array, sources: Int64Array) -> Int64Array:
        """The output that each input reads; the format keeps one for each source.

        Args:
            owner: Place of the node of each input.
            sources: Place of the source of each input, or -1.
        """
        entries = self._tables[f"{NODE}.src_output_index"]
        port_owner, ids, ports = entries.parent, entries.number("key"), entries.number("value")
        port_sources = self._places(
            ids,
            lambda i: f"{self._place(int(port_owner[i]))}: src_output_index names node {ids[i]}",
        )
        n_places = len(self._ids) + 1
        known = port_owner * n_places + port_sources
        order = np.argsort(known, kind="stable")
        wanted = owner * n_places + sources
        place = np.searchsorted(known[order], wanted, side="right")  # of two, the last counts
        is_known = np.append(-1, known[order])[place] == wanted
        return np.where(is_known & (sources >= 0), np.append(0, ports[order])[place], 0)

    def _stacks(self) -> Int64Array:
        """Call stacks; equal ones are decoded once."""
        traces = self._tables[f"{NODE}.trace"]
        owner = traces.parent
        if has_equal_neighbours(owner):
            raise IrregularError  # protobuf merges them
        # Every node of a loaded profile has a call stack in the original, maybe an empty one.
        missing = EMPTY_STACK if self._profile.classic else NO_STACK
        stacks = np.full(len(self._names), missing, np.int64)
        entries = self._tables["id_to_string"]
        texts = map(decode, entries.text("value"))
        strings = dict(zip(entries.number("key").tolist(), texts, strict=True))
        reader = StackReader(self._profile.stacks, strings)
        numbers, distinct = number_texts(traces.text("value"))
        try:
            decoded = [reader.stack(payload) for payload in distinct]
        except REFUSALS:
            raise IrregularError from None
        stacks[owner] = np.array([stack for stack, _ in decoded], np.int64)[numbers]
        unknown = [string_id for _, string_id in decoded]
        self._damage.report(
            "unknown-trace-string",
            np.array([string_id is not None for string_id in unknown], np.bool_)[numbers],
            lambda i: (
                f"{self._place(int(owner[i]))}: trace names string {unknown[numbers[i]]}, which "
                "id_to_string does not hold"
            ),
            "call stacks name strings that the profile does not hold; they show as unknown#<id>",
        )
        return stacks

    def _add_types(self, fresh: Sequence[int]) -> None:
        """Types besides op and device.

        If the op itself is not among them, it was seen only at run time, and the first type is the
        one that its timeline label named.
        """
        ops = self._profile.ops
        elements = self._tables[f"{NODE}.op_types"]
        row_of_node = np.full(len(self._names), -1, np.int64)
        row_of_node[fresh] = np.arange(len(fresh))
        rows: Int64Array = row_of_node[elements.parent]
        types = intern_texts(elements.text("value"), ops.strings)
        types, rows = types[rows >= 0], rows[rows >= 0]
        is_op = types == ops.op_ids.array[rows]
        names_op = np.zeros(len(ops), np.bool_)
        names_op[rows[is_op]] = True
        others = ~is_op & (types != ops.device_ids.array[rows])
        for row, type_id in zip(rows[others].tolist(), types[others].tolist(), strict=True):
            if names_op[row]:
                ops.added_types.setdefault(row, []).append(type_id)
            else:
                ops.label_op_ids.array[row] = type_id
                names_op[row] = True
