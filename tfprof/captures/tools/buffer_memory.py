"""Memory viewer: how a compiled program uses memory, as its compiler planned it."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.captures.facts.hlo_programs import (
    HostProgram,
    all_programs,
    chosen_program,
    no_programs,
    program_notes,
)
from tfprof.captures.facts.host_devices import has_device
from tfprof.captures.hlo.buffers import MemoryUse, memory_use
from tfprof.captures.model.hlo import HloModule
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.reference_json import reference_json
from tfprof.captures.run.result import Chart, Note, ToolResult
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.tools.memory_plan import peak_table, savings_table
from tfprof.captures.tools.program_times import ProgramTimes, program_times
from tfprof.core.text.claims import Claim

TOOL = "memory-viewer"
TITLE = "Memory viewer"


_KIND = text("kind", "Kind", "parameter, output, constant, temporary or thread-local")

PROGRAMS = timed_by(
    "both",
    shared.HOST,
    text("program_id", "Program", "number of the compiled program"),
    text("module", "Module", "its name", links=("memory-viewer",)),
    count("instructions", "Instructions", "how many it has"),
    amount("total_bytes", "Memory reserved", "bytes",
           "memory that it reserves; n/a if the capture does not hold the compiler's plan"),
    amount("peak_bytes", "Memory at the peak", "bytes",
           "most that is in use at a time, by the compiler's plan"),
    amount("self_us", "Time of its instructions", "us",
           "self time of its instructions in the capture, 0 if it did not run; n/a if the "
           "capture does not show which programs ran"),
    amount("argument_bytes", "Arguments", "bytes", "memory of its arguments"),
    amount("output_bytes", "Outputs", "bytes",
           "memory of its outputs, without outputs that take the place of arguments"),
    amount("temporary_bytes", "Temporary", "bytes", "memory for values between these"),
    count("argument_elements", "Elements of arguments",
          "numbers in its arguments; which of them are parameters of a model is unknown"),
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
    """Show how a compiled program uses memory at its peak.

    Args:
        run: The run.
        host: Only this host.
        program: Id or name of a program. The default is the program that needs the most memory,
            of those that ran in the capture if it shows which ones did.
        memory_space: Number of the device's memory space; 0 is the main one.
        classic: The reference's numbers, which leave out temporary memory if the compiler did
            not record when it is in use.

    Raises:
        UsageError: There is no such host or no such program.
    """
    run = run.in_mode(classic=classic)
    rules = run.rules
    programs = all_programs(run, host)
    uses = {each: memory_use(each.program.module(), memory_space, rules=rules) for each in programs}
    time_of: ProgramTimes = (
        (lambda _: None) if rules.sorts_programs_by_memory else program_times(run.chosen(host))
    )
    programs.sort(key=lambda each: (time_of(each) == 0, -uses[each].peak_bytes))
    chosen = chosen_program(programs, program)
    if chosen is None:
        return no_programs(TOOL, TITLE, run)
    module, use = chosen.program.module(), uses[chosen]
    program_rows = [_program_row(each, uses[each], time_of(each)) for each in programs]
    tables = (
        Table("programs", PROGRAMS, program_rows, title="Programs"),
        Table("summary", SUMMARY, _summary_rows(use), title=f"Memory of {chosen.program.title}"),
        *_plan_tables(chosen, use, is_classic=rules.sorts_programs_by_memory),
        Table("buffers", BUFFERS, _buffer_rows(module, use), title="In use at the peak"),
    )
    return ToolResult(
        TOOL,
        TITLE,
        claims=tuple(_claims(chosen, use)),
        tables={table.name: table for table in tables},
        charts=_timeline(use),
        notes=(*_notes(chosen, use), *program_notes(chosen), *run.notes),
        gviz=reference_json("memory_viewer", module, use),
    )


def _plan_tables(chosen: HostProgram, use: MemoryUse, *, is_classic: bool) -> Iterator[Table]:
    """What stands at the peak by line, and what may free it; the reference has no such tables."""
    if is_classic or not use.at_peak:
        return
    module = chosen.program.module()
    yield peak_table(module, use)
    if use.memory_space == 0:
        savings = savings_table(module, use, is_on_cpu=not has_device(chosen.host))
        if len(savings):
            yield savings


def _program_row(each: HostProgram, use: MemoryUse, time_ps: int | None) -> tuple[Cell, ...]:
    module = each.program.module()
    n_instructions = sum(1 for _ in module.instructions)
    sizes = [use.total_bytes, use.peak_bytes] + [
        sum(one.size_bytes for one in use.allocations if one.kind == kind)
        for kind in ("parameter", "output", "temporary")
    ]
    total, peak, *of_kinds = sizes if module.buffers is not None else [None] * len(sizes)
    arguments = None if module.entry is None else module.entry.parameters
    n_elements = None if arguments is None else sum(one.shape.n_elements for one in arguments)
    return (
        each.host.name, str(each.program.id), each.program.name, n_instructions, total, peak,
        None if time_ps is None else time_ps / 1e6, *of_kinds, n_elements,
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
