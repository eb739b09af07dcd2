"""The first page of a profile: what it is, what to do, and what costs most."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.advisor.registry import select_checkers
from tfprof.core.text.metrics import NOT_AVAILABLE
from tfprof.core.text.units import some
from tfprof.errors import TfprofError
from tfprof.inputs.profiler import session_of
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.profiles.accounting.profile_info import profile_info, why_no_memory
from tfprof.ui.pages.blocks_of_results import findings_block
from tfprof.ui.pages.document import Block, facts, figures, remarks, side_by_side, words
from tfprof.ui.pages.packed_columns import unpacked
from tfprof.ui.pages.start_cards import MOST_CARDS, bars, best_findings
from tfprof.ui.pages.view_code import library_rows, with_hidden
from tfprof.ui.pages.view_pages import recorded_at

if TYPE_CHECKING:
    from tfprof.inputs.profiler import Profiler
    from tfprof.views.result import ViewTree

_TASK = re.compile(r"/job:([^/]+(?:/replica:\d+)?/task:\d+)")


def start_of_profile(source: str, profiler: Profiler) -> list[Block]:
    """Blocks of the first page of a profile."""
    return [*_profile_blocks(source, profiler)]


def _profile_blocks(source: str, profiler: Profiler) -> Iterator[Block]:
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
        lacks_memory = why_no_memory(ops.profile.steps)
        requested = None if lacks_memory else total["requested_bytes"]
        shown.append(_figure("memory requested", requested, "bytes"))
    else:
        shown = []
    if total["float_ops"]:
        shown.append({"label": "float operations", "value": total["float_ops"], "unit": "count"})
    shown.append(_figure("trainable parameters", info.ops.trainable_parameters, "count"))
    costliest = [*_costliest(profiler)]
    yield from (words([said], lead=True) for said in _answer(costliest))
    yield figures(shown)
    found = [] if profiler.classic else profiler.findings()
    if not profiler.classic:
        yield best_findings(found, len(select_checkers(None)), "the profile")
    if costliest:
        yield side_by_side((1, block) for block in costliest)
    yield facts(
        [
            ("Read from", source or "a profiler of this program"),
            ("Steps", _steps([each.step for each in info.steps])),
            *_recorded(ops),
            *_tasks([each.device for each in info.devices]),
            ("Devices", some([_short(each.device) for each in info.devices], 4) or "nothing ran"),
            ("Ops", f"{info.ops.ops:,} of {len(info.ops.types):,} types"),
            ("With a call stack", f"{info.ops.with_stack:,}"),
        ],
        "Profile",
    )
    names = {"requested_bytes": "memory requested", "trainable": "trainable parameters"}
    said = [
        ("info", f"{names.get(lack.name, lack.name)}: {lack.reason}", "")
        for lack in info.missing if lack.is_unknown
    ]  # fmt: skip
    said += [("warning", notice.text, "") for notice in info.notices]
    if said:
        yield remarks(said)
    yield from findings_block(found[MOST_CARDS:])


def _figure(label: str, value: float | None, unit: str) -> dict[str, Any]:
    """A figure; ``n/a`` if it is unknown; the reasons follow below."""
    if value is None:
        return {"label": label, "value": NOT_AVAILABLE, "unit": "text"}
    return {"label": label, "value": value, "unit": unit}


def _recorded(tree: ViewTree) -> Iterator[tuple[str, str]]:
    began = recorded_at(tree)
    if began is not None:
        yield "Recorded", f"{began:%Y-%m-%d %H:%M} UTC"


def _steps(numbers: list[int]) -> str:
    if not numbers:
        return "none was recorded"
    listed = some([str(number) for number in numbers], 8)
    return f"step {listed}" if len(numbers) == 1 else f"{len(numbers):,}: {listed}"


def _tasks(devices: list[str]) -> Iterator[tuple[str, str]]:
    """The tasks of devices, which are the only hosts in run metadata."""
    names = dict.fromkeys(match[1] for each in devices if (match := _TASK.match(each)))
    if names:
        yield "Task" if len(names) == 1 else f"{len(names)} tasks", some([*names], 4)


def _short(device: str) -> str:
    """``/job:localhost/replica:0/task:0/device:CPU:0`` → ``CPU:0``."""
    return device.rpartition("device:")[2] or device


def _answer(costliest: Sequence[Block]) -> Iterator[str]:
    """What costs most, as a sentence."""
    if costliest:
        first = costliest[0]
        costs = unpacked(first["series"][0]["values"])
        share = costs[0] / sum(costs)
        what = "the time in ops" if first["unit"] == "us" else "the float operations"
        yield f"{unpacked(first['x'])[0]} takes {share:.1%} of {what}."


def _costliest(profiler: Profiler) -> Iterator[Block]:
    """What costs most, by op type, name scope and line: time, or else float operations."""
    for kind, title in (("op", "Op types"), ("scope", "Name scopes"), ("code", "Lines of Python")):
        try:
            tree = profiler.view(kind, _options())
        except TfprofError:
            continue  # no call stacks; the page of the view says so
        for metric, label, unit in (
            ("exec_micros", "by time", "us"),
            ("float_ops", "by float operations", "count"),
        ):
            costs = _costs(tree, METRIC_ROW[metric])
            if costs:
                yield bars(f"{title} {label}", [*costs.items()], kind, unit)
                break


def _costs(tree: ViewTree, metric: int) -> dict[str, float]:
    """Costs of each op type, topmost scope or line of the user's own code, unless zero.

    A line appears once, however it was called, with the costs of libraries that it called.
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
