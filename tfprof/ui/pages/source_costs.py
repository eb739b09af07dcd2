"""Costs of source lines: of compiled programs by their metadata, of other ops by call stacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from tfprof.captures.events.ops.device_ops import DeviceOp
from tfprof.captures.run.run import Host
from tfprof.captures.tools.op_profile_tree import run_device_ops
from tfprof.core.columns.frames import Frame
from tfprof.core.columns.library_files import is_library_file
from tfprof.core.text.metrics import METRIC_FORMS
from tfprof.options.spec import UNASKED
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.ui.pages.view_code import frames_of, library_rows, with_hidden
from tfprof.views.result import ViewTree
from tfprof.views.show.view_rows import LineAmounts

OPTIONS: Final[dict[str, Any]] = {
    **UNASKED, "select": ["micros", "bytes", "float_ops"], "order_by": "name",
    "max_depth": 1_000_000, "output": "none",
}  # fmt: skip
"""Of the code view that costs are taken from."""

_MOST_NAMES: Final = 4
_PS_PER_US: Final = 1e6


class Measure(NamedTuple):
    """A number of lines: its name, label and unit, and the total with what has no line."""

    id: str
    label: str
    unit: str
    whole: float


@dataclass(slots=True)
class Line:
    """A line with its costs.

    Attributes:
        frame: Its place.
        values: Its costs, by the measures; None where unknown.
        names: What runs because of it, or the functions it is in, with what they are sorted by.
        place: How tables name it: ``train.py:26``; empty if none does.
    """

    frame: Frame
    values: list[float | None]
    names: Counter[str] = field(default_factory=Counter)
    place: str = ""

    def described(self) -> str:
        """The heaviest of its names."""
        names = [name for name, _ in self.names.most_common(_MOST_NAMES) if name]
        more = len(self.names) - len(names)
        return ", ".join([*names, *([f"{more:,} more"] if more else [])])


class Costs(NamedTuple):
    """Lines with their costs, the most expensive first."""

    measures: list[Measure]
    lines: list[Line]


def costs_of_programs(hosts: Sequence[Host]) -> Costs:
    """Costs of the lines that instructions of compiled programs were made for."""
    ops = run_device_ops(hosts).ops
    found: dict[tuple[str, int], Line] = {}
    for op in ops:
        file, number = _user_line(op)
        if not file:
            continue
        line = _with_costs(found, Frame(file, "", number), [
            op.self_ps,
            float(op.model_flops) if op.has_known_cost else None,
            float(op.traffic.all_bytes) if op.has_known_cost else None,
            float(op.occurrences),
        ])  # fmt: skip
        line.names[op.key.name] += op.self_ps
        if (file, number) == op.source[:2]:
            line.place = f"{file}:{number}"
    for line in found.values():  # whole numbers have one sum, whatever the order of the ops
        line.values[0] = (line.values[0] or 0) / _PS_PER_US
    whole = sum(op.self_ps for op in ops) / _PS_PER_US
    measures = [
        Measure("self_us", "time", "us", whole), Measure("flops", "float operations", "count", 0),
        Measure("bytes", "bytes accessed", "bytes", 0), Measure("runs", "runs", "count", 0),
    ]  # fmt: skip
    return _known(measures, found.values())


def costs_of_stacks(tree: ViewTree) -> Costs:
    """Costs of the lines of call stacks; those of libraries count for the user's line above.

    Args:
        tree: A code view with ``OPTIONS``.
    """
    rows = np.arange(len(tree), dtype=np.int64)
    hidden = library_rows(tree, rows)
    metrics = [each for each in METRIC_FORMS if each.select in OPTIONS["select"]]
    amounts = LineAmounts(tree, rows, ends_with_others=False)
    owns = []
    for metric in metrics:
        found_own = amounts.of(metric)
        own = np.where(found_own.own_unknown, np.nan, found_own.own.astype(np.float64))
        owns.append(own if hidden is None else with_hidden(tree.parent, hidden.rows, own))
    frames = frames_of(tree, rows)
    found: dict[tuple[str, int], Line] = {}
    for row in np.flatnonzero(np.any(np.nan_to_num(owns) > 0, axis=0)).tolist():
        frame = frames[row]
        if frame is None:
            continue
        costs = [None if np.isnan(own[row]) else float(own[row]) for own in owns]
        line = _with_costs(found, frame, costs)
        line.names[frame.function] += 1
    units = {"micros": "us", "bytes": "bytes"}
    measures = [
        Measure(
            each.select,
            each.title,
            units.get(each.metric.rpartition("_")[2], "count"),
            float(tree.total[METRIC_ROW[each.metric], 0]),
        )
        for each in metrics
    ]
    return _known(measures, found.values())


def _known(measures: list[Measure], lines: Iterable[Line]) -> Costs:
    """Only measures that some line has."""
    every = sorted(
        lines,
        key=lambda one: (*(-(value or 0) for value in one.values), one.frame.place),
    )
    kept = [at for at in range(len(measures)) if any(one.values[at] for one in every)]
    for one in every:
        one.values = [one.values[at] for at in kept]
    return Costs([measures[at] for at in kept], every)


def _with_costs(
    found: dict[tuple[str, int], Line], frame: Frame, costs: list[float | None]
) -> Line:
    """The line of a frame with added costs; a sum with an unknown one is unknown."""
    key = (frame.file, frame.line_number)
    if key not in found:
        found[key] = Line(frame, costs)
        return found[key]
    line = found[key]
    line.values = [
        None if one is None or other is None else one + other
        for one, other in zip(line.values, costs, strict=True)
    ]
    return line


def _user_line(op: DeviceOp) -> tuple[str, int]:
    """The innermost line of an op that is not a library's, or else its own; empty without any."""
    file, number, stack = op.source
    if not file or not is_library_file(file):
        return file, number
    places = list(_places(stack))
    if places[:1] != [(file, number)]:  # some recorders write the outermost line first
        places.reverse()
    return next((each for each in places if not is_library_file(each[0])), (file, number))


def _places(stack: str) -> Iterator[tuple[str, int]]:
    """Files and lines of a recorded stack, ``file:line:column`` each."""
    for text in stack.splitlines():
        file, _, number = text.rpartition(":")[0].rpartition(":")
        if file and number.isdecimal() and len(number) < 10:
            yield file, int(number)
