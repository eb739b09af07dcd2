"""Compilations in a capture by function, each counted once however many threads work on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.host_code import is_compiling, is_frame
from tfprof.captures.events.timeline.names import PJIT_CALL, module_key
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.facts.hlo_programs import programs_of
from tfprof.captures.model.hlo import HloModule
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array

_TRACES = re.compile(r"tf\.function-graph_building|trace_to_jaxpr|lower_")
"""Names of events that come before the compilation."""

_MOST_COMPARED = 16
"""At most this many programs of a function are compared."""


class Compilations(NamedTuple):
    """Compilations of a function.

    Attributes:
        name: Name of the function in Python, or the event that compiles if no call encloses it.
        is_function: Whether ``name`` is the name of a function.
        n_runs: Number of compilations.
        total_ps: Their time.
    """

    name: str
    is_function: bool
    n_runs: int
    total_ps: int


@fact
def compilations(host: Host) -> list[Compilations]:
    """The compilations on a host, the longest time first."""
    timeline = host.timeline
    kinds = [is_compiling(name) and not _TRACES.match(name) for name in timeline.names]
    events = np.flatnonzero(timeline.kind_mask(np.array(kinds, np.bool_)) & timeline.on_host)
    first = np.searchsorted(events, timeline.first)
    outer = events[nest(first, timeline.starts_ps[events], timeline.ends_of(events)).parents < 0]
    calls = np.flatnonzero(timeline.named(lambda name: PJIT_CALL.fullmatch(name) is not None))
    sums: dict[tuple[str, bool], list[int]] = {}
    for event in _not_within_others(timeline, outer):
        name = timeline.name(event)
        around = _outermost_around(timeline, calls, event)
        found = PJIT_CALL.fullmatch(timeline.name(around)) if around >= 0 else None
        key = (found[1], True) if found else (name, False)
        count_and_time = sums.setdefault(key, [0, 0])
        count_and_time[0] += 1
        count_and_time[1] += int(timeline.durations_ps[event])
    found_sums = [Compilations(*key, count, total) for key, (count, total) in sums.items()]
    return sorted(found_sums, key=lambda one: (-one.total_ps, one.name))


@fact
def tells_compilations(host: Host) -> bool:
    """Whether the capture has runtime events on threads; functions of Python do not count."""
    timeline = host.timeline
    of_runtime = timeline.on_threads & ~timeline.named(is_frame)
    return bool(of_runtime.any())


def _not_within_others(timeline: Timeline, events: Int64Array) -> list[int]:
    """The events outside events of another name; those inside are their parts on other threads."""
    ends = timeline.ends_of(events)
    order = np.lexsort((-ends, timeline.starts_ps[events])).tolist()
    last: dict[int, int] = {}  # end of each of the two kinds that end last
    alone = []
    for place in order:
        kind, end = int(timeline.kinds[events[place]]), int(ends[place])
        if not any(other != kind and its_end >= end for other, its_end in last.items()):
            alone.append(int(events[place]))
        last[kind] = max(end, last.get(kind, end))
        if len(last) > 2:
            del last[min(last, key=lambda one: last[one])]
    return alone


def _outermost_around(timeline: Timeline, calls: Int64Array, event: int) -> int:
    """The outermost call that encloses an event on its thread; -1 without one."""
    line = timeline.first[int(timeline.lines_of(np.array([event]))[0])]
    before = calls[(calls >= line) & (calls < event)]
    around = before[timeline.ends_of(before) >= timeline.starts_ps[event]]
    return int(around[0]) if len(around) else -1


def what_differs(host: Host, function: str) -> tuple[str, str]:
    """The difference between the programs of a function, and a remedy; empty if not recorded."""
    wanted = module_key(f"jit_{function}")
    named = [one for one in programs_of(host) if module_key(one.name) == wanted]
    modules = [one.module() for one in named[:_MOST_COMPARED]]
    if len(modules) < 2:
        return "", ""
    parameters = [_parameters(module) for module in modules]
    longest = max(parameters, key=len)
    if len({len(one) for one in parameters}) > 1:
        return "in how many arrays they take", "Pass as many arrays each time."
    for number, (label, _) in enumerate(longest):
        shapes = list(dict.fromkeys(one[number][1] for one in parameters))
        if len(shapes) > 1:
            more = f" and {len(shapes) - 3} more" if len(shapes) > 3 else ""
            return (
                f"in the shape of {label}: {', '.join(shapes[:3])}{more}",
                "Pad it to one of few shapes.",
            )
    if len({_constants(module) for module in modules}) > 1:
        return (
            "in a constant: a Python value that the function was compiled for",
            "Pass what changes as an array, not as a static argument or a value from outside.",
        )
    return (
        "in nothing that they compute: the function was made anew, or its programs thrown away",
        "Make it once, outside of the loop, and call it there.",
    )


def _parameters(module: HloModule) -> Sequence[tuple[str, str]]:
    """Labels and shapes of the arrays that a program takes."""
    entry = module.entry
    if entry is None:
        return ()
    return [(f"argument {one.op_name or one.number}", one.shape.text()) for one in entry.parameters]


def _constants(module: HloModule) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (one.opcode, one.shape.text(), one.attributes.literal) for one in module.instructions
    )
