"""Assigns the events of TPU cores to steps (``group_events.cc``).

Cores run programs. If the host has steps, links lead from them to the runs of programs, and all
other events on a core belong to the run that they overlap. If the host has none, the steps or runs
of the cores themselves count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.names import TPU_PREFIX
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.rules import Rules
from tfprof.core.columns.columns import BoolArray, Int64Array

STEP_LINES = frozenset(("Steps", "Sparse Core Steps"))
MODULE_LINES = frozenset(("XLA Modules", "Sparse Core Modules"))

_NO_GROUP = -1

Events = slice


class _Device(NamedTuple):
    """Lines of a plane, as ranges of events; empty ranges for missing lines."""

    steps: Events
    modules: Events
    lines: tuple[Events, ...]


def group_tpus(
    timeline: Timeline, of_event: Int64Array, *, n_groups: int, rules: Rules
) -> dict[int, int]:
    """Put the events of TPUs into groups.

    Args:
        timeline: The events.
        of_event: The group of each event, changed; -1 without one, shape (n events,).
        n_groups: Number of steps of the host; the runs of programs that they led to have their
            groups.
        rules: Which steps of different cores are the same. In tfprof, those with the same name
            (their number), or runs if each is the k-th run of one program. tfprof also counts them
            if no link leads from the host's steps to the cores.

    Returns:
        The group of each event on the lines of steps.
    """
    if not any(plane.name.startswith(TPU_PREFIX) for plane in timeline.space.planes):
        return {}
    devices = _devices(timeline)
    is_led = any((of_event[device.modules] >= 0).any() for device in devices)
    if n_groups and (is_led or rules.numbers_core_steps):
        for device in devices:
            _by_modules(timeline, of_event, device, rules=rules)
    else:
        _in_lockstep(timeline, of_event, devices, n_groups, rules=rules)
    return {
        event: group
        for device in devices
        for event, group in enumerate(of_event[device.steps].tolist(), device.steps.start)
        if group != _NO_GROUP
    }


def _devices(timeline: Timeline) -> list[_Device]:
    """The planes of devices that have a line of steps or of runs."""
    nothing = slice(0, 0)
    planes: dict[int, list[int]] = {}
    for number, line in enumerate(timeline.lines):
        if line.is_device and not line.is_derived:
            planes.setdefault(line.plane, []).append(number)
    devices = []
    for numbers in planes.values():
        steps = modules = nothing
        for number in numbers:
            if timeline.lines[number].name in STEP_LINES:
                steps = timeline.events_of(number)
            elif timeline.lines[number].name in MODULE_LINES:
                modules = timeline.events_of(number)
        if steps != nothing or modules != nothing:
            lines = tuple(timeline.events_of(number) for number in numbers)
            devices.append(_Device(steps, modules, lines))
    return devices


def _by_modules(timeline: Timeline, of_event: Int64Array, device: _Device, *, rules: Rules) -> None:
    """Give the groups of runs of programs to the events that overlap them."""
    n_steps, n_modules = (line.stop - line.start for line in (device.steps, device.modules))
    if not n_modules or n_steps > n_modules:  # a loop on the device: one run holds many steps
        return
    others = [line for line in device.lines if line not in (device.steps, device.modules)]
    groups = of_event[device.modules].copy()
    for line in (device.steps, *others):
        _spread(timeline, of_event, line, device.modules, groups, rules=rules)


def _in_lockstep(
    timeline: Timeline,
    of_event: Int64Array,
    devices: list[_Device],
    first: int,
    *,
    rules: Rules,
) -> None:
    """Number the steps of each core, or its runs of programs if it has no line of steps."""
    leading = [
        device.steps if device.steps.stop > device.steps.start else device.modules
        for device in devices
    ]
    numbered = [np.arange(line.stop - line.start, dtype=np.int64) for line in leading]
    if not rules.numbers_core_steps:
        numbered = _numbered_by_name(timeline, leading)
    for device, line, groups in zip(devices, leading, numbered, strict=True):
        for other in device.lines:
            _spread(timeline, of_event, other, line, groups + first, rules=rules)


def _numbered_by_name(timeline: Timeline, lines: list[Events]) -> list[Int64Array]:
    """A number for each pair of a name and its count of earlier occurrences, in order of time."""
    keys: list[list[tuple[str, int]]] = []
    begin: dict[tuple[str, int], int] = {}
    for line in lines:
        seen: dict[str, int] = {}
        own = []
        for event in range(line.start, line.stop):
            name = timeline.name(event)
            key = (name, seen.get(name, 0))
            seen[name] = key[1] + 1
            own.append(key)
            start = int(timeline.starts_ps[event])
            begin[key] = min(start, begin.get(key, start))
        keys.append(own)
    number = {key: place for place, key in enumerate(sorted(begin, key=lambda key: begin[key]))}
    return [np.array([number[key] for key in own], np.int64) for own in keys]


def _spread(
    timeline: Timeline,
    of_event: Int64Array,
    line: Events,
    leading: Events,
    groups: Int64Array,
    *,
    rules: Rules,
) -> None:
    """Give the groups of the events of one line to the events of another that overlap them."""
    starts, ends = timeline.starts_ps[line], timeline.ends_of(line)
    first = timeline.starts_ps[leading]
    last = np.maximum.accumulate(timeline.ends_of(leading))
    place = _overlapping(starts, ends, first, last, touching=True)
    if not rules.joins_touching_events:
        inside = _overlapping(starts, ends, first, last, touching=False)
        place = np.where(inside >= 0, inside, place)
    known: BoolArray = place >= 0
    known[known] = groups[place[known]] >= 0
    of_event[np.arange(line.start, line.stop)[known]] = groups[place[known]]


def _overlapping(
    starts: Int64Array, ends: Int64Array, first: Int64Array, last: Int64Array, *, touching: bool
) -> Int64Array:
    """The first span that each event overlaps, -1 without one.

    Args:
        starts: Starts of the events, shape (n,).
        ends: Ends of the events.
        first: Starts of the spans, ascending, shape (m,).
        last: Their ends, ascending.
        touching: Whether a common point is enough.
    """
    if not len(first):
        return np.full(len(starts), -1, np.int64)
    place = np.searchsorted(last, starts, side="left" if touching else "right")
    nearest = place.clip(max=len(first) - 1)
    is_before = (
        first[nearest] <= ends if touching else first[nearest] < np.maximum(ends, starts + 1)
    )
    return np.where((place < len(first)) & is_before, nearest, -1).astype(np.int64)
