"""The compiler's plan of where the values of a program lie in memory."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class LogicalBuffer:
    """A value that needs memory.

    Attributes:
        id: Unique in the program.
        size_bytes: Size with padding.
        instruction_id: The instruction that computes it.
        instruction_name: Name of this instruction; old compilers write it instead of the id.
        index: Index of the part of the resulting tuple; empty for the whole result.
        memory_space: 0 is the main memory of the device.
    """

    id: int
    size_bytes: int
    instruction_id: int
    instruction_name: str = ""
    index: tuple[int, ...] = ()
    memory_space: int = 0


@dataclass(frozen=True, slots=True)
class Assigned:
    """The place of a value in an allocation."""

    buffer_id: int
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Allocation:
    """A piece of memory, for one value or for several at different times.

    Attributes:
        index: Unique in the program.
        size_bytes: Its size.
        memory_space: 0 is the main memory of the device.
        is_parameter: Whether it is a parameter of the program.
        parameter_number: Number of this parameter.
        is_constant: Whether it holds a constant.
        is_thread_local: Whether each thread has its own copy.
        is_tuple: Whether it holds pointers.
        maybe_live_out: Whether it may be an output.
        assigned: Values that lie in it.
    """

    index: int
    size_bytes: int
    memory_space: int = 0
    is_parameter: bool = False
    parameter_number: int = 0
    is_constant: bool = False
    is_thread_local: bool = False
    is_tuple: bool = False
    maybe_live_out: bool = False
    assigned: tuple[Assigned, ...] = ()

    @property
    def is_indefinite(self) -> bool:
        """Whether it lives as long as the program runs, or longer."""
        return self.is_thread_local or self.is_parameter or self.is_constant or self.maybe_live_out

    @property
    def kind(self) -> str:
        """``parameter``, ``output``, ``thread-local``, ``constant`` or ``temporary``."""
        if self.is_parameter:
            return "parameter"
        if self.maybe_live_out:
            return "output"
        if self.is_thread_local:
            return "thread-local"
        return "constant" if self.is_constant else "temporary"


class HeapEventKind(enum.IntEnum):
    """Kind of an event of a heap trace."""

    ALLOC = 0
    FREE = 1
    SHARE_WITH = 2


@dataclass(frozen=True, slots=True)
class HeapEvent:
    """The allocation or freeing of a value, or its sharing of another value's memory.

    Attributes:
        kind: A ``HeapEventKind``; other numbers have no meaning.
        buffer_id: The value.
        instruction_name: The instruction that causes the event.
        shared_id: The value whose memory it shares.
    """

    kind: int
    buffer_id: int
    instruction_name: str = ""
    shared_id: int = 0


@dataclass(frozen=True)
class BufferAssignment:
    """All memory of a program.

    Attributes:
        buffers: Values that need memory.
        allocations: Pieces of memory that hold them.
        heap_traces: Allocations and frees in their order, a trace for each heap.
    """

    buffers: tuple[LogicalBuffer, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    heap_traces: tuple[tuple[HeapEvent, ...], ...] = ()

    @cached_property
    def by_id(self) -> dict[int, LogicalBuffer]:
        """Values by id."""
        return {buffer.id: buffer for buffer in self.buffers}

    @cached_property
    def allocation_of(self) -> dict[int, Allocation]:
        """The allocation of each value, by the value's id."""
        return {
            place.buffer_id: allocation
            for allocation in self.allocations
            for place in allocation.assigned
        }

    @property
    def memory_spaces(self) -> list[int]:
        """Memory spaces with allocations."""
        return sorted({allocation.memory_space for allocation in self.allocations})
