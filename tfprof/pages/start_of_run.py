"""The first page of a captured run: what it is, what to do, and what costs most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from tfprof.advisor.captures import capture_findings
from tfprof.captures.events.timeline.names import TASK_PLANE
from tfprof.captures.facts.host_devices import device_kinds
from tfprof.captures.facts.missing import notes_for_tools
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.model.xspace import METADATA_PLANE
from tfprof.captures.run.table import Table
from tfprof.pages.blocks_of_results import findings_block, notes_block, table_block
from tfprof.pages.document import Block, Control, facts, words
from tfprof.pages.step_choice import chosen_words, step_chart, step_control
from tfprof.pages.tool_list import Params
from tfprof.pages.tool_pages import tool_result
from tfprof.text.units import some

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run

_FEW = 5
"""So many of the heaviest are on the first page; each links to the page with all."""


def start_of_run(source: str, run: Run, params: Params) -> tuple[list[Block], Sequence[Control]]:
    """Blocks and controls of the first page of a captured run."""
    return [*_capture_blocks(source, run, params)], step_control(run, params)


def _capture_blocks(source: str, run: Run, params: Params) -> Iterator[Block]:
    overview = tool_result("overview", run, params)
    steps = run_steps(run)
    yield from chosen_words(run, params)
    yield words(overview.verdict, lead=True)
    yield facts(_capture_facts(source, run, steps))
    notes = [*(note for note in run.notes if note not in overview.notes), *overview.notes]
    notes += notes_for_tools(run)
    yield from notes_block(notes)
    yield from findings_block(capture_findings(run, host=params.get("host") or None))
    if steps.n_steps:
        yield step_chart(steps, params)
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
"""Tool, table, title, and the columns that say most; all where none are named."""


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
    began = [host_began(host.space) for host in run.hosts]
    known = [each for each in began if each is not None]
    yield "Captured", f"{min(known):%Y-%m-%d %H:%M:%S} UTC" if known else "the capture does not say"
    took = [_lasted_ms(host.space) for host in run.hosts]
    if any(took):
        yield "For", f"{max(took):,.0f} ms"
    n_cut = int(steps.is_cut.sum())
    yield "Steps", f"{steps.n_steps} ({n_cut} of them cut)" if n_cut else str(steps.n_steps)
    yield "Events", f"{sum(host.space.n_events for host in run.hosts):,}"
    yield from _versions(run).items()


def host_began(space: Any) -> datetime | None:
    """When the capture of a host began; None if it does not say, or says what cannot be."""
    plane = space.plane(TASK_PLANE)
    began_ns = None if plane is None else plane.own_stats().get("profile_start_time")
    # From 2001 to 2100: other numbers are damaged, or clocks that begin with the machine.
    if not isinstance(began_ns, int) or not 1e18 < began_ns < 4.1e18:
        return None
    return datetime.fromtimestamp(began_ns / 1e9, timezone.utc)


def _lasted_ms(space: Any) -> float:
    plane = space.plane(TASK_PLANE)
    stats = {} if plane is None else plane.own_stats()
    began, ended = stats.get("profile_start_time"), stats.get("profile_stop_time")
    if not isinstance(began, int) or not isinstance(ended, int) or ended < began:
        return 0.0
    return (ended - began) / 1e6


def _versions(run: Run) -> dict[str, str]:
    """What captures say of the software that made them; JAX does, TensorFlow does not."""
    said: dict[str, str] = {}
    for host in run.hosts:
        plane = host.space.plane(METADATA_PLANE)
        for name, value in (plane.own_stats() if plane is not None else {}).items():
            if name.endswith("_version") and isinstance(value, str) and value:
                said[name.removesuffix("_version").replace("_", " ")] = value
    return said
