"""Data that tools need but a host's capture lacks: ops, steps, devices, requested options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tfprof.captures.events.timeline.clocks import time_axis
from tfprof.captures.events.timeline.names import (
    DEVICE_PREFIXES,
    MERGED_PLANES,
)
from tfprof.captures.facts.arrival import Arrival, arrival_of
from tfprof.captures.facts.framework import words_for
from tfprof.captures.model.xspace import XSpace
from tfprof.captures.run.fact import fact
from tfprof.captures.run.recorded_levels import DEVICE_LEVEL, HOST_LEVEL, recorded_levels
from tfprof.captures.run.remarks import ON_THAT_MACHINE, Lack, remarks, why_without_cupti
from tfprof.captures.run.result import Note, listed
from tfprof.captures.run.run import Host, Run
from tfprof.core.text import how_to_capture
from tfprof.core.text.units import human_time
from tfprof.options.captures import CaptureOptions

_MARKS = {"step_num", "group_id", "step_name"}
"""Stats that mark steps, in raw captures and in those of TensorBoard's converters."""

_LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "hipLaunchKernel", "hipModuleLaunchKernel")
_SHORT_US = 1000.0
"""Steps of a training are rarely shorter."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The contents that a capture should have, according to its request.

    Attributes:
        options: The requested options.
        framework: The framework whose profiler recorded, for messages.
        devices: Accelerators available to the program.
        unsupported: Options that this profiler does not have.
    """

    options: CaptureOptions
    framework: str = "the profiler"
    devices: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()


def lacking(host: Host, asked: Asked | None = None) -> Iterator[Lack]:
    """The missing parts of a host's capture, with the reason and the remedy.

    Args:
        host: The capture.
        asked: The request, if available.
    """
    yield from remarks(host.space)
    yield from lacking_parts(host, asked)


def lacking_parts(host: Host, asked: Asked | None = None) -> Iterator[Lack]:
    """The same as ``lacking``, without the remarks of ``open_run``."""
    levels = recorded_levels(host.space)
    if asked is not None:
        yield from _of_options(asked, levels)
    if not host.space.n_events:
        return
    known = levels or {}
    counts = arrival_of(host)
    yield from _of_host(counts, known)
    yield from _of_steps(host, counts, known)
    yield from _of_devices(host.space, counts, known, asked)


def notes_of_missing(host: Host, asked: Asked | None = None) -> list[Note]:
    """``lacking_parts`` as notes on the host."""
    return [lack.note(host.name) for lack in lacking_parts(host, asked)]


_TOLD_BY_TOOLS = ("steps", "one step", "devices")
"""Missing parts that notes and verdicts on steps report themselves, from data of all hosts."""


def notes_for_tools(run: Run) -> list[Note]:
    """Missing parts on the hosts of a run beyond the notes of the run and of its steps."""
    return [
        lack.note(host.name)
        for host in run.hosts
        for lack in _lacking_parts(host)
        if lack.name not in _TOLD_BY_TOOLS
    ]


@fact
def _lacking_parts(host: Host) -> tuple[Lack, ...]:
    return tuple(lacking_parts(host))


def _of_options(asked: Asked, levels: dict[str, int] | None) -> Iterator[Lack]:
    if not asked.options.levels.keys() - set(asked.unsupported):
        return  # no options to check
    if levels is None:
        yield Lack(
            "options",
            "info",
            f"{asked.framework} does not say in the capture with which options it recorded, so "
            "they could not be checked",
        )
        return
    for name, wanted in asked.options.levels.items():
        if levels[name] != wanted:
            why = "it was not honoured"
            if name in asked.unsupported:
                why = f"{asked.framework} has no such option"
            what = f"{name}={wanted} was requested, and {levels[name]} recorded"
            yield Lack("options", "warning", what, why)


def _of_host(counts: Arrival, levels: dict[str, int]) -> Iterator[Lack]:
    n_of_threads = sum(events for name, events in counts.planes if name in MERGED_PLANES)
    level = levels.get(HOST_LEVEL, 2)
    if not n_of_threads:
        yield Lack(
            "host",
            "warning",
            "the host has no events, so it is unknown which op launched which kernel",
            how_to_capture.NO_OPS.format(level=level) if level < 2 else "",
            how_to_capture.OPS,
            how_to_capture.CAPTURE,
        )
    elif not counts.ops and level == 1:  # at level 0, steps are missing, too
        why = how_to_capture.NO_OPS.format(level=level)
        yield Lack("ops", "info", "no op of the host was recorded", why)


