"""Derived lines of GPUs: steps, launches, and the ops and modules of each stream's kernels."""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.derived.hlo import provenance_of
from tfprof.captures.events.derived.lines import (
    LAUNCHES,
    MODULES,
    NAME_SCOPE,
    OPS,
    SOURCE,
    STEPS,
    XLA_OPS,
    DerivedLine,
    FrameworkLines,
    HloLookup,
    LineKey,
    Names,
    items_of,
    line_of_spans,
)
from tfprof.captures.events.derived.spans import covering_spans
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.timeline.names import DERIVED_BASE
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.rules import Rules
from tfprof.core.columns.columns import Int64Array

_STREAM_BASE = DERIVED_BASE + 290
_IDS_PER_STREAM = 6
_DISPLAYED_PER_STREAM = 7


def gpu_lines(
    timeline: Timeline, groups: Groups, number: int, hlo: HloLookup, *, rules: Rules
) -> tuple[list[DerivedLine], dict[int, int]]:
    """The derived lines of a GPU, and the display position of each stream, by line.

    Args:
        timeline: The events.
        groups: Their steps.
        number: Place of the plane in the space.
        hlo: Finds the op and the source of an instruction.
        rules: Ops of kernels whose instruction is unknown, and the end of the last span.
    """
    streams = _streams(timeline, number)
    display = {line: 1 + place * _DISPLAYED_PER_STREAM for place, line in enumerate(streams)}
    is_kernel = timeline.having("kernel_details") | timeline.having("cuda_graph_id")
    lines = [_steps(timeline, groups, number)]
    for place, line in enumerate(streams):
        events = timeline.events_of(line)
        chosen = np.flatnonzero(is_kernel[events]) + events.start
        if len(chosen):
            lines += _lines_of(timeline, groups, chosen, (line, place), hlo, rules=rules)
    lines.append(_launches(timeline, groups, number))
    return [line for line in lines if len(line)], display


def _streams(timeline: Timeline, number: int) -> list[int]:
    """The lines of a GPU: compute streams first, then lines with more events."""
    own = [
        place
        for place, line in enumerate(timeline.lines)
        if line.plane == number and not line.is_derived
    ]
    sizes = np.diff(timeline.first)
    return sorted(own, key=lambda at: ("Compute" not in timeline.lines[at].name, -int(sizes[at])))


def _steps(timeline: Timeline, groups: Groups, number: int) -> DerivedLine:
    events = timeline.device_events(number)
    events = events[groups.of_event[events] >= 0]
    items = items_of(timeline, groups, events)
    names = Names()
    distinct, place = np.unique(items.groups, return_inverse=True)
    numbers = [names.number(str(group)) for group in distinct.tolist()]
    paths = np.array(numbers, np.int64)[place].reshape(-1, 1)
    key = LineKey(number, DERIVED_BASE, STEPS, 0, -1)
    return line_of_spans(key, covering_spans(items, paths), names)


def _lines_of(
    timeline: Timeline,
    groups: Groups,
    events: Int64Array,
    stream: tuple[int, int],
    hlo: HloLookup,
    *,
    rules: Rules,
) -> list[DerivedLine]:
    """Ops, name scopes, instructions, modules and source lines of a stream's kernels."""
    line, place = stream
    number, stream_id = timeline.lines[line].plane, timeline.lines[line].id
    first_id = _STREAM_BASE + place * _IDS_PER_STREAM
    first_display = 2 + place * _DISPLAYED_PER_STREAM

    def key(name: str, at: int, shown_at: int) -> LineKey:
        title = f"{name} - from #{stream_id}"
        return LineKey(number, first_id + at, title, first_display + shown_at, line)

    facts = provenance_of(timeline, events, hlo, rules=rules)
    items = items_of(timeline, groups, events)
    modules, ops = Names(), Names()
    in_modules = covering_spans(items, facts.module_paths(modules)[facts.what])
    breaks = in_modules.begun(len(events))
    cuts_last = not rules.keeps_last_derived_span
    op_paths = facts.op_paths(ops)[facts.what]
    in_ops = covering_spans(items, op_paths, breaks, cuts_last=cuts_last)
    framework = FrameworkLines(facts.tf_ops, facts.places)
    scopes, tf_ops, source = framework.lines(
        items,
        facts.what,
        (key(NAME_SCOPE, 0, 0), key(OPS, 1, 1), key(SOURCE, 5, 4)),
        breaks,
        cuts_last=cuts_last,
    )
    return [
        tf_ops,
        scopes,
        line_of_spans(key(XLA_OPS, 3, 3), in_ops, ops),
        line_of_spans(key(MODULES, 2, 2), in_modules, modules),
        source,
    ]


def _launches(timeline: Timeline, groups: Groups, number: int) -> DerivedLine:
    """For each step, a span from the first launch of a kernel on the host to the last."""
    device = timeline.stat("device_id")
    is_own = device.is_integer() & (device.values == timeline.space.planes[number].id)
    is_launch = device.only(is_own).mask(len(timeline)) & timeline.having("correlation_id")
    is_launch &= timeline.on_host & (groups.of_event >= 0)
    is_launch &= timeline.named(lambda name: not name.startswith("cu"))
    events = np.flatnonzero(is_launch)
    of_event = groups.of_event[events]
    names = Names()
    starts, durations, steps, stats = [], [], [], {}
    for group in np.unique(of_event).tolist():
        rows = events[of_event == group]
        first = int(timeline.starts_ps[rows].min())
        lasting = timeline.durations_ps[rows]
        stats[names.number(f"Launch Stats for {groups.names[group]}")] = {
            "num_launches": len(rows),
            "max_launch_time_us": int(lasting.max()) / 1e6,
            "avg_launch_time_us": int(lasting.sum()) / len(rows) / 1e6,
        }
        starts.append(first)
        durations.append(int(timeline.ends_of(rows).max()) - first)
        steps.append(group)
    return DerivedLine(
        *LineKey(number, DERIVED_BASE + 1, LAUNCHES, 0, -1),
        starts_ps=np.array(starts, np.int64),
        durations_ps=np.array(durations, np.int64),
        kinds=np.arange(len(starts)),
        names=names.all,
        display_names=[""] * len(starts),
        groups=np.array(steps, np.int64),
        stats=stats,
    )
