"""Nodes of a saved profile → ``OpTable`` and call stacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tfprof._wire import messages as pb
from tfprof._wire.lockstep import IrregularError, Occurrences
from tfprof.model.columns import Int64Array
from tfprof.model.frames import EMPTY_STACK, NO_STACK, Frame
from tfprof.model.profile import Profile
from tfprof.readers.profile_attrs import ATTRS, OUTPUT_SHAPES, SHAPE, read_attrs
from tfprof.readers.profile_damage import Damage
from tfprof.readers.profile_fields import (
    decode,
    intern_payloads,
    last,
    map_entries,
    number_payloads,
    packed_numbers,
    parsed,
    payloads,
    repeated,
    select,
)

# Fields of ProfileNode.
_NAME, _INPUTS, _OP_TYPES, _DEVICE, _FLOAT_OPS, _OP = 1, 2, 5, 6, 8, 9
_TRACE, EXECS, _SRC_OUTPUT_INDEX = 10, 12, 14
_INPUT_PORTS, _FURTHER_RUNS = 1001, 1002  # of ProfileNodeOwn
FIELDS = (
    *(_NAME, _INPUTS, SHAPE, _OP_TYPES, _DEVICE, _FLOAT_OPS, _OP),
    *(_TRACE, ATTRS, EXECS, _SRC_OUTPUT_INDEX, OUTPUT_SHAPES, _INPUT_PORTS, _FURTHER_RUNS),
)

_GAPS = 64
"""Missing inputs that a node may have in any case."""


class OpReader:
    """Fills the ops of a profile.

    Args:
        profile: An empty profile.
        ids: Id of each node, shape (n,), ascending.
        nodes: The fields ``FIELDS`` of the nodes.
        strings: The profile's ``id_to_string``.
        damage: Takes reports of damage.
    """

    def __init__(
        self,
        profile: Profile,
        ids: Int64Array,
        nodes: Occurrences,
        strings: Mapping[int, str],
        damage: Damage,
    ) -> None:
        self._profile = profile
        self._ids = ids
        self._nodes = nodes
        self._strings = strings
        self._damage = damage
        self._names = [decode(payload) for payload in payloads(last(nodes, _NAME))]

    def read(self) -> list[int]:
        """Read all; returns the places of the nodes that became rows.

        Raises:
            IrregularError: Protobuf has to read the messages first.
            MalformedProfileError: The nodes contradict themselves.
        """
        ops, nodes = self._profile.ops, self._nodes
        fresh = ops.add_named(self._names, *self._inputs())
        ops.op_ids.array[:] = intern_payloads(last(nodes, _OP), ops.strings)[fresh]
        devices = last(nodes, _DEVICE)
        there = np.flatnonzero(devices.start < devices.end)
        device_ids = np.full(len(self._names), -1, np.int64)
        device_ids[there] = intern_payloads(select(devices, there), ops.strings)
        ops.device_ids.array[:] = device_ids[fresh]
        ops.float_ops.array[:] = nodes.last_int(_FLOAT_OPS)[fresh]
        ops.static_runs.array[:] = nodes.last_int(_FURTHER_RUNS)[fresh] + 1
        ops.stack_ids.array[:] = self._stacks()[fresh]
        self._add_types(fresh)
        read_attrs(ops, nodes, fresh)
        return fresh

    def _place(self, node: int) -> str:
        return f"node {self._ids[node]} ({self._names[node]!r})"

    def _inputs(self) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Number of inputs of each node; place of each source, or -1, and its output index.

        An input that the map leaves out keeps its place: its source is in no graph. What we have
        added to the format says more than the format can, see ``ProfileNodeOwn``.
        """
        added_to, additions = repeated(self._nodes, _INPUT_PORTS)
        owner, entries = map_entries(self._nodes, _INPUTS)
        index, sources = _int32(entries.last_int(1)), entries.last_int(2)
        # Gaps take memory, which must not grow faster than the file.
        n_nodes = len(self._ids)
        allowed = _GAPS + len(self._nodes.messages.data) // (n_nodes or 1)
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
        added = [
            (node, packed_numbers(payload))
            for node, payload in zip(added_to.tolist(), payloads(additions), strict=True)
        ]
        for node, numbers in added:
            counts[node] = max(counts[node], len(numbers))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        table = np.full((2, int(offsets[-1])), -1, np.int64)
        table[1] = 0
        table[:, offsets[owner] + index] = places, ports
        for node, numbers in added:
            table[1, offsets[node] : offsets[node] + len(numbers)] = numbers
        return counts, table[0], table[1]

    def _places(self, ids: Int64Array, naming: Callable[[int], str]) -> Int64Array:
        """Places of nodes by id, -1 for those that are not there."""
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
        """The output that each input reads, as the format has it: one for each source.

        Args:
            owner: Place of the node of each input.
            sources: Place of the source of each input, or -1.
        """
        port_owner, entries = map_entries(self._nodes, _SRC_OUTPUT_INDEX)
        ids, ports = entries.last_int(1), _int32(entries.last_int(2))
        port_sources = self._places(
            ids,
            lambda i: f"{self._place(int(port_owner[i]))}: src_output_index names node {ids[i]}",
        )
        n_places = len(self._ids) + 1
        known = port_owner * n_places + port_sources
        order = np.argsort(known, kind="stable")
        wanted = owner * n_places + sources
        place = np.searchsorted(known[order], wanted)
        found = np.append(known[order], -1)[place] == wanted
        return np.where(found & (sources >= 0), np.append(ports[order], 0)[place], 0)

    def _stacks(self) -> Int64Array:
        """Call stacks; equal ones are decoded once."""
        owner, traces = self._nodes.nested(_TRACE)
        if (np.bincount(owner) > 1).any():
            raise IrregularError
        # Every node of a loaded profile has a call stack in the original, maybe an empty one.
        missing = EMPTY_STACK if self._profile.classic else NO_STACK
        stacks = np.full(len(self._names), missing, np.int64)
        reader = _StackReader(self._profile, self._strings)
        numbers, distinct = number_payloads(traces)
        decoded = [reader.stack(payload) for payload in distinct]
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

        Where the op itself is not among them, it is one seen only at run time, whose first type
        is the one that its timeline label named.
        """
        ops = self._profile.ops
        owner, elements = repeated(self._nodes, _OP_TYPES)
        row_of_node = np.full(len(self._names), -1, np.int64)
        row_of_node[fresh] = np.arange(len(fresh))
        rows: Int64Array = row_of_node[owner]
        types = intern_payloads(elements, ops.strings)
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


class _StackReader:
    """Decodes call stacks."""

    def __init__(self, profile: Profile, strings: Mapping[int, str]) -> None:
        self._stacks = profile.stacks
        self._strings = strings
        self._frames: dict[bytes, tuple[int, int | None]] = {}

    def stack(self, payload: bytes) -> tuple[int, int | None]:
        """Id of a stack given as a CodeDef; and of a string that it misses, if it misses one."""
        frames = self._frames
        intern = self._stacks.rows.intern
        found = EMPTY_STACK
        missing = None
        for trace in parsed(pb.CodeDefSlices, payload).traces[:]:
            frame = frames.get(trace)
            if frame is None:
                frame = frames[trace] = self._frame(trace)
            found = intern((found, frame[0]))
            missing = frame[1] if missing is None else missing
        return found, missing

    def _frame(self, payload: bytes) -> tuple[int, int | None]:
        trace = parsed(pb.CodeDef.Trace, payload)
        ids = [trace.file_id, trace.function_id]
        if trace.line_id:
            ids.append(trace.line_id)
        file, function, *line = [self._strings.get(i, f"unknown#{i}") for i in ids]
        frame = Frame(file, function, trace.lineno, "".join(line), trace.func_start_line)
        missing = [i for i in ids if i not in self._strings]
        return self._stacks.frames.intern(frame), missing[0] if missing else None


def _int32(values: Int64Array) -> Int64Array:
    """As protobuf reads them: the lower half counts."""
    return values.astype(np.int32).astype(np.int64)
