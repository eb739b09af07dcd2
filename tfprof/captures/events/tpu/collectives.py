"""Collectives of the cores of a TPU host, and their other computation."""

from __future__ import annotations

import re

import numpy as np

from tfprof.captures.events.steps.collectives import (
    CollectiveKind,
    DeviceSpans,
    DeviceWork,
    no_work,
    work_of,
)
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.events.timeline.collective_names import n_replica_groups
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.events.tpu.categories import spent_on
from tfprof.captures.events.tpu.cores import Core
from tfprof.captures.events.tpu.steps import op_spans
from tfprof.captures.model.replica_groups import groups_in
from tfprof.captures.rules import OURS
from tfprof.core.columns.columns import Int64Array, concatenate_tables

_STARTED = re.compile(r"[ (]%?([\w.-]+-start[\w.-]*)[,)]")
"""The operand of an instruction that waits for one that has started before."""


def core_work(timeline: Timeline, groups: Groups, core: Core) -> DeviceWork:
    """Collectives and computation of a TensorCore; times are those of the host's axis.

    Args:
        timeline: The events of its host.
        groups: Their groups.
        core: The core.
    """
    events = op_spans(timeline, core).events
    if not len(events):
        return no_work()
    starts, ends = timeline.starts_ps[events], timeline.ends_of(events)
    order = np.lexsort((-ends, starts))
    events, starts, ends = events[order], starts[order], ends[order]
    stat = timeline.stat("hlo_category")
    category = stat.texts_at(events)
    kinds, first, place = np.unique(timeline.kinds[events], return_index=True, return_inverse=True)
    texts = [timeline.names[kind] for kind in kinds.tolist()]
    of_kind = [stat.texts[at] if at >= 0 else "" for at in category[first].tolist()]
    spent = np.array([spent_on(text, rules=OURS) for text in of_kind], np.int64)
    names = [
        CollectiveKind(_name(text), is_joint=_is_joint(text, category))
        if kind == Spent.DEVICE_COLLECTIVES else None
        for text, category, kind in zip(texts, of_kind, spent.tolist(), strict=True)
    ]  # fmt: skip
    nesting = nest(np.array([0, len(events)]), starts, ends)
    contains = np.zeros(len(events), np.bool_)
    contains[nesting.parents[nesting.parents >= 0]] = True
    place = place.reshape(-1)
    spans = DeviceSpans(
        np.full(len(events), core.id), groups.of_event[events].astype(np.int64), starts, ends
    )
    is_computing = (spent == Spent.DEVICE_COMPUTE_32)[place] & ~contains
    return _with_whole_runs(work_of(names, place, spans, is_computing, events), texts, names)


def _is_joint(text: str, category: str) -> bool:
    """Whether all devices wait for all others, as far as the text shows."""
    is_permute = category.startswith("collective-permute")
    return n_replica_groups(groups_in(text)) == 1 and not is_permute


def _name(text: str) -> str:
    return text.partition(" = ")[0].lstrip("%")


def _with_whole_runs(
    work: DeviceWork, texts: list[str], names: list[CollectiveKind | None]
) -> DeviceWork:
    """The work, with one run from the start of an asynchronous collective to the end of its wait.

    The text of a wait names its start; runs of the two alternate.
    """
    number = {kind: at for at, kind in enumerate(work.kinds)}
    by_name = {kind.name: at for kind, at in number.items()}
    runs, starts, ends, which = (
        work.together, work.together.start_ps, work.together.end_ps, work.which,
    )  # fmt: skip
    is_kept = np.ones(len(which), np.bool_)
    end_ps = ends.copy()
    for text, kind in zip(texts, names, strict=True):
        operand = None if kind is None else _STARTED.search(text.partition(" = ")[2])
        if kind is None or operand is None:
            continue
        at, begun = number[kind], by_name.get(operand[1], -1)
        if begun < 0 or begun == at:
            continue
        done, started = np.flatnonzero(which == at), np.flatnonzero(which == begun)
        before = np.searchsorted(starts[started], starts[done], side="right") - 1
        pairs, first = np.unique(before[before >= 0], return_index=True)
        waits = done[before >= 0][first]
        end_ps[started[pairs]] = ends[waits]
        is_kept[waits] = False
    whole = DeviceSpans(runs.device, runs.group, runs.start_ps, end_ps)
    return DeviceWork(
        work.kinds, which[is_kept], whole.only(is_kept), work.alone, work.events[is_kept]
    )


def together(parts: list[DeviceWork]) -> DeviceWork:
    """The work of several cores in one table."""
    kinds: dict[CollectiveKind, int] = {}
    which: list[Int64Array] = []
    for part in parts:
        number = [kinds.setdefault(kind, len(kinds)) for kind in part.kinds]
        which.append(np.array([*number, -1], np.int64)[part.which])
    if not parts:
        return no_work()
    return DeviceWork(
        list(kinds), np.concatenate(which), concatenate_tables([part.together for part in parts]),
        concatenate_tables([part.alone for part in parts]),
        np.concatenate([part.events for part in parts]),
    )  # fmt: skip
