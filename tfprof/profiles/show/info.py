"""The contents of a profile as text: figures, devices, and one line for each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tfprof.core.text.characters import UNICODE, Glyphs, escaped
from tfprof.core.text.metrics import BLUE, NOT_AVAILABLE, ORANGE
from tfprof.core.text.tables import Column, Grid
from tfprof.core.text.units import human_count, human_memory, human_share, human_time
from tfprof.profiles.accounting.profile_info import ProfileInfo, StepFigures
from tfprof.profiles.model.executions import device_role

_LABEL = 15
_MOST_TYPES = 5
_MOST_STEPS = 40
"""Steps to show: the first and the last ones, and the mean of all."""

MEAN = "mean"

_TITLES = {
    "accelerator_micros": "accelerator",
    "wall_micros": "wall",
    "requested_bytes": "memory",
    "peak_bytes": "peak mem",
}


@dataclass(frozen=True)
class InfoText:
    """The contents of a profile, as a rich renderable.

    Attributes:
        info: The contents.
        glyphs: What to draw with.
    """

    info: ProfileInfo
    glyphs: Glyphs = UNICODE

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        for label, text in figure_lines(self.info):
            yield from self._labelled(label, text, width)
        left_out: list[str] = []
        for grid in (_device_grid, _step_grid):
            table = grid(self.info, self.glyphs)
            if table is not None:
                yield Text()
                yield table
                left_out += table.left_out(width)
        notes = [*missing_lines(self.info)]
        if left_out:
            notes.append(f"no room for: {', '.join(left_out)}")
        if notes:
            yield Text()
        for note in notes:
            yield from self._paragraph(note, width, "dim")
        if self.info.notices:
            yield Text()
        for notice in self.info.notices:
            yield from self._paragraph(f"note: {escaped(str(notice))}", width)

    def _labelled(self, label: str, text: str, width: int) -> Iterator[Text]:
        blank = " " * _LABEL
        lines = wrap(text, max(width - _LABEL, 20), break_long_words=False) or [""]
        for index, line in enumerate(lines):
            start = Text(f"{label:<{_LABEL}}", style="bold") if index == 0 else Text(blank)
            yield _unwrapped(start.append(self.glyphs.text(line), style="not bold"))

    def _paragraph(self, text: str, width: int, style: str = "") -> Iterator[Text]:
        for line in wrap(self.glyphs.text(text), width):
            yield _unwrapped(Text(line, style=style))


def _unwrapped(text: Text) -> Text:
    text.no_wrap = True
    text.overflow = "ignore"
    return text


# Figures


def figure_lines(info: ProfileInfo) -> Iterator[tuple[str, str]]:
    """Figures of all ops, as names and texts."""
    ops = info.ops
    yield "ops", _ops_line(info)
    if ops.ran is None:
        yield "ran", f"{NOT_AVAILABLE}: no step was recorded"
    else:
        steps = _steps_text([step.step for step in info.steps])
        yield "ran", f"{_part(ops.ran, ops.ops)} in {steps}"
    yield "op types", _types_line(ops.types)
    yield "call stacks", _part(ops.with_stack, ops.ops, "of no op")
    yield "output shapes", _part(ops.with_shapes, ops.ops, "of no op")
    yield "float ops", _float_ops_line(info)
    added = [f"{escaped(name)} {count:,}" for name, count in ops.added_types.items()]
    if len(added) > _MOST_TYPES:
        added[_MOST_TYPES:] = [f"{len(added) - _MOST_TYPES:,} more"]
    yield "added types", ", ".join(added) or "none"
    yield "variables", _variables_line(info)


def _ops_line(info: ProfileInfo) -> str:
    ops = info.ops
    if not ops.ops:
        return "0"
    if ops.run_time_only == ops.ops:
        return f"{ops.ops:,}, named by runs alone: there is no graph"
    if not ops.run_time_only:
        return f"{ops.ops:,}, all of a graph"
    of_graph = ops.ops - ops.run_time_only
    return f"{ops.ops:,}: {of_graph:,} of a graph, {ops.run_time_only:,} named by runs alone"


def _part(part: int, whole: int, none: str = "0") -> str:
    """``5,237 of 9,513 (55.1 %)``."""
    if not part:
        return none
    share = human_share(part, whole)
    if part < whole and share == "100.0 %":
        share = ">99.9 %"
    return f"{part:,} of {whole:,} ({share})"


def _steps_text(steps: Sequence[int]) -> str:
    if len(steps) == 1:
        return f"step {steps[0]}"
    return f"{len(steps):,} steps, {steps[0]} to {steps[-1]}"


def _types_line(types: dict[str, int]) -> str:
    most = [f"{escaped(name)} {count:,}" for name, count in [*types.items()][:_MOST_TYPES]]
    more = ", …" if len(types) > _MOST_TYPES else ""
    return f"{len(types):,}: {', '.join(most)}{more}" if types else "0"


def _float_ops_line(info: ProfileInfo) -> str:
    ops = info.ops
    if not ops.with_float_ops:
        return "none known"
    place = f"{ops.with_float_ops:,} op{'s' if ops.with_float_ops > 1 else ''}"
    return f"{human_count(ops.float_ops)} in one run of the program, in {place}"


def _variables_line(info: ProfileInfo) -> str:
    ops = info.ops
    reasons = {missing.name: missing.reason for missing in info.missing}
    if ops.variables is None:
        return f"{NOT_AVAILABLE}: {reasons['variables']}"
    if not ops.variables:
        return "0"
    text = f"{ops.variables:,} with {ops.parameters:,} elements"
    if ops.trainable is None:
        return f"{text}; trainable {NOT_AVAILABLE}: {reasons['trainable']}"
    return f"{text}; {ops.trainable:,} trainable with {ops.trainable_parameters:,}"


# Tables


def _device_grid(info: ProfileInfo, glyphs: Glyphs) -> Grid | None:
    devices = info.devices
    if not devices:
        return None

    def memory(value: int | None, counts_as: str) -> str:
        if value is None:
            return NOT_AVAILABLE if counts_as == "cpu" else glyphs.missing
        return human_memory(value)

    names = _short_names([each.device for each in devices])
    times = [glyphs.text(human_time(each.micros)) for each in devices]
    requested = [memory(each.requested_bytes, each.counts_as) for each in devices]
    peaks = [memory(each.peak_bytes, each.counts_as) for each in devices]
    kinds = [each.counts_as for each in devices]
    columns = [
        Column("device", "name", names),
        Column("ops", "number", [f"{each.ops:,}" for each in devices], leave_out=10),
        Column("executions", "number", [f"{each.executions:,}" for each in devices], leave_out=20),
        Column("time", "number", times, header_style=BLUE),
        Column("counts as", "text", kinds, leave_out=30),
        Column("memory", "number", requested, header_style=ORANGE, leave_out=5),
        Column("peak mem", "number", peaks, header_style=ORANGE, leave_out=15),
    ]
    return Grid(columns, glyphs)


def _short_names(devices: Sequence[str]) -> list[str]:
    """``GPU:0 stream:all``, if that names one device only."""
    labels = []
    for device in devices:
        role = device_role(device)
        label = device if role is None else f"{role.processor.label} {role.part}".rstrip()
        labels.append(escaped(label))
    if len(set(labels)) < len(labels):
        return [escaped(device) for device in devices]
    return labels


def _step_grid(info: ProfileInfo, glyphs: Glyphs) -> Grid | None:
    steps = info.steps
    if not steps:
        return None
    unknown = {missing.name for missing in info.missing if missing.is_unknown}
    shown = [*range(len(steps))]
    if len(steps) > _MOST_STEPS:
        shown[_MOST_STEPS // 2 : -_MOST_STEPS // 2] = [-1]

    def number(name: str, form: Callable[[int], str]) -> list[str]:
        absent = NOT_AVAILABLE if name in unknown else glyphs.missing
        values = [getattr(step, name) for step in steps]
        cells = [absent if value is None else form(value) for value in values]
        cells = [cells[place] if place >= 0 else "" for place in shown]
        mean = _mean(values)
        return [*cells, absent if mean is None else form(mean)][: None if len(steps) > 1 else -1]

    def column(
        title: str, name: str, form: Callable[[int], str], leave_out: int, style: str = ""
    ) -> Column:
        cells = [glyphs.text(cell) for cell in number(name, form)]
        return Column(title, "number", cells, leave_out=leave_out, header_style=style)

    names = [str(steps[place].step) if place >= 0 else glyphs.ellipsis for place in shown]
    names += [MEAN] * (len(steps) > 1)
    last = len(names) - 1
    return Grid(
        [
            Column("step", "number", names),
            column("ops", "ops", "{:,}".format, 10),
            column("executions", "executions", "{:,}".format, 30),
            column("wall", "wall_micros", human_time, 0, BLUE),
            column("op time", "op_micros", human_time, 0, BLUE),
            column("accelerator", "accelerator_micros", human_time, 5, BLUE),
            column("cpu", "cpu_micros", human_time, 20, BLUE),
            column("memory", "requested_bytes", human_memory, 6, ORANGE),
            column("peak mem", "peak_bytes", human_memory, 15, ORANGE),
        ],
        glyphs,
        strong_rows=frozenset({last} if len(steps) > 1 else ()),
        rule_before=frozenset({last} if len(steps) > 1 else ()),
    )


def _mean(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known)) if known else None


def missing_lines(info: ProfileInfo) -> Iterator[str]:
    """The meaning of columns, and why some have no number."""
    if info.steps:
        yield (
            "wall: from the first start to the last end; op time: the sum over all ops, which may "
            "run at the same time. memory: all that ops requested; peak mem: the largest memory "
            "in use of one allocator"
        )
    for missing in info.missing:
        title = _TITLES.get(missing.name)
        if title is not None:
            sign = NOT_AVAILABLE if missing.is_unknown else "–"
            yield f"{sign} ({title}): {missing.reason}"


def step_rows(steps: Sequence[StepFigures]) -> list[dict[str, Any]]:
    """The steps as flat dicts; None: unknown or not applicable."""
    return [{name: getattr(step, name) for name in StepFigures.__slots__} for step in steps]


def info_head(info: ProfileInfo) -> dict[str, Any]:
    """All except the steps, as plain data."""
    data = info.to_dict()
    return {name: data[name] for name in ("ops", "devices", "missing", "notices")}
