"""The first page: what the run is, what to do, where a step's time goes, and what costs most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.advisor.captures import capture_findings
from tfprof.captures.events.timeline.names import TASK_PLANE
from tfprof.captures.facts.host_devices import device_kinds
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.model.xspace import METADATA_PLANE
from tfprof.captures.run.table import Column, Table
from tfprof.errors import TfprofError
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.pages.blocks_of_results import findings_block, notes_block, table_block
from tfprof.pages.document import Block, Page, facts, figures, remarks, words
from tfprof.pages.opened import Opened
from tfprof.pages.step_choice import chosen_words, step_chart, step_control
from tfprof.pages.tool_pages import Params, tool_result
from tfprof.pages.view_code import library_rows, with_hidden
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.text.units import some

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.profiler import Profiler
    from tfprof.views.result import ViewTree

START = "start"

_FEW = 5
"""So many of the heaviest are on the first page; each links to the page with all."""


def start_page(opened: Opened, params: Params) -> Page:
    """The first page of a run.

    Raises:
        UsageError: There is no such host or step.
        InputError: The run cannot be read.
    """
    about = "What this run is, what to do about it, and where its time goes."
    if opened.run is None:
        assert opened.profiler is not None
        blocks = [*_profile_blocks(opened.source, opened.profiler())]
        return Page(START, "Start", about, blocks)
    run = opened.run()
    blocks = [*_capture_blocks(opened.source, run, params)]
    return Page(START, "Start", about, blocks, step_control(run, params))


# Captures


def _capture_blocks(source: str, run: Run, params: Params) -> Iterator[Block]:
    overview = tool_result("overview", run, params)
    steps = run_steps(run)
    yield from chosen_words(run, params)
    yield words(overview.verdict, lead=True)
    yield facts(_capture_facts(source, run, steps))
    notes = [*(note for note in run.notes if note not in overview.notes), *overview.notes]
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


# Profiles


def _profile_blocks(source: str, profiler: Profiler) -> Iterator[Block]:
    from tfprof.profiler import session_of
    from tfprof.profiles.accounting.profile_info import profile_info

    info = profile_info(session_of(profiler).complete())
    ops = profiler.view("op", _options())
    total = {name: int(ops.total[row, 0]) for name, row in METRIC_ROW.items()}
    if info.steps:
        mean_us = sum(each.op_micros for each in info.steps) / len(info.steps)
        wall = [each.wall_micros for each in info.steps if each.wall_micros is not None]
        shown = [{"label": "time in ops, a step", "value": mean_us, "unit": "us"}]
        if wall:
            mean_wall = sum(wall) / len(wall)
            shown.append({"label": "wall time, a step", "value": mean_wall, "unit": "us"})
        shown.append(
            {"label": "memory requested", "value": total["requested_bytes"], "unit": "bytes"}
        )
    else:
        shown = []
    if total["float_ops"]:
        shown.append({"label": "float operations", "value": total["float_ops"], "unit": "count"})
    if info.ops.trainable_parameters is not None:
        count = info.ops.trainable_parameters
        shown.append({"label": "trainable parameters", "value": count, "unit": "count"})
    yield figures(shown)
    yield facts(
        [
            ("Read from", source or "a profiler of this program"),
            ("Steps", _steps_said([each.step for each in info.steps])),
            ("Devices", some([_short(each.device) for each in info.devices], 4) or "nothing ran"),
            ("Ops", f"{info.ops.ops:,} of {len(info.ops.types):,} types"),
            ("With a call stack", f"{info.ops.with_stack:,}"),
        ]
    )
    said = [("info", f"{lack.name}: {lack.reason}", "") for lack in info.missing if lack.is_unknown]
    said += [("warning", notice.text, "") for notice in info.notices]
    if said:
        yield remarks(said)
    yield from _profile_findings(profiler)
    for kind, what in (("op", "op type"), ("scope", "name scope"), ("code", "Python line")):
        yield from _heaviest_rows(profiler, kind, what)


def _steps_said(steps: Sequence[int]) -> str:
    """How many steps, and which."""
    if not steps:
        return "none was recorded"
    return f"{len(steps):,}, number {some(list(map(str, steps)), 8)}"


def _short(device: str) -> str:
    """``/job:localhost/replica:0/task:0/device:CPU:0`` → ``CPU:0``."""
    return device.rpartition("device:")[2] or device


def _profile_findings(profiler: Profiler) -> list[Block]:
    return [] if profiler.classic else findings_block(profiler.findings())


def _heaviest_rows(profiler: Profiler, kind: str, what: str) -> Iterator[Block]:
    """The rows of a view with the most time; without times, float operations."""
    try:
        tree = profiler.view(kind, _options())
    except TfprofError:
        return  # no call stacks; the page of the view says so
    for metric, label, unit in (("exec_micros", "time", "us"), ("float_ops", "float ops", "count")):
        costs = _costs(tree, METRIC_ROW[metric])
        heaviest = sorted(costs, key=lambda name: -costs[name])[:_FEW]
        if heaviest:
            whole = int(tree.total[METRIC_ROW[metric], 0]) or 1
            rows = [(name, costs[name], costs[name] / whole) for name in heaviest]
            columns = (
                Column("name", what, "string"),
                Column("cost", label, unit=unit),
                Column("share", "share", unit="fraction"),
            )
            yield table_block(
                Table(kind, columns, rows, title=f"{what}s that cost most".capitalize()), page=kind
            )
            return


def _costs(tree: ViewTree, metric: int) -> dict[str, float]:
    """What each op type, topmost scope or line of the user's own code costs, if anything.

    A line stands once, however it was called, with what libraries did for it.
    """
    costs = tree.own[metric].astype(np.float64)
    rows = np.arange(1, len(tree))
    if tree.kind == "scope":
        costs = tree.total[metric].astype(np.float64)
        rows = np.flatnonzero(tree.depth == 1)
    elif tree.kind == "code":
        hidden = library_rows(tree, np.arange(len(tree)))
        if hidden is not None:
            costs = np.nan_to_num(with_hidden(tree.parent, hidden.rows, costs))
    sums: defaultdict[str, float] = defaultdict(float)
    for row in rows[costs[rows] > 0].tolist():
        sums[tree.names[row]] += float(costs[row])
    return sums


def _options() -> dict[str, Any]:
    chosen = ["micros", "bytes", "params", "float_ops", "occurrence"]
    return ProfileOptionBuilder().with_max_depth(10_000).order_by("auto").select(chosen).build()
