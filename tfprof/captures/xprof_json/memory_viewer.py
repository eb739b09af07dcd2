"""The memory viewer's JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfprof.captures.hlo.buffers import BufferUse, MemoryUse, buffers_in
from tfprof.captures.model.hlo import HloModule
from tfprof.captures.model.hlo_buffers import Allocation

_MIB = 1 << 20
_SMALL_BYTES = 16 << 10
"""The reference adds up smaller values."""


def to_json(module: HloModule, use: MemoryUse) -> dict[str, Any]:
    """Make the reference's JSON, without its drawings."""
    heap = [_heap_object(module, each) for each in use.at_peak if each.size_bytes >= _SMALL_BYTES]
    small = sum(each.size_bytes for each in use.at_peak if each.size_bytes < _SMALL_BYTES)
    if small:
        heap.append(
            {
                "label": f"small (<{_SMALL_BYTES} bytes)", "logicalBufferId": -1,
                "logicalBufferSizeMib": _mib(small), "unpaddedShapeMib": 0.0,
            }
        )  # fmt: skip
    heap = [{"numbered": number, **each} for number, each in enumerate(heap)]
    by_size = sorted(range(len(heap)), key=lambda place: -heap[place]["logicalBufferSizeMib"])
    places = {place: rank for rank, place in enumerate(by_size)}
    allocations = [each for each in use.allocations if not each.is_thread_local]
    fixed = [each for each in use.allocations if each.is_tuple or each.is_thread_local]
    return {
        "moduleName": module.name,
        "entryComputationName": module.entry.name if module.entry else "",
        "heapSizes": [_mib(size) for size in use.sizes_bytes],
        "unpaddedHeapSizes": [_mib(size) for size in use.unpadded_bytes],
        "hloInstructionNames": list(use.instructions),
        "maxHeap": heap,
        "maxHeapBySize": [heap[place] for place in by_size],
        "maxHeapToBySize": [places[place] for place in range(len(heap))],
        "bySizeToMaxHeap": by_size,
        "logicalBufferSpans": {
            str(number): {"start": start, "limit": end}
            for number, (start, end) in use.spans.items()
        },
        "peakHeapMib": _mib(use.peak_bytes),
        "peakUnpaddedHeapMib": _mib(use.peak_unpadded_bytes),
        "peakHeapSizePosition": use.peak_position,
        "entryComputationParametersMib": _total(allocations, "is_parameter"),
        "maybeLiveOutMib": _total(allocations, "maybe_live_out"),
        "nonReusableMib": _mib(sum(each.size_bytes for each in fixed)),
        "totalBufferAllocationMib": _mib(use.total_bytes),
        "indefiniteBufferAllocationMib": _mib(use.constant_bytes),
        "indefiniteLifetimes": [
            _lasting(module, each) for each in allocations if each.is_indefinite
        ],
    }


def _total(allocations: Sequence[Any], which: str) -> float:
    return _mib(sum(each.size_bytes for each in allocations if getattr(each, which)))


def _lasting(module: HloModule, allocation: Allocation) -> dict[str, Any]:
    flags = {
        "entry computation parameter": allocation.is_parameter,
        "may-be live out": allocation.maybe_live_out,
        "reusable": not allocation.is_tuple,
    }
    buffers = [
        {
            "id": str(each.buffer.id),
            "shape": each.shape.text(with_layout=True),
            "sizeMib": _mib(each.size_bytes),
            "hloName": each.instruction.name if each.instruction else each.buffer.instruction_name,
            "shapeIndex": [str(place) for place in each.buffer.index],
        }
        for each in buffers_in(module, allocation)
    ]
    shapes = {each["shape"] for each in buffers}
    return {
        "id": str(allocation.index),
        "sizeMib": _mib(allocation.size_bytes),
        "attributes": [name for name, is_set in flags.items() if is_set],
        "logicalBuffers": buffers,
        "commonShape": shapes.pop() if len(shapes) == 1 else "",
    }


def _heap_object(module: HloModule, each: BufferUse) -> dict[str, Any]:
    instruction = each.instruction
    shape = each.shape.text(with_layout=True)
    op_name = instruction.op_name if instruction else ""
    name = instruction.name if instruction else each.buffer.instruction_name
    entry: dict[str, Any] = {
        "label": f"{name}: {shape} # {op_name}",
        "logicalBufferId": each.buffer.id,
        "logicalBufferSizeMib": _mib(each.size_bytes),
        "unpaddedShapeMib": _mib(each.unpadded_bytes),
        "instructionName": each.name,
        "shapeString": shape,
        "tfOpName": op_name,
        "groupName": each.allocation.kind.capitalize(),
        "opCode": instruction.opcode if instruction else "",
    }
    file, line = module.source(instruction) if instruction else ("", 0)
    if instruction is not None and file:
        frames = module.stack(instruction)
        stack = "\n".join(f"{frame.file}:{frame.line}:{frame.column}" for frame in frames)
        entry["sourceInfo"] = {"fileName": file, "lineNumber": line, "stackFrame": stack}
    return entry


def _mib(n_bytes: int) -> float:
    return n_bytes / _MIB
