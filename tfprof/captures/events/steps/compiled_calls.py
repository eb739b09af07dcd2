"""Calls of compiled functions by the program: of JAX, tf.function, and runs of a session."""

from __future__ import annotations

from typing import Final

import numpy as np

from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.timeline.names import PJIT_CALL
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array

SESSION_RUNS: Final = frozenset(("SessionRun", "RunGraph"))


def are_compiled_calls(timeline: Timeline) -> BoolArray:
    """Which events are such calls, shape (n,)."""
    is_call = timeline.named(lambda name: PJIT_CALL.fullmatch(name) is not None)
    is_call |= timeline.having("tf_function_call") | timeline.named(SESSION_RUNS.__contains__)
    is_call &= timeline.on_threads
    return is_call


def outermost(
    forest: Forest, is_alike: BoolArray, is_chosen: BoolArray | None = None
) -> Int64Array:
    """The chosen ones of similar events that are not in another one of these; by default, all."""
    events = np.flatnonzero(is_alike if is_chosen is None else is_alike & is_chosen)
    parents = forest.nesting.parents[events]
    around = forest.nesting.nearest_among(parents, np.flatnonzero(is_alike))
    outer: Int64Array = events[around < 0]
    return outer
