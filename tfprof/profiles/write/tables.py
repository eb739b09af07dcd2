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

from tfprof.core.columns.described import Clock, Described
from tfprof.core.text.csv_text import csv_lines
from tfprof.profiles.accounting.accounting import MEMORY, REQUESTED
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
    fields: tuple[Described, ...]
    rows: Callable[[Profile], Iterator[Row]]


def _field(name: str, unit: str, meaning: str, clock: Clock = "") -> Described:
    return Described(name, "number" if unit else "", unit, meaning, clock)


_STEP = _field("step", "", "step number")
_OP = _field("op", "", "name of the op")
_ALLOCATOR = _field("allocator", "", "name of the allocator")

_TIMES = (
    _field("exec_micros", "µs", "accelerator and CPU time", "both"),
    _field(
        "accelerator_micros", "µs", "time on accelerators; empty if none was recorded", "device"
    ),
    _field(
        "cpu_micros", "µs", "time on CPUs, including that of launching work on accelerators", "host"
    ),
)

TABLES = (
    Table(
        "ops",
        "one row for each op: what it is, and what it costs in a step on average",
        (
            _field("name", "", "name of the op"),
            _field("type", "", "op type"),
            _field("scope", "", "its name scope"),
            _field("device", "", "device, lower case; empty if none was seen"),
            _field("only_at_run_time", "", "no graph defines it"),
            _field("added_types", "", "types that op logs have added, as a list"),
            _field("inputs", "", "inputs as a list: a, a:1 or ^a; null for an unknown op"),
            _field("output_shapes", "", "shapes as a list of lists; null where unknown"),
            _field("parameters", "elements", "size of the attribute shape, if it has one"),
            _field("float_ops", "operations", "of one run; empty if none are known"),
            _field("static_runs", "runs", "in one run of the program, according to the graph"),
            _field("code_file", "", "file of the innermost line that is not a library's"),
            _field("code_line", "", "line number"),
            _field("code_function", "", "function"),
            _field("steps", "steps", "in which it was seen; empty if none was recorded"),
            _field("runs", "runs", "per step in which it was seen, as the columns that follow"),
            *_TIMES,
            *MEMORY,
        ),
        table_rows.op_rows,
    ),
    Table(
        "op_steps",
        "one row for each op and each step in which it was seen",
        (
            _STEP,
            _OP,
            _field("runs", "runs", "executions on its own device that have a time"),
            *_TIMES,
            *MEMORY,
            _field("start_micros", "µs", "first start, on the clock of the run", "of the row"),
            _field("end_micros", "µs", "last end", "of the row"),
        ),
        table_rows.op_step_rows,
    ),
    Table(
        "steps",
        "one row for each step",
        (
            _STEP,
            _field("ops", "ops", "ops that were seen"),
            _field("executions", "executions", "including those of no op"),
            _field("wall_micros", "µs", "from the first start to the last end", "of the row"),
            _field("op_micros", "µs", "sum of the times of all ops", "both"),
            *_TIMES[1:],
            REQUESTED,
            _field("peak_bytes", "bytes", "largest memory in use of one allocator"),
        ),
        table_rows.step_rows,
    ),
    Table(
        "devices",
        "one row for each device, over all steps",
        (
            _field("device", "", "name, lower case"),
            _field("counts_as", "", "cpu, accelerator or other: what its time counts as"),
            _field("ops", "ops", "ops that ran there"),
            _field("executions", "executions", "including those of no op"),
            _field("micros", "µs", "sum of their times", "of the row"),
            REQUESTED,
            _field("peak_bytes", "bytes", "largest memory in use of one allocator"),
        ),
        table_rows.device_rows,
    ),
    Table(
        "executions",
        "one row for each execution, in the order in which the run lists them",
        (
            _STEP,
            _field("op", "", "name of the op; empty if it belongs to none, such as a copy"),
            _field("other_name", "", "name of an execution of no op"),
            _field("device", "", "device or stream, lower case"),
            _field("counts_as", "", "cpu, accelerator or other: what its time counts as"),
            _field("start_nanos", "ns", "start, on the clock of the run", "of the row"),
            _field("duration_nanos", "ns", "duration as it was recorded", "of the row"),
            _field("duration_micros", "µs", "duration as views count it: at least 1", "of the row"),
        ),
        table_rows.execution_rows,
    ),
    Table(
        "memory",
        "one row for each execution on the op's own device, in steps with memory statistics",
        (
            _STEP,
            _OP,
            _field("end_micros", "µs", "when it ended", "of the row"),
            _field("host_temp_bytes", "bytes", "temporary memory on a CPU"),
            _field("host_persistent_bytes", "bytes", "memory kept from run to run on a CPU"),
            _field("accelerator_temp_bytes", "bytes", "temporary memory on an accelerator"),
            _field("accelerator_persistent_bytes", "bytes", "memory kept on an accelerator"),
            *MEMORY,
            _field("allocator_bytes_in_use", "bytes", "memory in use of the allocator of its GPU"),
        ),
        table_rows.memory_rows,
    ),
    Table(
        "output_buffers",
        "one row for each output that an execution wrote",
        (
            _STEP,
            _OP,
            _field("output", "", "index of the output"),
            _field("size_bytes", "bytes", "size"),
            _field("address", "", "address of the buffer, if it was recorded"),
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
            _field("micros", "µs", "when, on the clock of the run", "of the row"),
            _field("size_bytes", "bytes", "size, negative for a deallocation"),
        ),
        partial(table_rows.named_rows, part="allocations"),
    ),
    Table(
        "allocator_levels",
        "one row for each execution and allocator: its memory in use when that ended",
        (
            _STEP,
            _OP,
            _field("device", "", "device of the op, lower case"),
            _ALLOCATOR,
            _field("micros", "µs", "when, on the clock of the run", "of the row"),
            _field("bytes_in_use", "bytes", "memory in use"),
        ),
        partial(table_rows.named_rows, part="levels"),
    ),
    Table(
        "edges",
        "one row for each input of each op",
        (
            _field("source", "", "op that makes it; empty if there is no such op"),
            _field("target", "", "op that takes it"),
            _field("source_output", "", "index of the output; empty for a control input"),
            _field("target_input", "", "place among the inputs of the target"),
            _field("is_control", "", "it only orders the ops"),
        ),
        table_rows.edge_rows,
    ),
    Table(
        "call_stacks",
        "one row for each line of the call stack of each op",
        (
            _OP,
            _field("level", "", "0 for the outermost line"),
            _field("file", "", "file"),
            _field("line", "", "line number"),
            _field("function", "", "function"),
            _field("text", "", "source line, if it was recorded"),
            _field("function_start_line", "", "first line of the function, if it was recorded"),
        ),
        table_rows.call_stack_rows,
    ),
)
"""All tables."""

BY_NAME = {table.name: table for table in TABLES}
