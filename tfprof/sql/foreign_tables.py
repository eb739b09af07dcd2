"""Traces and call stacks of other programs as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.trace.model import TraceModel, TraceTrack
from tfprof.core.columns.arrow import ArrowColumn, Coded, Numbers
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.stacks import Stacks

NamedTrace = tuple[str, Callable[[], TraceModel]]
"""A trace of another program, and what it is called."""


def events_of_trace(run: str, model: TraceModel) -> Iterator[Sequence[ArrowColumn]]:
    """Rows of the table ``events``: the slices of each track; there are no ops or steps.

    Args:
        run: What it is called.
        model: The trace.
    """
    n_before = 0
    for track in model.tracks:
        yield [*_events_of_track(run, model, track), Numbers(np.arange(len(track)) + n_before)]
        n_before += len(track)


def _events_of_track(run: str, model: TraceModel, track: TraceTrack) -> list[ArrowColumn]:
    n_slices = len(track)
    same: Int64Array = np.zeros(n_slices, np.int32)
    none = Coded(np.full(n_slices, -1, np.int32), [])
    nesting = nest(np.array([0, n_slices]), track.starts, track.starts + track.durations)
    inside = nesting.sums_of_children(track.durations)
    distinct, at = np.unique(track.names_of(np.arange(n_slices)), return_inverse=True)
    return [
        Coded(same, [run]),
        Coded(same, [""]),
        Coded(same, [model.processes[track.process]]),
        Coded(same, [track.name]),
        Numbers(np.full(n_slices, _signed(track.thread_id), np.int64)),
        Numbers(np.zeros(n_slices, np.bool_)),
        Coded(at.astype(np.int32), [model.names[name] for name in distinct.tolist()]),
        none,
        none,
        Numbers(track.starts + track.shift_ps),
        Numbers(track.durations),
        Numbers(np.maximum(track.durations - inside, 0)),
        none,
    ]


def _signed(number: int) -> int:
    """Some programs write ids of 64 bits without a sign."""
    number %= 1 << 64
    return number - (1 << 64) if number >= 1 << 63 else number


def samples_of_stacks(run: str, stacks: Stacks) -> list[ArrowColumn]:
    """Rows of the table ``stacks``: each number of each sample that is not 0.

    Args:
        run: What it is called.
        stacks: The stacks.
    """
    kinds, rows = np.nonzero(stacks.values)
    nodes = stacks.nodes[rows]
    distinct, at = np.unique(nodes, return_inverse=True)
    names = [frame.name for frame in stacks.frames]
    joined = [";".join([names[f] for f in path]) for path in stacks.paths(distinct.tolist())]
    leaves = stacks.frame_of[nodes]
    same: Int64Array = np.zeros(len(rows), np.int32)
    return [
        Coded(same, [run]),
        Coded(kinds.astype(np.int32), [told.name for told in stacks.types]),
        Coded(kinds.astype(np.int32), [told.unit for told in stacks.types]),
        Coded(leaves.astype(np.int32), names),
        Coded(leaves.astype(np.int32), [frame.file for frame in stacks.frames]),
        Numbers(np.array([frame.line for frame in stacks.frames] or [0], np.int64)[leaves]),
        Coded(at.astype(np.int32), joined),
        Numbers(stacks.values[kinds, rows]),
    ]
