"""How much memory a compiled program takes over its run, and for what, from its compiler's plan.

The compiler runs the program on a model of the heap and records when each value is allocated and
freed. This module replays that record. Without one, it derives the same from the instructions
that use each value. Parameters, outputs and constants occupy memory all the time and do not appear
in the record. Memory on the stacks of threads is listed, but not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tfprof.captures.hlo.live_ranges import live_range_events
from tfprof.captures.model.hlo import HloModule, Instruction, Shape
from tfprof.captures.model.hlo_buffers import (
    Allocation,
    BufferAssignment,
    HeapEvent,
    HeapEventKind,
    LogicalBuffer,
)
from tfprof.captures.rules import OURS, Rules

NO_SHAPE: Final = Shape("invalid")


@dataclass(frozen=True, slots=True)
class BufferUse:
    """A value in memory.

    Attributes:
        buffer: The value.
        allocation: The allocation that holds it.
        instruction: The instruction that computes it; None if the program has no such instruction.
        shape: Its shape; for a part of a tuple, the shape of that part.
        start: Position in the heap trace at which it is allocated; None if it is always there.
        end: Position at which it is freed.
    """

    buffer: LogicalBuffer
    allocation: Allocation
    instruction: Instruction | None
    shape: Shape = NO_SHAPE
    start: int | None = None
    end: int | None = None

    @property
    def name(self) -> str:
        """The instruction and the part of its result: ``conv{0}``."""
        name = self.instruction.name if self.instruction else self.buffer.instruction_name
        index = ",".join(map(str, self.buffer.index))
        return f"{name}{{{index}}}" if index else name

    @property
    def size_bytes(self) -> int:
        """Bytes in memory."""
        return self.buffer.size_bytes

    @property
    def unpadded_bytes(self) -> int:
        """Bytes of its elements, without padding."""
        return self.shape.n_bytes


@dataclass(frozen=True)
class MemoryUse:
    """The use that a program makes of one memory.

    Attributes:
        memory_space: 0 is the main memory of the device.
        sizes_bytes: Bytes in use before each event of the heap trace and after the last one,
            permanent values included; shape (n events + 1,), or empty without a trace.
        unpadded_bytes: The same, without the padding of the values in the trace.
        instructions: The instruction that causes each event.
        peak_bytes: The most bytes in use at a time.
        peak_unpadded_bytes: The same at that time, without padding.
        peak_position: The event that leads to the peak; 0 without any.
        at_peak: Values in use at the peak: first the permanent ones, then the others in the order
            of their allocation.
        spans: Start and end in the trace of each of its values, by id.
        constant_bytes: Bytes of permanent values.
        allocations: All allocations in this space, in order of index.
        problems: Errors in the trace.
        is_planned: Whether the trace is the compiler's; else it is derived from live ranges.
        lives: Start and end of each time that a value of the trace is in memory, by id: one that
            has gone may come again with a value that takes its place. The number of events is the
            end of values that stay.
    """

    memory_space: int
    sizes_bytes: tuple[int, ...]
    unpadded_bytes: tuple[int, ...]
    instructions: tuple[str, ...]
    peak_bytes: int
    peak_unpadded_bytes: int
    peak_position: int
    at_peak: tuple[BufferUse, ...]
    spans: Mapping[int, tuple[int, int]]
    constant_bytes: int
    allocations: tuple[Allocation, ...]
    problems: tuple[str, ...] = ()
    is_planned: bool = True
    lives: Mapping[int, Sequence[tuple[int, int]]] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int:
        """Bytes that the program reserves."""
        return sum(each.size_bytes for each in self.allocations if not each.is_thread_local)


def memory_use(module: HloModule, memory_space: int = 0, *, rules: Rules = OURS) -> MemoryUse:
    """Replay the use of one memory; nothing for a program without a buffer assignment.

    Args:
        module: The program.
        memory_space: The memory.
        rules: Whether temporary memory counts that is not in any trace; its values are there as
            long as an instruction uses them.
    """
    assigned = module.buffers or BufferAssignment()
    allocations = sorted(
        (each for each in assigned.allocations if each.memory_space == memory_space),
        key=lambda each: each.index,
    )
    uses = _Uses(module, assigned)
    trace = _trace(assigned, allocations, memory_space)
    is_planned = bool(trace)
    if not trace and not rules.needs_memory_trace:
        temporary = [each for each in allocations if not each.is_indefinite]
        trace = live_range_events(module, temporary, assigned.by_id)
    replay = _Replay(assigned, len(trace), uses)
    for event in trace:
        replay.step(event)
    replay.finish()
    always = [each for each in allocations if each.is_indefinite and not each.is_thread_local]
    if not rules.needs_memory_trace:
        traced = {assigned.allocation_of.get(event.buffer_id) for event in trace}
        always += [each for each in allocations if not each.is_indefinite and each not in traced]
    lasting = [largest for each in always if (largest := uses.largest(each)) is not None]
    if rules.needs_memory_trace:  # the reference counts only memory in which it finds a value
        always = [largest.allocation for largest in lasting]
    constant = sum(each.size_bytes for each in always)
    return MemoryUse(
        memory_space,
        tuple(size + constant for size in replay.sizes),
        tuple(size + constant for size in replay.unpadded_sizes),
        tuple(event.instruction_name for event in trace) + (("",) if trace else ()),
        replay.peak + constant,
        replay.unpadded_peak + constant,
        replay.peak_position,
        (*lasting, *(uses.of(number, replay.spans) for number in replay.at_peak)),
        {number: (start, end) for number, (start, end) in replay.spans.items()},
        constant,
        tuple(allocations),
        tuple(dict.fromkeys(replay.problems)),
        is_planned,
        replay.lives,
    )


def buffers_in(module: HloModule, allocation: Allocation) -> list[BufferUse]:
    """All values that an allocation holds at some time."""
    assigned = module.buffers or BufferAssignment()
    uses = _Uses(module, assigned)
    known = [place.buffer_id for place in allocation.assigned if place.buffer_id in assigned.by_id]
    return [uses.of(number, {}) for number in known]


def _trace(
    assigned: BufferAssignment, allocations: Sequence[Allocation], memory_space: int
) -> tuple[HeapEvent, ...]:
    """The trace of a memory: that of its temporary allocation, else the one that names it most."""
    temporary = {each for each in allocations if not each.is_indefinite}
    for trace in reversed(assigned.heap_traces):
        if trace and assigned.allocation_of.get(trace[0].buffer_id) in temporary:
            return trace
    best: tuple[HeapEvent, ...] = ()
    most = 0
    for trace in assigned.heap_traces:
        buffers = [assigned.by_id.get(event.buffer_id) for event in trace]
        n_here = sum(1 for each in buffers if each and each.memory_space == memory_space)
        if n_here > most:
            best, most = trace, n_here
    return best


class _Uses:
    """Values with their instructions, allocations and shapes."""

    def __init__(self, module: HloModule, assigned: BufferAssignment) -> None:
        self._module = module
        self._assigned = assigned
        self._by_id = {each.id: each for each in module.instructions}

    def shape(self, buffer: LogicalBuffer) -> Shape:
        instruction = self.instruction(buffer)
        return instruction.shape.part(buffer.index) if instruction else NO_SHAPE

    def instruction(self, buffer: LogicalBuffer) -> Instruction | None:
        if buffer.instruction_name:
            return self._module.find(buffer.instruction_name)
        return self._by_id.get(buffer.instruction_id)

    def of(self, number: int, spans: Mapping[int, tuple[int, int]]) -> BufferUse:
        buffer = self._assigned.by_id[number]
        allocation = self._assigned.allocation_of[number]
        start, end = spans.get(number, (None, None))
        instruction = self.instruction(buffer)
        return BufferUse(buffer, allocation, instruction, self.shape(buffer), start, end)

    def largest(self, allocation: Allocation) -> BufferUse | None:
        """The largest value of an allocation."""
        best = None
        for place in allocation.assigned:
            buffer = self._assigned.by_id.get(place.buffer_id)
            if buffer and buffer.size_bytes > (best.size_bytes if best else 0):
                best = buffer
        if best is None:
            return None
        return BufferUse(best, allocation, self.instruction(best), self.shape(best))


@dataclass(slots=True)
class _Replay:
    """Replays a heap trace event by event."""

    assigned: BufferAssignment
    n_events: int
    uses: _Uses
    sizes: list[int] = field(default_factory=list)
    unpadded_sizes: list[int] = field(default_factory=list)
    size: int = 0
    unpadded: int = 0
    peak: int = 0
    unpadded_peak: int = 0
    peak_position: int = 0
    alive: dict[int, None] = field(default_factory=dict)
    at_peak: tuple[int, ...] = ()
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    lives: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    _owners: dict[int, int] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)

    def step(self, event: HeapEvent) -> None:
        self.sizes.append(self.size)
        self.unpadded_sizes.append(self.unpadded)
        number = event.buffer_id
        if not self._is_known(number):
            return
        if event.kind == HeapEventKind.ALLOC:
            owner = self._owner(number)
            self._counts[owner] = self._counts.get(owner, 0) + 1
            self.spans[number] = (len(self.sizes) - 1, self.n_events - 1)
            self._come(number)
        elif event.kind == HeapEventKind.SHARE_WITH:
            self._share(number, event.shared_id)
        elif event.kind == HeapEventKind.FREE:
            self._free(number)
        else:
            self.problems.append(f"events of the unknown kind {event.kind} are left out")

    def finish(self) -> None:
        if self.sizes:
            self.sizes.append(self.size)
            self.unpadded_sizes.append(self.unpadded)

    def _is_known(self, number: int) -> bool:
        known = number in self.assigned.by_id and number in self.assigned.allocation_of
        if not known:
            self.problems.append("events of values that are not there are left out")
        return known

    def _owner(self, number: int) -> int:
        """The value whose memory this one shares, or the value itself."""
        return self._owners.get(number, number)

    def _share(self, number: int, shared: int) -> None:
        if not self._is_known(shared):
            return
        owner = self._owner(shared)
        if owner != number:
            self._owners[number] = owner
        self._counts[owner] = self._counts.get(owner, 0) + 1
        if self._counts[owner] == 1:  # it was already free
            self._come(owner)

    def _free(self, number: int) -> None:
        owner = self._owner(number)
        left = self._counts.get(owner, 0) - 1
        if left < 0:
            self.problems.append("values that are freed twice stay free")
            return
        self._counts[owner] = left
        if left == 0 and owner in self.alive:
            del self.alive[owner]
            buffer = self.assigned.by_id[owner]
            self.size -= buffer.size_bytes
            self.unpadded -= self.uses.shape(buffer).n_bytes
            self.lives[owner][-1] = (self.lives[owner][-1][0], len(self.sizes) - 1)
            if owner in self.spans:
                self.spans[owner] = (self.spans[owner][0], len(self.sizes) - 1)

    def _come(self, number: int) -> None:
        if number in self.alive:
            self.problems.append("values that come twice are there once")
            return
        buffer = self.assigned.by_id[number]
        self.alive[number] = None
        self.lives.setdefault(number, []).append((len(self.sizes) - 1, self.n_events))
        self.size += buffer.size_bytes
        self.unpadded += self.uses.shape(buffer).n_bytes
        if self.size > self.peak:
            self.peak, self.unpadded_peak = self.size, self.unpadded
            self.peak_position, self.at_peak = len(self.sizes) - 1, tuple(self.alive)
