"""Names of the events of hosts, for searches in a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tfprof.captures.events.ops.memory import ALLOCATION, DEALLOCATION
from tfprof.captures.events.timeline.op_names import parse_op_name
from tfprof.captures.run.fact import summed_fact
from tfprof.captures.run.run import Host


def _union(answers: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted({name for names in answers for name in names}))


@summed_fact(_union)
def event_names(host: Host) -> tuple[str, ...]:
    """Names of events: short, full, and those of ops without their types; sorted."""
    return tuple(sorted(set(_names(host))))


def _names(host: Host) -> Iterator[str]:
    timeline = host.timeline
    for kind in np.unique(timeline.kinds).tolist():
        name = timeline.names[kind]
        if name not in (ALLOCATION, DEALLOCATION):  # these are counters
            yield name
            yield parse_op_name(name).name
            yield timeline.display_names[kind]