def _of_steps(host: Host, counts: Arrival, levels: dict[str, int]) -> Iterator[Lack]:
    n_threads = _threads_of_steps(host.space) if counts.steps > 1 else 0
    if n_threads > 1:
        yield Lack(
            "steps of threads",
            "info",
            f"{n_threads} threads mark steps at the same time",
            "tools show them all, in the order of their starts, and views number them anew where "
            "numbers repeat",
            f"give the steps of each thread a name of its own: {how_to_capture.MARK_NAMED}",
        )
    if counts.steps == 1:
        yield Lack(
            "one step",
            "info",
            "only one step is marked",
            "it may not be a typical one, as the first step compiles and fills buffers",
            how_to_capture.LONGER,
        )
    if _has_marks(host.space):
        return
    what = "no step is marked, so tools guess the steps or have none"
    if levels.get(HOST_LEVEL) == 0:
        yield Lack("steps", "warning", what, how_to_capture.NO_MARKERS)
        return
    why = ""
    if counts.covered_us < _SHORT_US:
        shown = human_time(round(counts.covered_us))
        why = f"the capture covers only {shown}, and a step that it cuts may have no mark in it"
    remedy = f"{words_for([host]).mark_steps}, and let the capture last for several steps"
    yield Lack("steps", "warning", what, why, remedy, how_to_capture.MARK)


def _threads_of_steps(space: XSpace) -> int:
    """Number of threads that mark steps overlapping in time."""
    axis = time_axis(space)
    marks: list[tuple[int, int, int]] = []
    for number, plane in enumerate(space.planes):
        if plane.name in MERGED_PLANES and plane.stat_metadata.keys_of("step_num"):
            events = plane.stat("step_num").events
            lines = np.searchsorted(plane.events.first, events, side="right") - 1
            starts = axis.starts_ps(number)[events]
            ends = starts + plane.events.durations_ps[events]
            ids = plane.lines.ids[lines]
            marks += zip(starts.tolist(), ends.tolist(), ids.tolist(), strict=True)
    overlapping: set[int] = set()
    last: dict[int, int] = {}  # the ends of the two threads whose steps end last
    for start, end, thread in sorted(marks):
        others = [other for other, its_end in last.items() if other != thread and its_end > start]
        if others:
            overlapping |= {thread, *others}
        last[thread] = max(end, last.get(thread, end))
        if len(last) > 2:
            del last[min(last, key=lambda one: last[one])]
    return len(overlapping)


def _has_marks(space: XSpace) -> bool:
    for plane in space.planes:
        if not _MARKS.isdisjoint(plane.stat_metadata.names):
            return True
        n_events = np.diff(plane.events.first).tolist()
        if any(name == "Steps" and n for name, n in zip(plane.lines.names, n_events, strict=True)):
            return True
    return False


def _of_devices(
    space: XSpace, counts: Arrival, levels: dict[str, int], asked: Asked | None
) -> Iterator[Lack]:
    devices = {name: n for name, n in counts.planes if name.startswith(DEVICE_PREFIXES)}
    if any(devices.values()) or (asked is not None and not asked.options.device_tracer_level):
        return
    available = asked.devices if asked is not None else ()
    name = "devices"
    if available:
        framework = asked.framework if asked is not None else ""
        although = f"{framework} has {listed(available)}"
    elif devices:
        although = f"{listed(list(devices))} {'was' if len(devices) == 1 else 'were'} there"
    elif _launches_kernels(space):
        name = "device planes"
        although = "the host launched kernels"
    else:
        return
    what = f"no event of a device, although {although}"
    if levels.get(DEVICE_LEVEL) == 0:
        why, remedy = how_to_capture.NO_DEVICES, how_to_capture.DEVICES
    else:
        why = why_without_cupti(space) or (
            "nothing ran there, or the device's tracer (CUPTI on NVIDIA GPUs) is missing or not "
            "permitted"
        )
        remedy = ON_THAT_MACHINE
    yield Lack(name, "warning", what, why, remedy)


def _launches_kernels(space: XSpace) -> bool:
    return any(
        name.startswith(_LAUNCHES)
        for plane in space.planes
        if not plane.name.startswith(DEVICE_PREFIXES)
        for name in plane.event_metadata.names
    )
