"""When values are in memory, for programs whose compiler has not recorded it.

XLA for CPUs records where values lie, but not when. The instruction that computes a value
allocates it, and the last one that uses it frees it, directly or through instructions that pass it
on. Values inside of a called computation are in memory during the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfprof.captures.model.hlo import Computation, HloModule, Instruction
from tfprof.captures.model.hlo_buffers import (
    Allocation,
    Assigned,
    HeapEvent,
    HeapEventKind,
    LogicalBuffer,
)

_HANDS_ON = frozenset(
    ("bitcast", "get-tuple-element", "tuple", "while", "call", "conditional", "opt-barrier",
     "add-dependency", "copy-start", "async-start", "async-update", "domain")
)  # fmt: skip
"""Instructions whose results may be their operands, or pointers to these."""


def live_range_events(
    module: HloModule, allocations: Iterable[Allocation], buffers: dict[int, LogicalBuffer]
) -> tuple[HeapEvent, ...]:
    """Allocations and frees of values in temporary memory, as a heap trace.

    If a value takes the place of one that its instruction uses for the last time, the old value is
    freed before the new one is allocated.

    Args:
        module: The program, its instructions in the order in which they run.
        allocations: The allocations of temporary memory.
        buffers: Values by id.
    """
    entry = module.entry
    if entry is None:
        return ()
    begin = _positions(module, entry)
    end = _last_uses(entry, begin)
    by_id = {one.id: one for one in module.instructions}
    comes: dict[int, list[Assigned]] = {}
    goes: dict[int, list[Assigned]] = {}
    for place in (place for allocation in allocations for place in allocation.assigned):
        buffer = buffers.get(place.buffer_id)
        one = by_id.get(buffer.instruction_id) if buffer else None
        if one is None or one not in begin:
            continue
        comes.setdefault(begin[one], []).append(place)
        goes.setdefault(end.get(one, begin[one]), []).append(place)
    names = [one.name for one in entry.instructions]
    return tuple(_events(names, comes, goes))


def _events(
    names: list[str], comes: dict[int, list[Assigned]], goes: dict[int, list[Assigned]]
) -> Iterator[HeapEvent]:
    alive: dict[Assigned, None] = {}
    for position, name in enumerate(names):
        new = comes.get(position, [])
        old = [place for place in goes.get(position, ()) if place in alive]
        for place in old:
            if any(_overlap(place, other) for other in new):
                del alive[place]
                yield HeapEvent(HeapEventKind.FREE, place.buffer_id, name)
        for place in new:
            # A value that overlaps another one shares its memory and does not add to it.
            if not any(_overlap(place, other) for other in alive):
                alive[place] = None
                yield HeapEvent(HeapEventKind.ALLOC, place.buffer_id, name)
        for place in goes.get(position, ()):
            if place in alive:
                del alive[place]
                yield HeapEvent(HeapEventKind.FREE, place.buffer_id, name)


def _overlap(one: Assigned, other: Assigned) -> bool:
    return (
        one.offset_bytes < other.offset_bytes + other.size_bytes
        and other.offset_bytes < one.offset_bytes + one.size_bytes
    )


def _positions(module: HloModule, entry: Computation) -> dict[Instruction, int]:
    """When each instruction runs; instructions of called computations run with the first caller."""
    positions: dict[Instruction, int] = {}
    called: dict[Computation, int] = {}
    for position, one in enumerate(entry.instructions):
        positions[one] = position
        for computation in one.calls:
            called.setdefault(computation, position)
    for computation in reversed(module.computations):  # callers before those that they call
        position = called.get(computation, -1)
        if position < 0:
            continue
        for one in computation.instructions:
            positions.setdefault(one, position)
            for inner in one.calls:
                called.setdefault(inner, position)
    return positions


def _last_uses(entry: Computation, begin: dict[Instruction, int]) -> dict[Instruction, int]:
    """The last use of each result of the entry computation."""
    last = len(entry.instructions) - 1
    last_uses: dict[Instruction, int] = {}
    for one in reversed(entry.instructions):
        last_uses.setdefault(one, begin[one])
        if one is entry.root:
            last_uses[one] = last
        until = last_uses[one] if one.opcode in _HANDS_ON else begin[one]
        for operand in one.operands:
            last_uses[operand] = max(last_uses.get(operand, 0), until)
    return last_uses
