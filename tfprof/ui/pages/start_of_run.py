"""The first page of a captured run: what it is, what to do, and what costs most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tfprof.captures.facts.host_devices import device_kinds
from tfprof.captures.facts.missing import notes_for_tools
from tfprof.captures.facts.recording import recording
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.practices.findings import capture_findings
from tfprof.captures.run.table import Table
from tfprof.core.text.units import some
from tfprof.ui.pages.blocks_of_results import findings_block, notes_block, table_block
from tfprof.ui.pages.document import Block, Control, Params, facts, words
from tfprof.ui.pages.step_choice import chosen_words, step_chart, step_control
from tfprof.ui.pages.tool_pages import tool_result

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run

_FEW = 5
"""Most rows of a table on the first page; each table links to the page with all."""


def start_of_run(source: str, run: Run, params: Params) -> tuple[list[Block], Sequence[Control]]:
    """Blocks and controls of the first page of a captured run."""
    return [*_capture_blocks(source, run, params)], step_control(run, params)


def _capture_blocks(source: str, run: Run, params: Params) -> Iterator[Block]:
    overview = tool_result("overview", run, params)
    steps = run_steps(run)
    yield from chosen_words(run, params)
    yield words(overview.verdict, lead=True)
    if steps.n_steps:
        yield step_chart(steps, params)
    known = set(overview.notes)
    notes = [*(note for note in run.notes if note not in known), *overview.notes]
    notes += notes_for_tools(run)
    yield from notes_block(notes)
    yield from findings_block(capture_findings(run, host=params.get("host") or None))
    yield facts(_capture_facts(source, run, steps))
    for tool, name, title, columns in _HEAVIEST:
        result = tool_result(tool, run, params)
        table = result.tables.get(name)
        if table is not None and len(table):
            yield _few(table, columns, title, tool)


_HEAVIEST = (
    (
        "op-stats", "ops", "Ops",
        ("host_or_device", "type", "operation", "occurrences", "total_self_time"),
    ),
    (
        "kernel-stats", "kernels", "Kernels",
        ("kernel_name", "op_name", "occurrences", "total_duration_us"),
    ),
    ("tf-data", "bottlenecks", "Slow input pipelines", ()),
    ("input-pipeline", "input_ops", "Input ops", ("opName", "count", "selfTimeInMs", "category")),
    ("memory", "summary", "Memory at its peak", ()),
    ("memory", "peak", "What held the memory", ()),
)  # fmt: skip
"""Tool, table, title, and the most important columns; all columns if none are named."""


def _few(table: Table, wanted: Sequence[str], title: str, page: str) -> Block:
    """The first rows of a table, which tools sort by cost."""
    places = [
        place for place, column in enumerate(table.columns) if not wanted or column.id in wanted
    ]
    rows = [tuple(row[place] for place in places) for row in table.rows[:_FEW]]
    columns = tuple(table.columns[place] for place in places)
    heading = title if len(table) <= _FEW else f"{title}: the first {_FEW} of {len(table):,}"
    short = replace(table, columns=columns, rows=rows, title=heading)
    return table_block(short, page=page)


def _capture_facts(source: str, run: Run, steps: RunSteps) -> Iterator[tuple[str, str]]:
    yield "Read from", source
    names = [host.name for host in run.hosts]
    yield ("Host" if len(names) == 1 else f"{len(names)} hosts"), some(names, _FEW)
    yield "Devices", ", ".join(device_kinds(run.hosts)) or "none; all on the CPU"
    told = [recording(host) for host in run.hosts]
    began = [each for one in told if (each := one.began) is not None]
    yield "Captured", f"{min(began):%Y-%m-%d %H:%M:%S} UTC" if began else "the capture does not say"
    longest_ms = max((one.lasted_ms for one in told), default=0)
    if longest_ms:
        yield "For", f"{longest_ms:,.0f} ms"
    n_cut = int(steps.is_cut.sum())
    yield "Steps", f"{steps.n_steps} ({n_cut} of them cut)" if n_cut else str(steps.n_steps)
    yield "Events", f"{sum(one.n_events for one in told):,}"
    yield from {name: said for one in told for name, said in one.versions.items()}.items()
