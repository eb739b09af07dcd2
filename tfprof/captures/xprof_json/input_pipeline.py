"""The input pipeline analyzer's JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfprof.captures.facts.tpu_steps import TpuRunSteps
from tfprof.captures.rules import Rules
from tfprof.captures.run.result import Note
from tfprof.captures.run.table import Column, Table
from tfprof.captures.tools.input_pipeline_analyzer import TIPS
from tfprof.captures.xprof_json.diagnostics import diagnostics_table


def to_json(
    tpu: TpuRunSteps | None, steps: Table, inputs: Table, notes: Sequence[Note], rules: Rules
) -> list[Any]:
    """Make the JSON: the core that waits the longest, steps, input ops, tips, and diagnostics."""
    waiting: dict[str, Any] = {"cols": [], "rows": []}
    if tpu is not None:
        waiting = _waiting_cores(tpu, by_machine=rules.names_hosts_by_machine).to_gviz()
    return [
        waiting,
        steps.to_gviz(),
        inputs.to_gviz(),
        _tips(),
        diagnostics_table(notes, rules),
    ]


def _tips() -> dict[str, Any]:
    table = Table("tips", (Column("link", "link", "string"),), [(text,) for _, text in TIPS])
    return table.to_gviz()


def _waiting_cores(steps: TpuRunSteps, *, by_machine: bool) -> Table:
    """The core that waits the longest for input in each step, with a column for each core."""
    places = range(len(steps.names))
    columns = (
        Column("index", "Index", "string"),
        *(Column(str(place), str(place), "string") for place in places),
    )
    rows = [
        ("Step number", *steps.names),
        ("Core name", *(steps.core_name(place, by_machine=by_machine) for place in places)),
    ]
    return Table("max_infeed_core", columns, rows, title="Core that waits the longest")
