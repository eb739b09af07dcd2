"""Steps of events on XLA's thread pools that no link ties to a call.

On a CPU, JAX hands programs to pools of threads, and links tie only part of their events to the
call in Python. The rest belongs to the step during which it began: the steps of one thread do not
overlap, so at most one of them was running. The same holds for threads of tf.data that run a loop
over a dataset inside a ``tf.function``.
"""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.timeline.names import REDUCE_ITERATOR, REDUCE_OP
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import BoolArray, Int64Array

_POOLS = "tf_XLA"
"""Prefix of the names of threads of XLA's pools."""


def _is_of_reduce(name: str) -> bool:
    """Whether an event is of a loop over a dataset in a ``tf.function``, on its own threads."""
    return name.startswith(REDUCE_ITERATOR) or name == REDUCE_OP


def fill_pools(
    timeline: Timeline, of_event: IntArray, roots: Int64Array, linked: BoolArray | None = None
) -> None:
    """Put events of pools without a group into the step during which they began.

    Overlapping steps are left as they are: time does not tell them apart.

    Args:
        timeline: The events.
        of_event: The group of each event, changed; -1 without one, shape (n events,).
        roots: The root event of each step, shape (n,); all of them have a group.
        linked: Events whose launch the capture records, shape (n events,). Those without a group
            were launched before the capture began.
    """
    begins, ends = timeline.starts_ps[roots], timeline.ends_of(roots)
    order = np.argsort(begins, kind="stable")
    begins, ends, roots = begins[order], ends[order], roots[order]
    if not len(roots) or (begins[1:] < ends[:-1]).any():
        return
    is_outside = (of_event < 0) & of_xla_pools(timeline)
    if linked is not None:
        is_outside &= ~linked
    outside = np.flatnonzero(is_outside)
    starts = timeline.starts_ps[outside]
    place = np.searchsorted(begins, starts, side="right") - 1
    is_inside = (place >= 0) & (starts < ends[place])
    of_event[outside[is_inside]] = of_event[roots[place[is_inside]]]


def of_xla_pools(timeline: Timeline) -> BoolArray:
    """Whether each event is on a thread of such pools, shape (n events,)."""
    of_pools = timeline.having("hlo_op") | timeline.named(_is_of_reduce)
    found = np.zeros(len(timeline), np.bool_)
    for number, line in enumerate(timeline.lines):
        events = timeline.events_of(number)
        is_pool = line.name.startswith(_POOLS) or of_pools[events].any()
        found[events] = is_pool and line.is_host and not line.is_derived
    return found
