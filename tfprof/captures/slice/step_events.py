"""The events of a host for a slice of some of its steps.

A slice must have the same steps as its capture, and tfprof finds steps anew whenever it reads a
capture. So this module first finds the steps in the events to keep, and compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tfprof.captures.events.steps.forest import build_forest
from tfprof.captures.events.steps.grouping import find_groups, group_numbers
from tfprof.captures.events.timeline.build_timeline import build_timeline
from tfprof.captures.events.timeline.threadpool import with_regions
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.facts.host_devices import uses_tpu
from tfprof.captures.facts.one_step import groups_at, spans_at
from tfprof.captures.facts.periods import periods_of
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.model.xspace import SLICE_PLACE
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import BoolArray


@dataclass(frozen=True)
class StepEvents:
    """The events of a host that belong to some steps.

    Attributes:
        events: Whether to keep each event of each plane, shape (n events,) each.
        numbers: Numbers in the whole capture of the groups in these events; empty if the file
            itself states its groups.
        first: Place of the first one among the steps that all hosts have.
        ends_ps: Ends of the periods of these groups; -1 for groups that are not steps.
    """

    events: tuple[BoolArray, ...]
    numbers: tuple[int, ...]
    first: int
    ends_ps: tuple[int, ...] = ()


def events_of_steps(host: Host, steps: RunSteps, places: Sequence[int]) -> StepEvents:
    """The events of some steps, and events outside of steps that ran meanwhile.

    Events that enclose them all, such as a loop in Python, are left out: around a single step they
    would count as a part of it.

    Args:
        host: The host.
        steps: The steps of the run.
        places: The places of the chosen ones.
    """
    timeline, groups = host.timeline, host.groups()
    period_ends: dict[int, int] = {}
    wanted = sorted(groups_at(steps, places).get(host.name, ()))
    of_event = groups.of_event
    is_step = np.isin(of_event, np.array(wanted, of_event.dtype))
    is_kept = is_step
    if spans := spans_at(steps, places).get(host.name, []):
        begin, end = min(span[0] for span in spans), max(span[1] for span in spans)
        starts, ends = timeline.starts_ps, timeline.ends_ps
        is_meanwhile = (of_event < 0) & (starts < end) & (ends > begin)
        is_meanwhile &= (starts >= begin) | (ends <= end)
        is_kept = is_step | is_meanwhile
        if not uses_tpu(host):
            periods = periods_of(host)
            is_kept |= periods.is_between & np.isin(periods.groups.of_event, wanted)
            known = zip(periods.steps.groups.tolist(), periods.steps.end_ps.tolist(), strict=True)
            period_ends = dict(known)
    numbers: list[int] | None = None
    for chosen in (is_kept, is_step):
        sources = _sources(host, chosen)
        numbers = _groups_again(host, sources)
        if numbers is not None:
            break
    bounds = timeline.first_sources.tolist()
    before = host.space.slice_facts.get(SLICE_PLACE)
    chosen_groups = wanted if numbers is None else numbers
    return StepEvents(
        tuple(sources[first:behind] for first, behind in pairwise(bounds)),
        tuple(group_numbers(timeline, chosen_groups)),
        places[0] + (before if isinstance(before, int) else 0),
        tuple(period_ends.get(group, -1) for group in chosen_groups),
    )


def _sources(host: Host, chosen: BoolArray) -> BoolArray:
    """Whether each event of the space is one of the chosen timeline events, shape (n sources,)."""
    sources = host.timeline.sources.of(np.flatnonzero(chosen))
    is_chosen = np.zeros(host.timeline.sources.n_sources, np.bool_)
    is_chosen[sources[sources >= 0]] = True
    return is_chosen


def _groups_again(host: Host, kept: BoolArray) -> list[int] | None:
    """The host's group for each group of a slice; None if the groups differ.

    Args:
        host: The host.
        kept: Whether the slice has each event of its space, shape (n sources,).
    """
    known = host.groups()
    if known.are_given:
        return []
    whole = build_timeline(host.space)
    timeline, regions = with_regions(whole.only(kept[whole.sources.of(np.arange(len(whole)))]))
    found = find_groups(build_forest(timeline, regions))
    before = _by_source(host.timeline, known.of_event, len(kept))
    here = _by_source(timeline, found.of_event, len(kept))
    pairs = set(zip(here[kept].tolist(), before[kept].tolist(), strict=True)) - {(-1, -1)}
    group_of = dict(pairs)
    is_same = len(group_of) == len(pairs) == len(set(group_of.values()))
    if found.kind is not known.kind or not is_same or -1 in {*group_of, *group_of.values()}:
        return None
    return [group_of.get(group, group) for group in range(max(group_of, default=-1) + 1)]


def _by_source(timeline: Timeline, of_event: IntArray, n_sources: int) -> IntArray:
    """The group of each event of the space, -1 without one, shape (n_sources,)."""
    sources = timeline.sources.of(np.arange(len(timeline)))
    groups = np.full(n_sources, -1, of_event.dtype)
    groups[sources[sources >= 0]] = of_event[sources >= 0]
    return groups
