"""The tables behind the views, for spreadsheets and data frames.

Every column is declared here, once, with its unit and meaning, also for ``tfprof export --list``
and the documentation. None: the profile does not record it, or it does not apply. A zero was
measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from tfprof.core.text.csv_text import csv_lines
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.write import table_rows
from tfprof.profiles.write.table_rows import Row, Value

FORMATS = ("csv", "json", "jsonl")

_CHUNK = 1 << 16
"""Least number of characters of a chunk, except the last one."""


def table_chunks(table: Table, profile: Profile, form: str) -> Iterator[bytes]:
    """A table as text in UTF-8, one chunk at a time.

    Args:
        table: The table.
        profile: The source of its rows.
        form: ``csv``: lists are JSON in a cell, None is an empty cell. ``json``: one object with
            the columns and one row a line. ``jsonl``: one object a line. JSON is plain ASCII, in
            which no name can end a line.
    """
    lines = {"csv": _csv_lines, "json": _json_lines, "jsonl": _jsonl_lines}[form]
    waiting: list[str] = []
    size = 0
    for line in lines(table, table.rows(profile)):
        waiting.append(line)
        size += len(line)
        if size >= _CHUNK:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    yield "".join(waiting).encode()


def _csv_lines(table: Table, rows: Iterator[Row]) -> Iterator[str]:
    return csv_lines([field.name for field in table.fields], (map(_cell, row) for row in rows))


def _cell(value: Value) -> str | int | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, (str, int)):
        return value
    return json.dumps(value)


def _json_lines(table: Table, rows: Iterator[Row]) -> Iterator[str]:
    columns = [
        {"name": field.name, "unit": field.unit, "meaning": field.meaning} for field in table.fields
    ]
    yield f'{{"table": {json.dumps(table.name)}, '
    yield f'"columns": {json.dumps(columns)}, "rows": [\n'
    before = ""
    for line in _jsonl_lines(table, rows):
        yield before + line[:-1]
        before = ",\n"
    yield "\n]}\n"


def _jsonl_lines(table: Table, rows: Iterator[Row]) -> Iterator[str]:
    names = [field.name for field in table.fields]
    for row in rows:
        yield json.dumps(dict(zip(names, row, strict=True))) + "\n"


@dataclass(frozen=True, slots=True)
class Field:
    """One column.

    Attributes:
        name: Its name.
        unit: Unit of its numbers, empty for texts.
        meaning: What it holds.
    """

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        name: Its name.
        about: Meaning of a row.
        fields: Its columns.
        rows: Yields its rows.
    """

    name: str
    about: str
    fields: tuple[Field, ...]
    rows: Callable[[Profile], Iterator[Row]]


_STEP = Field("step", "", "step number")
_OP = Field("op", "", "name of the op")
_REQUESTED = Field("requested_bytes", "bytes", "memory requested")
_PEAK = Field("peak_bytes", "bytes", "sum of the allocators' peaks")
_RESIDUAL = Field("residual_bytes", "bytes", "memory still held when it ended")
_OUTPUT = Field("output_bytes", "bytes", "memory of the outputs")
_ALLOCATOR = Field("allocator", "", "name of the allocator")

_TIMES = (
    Field("exec_micros", "µs", "accelerator and CPU time"),
    Field("accelerator_micros", "µs", "time on accelerators; empty if none was recorded"),
    Field("cpu_micros", "µs", "time on CPUs, including that of launching work on accelerators"),
)
_MEMORY = (_REQUESTED, _PEAK, _RESIDUAL, _OUTPUT)

