"""Derived lines of host threads that ran programs of XLA:CPU."""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.derived.hlo import provenance_of
from tfprof.captures.events.derived.lines import (
    MODULES,
    NAME_SCOPE,
    OPS,
    SOURCE,
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
from tfprof.captures.rules import OURS

_THREAD_BASE = DERIVED_BASE + 49
_IDS_PER_THREAD = 4


def host_lines(timeline: Timeline, groups: Groups, hlo: HloLookup) -> list[DerivedLine]:
    """Ops, name scopes, modules and source code of each thread that ran instructions.

    Args:
        timeline: The events.
        groups: Their steps.
        hlo: Finds the op and the source of an instruction.
    """
    has_op = timeline.having("hlo_op")
    lines: list[DerivedLine] = []
    threads = [place for place, line in enumerate(timeline.lines) if line.is_host]
    threads = [place for place in threads if has_op[timeline.events_of(place)].any()]
    is_launch = timeline.having("correlation_id")  # the launched program ran on a device
    for count, place in enumerate(threads):
        chosen = timeline.events_of(place)
        events = np.flatnonzero((has_op & ~is_launch)[chosen]) + chosen.start
        if len(events):
            lines += _lines_of(timeline, groups, events, (place, count), hlo)
    return [line for line in lines if len(line)]


def _lines_of(
    timeline: Timeline,
    groups: Groups,
    events: np.ndarray[tuple[int], np.dtype[np.int64]],
    thread: tuple[int, int],
    hlo: HloLookup,
) -> list[DerivedLine]:
    place, count = thread
    line = timeline.lines[place]

    def key(name: str, at: int) -> LineKey:
        number = _THREAD_BASE + count * _IDS_PER_THREAD + at
        return LineKey(line.plane, number, f"{line.name}-{name}", 0, place)

    facts = provenance_of(timeline, events, hlo, rules=OURS)
    items = items_of(timeline, groups, events)
    modules = Names()
    in_modules = covering_spans(items, facts.module_paths(modules)[facts.what])
    scopes, ops, source = FrameworkLines(facts.tf_ops, facts.places).lines(
        items,
        facts.what,
        (key(NAME_SCOPE, 1), key(OPS, 0), key(SOURCE, 3)),
        in_modules.begun(len(events)),
    )
    return [ops, scopes, line_of_spans(key(MODULES, 2), in_modules, modules), source]
