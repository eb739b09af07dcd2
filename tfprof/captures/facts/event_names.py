"""What the events of hosts are called: the names that a trace can be searched for."""

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
    """Names of events, in short, in full, and of ops without their types; in order."""
    return tuple(sorted(set(_names(host))))


def _names(host: Host) -> Iterator[str]:
    timeline = host.timeline
    for kind in np.unique(timeline.kinds).tolist():
        name = timeline.names[kind]
        if name not in (ALLOCATION, DEALLOCATION):  # counters, no events
            yield name
            yield parse_op_name(name).name
            yield timeline.display_names[kind]
