"""Traces as call stacks with weights, from which all formats of stacks are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.trace.lanes import depths
from tfprof.captures.trace.model import TraceModel, TraceTrack
from tfprof.core.columns.arrow import Coded
from tfprof.core.columns.columns import Int64Array, sums_by
from tfprof.core.columns.stacks import SampleType, StackFrame, Stacks, StackTree

_PS_PER_NS = 1000

_AROUND_SLICES = 3
"""Calls of the stack of an outermost slice: process, thread and itself."""

_CALLS_OF_SMALL_TRACES = 5_000_000
_CALLS_OF_A_SLICE = 10
"""Distinct stacks may have twice as many calls together, as each is written in full. Those of the
largest recorded capture have 32,209, at most 3.6 for each slice."""

TRACE_TYPES = (SampleType("events", "count"), SampleType("time", "nanoseconds"))
"""Numbers of the stacks of a trace: count and self time."""


def stacks_of_trace(model: TraceModel, run: str = "") -> Stacks:
    """Slices within slices, below their process and thread; equal ones are added up.

    The weight of a slice is its self time. Lines that are derived from others are left out, as
    they would count twice. Labels have run, host, device and step.

    Args:
        model: The trace.
        run: What the run is called.

    Raises:
        MalformedProfileError: The stacks have more calls than those of any program.
    """
    n_slices = sum(map(len, model.tracks))
    tree = StackTree(max(_CALLS_OF_SMALL_TRACES, _CALLS_OF_A_SLICE * n_slices), run or "trace")
    frames = [StackFrame(name) for name in model.names]
    parts: list[tuple[Int64Array, Int64Array, Int64Array, Int64Array, int]] = []
    step_numbers: dict[str, int] = {}
    texts: Sequence[str] = ()
    own = np.array([-1])
    for track in model.tracks:
        if track.is_derived or not len(track):
            continue
        top = tree.node(-1, StackFrame(model.processes[track.process]))
        thread = tree.node(top, StackFrame(track.name))
        steps = track.steps(np.arange(len(track)))
        if steps.texts is not texts:  # all tracks of a host share theirs
            texts = steps.texts
            numbers = [step_numbers.setdefault(text, len(step_numbers)) for text in texts]
            own = np.array([*numbers, -1], np.int64)  # -1 is the last one
        parts.append((*_of_track(track, tree, thread, frames, own[steps.places]), track.process))
    columns = [np.concatenate([part[at] for part in parts] or [_NONE]) for at in range(4)]
    nodes, of_step, counts, times = columns
    process = np.repeat([part[4] for part in parts], [len(part[0]) for part in parts])
    return tree.stacks(
        TRACE_TYPES,
        nodes,
        np.stack([counts, times]),
        _labels(model, run, process.astype(np.int64), of_step, [*step_numbers]),
        default=1,
    )


_NONE: Int64Array = np.zeros(0, np.int64)


def _labels(
    model: TraceModel, run: str, process: Int64Array, of_step: Int64Array, steps: Sequence[str]
) -> Mapping[str, Coded]:
    hosts = [*dict.fromkeys(model.hosts)]
    of_process = np.array([hosts.index(host) for host in model.hosts], np.int64)
    made = {"run": Coded(np.zeros(len(process), np.int64), [run])} if run else {}
    if len(of_process) and any(hosts):
        made["host"] = Coded(of_process[process], hosts)
    made["device"] = Coded(process, [name.rpartition(" ")[2] for name in model.processes])
    return {**made, "step": Coded(of_step, steps)}


def _of_track(
    track: TraceTrack,
    tree: StackTree,
    top: int,
    frames: Sequence[StackFrame],
    steps: Int64Array,
) -> tuple[Int64Array, Int64Array, Int64Array, Int64Array]:
    """Node, step, number and self time in ns of each kind of slice, level by level."""
    n_slices = len(track)
    nesting = nest(np.array([0, n_slices]), track.starts, track.starts + track.durations)
    self_ps = np.maximum(track.durations - nesting.sums_of_children(track.durations), 0)
    parents, names = nesting.parents.astype(np.int64), track.names_of(np.arange(n_slices))
    node_of = np.full(n_slices + 1, top, np.int64)  # the last one is outside of all
    level = depths(nesting)
    order = np.argsort(level, kind="stable")
    bounds = np.searchsorted(level[order], np.arange(int(level.max()) + 2))
    for depth, (first, last) in enumerate(pairwise(bounds.tolist())):
        own = order[first:last]
        keys = node_of[parents[own]] * len(frames) + names[own]
        distinct, at = np.unique(keys, return_inverse=True)
        tree.count(len(distinct) * (depth + _AROUND_SLICES), len(TRACE_TYPES))
        made = [
            tree.node(key // len(frames), frames[key % len(frames)]) for key in distinct.tolist()
        ]
        node_of[own] = np.array(made, np.int64)[at]
    n_steps = int(steps.max()) + 2
    keys, at = np.unique(node_of[:-1] * n_steps + steps + 1, return_inverse=True)
    times = sums_by(at, self_ps, len(keys))
    return (
        keys // n_steps,
        keys % n_steps - 1,
        np.bincount(at, minlength=len(keys)).astype(np.int64),
        (times + _PS_PER_NS // 2) // _PS_PER_NS,
    )
