"""Where the values of a compiled program lie in memory, as its compiler has decided."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class LogicalBuffer:
    """A value that needs memory.

    Attributes:
        id: Unique in the program.
        size_bytes: With padding.
        instruction_id: What computes it.
        instruction_name: Written instead by old compilers.
        index: Which part of the tuple that comes out; empty for all.
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
    """A place in an allocation."""

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
        is_parameter: Whether it is handed to the program.
        parameter_number: Which parameter it is, then.
        is_constant: Whether it holds a constant.
        is_thread_local: Whether each thread has its own.
        is_tuple: Whether it holds pointers.
        maybe_live_out: Whether it may be an output.
        assigned: What lies in it.
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
    """What happens to a buffer."""

    ALLOC = 0
    FREE = 1
    SHARE_WITH = 2


@dataclass(frozen=True, slots=True)
class HeapEvent:
    """A value that comes, goes, or takes the place of another.

    Attributes:
        kind: A number that is no ``HeapEventKind`` means nothing.
        buffer_id: The value.
        instruction_name: What makes it happen.
        shared_id: The value whose place it takes.
    """

    kind: int
    buffer_id: int
    instruction_name: str = ""
    shared_id: int = 0


@dataclass(frozen=True)
class BufferAssignment:
    """All memory of a program.

    Attributes:
        buffers: What needs memory.
        allocations: The memory.
        heap_traces: Values in the order in which they come and go, a trace for each heap.
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
        """The allocation that a value lies in, by the value's id."""
        return {
            place.buffer_id: allocation
            for allocation in self.allocations
            for place in allocation.assigned
        }

    @property
    def memory_spaces(self) -> list[int]:
        """Those in which there is anything."""
        return sorted({allocation.memory_space for allocation in self.allocations})
