"""``xla.BufferAssignmentProto`` → ``tfprof.captures.model.hlo_buffers.BufferAssignment``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.captures.model.hlo_buffers import (
    Allocation,
    Assigned,
    BufferAssignment,
    HeapEvent,
    LogicalBuffer,
)

if TYPE_CHECKING:
    from tfprof.core.wire import messages as pb


def buffers_of(proto: pb.BufferAssignmentProto) -> BufferAssignment:
    """Where the values of a program lie in memory."""
    return BufferAssignment(
        tuple(_buffer(each) for each in proto.logical_buffers),
        tuple(_allocation(each) for each in proto.buffer_allocations),
        tuple(tuple(map(_event, trace.events)) for trace in proto.heap_simulator_traces),
    )


def _event(proto: pb.HeapSimulatorTrace.Event) -> HeapEvent:
    shared = proto.share_with_canonical_id
    return HeapEvent(proto.kind, proto.buffer_id, proto.instruction_name, shared)


def _buffer(proto: pb.LogicalBufferProto) -> LogicalBuffer:
    place = proto.defined_at
    return LogicalBuffer(
        proto.id,
        max(proto.size, 0),
        place.instruction_id,
        place.instruction_name,
        tuple(place.shape_index),
        proto.color,
    )


def _allocation(proto: pb.BufferAllocationProto) -> Allocation:
    return Allocation(
        index=proto.index,
        size_bytes=max(proto.size, 0),
        memory_space=proto.color,
        is_parameter=proto.is_entry_computation_parameter,
        parameter_number=proto.parameter_number,
        is_constant=proto.is_constant,
        is_thread_local=proto.is_thread_local,
        is_tuple=proto.is_tuple,
        maybe_live_out=proto.maybe_live_out,
        assigned=tuple(
            Assigned(each.logical_buffer_id, each.offset, each.size) for each in proto.assigned
        ),
    )