TABLES = (
    Table(
        "ops",
        "one row for each op: what it is, and what it costs in a step on average",
        (
            Field("name", "", "name of the op"),
            Field("type", "", "op type"),
            Field("scope", "", "its name scope"),
            Field("device", "", "device, lower case; empty if none was seen"),
            Field("only_at_run_time", "", "no graph defines it"),
            Field("added_types", "", "types that op logs have added, as a list"),
            Field("inputs", "", "inputs as a list: a, a:1 or ^a; null for an unknown op"),
            Field("output_shapes", "", "shapes as a list of lists; null where unknown"),
            Field("parameters", "elements", "size of the attribute shape, if it has one"),
            Field("float_ops", "operations", "of one run; empty if none are known"),
            Field("static_runs", "runs", "in one run of the program, according to the graph"),
            Field("code_file", "", "file of the innermost line that is not a library's"),
            Field("code_line", "", "line number"),
            Field("code_function", "", "function"),
            Field("steps", "steps", "in which it was seen; empty if none was recorded"),
            Field("runs", "runs", "per step in which it was seen, as the columns that follow"),
            *_TIMES,
            *_MEMORY,
        ),
        table_rows.op_rows,
    ),
    Table(
        "op_steps",
        "one row for each op and each step in which it was seen",
        (
            _STEP,
            _OP,
            Field("runs", "runs", "executions on its own device that have a time"),
            *_TIMES,
            *_MEMORY,
            Field("start_micros", "µs", "first start, on the clock of the run"),
            Field("end_micros", "µs", "last end"),
        ),
        table_rows.op_step_rows,
    ),
    Table(
        "steps",
        "one row for each step",
        (
            _STEP,
            Field("ops", "ops", "ops that were seen"),
            Field("executions", "executions", "including those of no op"),
            Field("wall_micros", "µs", "from the first start to the last end"),
            Field("op_micros", "µs", "sum of the times of all ops"),
            *_TIMES[1:],
            _REQUESTED,
            Field("peak_bytes", "bytes", "largest memory in use of one allocator"),
        ),
        table_rows.step_rows,
    ),
    Table(
        "devices",
        "one row for each device, over all steps",
        (
            Field("device", "", "name, lower case"),
            Field("counts_as", "", "cpu, accelerator or other: what its time counts as"),
            Field("ops", "ops", "ops that ran there"),
            Field("executions", "executions", "including those of no op"),
            Field("micros", "µs", "sum of their times"),
            _REQUESTED,
            Field("peak_bytes", "bytes", "largest memory in use of one allocator"),
        ),
        table_rows.device_rows,
    ),
    Table(
        "executions",
        "one row for each execution, in the order in which the run lists them",
        (
            _STEP,
            Field("op", "", "name of the op; empty if it belongs to none, such as a copy"),
            Field("other_name", "", "name of an execution of no op"),
            Field("device", "", "device or stream, lower case"),
            Field("counts_as", "", "cpu, accelerator or other: what its time counts as"),
            Field("start_nanos", "ns", "start, on the clock of the run"),
            Field("duration_nanos", "ns", "duration as it was recorded"),
            Field("duration_micros", "µs", "duration as views count it: at least 1"),
        ),
        table_rows.execution_rows,
    ),
    Table(
        "memory",
        "one row for each execution on the op's own device, in steps with memory statistics",
        (
            _STEP,
            _OP,
            Field("end_micros", "µs", "when it ended"),
            Field("host_temp_bytes", "bytes", "temporary memory on a CPU"),
            Field("host_persistent_bytes", "bytes", "memory kept from run to run on a CPU"),
            Field("accelerator_temp_bytes", "bytes", "temporary memory on an accelerator"),
            Field("accelerator_persistent_bytes", "bytes", "memory kept on an accelerator"),
            *_MEMORY,
            Field("allocator_bytes_in_use", "bytes", "memory in use of the allocator of its GPU"),
        ),
        table_rows.memory_rows,
    ),
    Table(
        "output_buffers",
        "one row for each output that an execution wrote",
        (
            _STEP,
            _OP,
            Field("output", "", "index of the output"),
            Field("size_bytes", "bytes", "size"),
            Field("address", "", "address of the buffer, if it was recorded"),
        ),
        table_rows.output_buffer_rows,
    ),
    Table(
        "allocations",
        "one row for each allocation and deallocation",
        (
            _STEP,
            _OP,
            _ALLOCATOR,
            Field("micros", "µs", "when, on the clock of the run"),
            Field("size_bytes", "bytes", "size, negative for a deallocation"),
        ),
        partial(table_rows.named_rows, part="allocations"),
    ),
    Table(
        "allocator_levels",
        "one row for each execution and allocator: its memory in use when that ended",
        (
            _STEP,
            _OP,
            Field("device", "", "device of the op, lower case"),
            _ALLOCATOR,
            Field("micros", "µs", "when, on the clock of the run"),
            Field("bytes_in_use", "bytes", "memory in use"),
        ),
        partial(table_rows.named_rows, part="levels"),
    ),
    Table(
        "edges",
        "one row for each input of each op",
        (
            Field("source", "", "op that makes it; empty if there is no such op"),
            Field("target", "", "op that takes it"),
            Field("source_output", "", "index of the output; empty for a control input"),
            Field("target_input", "", "place among the inputs of the target"),
            Field("is_control", "", "it only orders the ops"),
        ),
        table_rows.edge_rows,
    ),
    Table(
        "call_stacks",
        "one row for each line of the call stack of each op",
        (
            _OP,
            Field("level", "", "0 for the outermost line"),
            Field("file", "", "file"),
            Field("line", "", "line number"),
            Field("function", "", "function"),
            Field("text", "", "source line, if it was recorded"),
            Field("function_start_line", "", "first line of the function, if it was recorded"),
        ),
        table_rows.call_stack_rows,
    ),
)
"""All tables."""

BY_NAME = {table.name: table for table in TABLES}
