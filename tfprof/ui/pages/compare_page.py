"""The page of two runs: the verdict, the parts of a step, the ops, and the scopes as a flame graph.

All of it is the answer of ``tfprof diff``; the page decides nothing by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.table import Table
from tfprof.captures.tools.device_memory import is_device_memory
from tfprof.core.text.characters import escaped
from tfprof.errors import TfprofError
from tfprof.inputs.opened import Opened
from tfprof.insight.diff.answer import answer_of
from tfprof.insight.diff.ask import side_of_opened
from tfprof.insight.diff.device_memory import diff_device_memory
from tfprof.insight.diff.difference import difference
from tfprof.insight.diff.noise import Change
from tfprof.insight.diff.side import Side
from tfprof.insight.diff.trees import changed_tree
from tfprof.ui.pages.blocks_of_results import notes_block, table_block
from tfprof.ui.pages.document import Block, Page, column, empty, words
from tfprof.ui.pages.precomputed_page import blocks_of
from tfprof.ui.pages.tree_block import TreeMeasure, tree_block
from tfprof.ui.pages.view_titles import COMPARE

_MOST_PARTS: Final = 10
_LEADING: Final = ("step_time_change", "same_recording")
"""The claim that answers whether the step changed."""

_OP_COLUMNS: Final = (
    "op", "before_ms", "after_ms", "difference_ms", "relative", "verdict", "low_ms", "high_ms",
    "cause", "type", "op_before",
)  # fmt: skip


def compare_page(first: Opened, second: Opened) -> Page:
    """The page of two runs.

    Args:
        first: The run before.
        second: The run after.

    Raises:
        InputError: A run cannot be read.
    """
    about = f"From {first.name} (before) to {second.name} (after)."
    try:
        if (arrays := _device_memory(first, second)) is not None:
            return Page(*COMPARE, about, blocks_of(arrays))
        sides = side_of_opened(first), side_of_opened(second)
        found = difference(*sides)
    except TfprofError as error:
        why = empty(f"These two runs cannot be compared: {error}.")
        return Page(*COMPARE, about, [why])
    answer = answer_of(found)
    lead = [claim.text for claim in answer.claims if claim.metric in _LEADING]
    cautions = [note for note in found.mismatches if note.severity != "info"]
    blocks = [
        words(lead, lead=True),
        *notes_block((*cautions, *answer.notes)),
        *_parts(answer),
        _ops(answer.tables["ops"]),
        _scopes(*sides),
    ]
    return Page(*COMPARE, about, blocks)


def _device_memory(first: Opened, second: Opened) -> ToolResult | None:
    """The difference of two device memory profiles; None for other runs."""
    if first.stacks is None or second.stacks is None:
        return None
    before, after = first.stacks(), second.stacks()
    if not (is_device_memory(before) and is_device_memory(after)):
        return None
    return diff_device_memory(before, after, first.name, second.name)


def _parts(answer: ToolResult) -> Iterator[Block]:
    """Parts of the step, before and after; nothing for runs without steps.

    They are those of the first page; for a profile, the ops and gaps that changed most.
    """
    table = answer.tables.get("step")
    rows = table.to_rows()[1:] if table else []  # the first is the whole step
    title = table.title if table else ""
    if not rows and "parts" in answer.tables:
        table = answer.tables["parts"]
        rows = table.to_rows()[:_MOST_PARTS]
        title = "Parts of the step that changed most"
    rows = [row for row in rows if row["before_ms"] or row["after_ms"]]
    if not rows or table is None:
        return
    yield {
        "kind": "chart", "id": "parts", "form": "pairs", "title": escaped(title),
        "x": column([str(row[table.columns[0].id]) for row in rows]), "x_label": "",
        "y_label": "time", "unit": "ms",
        "series": [
            {"name": name, "values": column([row[key] for row in rows])}
            for name, key in (("before", "before_ms"), ("after", "after_ms"))
        ],
        "differences": column([row["difference_ms"] for row in rows]),
        "verdicts": column([str(row["verdict"]) for row in rows]),
    }  # fmt: skip


def _ops(table: Table) -> Block:
    ids = [each.id for each in table.columns]
    kept = [ids.index(name) for name in _OP_COLUMNS if name in ids]
    return table_block(
        replace(
            table,
            name="changed_ops",
            columns=tuple(table.columns[at] for at in kept),
            rows=[tuple(row[at] for at in kept) for row in table.rows],
        )
    )


# Scopes


def _scopes(first: Side, second: Side) -> Block:
    """The scopes of both as one tree, as wide as their time after, coloured by the difference."""
    tree = changed_tree(first.profiler.view("scope"), second.profiler.view("scope"))
    times = tree.times
    before = np.array([_number(time.before) for time in times])
    after = np.array([_number(time.after) for time in times])
    moved = np.array([time.difference for time in times])
    measures = [
        TreeMeasure("after", "after", "ms", after, whole=_whole(after)),
        TreeMeasure("before", "before", "ms", before, whole=_whole(before)),
        TreeMeasure("difference", "difference", "ms", moved, is_cost=False),
    ]
    return tree_block(
        ["total", *tree.names[1:]],
        tree.parent,
        measures,
        id="scopes",
        title="Scopes, a step on average",
        full_names=["total", *tree.full_names[1:]],
        texts=[("verdict", "verdict", [time.verdict for time in times])],
        primary="after",
        form="flame",
        tint={"values": column(np.array([_tint(time) for time in times])), "low": "shorter",
              "high": "longer", "none": "as before, or within noise"},
    )  # fmt: skip


def _tint(time: Change) -> float:
    """The difference as a share of the longer time, -1 to 1; 0 within noise."""
    longest = max(time.before or 0.0, time.after or 0.0)
    return 0.0 if time.verdict == "within noise" or not longest else time.difference / longest


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _whole(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    return float(np.nan_to_num(values[0]))
