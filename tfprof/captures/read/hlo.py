"""``xla.HloProto`` → ``tfprof.captures.model.hlo.HloModule``, and the programs of an XSpace."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from tfprof.captures.model.hlo import Computation, HloModule, Instruction, Shape, StackFrame
from tfprof.captures.model.xspace import METADATA_PLANE
from tfprof.captures.model.xspace_stats import StatKind
from tfprof.captures.read.hlo_attributes import attributes_of, shape_of
from tfprof.captures.read.hlo_buffers import buffers_of
from tfprof.captures.read.hlo_shardings import sharding_of
from tfprof.core.columns.remarks import Notice, Notices
from tfprof.core.wire import messages as pb
from tfprof.errors import MalformedProfileError

if TYPE_CHECKING:
    from tfprof.captures.model.xspace import Plane, XSpace

NodeT = TypeVar("NodeT", Computation, Instruction)

HLO_STAT: Final = "Hlo Proto"
ID_STAT: Final = "program_id"

_WITH_ID = re.compile(r"(.*)\((\d{1,20})\)", re.DOTALL)
"""Title of a module with its id of 64 bits."""


class HloProgram:
    """A program in an XSpace; decoded once, on first access.

    Attributes:
        id: As in the ``program_id`` of events, unsigned.
        name: Name of its module, without the id.
        is_id_stated: Whether the capture states the id. Otherwise it is the key of the entry, a
            running number since XLA of 2026.
    """

    def __init__(
        self, program_id: int, name: str, plane: Plane, stat: int, *, is_id_stated: bool = True
    ) -> None:
        self.id = program_id
        self.name = name
        self.is_id_stated = is_id_stated
        self._plane, self._stat = plane, stat

    @cached_property
    def n_bytes(self) -> int:
        """Size of the serialized program."""
        return len(self._octets())

    def __repr__(self) -> str:
        return f"HloProgram({self.title!r})"

    @property
    def title(self) -> str:
        """Its name in events: ``module(id)``."""
        return f"{self.name}({self.id})"

    def module(self) -> HloModule:
        """The decoded program; an undecodable one has no instructions, and a notice."""
        return self._module

    @cached_property
    def _module(self) -> HloModule:
        try:
            return read_hlo(self._octets(), source=f"HLO of {self.title}")
        except MalformedProfileError as error:
            return HloModule(self.name, notices=(Notice("damaged-hlo", str(error)),))

    def _octets(self) -> bytes:
        return self._plane.event_metadata.stats.octets(self._stat)


def hlo_programs(space: XSpace) -> list[HloProgram]:
    """The programs in a capture, by id and name.

    The id is the stat ``program_id`` of an entry; else the id in its name, ``module(id)``; else its
    key.
    """
    programs: dict[tuple[int, str], HloProgram] = {}
    for plane in space.planes:
        if plane.name != METADATA_PLANE:
            continue
        entries = plane.event_metadata
        wanted = set(plane.stat_metadata.keys_of(HLO_STAT))
        ids = plane.entry_stat(ID_STAT)
        is_whole = np.isin(ids.held_kinds, (StatKind.INT64, StatKind.UINT64))
        values = ids.held_values[is_whole].astype(np.int64)
        given_ids = dict(zip(ids.events[is_whole].tolist(), values.tolist(), strict=True))
        for row, key in enumerate(entries.keys.tolist()):
            for stat in entries.stats.rows_of(row):
                is_text = entries.stats.kinds[stat] in (StatKind.BYTES, StatKind.STR)
                if is_text and int(entries.stats.metadata_ids[stat]) in wanted:
                    name, id_in_name = split_title(entries.names[row])
                    given = given_ids.get(row, id_in_name)
                    number = unsigned(key if given is None else given)
                    if id_in_name not in (None, number):
                        name = entries.names[row]
                    programs[number, name] = HloProgram(
                        number, name, plane, stat, is_id_stated=given is not None
                    )
    return [programs[key] for key in sorted(programs)]


def unsigned(program_id: int) -> int:
    """A program id as in titles: captures write the same bits as signed or unsigned numbers."""
    return program_id & (1 << 64) - 1


def split_title(title: str) -> tuple[str, int | None]:
    """``module(id)`` → module and id; for a name without an id, the name and None."""
    parts = _WITH_ID.fullmatch(title)
    return (parts[1], unsigned(int(parts[2]))) if parts else (title, None)


def read_hlo(data: bytes, *, source: str) -> HloModule:
    """Decode a serialized ``xla.HloProto``.

    Args:
        data: Its bytes.
        source: Its name in errors and notices.

    Raises:
        MalformedProfileError: The bytes cannot be decoded.
    """
    message = pb.parse(pb.HloProto, data, source=source)
    return module_of(message, source=source)


def module_of(message: pb.HloProto, *, source: str = "HLO") -> HloModule:
    """The module of a message; a notice reports dangling references, which are left out."""
    proto, notices = message.hlo_module, Notices()
    shapes = cache(lambda octets: shape_of(pb.ShapeProto.FromString(octets)))  # few differ
    made: dict[int, Computation] = {}
    waiting: list[tuple[Instruction, Sequence[int]]] = []
    scheduled = set(proto.schedule.sequences)
    for each in proto.computations:
        pairs = [(_instruction(one, shapes), one) for one in each.instructions]
        order = proto.schedule.sequences[each.id].instruction_ids if each.id in scheduled else ()
        computation = _computation(each, _in_order(pairs, order), notices, source)
        made[each.id] = computation
        waiting += [(one, message.called_computation_ids) for one, message in pairs]
    for instruction, ids in waiting:
        if ids:
            calls = tuple(made[number] for number in ids if number in made)
            instruction.calls = calls
            text = f"{source}: calls of computations that are not there are left out"
            notices.add("hlo-unknown-computation", text, len(ids) - len(calls))
    computations = _callees_first(tuple(made.values()), notices, source)
    entry = made.get(proto.entry_computation_id)
    if entry is None:
        entry = next((c for c in computations if c.name == proto.entry_computation_name), None)
    has_buffers = message.HasField("buffer_assignment")
    return HloModule(
        proto.name,
        computations,
        entry if entry is not None or not computations else computations[-1],
        _frames(proto.stack_frame_index),
        buffers_of(message.buffer_assignment) if has_buffers else None,
        tuple(map(sharding_of, proto.spmd_parameters_shardings)),
        notices.as_tuple(),
    )


def _instruction(proto: pb.HloInstructionProto, shapes: Callable[[bytes], Shape]) -> Instruction:
    """The instruction without operands and calls."""
    metadata = proto.metadata
    number = proto.tuple_index if proto.opcode == "get-tuple-element" else proto.parameter_number
    return Instruction(
        id=proto.id,
        name=proto.name,
        opcode=proto.opcode,
        shape=shapes(proto.shape.SerializeToString()),
        op_name=metadata.op_name,
        op_type=metadata.op_type,
        source_file=metadata.source_file,
        source_line=metadata.source_line,
        stack_frame=metadata.stack_frame_id,
        deduplicated_name=metadata.deduplicated_name,
        number=number,
        attributes=attributes_of(proto),
    )


def _in_order(
    pairs: list[tuple[Instruction, pb.HloInstructionProto]], order: Sequence[int]
) -> list[tuple[Instruction, pb.HloInstructionProto]]:
    """Instructions in the order in which they run, if the compiler recorded it for all of them."""
    place = {number: rank for rank, number in enumerate(order)}
    if len(place) != len(pairs) or any(one.id not in place for one, _ in pairs):
        return pairs
    return sorted(pairs, key=lambda pair: place[pair[0].id])


def _computation(
    proto: pb.HloComputationProto,
    pairs: Sequence[tuple[Instruction, pb.HloInstructionProto]],
    notices: Notices,
    source: str,
) -> Computation:
    by_id = {one.id: one for one, _ in pairs}
    n_unknown, in_order = 0, True
    seen: set[int] = set()
    for one, message in pairs:
        operands = [by_id[number] for number in message.operand_ids if number in by_id]
        n_unknown += len(message.operand_ids) - len(operands)
        in_order = in_order and seen.issuperset(message.operand_ids)
        one.operands = tuple(operands)
        if message.control_predecessor_ids:
            before = message.control_predecessor_ids
            one.waits_for = tuple(by_id[number] for number in before if number in by_id)
        seen.add(one.id)
    notices.add(
        "hlo-unknown-operand", f"{source}: operands that are not there are left out", n_unknown
    )
    instructions = tuple(one for one, _ in pairs)
    if not in_order:
        instructions = _needs_first({one: set(one.operands) for one in instructions})
        lost = len(pairs) - len(instructions)
        text = f"{source}: instructions that depend on themselves are left out"
        notices.add("hlo-circle", text, lost)
    root = by_id.get(proto.root_id)
    if root is None or (not in_order and root not in instructions):
        root = instructions[-1] if instructions else None
    return Computation(proto.id, proto.name, instructions, root, proto.is_fusion_computation)


def _needs_first(needs: Mapping[NodeT, Collection[NodeT]]) -> tuple[NodeT, ...]:
    """Nodes in an order in which each follows those that it needs, without those in cycles."""
    users: dict[NodeT, list[NodeT]] = {node: [] for node in needs}
    n_waiting = {node: len(needed) for node, needed in needs.items()}
    for node, needed in needs.items():
        for one in needed:
            users[one].append(node)
    ready = [node for node, n_needed in n_waiting.items() if not n_needed]
    for node in ready:  # grows on the way
        for user in users[node]:
            n_waiting[user] -= 1
            if not n_waiting[user]:
                ready.append(user)
    return tuple(ready)


def _callees_first(
    computations: tuple[Computation, ...], notices: Notices, source: str
) -> tuple[Computation, ...]:
    """Computations with callees before callers; calls in cycles are cut."""
    called = {c: {k for one in c.instructions for k in one.calls} for c in computations}
    ready = _needs_first(called)
    placed = set(ready)
    left = [computation for computation in computations if computation not in placed]
    for computation in left:
        for instruction in computation.instructions:
            instruction.calls = ()
    text = f"{source}: computations that call each other in circles are cut off"
    notices.add("hlo-circle-of-calls", text, len(left))
    return (*ready, *left)


def _frames(proto: pb.StackFrameIndexProto) -> tuple[StackFrame, ...]:
    files, functions, places = proto.file_names, proto.function_names, proto.file_locations
    frames = []
    for frame in proto.stack_frames:
        if not 0 < frame.file_location_id <= len(places):
            frames.append(StackFrame(parent=frame.parent_frame_id))
            continue
        place = places[frame.file_location_id - 1]
        file = files[place.file_name_id - 1] if 0 < place.file_name_id <= len(files) else ""
        number = place.function_name_id
        function = functions[number - 1] if 0 < number <= len(functions) else ""
        frames.append(StackFrame(file, function, place.line, place.column, frame.parent_frame_id))
    return tuple(frames)
