"""Arguments of kernels in graphs: stats that stand in place of the recorded ones."""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.timeline.graph_ops import FOUND_BY
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import StatKind
from tfprof.captures.trace.blocks import OwnStats, Texts, each, quoted, stat_text
from tfprof.core.columns.columns import BoolArray, Int64Array


def has_given(timeline: Timeline, events: Int64Array) -> BoolArray:
    """Whether each event has such stats, shape of ``events``."""
    found_by = timeline.given_stats.get(FOUND_BY)
    return np.zeros(len(events), np.bool_) if found_by is None else found_by.has(events)


def given_args(timeline: Timeline, events: Int64Array) -> list[Texts]:
    """These stats as columns of JSON."""
    is_given = has_given(timeline, events)
    if not is_given.any():
        return []
    columns = [
        (name, stat, np.where(is_given, stat.rows_of(events), -1))
        for name, stat in timeline.given_stats.items()
    ]
    return [each([_text(name, stat, row) for row in rows.tolist()]) for name, stat, rows in columns]


def _text(name: str, stat: SparseStat, row: int) -> str:
    if row < 0:
        return ""
    kind, value = int(stat.kinds[row]), int(stat.values[row])
    is_text = kind >= StatKind.STR
    shown = quoted(stat.texts[value]) if is_text else stat_text(kind, value, b"", as_texts=False)
    return f"{quoted(name)}:{shown}"


def hide_given(timeline: Timeline, own: OwnStats, is_given: BoolArray) -> None:
    """Hide the recorded stats of events that have given ones in their place.

    Args:
        timeline: The events.
        own: The recorded stats of some events.
        is_given: Whether each of these has given stats, shape (n,).
    """
    if not is_given.any():
        return
    names = {f"{quoted(name)}:" for name in timeline.given_stats}
    is_name = np.array([*(head in names for head in own.head_texts), False])
    counts = np.diff(own.ends, prepend=0)
    own.heads[np.repeat(is_given, counts) & is_name[own.heads]] = -1
