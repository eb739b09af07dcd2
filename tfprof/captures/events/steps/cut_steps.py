"""Steps that are only partly in a capture, because it began or ended in the middle of them.

Recorders keep an event only if it began and ended while they recorded. So times do not show that
a step was cut: its mark is missing, and the rest of it looks like a short step of its own. The
signs of a cut step, at either end of a capture:

* a step without a marker if others have one: the marker began before the capture, or ended after
  it;
* a step that began before the start time that the recorder states;
* a marker without an end;
* programs that the first or the last steps launched on a CPU, and that did not run in the capture;
* kernels and copies that the last step launched and that are not in the capture, although those of
  all steps before are;
* kernels after the last step that were launched after its marker, outside all steps: the next step
  had begun, and its kernels count for the last one, as all work without a step on a GPU does;
* a step that some cores of a TPU have and others lack.

The duration of a step is not a sign: the first step may be long and the last one short.
"""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.steps.step_times import StepTimes
from tfprof.captures.events.timeline.clocks import MOST_NS, recorded_at_ns
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.lookup import is_among

UNMARKED = "its marker is not in the capture"
BEGAN_EARLIER = "it began before the capture"
NO_END = "its marker has no end"
NO_RUNS = "what it launched is not in the capture"
NO_KERNELS = "kernels or copies that it launched are not in the capture"
MORE_KERNELS = "kernels that were launched after it count as its own"
NOT_ON_ALL_CORES = "some cores do not have it"


def cut_steps(
    timeline: Timeline,
    groups: Groups,
    times: StepTimes,
    marked: Int64Array,
    launched: Int64Array | None = None,
    worked: Int64Array | None = None,
) -> dict[int, str]:
    """The cut steps among the first and last ones of a host, with the reasons.

    Args:
        timeline: The events.
        groups: The steps of the host.
        times: Their times.
        marked: Groups that begin with a user's marker; if empty, all steps are calls.
        launched: Groups that launched runs of compiled programs on a CPU; None if the capture
            does not show it.
        worked: Those of them whose runs ended in the capture.

    Returns:
        The reason by the group of the step. The other steps are consecutive.
    """
    if not len(times):
        return {}
    reasons: dict[int, str] = {}
    is_marked = np.isin(times.groups, marked)
    if is_marked.any():
        reasons |= at_the_ends(times.groups, is_marked, UNMARKED)
    began = _began_ps(timeline)
    if began is not None:
        is_late = np.logical_or.accumulate(times.start_ps > began)
        reasons |= at_the_ends(times.groups, is_late, BEGAN_EARLIER)
    if launched is not None and worked is not None:
        has_worked = np.isin(times.groups, worked)
        is_lost = np.isin(times.groups, launched) & ~has_worked
        reasons |= _lost_at_the_ends(times.groups, is_lost, has_worked)
    last = int(times.groups[-1])
    if groups.roots.get(last, -1) >= 0 and not timeline.durations_ps[groups.roots[last]]:
        reasons.setdefault(last, NO_END)
        return reasons
    calls, root = _Calls(timeline, groups.of_event), groups.roots.get(last, -1)
    if calls.lack_kernels_of(times.groups):
        reasons.setdefault(last, NO_KERNELS)
    elif root >= 0 and calls.come_after(last, int(timeline.ends_of(root))):
        reasons.setdefault(last, MORE_KERNELS)
    return reasons


def at_the_ends(groups: Int64Array, is_whole: BoolArray, reason: str) -> dict[int, str]:
    """Groups before the first whole step and after the last one; all, if none is whole."""
    if not is_whole.any():
        return dict.fromkeys(groups.tolist(), reason)
    first, behind = int(np.argmax(is_whole)), len(groups) - int(np.argmax(is_whole[::-1]))
    return dict.fromkeys([*groups[:first].tolist(), *groups[behind:].tolist()], reason)


def _lost_at_the_ends(
    groups: Int64Array, is_lost: BoolArray, has_worked: BoolArray
) -> dict[int, str]:
    """Groups at either end, outward from the innermost one whose runs are not in the capture."""
    places = np.flatnonzero(has_worked)
    if not len(places):
        return {}
    first, last = int(places[0]), int(places[-1])
    before = int(np.max(np.flatnonzero(is_lost[:first]), initial=-1)) + 1
    behind = int(np.min(last + np.flatnonzero(is_lost[last:]), initial=len(groups)))
    return dict.fromkeys([*groups[:before].tolist(), *groups[behind:].tolist()], NO_RUNS)


def _began_ps(timeline: Timeline) -> int | None:
    """Start of the recorder on the axis of the timeline; None if the file does not state it.

    Lines count from this start in new files, and from 1970 in old ones.
    """
    written, base = recorded_at_ns(timeline.space), timeline.axis.base_ns
    if written is None:
        return None
    began_ns = 0 if abs(base) <= MOST_NS else written
    if abs(began_ns - base) <= MOST_NS:
        return (began_ns - base) * 1000
    return None


class _Calls:
    """A host's calls to its devices, and their traces on the devices in the capture."""

    def __init__(self, timeline: Timeline, of_event: IntArray) -> None:
        launches = timeline.stat("correlation_id")
        on_device, on_host = timeline.on_device[launches.events], timeline.on_host[launches.events]
        self._ids, self._on_device = launches.values[on_host], launches.values[on_device]
        self._device_group = of_event[launches.events[on_device]]
        calls = launches.events[on_host]
        self._group, self._kind = of_event[calls], timeline.kinds[calls]
        self._start_ps = timeline.starts_ps[calls]

    def lack_kernels_of(self, groups: Int64Array) -> bool:
        """Whether calls of the last group have no trace on the device.

        Only calls that always left a trace in earlier groups count: many, such as waiting for a
        stream, never leave one.
        """
        last = np.flatnonzero(self._group == groups[-1])
        kinds = np.unique(self._kind[last[~is_among(self._ids[last], self._on_device)]])
        if not len(kinds):
            return False
        earlier = np.flatnonzero(np.isin(self._kind, kinds))
        earlier = earlier[is_among(self._group[earlier], groups[:-1])]
        has_trace, kind = is_among(self._ids[earlier], self._on_device), self._kind[earlier]
        return bool(np.isin(kinds, np.setdiff1d(kind[has_trace], kind[~has_trace])).any())

    def come_after(self, group: int, end_ps: int) -> bool:
        """Whether a group holds kernels launched outside all groups and after its marker."""
        later = self._ids[(self._group < 0) & (self._start_ps >= end_ps)]
        return bool(np.isin(self._on_device[self._device_group == group], later).any())
