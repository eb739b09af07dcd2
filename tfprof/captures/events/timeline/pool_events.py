"""What threads of XLA's pools did for a step, where nothing tells who gave them the work.

On a CPU, JAX hands programs to pools of threads, and only part of what these do is tied to the call
in Python. The rest belongs to the step during which it began: steps of one thread follow one
another, so at most one of them was running. So do threads of tf.data that run a loop over a dataset
inside a ``tf.function``.
"""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.timeline.names import REDUCE_ITERATOR, REDUCE_OP
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import BoolArray, Int64Array

_POOLS = "tf_XLA"
"""What names of threads of XLA's pools begin with."""


def _is_of_reduce(name: str) -> bool:
    """Whether an event is of a loop over a dataset in a ``tf.function``, on threads of its own."""
    return name.startswith(REDUCE_ITERATOR) or name == REDUCE_OP


def fill_pools(
    timeline: Timeline, of_event: IntArray, roots: Int64Array, linked: BoolArray | None = None
) -> None:
    """Put what pools did outside of groups into the step during which it began.

    Nothing is done where steps overlap: time does not tell them apart.

    Args:
        timeline: The events.
        of_event: The group of each event, changed; -1 without one, shape (n events,).
        roots: The event that each step spans, shape (n,); all of them have a group.
        linked: Events of which the capture tells who launched them, if in no group, then before
            it began, shape (n events,).
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
    """Which events are on threads of such pools, shape (n events,)."""
    of_pools = timeline.having("hlo_op") | timeline.named(_is_of_reduce)
    found = np.zeros(len(timeline), np.bool_)
    for number, line in enumerate(timeline.lines):
        events = timeline.events_of(number)
        is_pool = line.name.startswith(_POOLS) or of_pools[events].any()
        found[events] = is_pool and line.is_host and not line.is_derived
    return found
