"""Calls of JAX's jitted functions: those that ran, and those made while another was traced.

A call is written twice, by ``vectorcall`` and by ``Call`` inside it. While a function is traced,
the jitted functions in it are called, too: they compile and run nothing. So a call has run if it
launched a program itself, not only an event of its name.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.names import PJIT_CALL
from tfprof.captures.events.timeline.nesting import Nesting
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.jax_names import plain_name
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.core.columns.columns import BoolArray, Int64Array

LAUNCH = re.compile(
    r"ExecuteReplicated\b.*|\w*Executable::Execute\w*\b.*|PJRT_LoadedExecutable_Execute"
)
"""Events in which a call launches its compiled program."""

PHASE = re.compile(r"backend_compile\w*|lower_\w+")
"""Events in which a call is lowered, and compiled."""


class JitCalls(NamedTuple):
    """Calls of jitted functions, in order of the timeline.

    Attributes:
        events: The outer one of the two events of each call, shape (n calls,).
        functions: Name of the function of each.
        around: The call in which each was made, -1 without one: a place in ``events``.
        ran: Whether each launched a program, shape (n calls,).
    """

    events: Int64Array
    functions: tuple[str, ...]
    around: Int64Array
    ran: BoolArray

    def of(self, nesting: Nesting, events: IntArray) -> Int64Array:
        """The innermost call around each of some events, -1 without one, as places."""
        found = nesting.nearest_among(nesting.parents[events], self.events)
        places = np.searchsorted(self.events, found)
        return np.where(found >= 0, places, -1)


def jit_calls(timeline: Timeline, nesting: Nesting) -> JitCalls:
    """The calls of jitted functions on the threads of a host."""
    names = [PJIT_CALL.fullmatch(name) for name in timeline.names]
    is_call = timeline.kind_mask([name is not None for name in names]) & timeline.on_threads
    is_launch = timeline.named(lambda name: LAUNCH.fullmatch(name) is not None)
    is_launch &= timeline.on_threads
    is_phase = timeline.named(lambda name: PHASE.fullmatch(name) is not None)
    calls = np.flatnonzero(is_call)
    parents = nesting.nearest_among(nesting.parents[calls], calls)
    marks = np.flatnonzero(is_call | is_launch | is_phase)
    repeats = _repeats(timeline, nesting, calls, parents, marks)
    events = calls[~repeats]
    found = JitCalls(
        events,
        tuple(plain_name(match[1]) for kind in timeline.kinds[events] if (match := names[kind])),
        np.zeros(0, np.int64),
        np.zeros(len(events), np.bool_),
    )
    launching = found.of(nesting, np.flatnonzero(is_launch))
    found.ran[launching[launching >= 0]] = True
    return found._replace(around=found.of(nesting, events))


def _repeats(
    timeline: Timeline, nesting: Nesting, calls: Int64Array, parents: IntArray, marks: Int64Array
) -> BoolArray:
    """Which events are the second ones of their call: all that the outer one does is in them."""
    inside = np.searchsorted(marks, nesting.ends[calls]) - np.searchsorted(marks, calls)
    above = np.maximum(parents, 0)
    of_parent = np.searchsorted(marks, nesting.ends[above]) - np.searchsorted(marks, above)
    same_name = timeline.kinds[calls] == timeline.kinds[above]
    repeats: BoolArray = (parents >= 0) & same_name & (of_parent == inside + 1)
    return repeats
