"""Tells ops that ran eagerly, one by one, from those inside a compiled function."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.timeline.links import Links
from tfprof.captures.events.timeline.names import EAGER_EXECUTE
from tfprof.captures.events.timeline.nesting import Nesting
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray
from tfprof.core.wire.compiled import is_native, native_module

_native: Any = native_module("nesting")

EAGER_OP = re.compile(r"EagerLocalExecute: (?!__inference_)(\w+)")
"""Name of an event in which Python runs one op, not a function."""

Int8Array = npt.NDArray[np.int8]


def are_eager_ops(timeline: Timeline) -> BoolArray:
    """Whether each event is a run of one op from Python, not of a function, shape (n,)."""
    return timeline.named(lambda name: EAGER_OP.fullmatch(name) is not None)


def ran_eagerly(forest: Forest) -> BoolArray:
    """Whether the nearest ``EagerExecute`` above each event ran an op, not a function, (n,).

    False without one. "Above" an event are those that enclose it, and those on other threads that
    lead to it (``group_events.cc``, ``IsEager``).
    """
    timeline, nesting, links = forest.timeline, forest.nesting, forest.links
    executes = np.flatnonzero(timeline.named(EAGER_EXECUTE.__eq__))
    own = np.full(len(timeline), -1, np.int8)
    own[executes] = timeline.stat("is_func").at(executes) == 0
    is_eager = nesting.nearest(own)
    if len(executes):
        is_eager = _followed(nesting, links, is_eager)
    result: BoolArray = is_eager > 0
    return result


def _followed(nesting: Nesting, links: Links, is_eager: Int8Array) -> Int8Array:
    """Spread the values along links and into the events inside the targets, round by round."""
    sources, targets = links.sources, links.targets
    if is_native() and _native is not None:
        room = np.empty(2 * len(sources), sources.dtype)
        _native.follow(nesting.parents, nesting.ends, sources, targets, room, is_eager)
        return is_eager
    while True:
        is_open = np.flatnonzero(is_eager[targets] < 0)
        sources, targets = sources[is_open], targets[is_open]
        # Of several sources of an event the first one counts: it is written last.
        rows = np.flatnonzero(is_eager[sources] >= 0)[::-1]
        if not len(rows):
            return is_eager
        is_eager[targets[rows]] = is_eager[sources[rows]]
        is_eager = nesting.nearest(is_eager)
