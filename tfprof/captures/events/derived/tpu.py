"""Derived lines of TensorCores: name scopes, ops, source code, and copies to the host's memory."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.derived.lines import (
    NAME_SCOPE,
    OPS,
    SOURCE,
    DerivedLine,
    FrameworkLines,
    LineKey,
    Names,
    items_of,
)
from tfprof.captures.events.ops.tpu_ops import OPS as XLA_OPS
from tfprof.captures.events.ops.tpu_ops import device_spans
from tfprof.captures.events.steps.grouping import NO_GROUP, Groups
from tfprof.captures.events.timeline.names import DERIVED_BASE
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.distinct import distinct_rows

_OFFLOAD_BASE = DERIVED_BASE + 8
_MOST_ROWS = 41

_HOST_MEMORY = "S(5)"
_OFFLOADS = ("copy", "dynamic-slice", "dynamic-update-slice")
_OFFLOAD_STATS = ("raw_bytes_accessed", "shape_with_layout")


def tpu_lines(timeline: Timeline, groups: Groups, number: int) -> list[DerivedLine]:
    """The lines derived from the ``XLA Ops`` of a TensorCore.

    Args:
        timeline: The events.
        groups: Their steps.
        number: Place of the plane in the space.
    """
    place = next(
        (
            place
            for place, line in enumerate(timeline.lines)
            if line.plane == number and line.name == XLA_OPS and not line.is_derived
        ),
        None,
    )
    if place is None:
        return []
    lines = [*_framework_lines(timeline, groups, place), *_offload_lines(timeline, place)]
    return [line for line in lines if len(line)]


def _framework_lines(timeline: Timeline, groups: Groups, place: int) -> list[DerivedLine]:
    number = timeline.lines[place].plane
    chosen = timeline.events_of(place)
    events = np.flatnonzero(~timeline.is_asynchronous[chosen]) + chosen.start
    stats = [timeline.stat(name) for name in ("tf_op", "source")]
    columns = [stat.texts_at(events) for stat in stats]
    distinct, _, what, _ = distinct_rows(columns)
    texts = [
        [stat.texts[text] if text >= 0 else "" for text in distinct[:, column].tolist()]
        for column, stat in enumerate(stats)
    ]
    items = items_of(timeline, groups, events)
    keys = (
        LineKey(number, DERIVED_BASE + 2, NAME_SCOPE, 0, place),
        LineKey(number, DERIVED_BASE + 3, OPS, 0, place),
        LineKey(number, DERIVED_BASE + 7, SOURCE, 0, place),
    )
    framework = FrameworkLines(texts[0], texts[1])
    scopes, ops, source = framework.lines(items, what, keys, bridges_gaps=False)
    return [ops, scopes, source]


class _Offload(NamedTuple):
    """A copy from or to the host's memory, its row in the display, and the event at its start."""

    row: int
    event: int
    end_ps: int
    name: str


def _offload_lines(timeline: Timeline, place: int) -> list[DerivedLine]:
    """Copies from start to end, in as few rows as possible without overlap."""
    rows: dict[int, list[_Offload]] = defaultdict(list)
    for offload in _offloads(timeline, place):
        rows[offload.row].append(offload)
    return [_offload_row(timeline, place, row, rows[row]) for row in sorted(rows)]


def _offloads(timeline: Timeline, place: int) -> Iterator[_Offload]:
    """Pairs of a start and the next end of the same instruction, in order of their ends.

    Copies are processed one by one, because the row of each depends on those before it. They are
    in order of the device's clock, which resolves more than the host's.
    """
    names = zip(timeline.display_names, timeline.names, strict=True)
    kinds = [_offload_name(shown, text) for shown, text in names]
    is_offload = timeline.kind_mask([bool(kind) for kind in kinds])
    line = timeline.lines[place]
    events = device_spans(timeline, line.plane, line.name).events
    started: dict[str, deque[int]] = defaultdict(deque)
    row_ends: list[int] = []
    for event in events[is_offload[events]].tolist():
        name, is_start = kinds[int(timeline.kinds[event])] or ("", False)
        if is_start:
            started[name].append(event)
            continue
        if not started[name]:
            continue
        start = started[name].popleft()
        start_ps, end_ps = int(timeline.starts_ps[start]), int(timeline.ends_of(event))
        free = (row for row, until in enumerate(row_ends) if until <= start_ps)
        row = next(free, len(row_ends))
        if row == _MOST_ROWS:
            row -= 1
        row_ends[row : row + 1] = [end_ps]
        yield _Offload(row, start, end_ps, name)


def _offload_name(shown: str, text: str) -> tuple[str, bool] | None:
    """Name of a copy, and whether this is its start; None for other instructions."""
    if _HOST_MEMORY not in text:
        return None
    opcode, _, instruction = shown.partition(".")
    for offload in _OFFLOADS:
        if opcode in (f"{offload}-start", f"{offload}-done"):
            return f"offload-{offload}.{instruction or 0}", opcode.endswith("start")
    return None


def _offload_row(timeline: Timeline, place: int, row: int, offloads: list[_Offload]) -> DerivedLine:
    names = Names()
    kinds = [names.number(offload.name) for offload in offloads]
    starts = timeline.starts_ps[[offload.event for offload in offloads]]
    durations = np.array([offload.end_ps for offload in offloads], np.int64) - starts
    of_events = [timeline.stats_of(offload.event) for offload in offloads]
    stats = [
        {"_a": 1, **{name: of_event[name] for name in _OFFLOAD_STATS if name in of_event}}
        for of_event in of_events
    ]
    order: Int64Array = np.lexsort((-durations, starts))
    title = f"Host Offload Ops row {row}"
    key = LineKey(timeline.lines[place].plane, _OFFLOAD_BASE + row, title, 0, place)
    return DerivedLine(
        *key,
        starts[order],
        durations[order],
        np.array(kinds, np.int64)[order],
        [""] * len(names.all),
        names.all,
        np.full(len(offloads), NO_GROUP, np.int64),
        {at: stats[old] for at, old in enumerate(order.tolist())},
    )
