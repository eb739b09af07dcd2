"""Checks of XSpace files, which the TensorFlow 2 profiler writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from tfprof.captures.model.xspace import XSpace
from tfprof.captures.read.xspace import read_xspace
from tfprof.doctor.report import Check
from tfprof.text.units import human_count
from tfprof.text.wording import plural

_HOST = "/host:CPU"
_DEVICE = re.compile(r"/device:(?:GPU|TPU|CUSTOM)")
_STEP_STATS = {"step_num", "group_id", "step_name"}
"""Stats that mark steps, as captured and after TensorBoard's converters."""

_LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "hipLaunchKernel", "hipModuleLaunchKernel")
_DROPPED = "dropped_traces"
LONGER_WINDOW = "Profile a longer window, while steps are running."
_TRACE_STEPS = 'with tf.profiler.experimental.Trace("train", step_num=step, _r=1):'
_ON_THAT_MACHINE = "Run tfprof doctor on the machine that was profiled; it says why."


def check_capture(data: bytes) -> Iterator[Check]:
    """Check the capture of one host; a damaged file as far as it can be read."""
    space = read_xspace(data)
    for notice in space.notices:
        yield Check("damage", "error", notice.text)
    yield from _check_messages(space)
    events = {plane.name: len(plane.events) for plane in space.planes}
    if not any(events.values()):
        yield _no_events(space)
        return
    devices = [name for name in events if _DEVICE.match(name)]
    busy = [name for name in devices if events[name]]
    host = ", ".join(space.hostnames) or "an unnamed host"
    used = f", {len(busy)} of {plural(len(devices), 'device')} busy" if devices else ", no device"
    total = human_count(sum(events.values()))
    yield Check("capture", "ok", f"XSpace of {host}: {total} events{used}")
    if not events.get(_HOST):
        yield Check(
            "host",
            "warning",
            "the host has no events, so it is unknown which op launched which kernel",
            "Capture with host_tracer_level=2.",
        )
    yield from _check_devices(space, devices, busy)
    if not _has_steps(space):
        yield Check(
            "steps",
            "warning",
            "no steps are marked: per-step numbers are missing (Keras 3 marks none)",
            "Mark each step of the training loop.",
            _TRACE_STEPS,
        )
    yield from _check_dropped(space)


def _check_messages(space: XSpace) -> Iterator[Check]:
    """The errors and warnings that the profiler itself recorded."""
    for name, texts in (("errors", space.errors), ("warnings", space.warnings)):
        for text in dict.fromkeys(texts):
            yield Check(
                f"recorded {name}",
                "error" if name == "errors" else "warning",
                f"the profiler recorded: {' '.join(text.split())}",
                _ON_THAT_MACHINE if "cupti" in text.lower() else "",
            )


def _no_events(space: XSpace) -> Check:
    if not space.planes:
        problem = "XSpace without planes: nothing was captured"
    elif not any(len(plane.lines) for plane in space.planes):
        problem = f"XSpace whose {plural(len(space.planes), 'plane')} hold no lines"
    else:
        problem = "XSpace without a single event"
    return Check("capture", "error", problem, LONGER_WINDOW)


def _check_devices(space: XSpace, devices: Sequence[str], busy: Sequence[str]) -> Iterator[Check]:
    if busy:
        return
    if devices:
        problem = f"{', '.join(devices[:3])}: no events, although the device was there"
    elif _launches_kernels(space):
        problem = "the host launched kernels, but no GPU is in the capture"
    else:
        return
    yield Check(
        "devices",
        "warning",
        f"{problem}; CUPTI was missing or not permitted, or nothing ran on it",
        _ON_THAT_MACHINE,
    )


def _launches_kernels(space: XSpace) -> bool:
    return any(
        name.startswith(_LAUNCHES)
        for plane in space.planes
        if not _DEVICE.match(plane.name)
        for name in plane.event_metadata.names
    )


def _has_steps(space: XSpace) -> bool:
    for plane in space.planes:
        if not _STEP_STATS.isdisjoint(plane.stat_metadata.names):
            return True
        n_events = np.diff(plane.events.first).tolist()
        if any(name == "Steps" and n for name, n in zip(plane.lines.names, n_events, strict=True)):
            return True
    return False


def _check_dropped(space: XSpace) -> Iterator[Check]:
    dropped = 0
    for plane in space.planes:
        count = plane.own_stats().get(_DROPPED)
        dropped += count if isinstance(count, int) else 0
    if dropped:
        yield Check(
            "dropped events",
            "warning",
            f"{human_count(dropped)} events were dropped, because the profiler could not keep up",
            "Capture fewer steps, or turn the Python tracer off.",
        )
