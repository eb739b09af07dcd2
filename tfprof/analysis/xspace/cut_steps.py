"""Steps of which a capture has only a part, because it began or ended in the middle of them.

Recorders keep an event that began and ended while they listened. So no time tells that a step was
cut: the event that marks it is not there at all, and what is left of it looks like a short step of
its own. What does tell, at either end of a capture:

* a step without a marker where others have one: the marker began before the capture, or had not
  ended when it ended;
* a step that began before the recorder did, by the recorder's own word;
* a marker without an end;
* kernels that the last step launched and that are not in the capture, where those of all steps
  before are;
* a step that some cores of a TPU have and others do not.

Nothing is guessed from how long a step took: the first step may be long and the last one short.
"""

from __future__ import annotations

import numpy as np

from tfprof.analysis.xspace.clocks import MOST_NS
from tfprof.analysis.xspace.names import TASK_PLANE
from tfprof.analysis.xspace.step_times import StepTimes
from tfprof.analysis.xspace.timeline import Timeline
from tfprof.model.columns import BoolArray, Int64Array

UNMARKED = "its marker is not in the capture"
BEGAN_EARLIER = "it began before the capture"
NO_END = "its marker has no end"
NO_KERNELS = "kernels that it launched are not in the capture"
NOT_ON_ALL_CORES = "some cores do not have it"


def cut_steps(
    timeline: Timeline, of_event: Int64Array, times: StepTimes, marked: Int64Array
) -> dict[int, str]:
    """Which of the first and last steps of a host were cut, and what tells it.

    Args:
        timeline: The events.
        of_event: Group of each event, shape (n events,).
        times: The steps.
        marked: Groups that a user's marker begins; without any, all steps are calls.

    Returns:
        The reason by the group of the step. The steps that are not in it follow one another.
    """
    if not len(times):
        return {}
    found: dict[int, str] = {}
    is_marked = np.isin(times.groups, marked)
    if is_marked.any():
        found |= at_the_ends(times.groups, is_marked, UNMARKED)
    began = _began_ps(timeline)
    if began is not None:
        is_late = np.logical_or.accumulate(times.start_ps > began)
        found |= at_the_ends(times.groups, is_late, BEGAN_EARLIER)
    last = int(times.groups[-1])
    if times.duration_ps[-1] == 0:
        found.setdefault(last, NO_END)
    elif len(times) > 1 and _lacks_kernels(timeline, of_event, times.groups):
        found.setdefault(last, NO_KERNELS)
    return found


def at_the_ends(groups: Int64Array, is_whole: BoolArray, reason: str) -> dict[int, str]:
    """Groups before the first whole step and behind the last one; all, if none is whole."""
    if not is_whole.any():
        return dict.fromkeys(groups.tolist(), reason)
    first, behind = int(np.argmax(is_whole)), len(groups) - int(np.argmax(is_whole[::-1]))
    return dict.fromkeys([*groups[:first].tolist(), *groups[behind:].tolist()], reason)


def _began_ps(timeline: Timeline) -> int | None:
    """When the recorder began, on the axis of the timeline; None if the file does not tell.

    Lines count from then in new files, and from 1970 in old ones.
    """
    for plane in timeline.space.planes:
        if plane.name != TASK_PLANE:
            continue
        told, base = plane.own_stats().get("profile_start_time"), timeline.axis.base_ns
        if not isinstance(told, int) or told <= 0:
            continue
        began_ns = 0 if abs(base) <= MOST_NS else told
        if abs(began_ns - base) <= MOST_NS:
            return (began_ns - base) * 1000
    return None


def _lacks_kernels(timeline: Timeline, of_event: Int64Array, groups: Int64Array) -> bool:
    """Whether kernels of the last group are missing, and of no group before."""
    told = timeline.stat("correlation_id")
    on_device = timeline.on_device[told.events]
    launches = timeline.named(lambda name: "launch" in name.lower())[told.events]
    launches &= timeline.on_host[told.events]
    if not on_device.any() or not launches.any():
        return False
    is_missing = ~np.isin(told.values[launches], told.values[on_device])
    lacking = np.unique(of_event[told.events[launches][is_missing]])
    return bool(np.isin(lacking, groups).any()) and not np.isin(lacking, groups[:-1]).any()
