"""Memory viewer: what a compiled program needs memory for, as planned by its compiler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tfprof.captures.facts.hlo_programs import (
    HostProgram,
    all_programs,
    chosen_program,
    no_programs,
    program_notes,
)
from tfprof.captures.hlo.buffers import BufferUse, MemoryUse, buffers_in, memory_use
from tfprof.captures.model.hlo import HloModule
from tfprof.captures.model.hlo_buffers import Allocation
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.result import Chart, Note, ToolResult
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.tools.program_times import ProgramTimes, program_times
from tfprof.core.text.claims import Claim

TOOL = "memory-viewer"
TITLE = "Memory viewer"

_MIB = 1 << 20
_SMALL_BYTES = 16 << 10
"""The reference adds smaller values up."""

_KIND = text("kind", "Kind", "parameter, output, constant, temporary or thread-local")

PROGRAMS = timed_by(
    "both",
    shared.HOST,
    text("program_id", "Program", "number of the compiled program"),
    text("module", "Module", "its name", links=("memory-viewer",)),
    count("instructions", "Instructions", "how many it has"),
    amount("total_bytes", "Memory reserved", "bytes", "memory that it reserves"),
    amount("peak_bytes", "Memory at the peak", "bytes",
           "most that is in use at a time, by the compiler's plan"),
    amount("self_us", "Time of its instructions", "us",
           "self time of its instructions in the capture, 0 if it did not run; n/a if the "
           "capture does not show which programs ran"),
)  # fmt: skip

SUMMARY = (
    _KIND,
    count("allocations", "Allocations", "pieces of memory of this kind"),
    amount("size_bytes", "Size", "bytes", "their size"),
    amount("peak_bytes", "In use at the peak", "bytes", "what of it is in use at the peak"),
)

BUFFERS = (
    text("instruction", "Instruction",
         "instruction, and which part of its result", links=("graph-viewer",)),
    _KIND,
    amount("size_bytes", "Size", "bytes", "bytes in memory"),
    amount("unpadded_bytes", "Size without padding", "bytes", "bytes of its elements alone"),
    shared.SHAPE,
    shared.OPCODE,
    shared.TF_OP,
    shared.SOURCE,
    count("allocation", "Allocation", "number of the memory that it lies in"),
    count("start", "From event",
          "place in the plan at which it comes; empty if it is always there"),
    count("end", "To event", "place in the plan at which it goes"),
)  # fmt: skip

_KINDS = ("parameter", "output", "constant", "temporary", "thread-local")


def memory_viewer(
    run: Run,
    *,
    host: str | None = None,
    program: str | int | None = None,
    memory_space: int = 0,
    classic: bool = False,
) -> ToolResult:
    """What a compiled program needs memory for at its peak.

    Args:
        run: The run.
        host: Only this host.
        program: Id or name of a program; by default the one that needs most memory, of those
            that ran in the capture if it tells which did.
        memory_space: Number of the device's memory space; 0 is the main one.
        classic: The reference's numbers: temporary memory is left out if the compiler did not
            record when it is in use.

    Raises:
        UsageError: There is no such host, or no such program.
    """
    programs = all_programs(run, host)
    uses = {
        each: memory_use(each.program.module(), memory_space, classic=classic) for each in programs
    }
    time_of: ProgramTimes = (lambda _: None) if classic else program_times(run.chosen(host))
    programs.sort(key=lambda each: (time_of(each) == 0, -uses[each].peak_bytes))
    chosen = chosen_program(programs, program)
    if chosen is None:
        return no_programs(TOOL, TITLE, run)
    module, use = chosen.program.module(), uses[chosen]
    program_rows = [_program_row(each, uses[each], time_of(each)) for each in programs]
    tables = (
        Table("programs", PROGRAMS, program_rows, title="Programs"),
        Table("summary", SUMMARY, _summary_rows(use), title=f"Memory of {chosen.program.title}"),
        Table("buffers", BUFFERS, _buffer_rows(module, use), title="In use at the peak"),
    )
    return ToolResult(
        TOOL,
        TITLE,
        claims=tuple(_claims(chosen, use)),
        tables={table.name: table for table in tables},
        charts=_timeline(use),
        notes=(*_notes(chosen, use), *program_notes(chosen), *run.notes),
        gviz=lambda: _reference(module, use),
    )


def _program_row(each: HostProgram, use: MemoryUse, time_ps: int | None) -> tuple[Cell, ...]:
    n_instructions = sum(1 for _ in each.program.module().instructions)
    return (
        each.host.name, str(each.program.id), each.program.name, n_instructions,
        use.total_bytes, use.peak_bytes, None if time_ps is None else time_ps / 1e6,
    )  # fmt: skip


def _summary_rows(use: MemoryUse) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for kind in _KINDS:
        sizes = [each.size_bytes for each in use.allocations if each.kind == kind]
        if not sizes:
            continue
        at_peak = sum(each.size_bytes for each in use.at_peak if each.allocation.kind == kind)
        rows.append((kind, len(sizes), sum(sizes), at_peak))
    return rows


def _buffer_rows(module: HloModule, use: MemoryUse) -> list[tuple[Cell, ...]]:
    in_order = sorted(use.at_peak, key=lambda each: (-each.size_bytes, each.buffer.id))
    return [
        (
            each.name, each.allocation.kind, each.size_bytes, each.unpadded_bytes,
            each.shape.text(with_layout=True),
            each.instruction.opcode if each.instruction else "",
            each.instruction.tf_op if each.instruction else "",
            module.place(each.instruction), each.allocation.index, each.start, each.end,
        )
        for each in in_order
    ]  # fmt: skip


def _timeline(use: MemoryUse) -> tuple[Chart, ...]:
    if not use.sizes_bytes:
        return ()
    x = tuple(range(len(use.sizes_bytes)))
    series = {
        "with padding": tuple(map(float, use.sizes_bytes)),
        "without padding": tuple(map(float, use.unpadded_bytes)),
    }
    title = "Memory in the order of the program"
    return (Chart("memory", "line", title, "event of the plan", "bytes", x, series),)


def _claims(chosen: HostProgram, use: MemoryUse) -> Iterator[Claim]:
    if not use.allocations:
        return
    title, basis = chosen.program.title, "the compiler's plan of the memory"
    scope = f"one run of {title} on {chosen.host.name}"
    yield Claim(
        title, "peak_memory", use.peak_bytes, "bytes", scope=scope, basis=basis,
        details={"reserved_bytes": use.total_bytes},
        words="{subject} needs {value} at its peak, and reserves {reserved_bytes}.",
    )  # fmt: skip
    if use.at_peak:
        largest = max(use.at_peak, key=lambda each: each.size_bytes)
        yield Claim(
            largest.name, "size", largest.size_bytes, "bytes", scope=scope, basis=basis,
            words="The largest value then is {subject} with {value}.",
        )  # fmt: skip
    padding = use.peak_bytes - use.peak_unpadded_bytes
    if padding > 0:
        yield Claim(title, "padding", padding, "bytes", scope=scope, basis=basis,
                    words="{value} of the peak is padding.")  # fmt: skip


def _notes(chosen: HostProgram, use: MemoryUse) -> list[Note]:
    host, title = chosen.host.name, chosen.program.title
    notes = [Note("warning", f"{title}: {problem}", host) for problem in use.problems]
    module = chosen.program.module()
    if module.buffers is None:
        text = f"{title}: the capture does not hold the compiler's plan of the memory"
        notes.append(Note("error", text, host))
    elif not use.allocations:
        spaces = ", ".join(map(str, module.buffers.memory_spaces)) or "none"
        text = f"{title} has nothing in memory space {use.memory_space}; it uses: {spaces}"
        notes.append(Note("warning", text, host))
    elif use.sizes_bytes and not use.is_planned:
        text = (
            f"{title}: the compiler did not record when values are in use; that is derived from "
            "the instructions that use them"
        )
        notes.append(Note("info", text, host))
    return notes


def _mib(n_bytes: int) -> float:
    return n_bytes / _MIB


def _reference(module: HloModule, use: MemoryUse) -> dict[str, Any]:
    """The reference's answer, without its drawings."""
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
