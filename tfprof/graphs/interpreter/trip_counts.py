"""How often a loop runs, worked out from its condition and from how its variables change.

The condition is a truth value over the loop's variables at some iteration, each of which changes
by a fixed amount per iteration: ``i < 10`` with ``i`` from 0 by 1 holds ten times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tfprof.graphs.model.symbolic import Number, Symbolic, bind, ceil_div, minimum, symbols_of
from tfprof.graphs.model.tensors import Comparison, Conjunction, Element


class Counter(NamedTuple):
    """A loop variable that changes by the same amount in every iteration.

    Attributes:
        start: Its value before the first iteration.
        step: What an iteration adds to it.
    """

    start: Number
    step: Number


class TripCount(NamedTuple):
    """How often a loop's body runs.

    Attributes:
        trips: The number.
        is_bound: Another condition may end the loop earlier.
    """

    trips: Number
    is_bound: bool = False


def trip_count(condition: Element, counters: Mapping[str, Counter]) -> TripCount | None:
    """How often a loop runs; None if that does not follow from its condition.

    ``condition`` must hold for another iteration; it uses the names of the counters.
    """
    if condition is False:
        return TripCount(0)
    if isinstance(condition, Comparison):
        trips = _trips(condition, counters)
        return None if trips is None else TripCount(trips)
    if isinstance(condition, Conjunction):
        counts = [trip_count(part, counters) for part in condition.parts if part is not True]
        known = [count for count in counts if count is not None]
        if not known:
            return None
        trips = known[0].trips
        for count in known[1:]:
            trips = minimum(trips, count.trips)
        is_bound = len(known) < len(counts) or any(count.is_bound for count in known)
        return TripCount(trips, is_bound)
    return None


def _trips(condition: Comparison, counters: Mapping[str, Counter]) -> Number | None:
    """How often a comparison holds in a row, from the first iteration on."""
    gap = condition.right - condition.left
    names = [name for name in symbols_of(gap) if name in counters]
    if not names:
        return None
    start = bind(gap, {name: counters[name].start for name in names})
    after = bind(gap, {name: counters[name].start + counters[name].step for name in names})
    later = bind(gap, {name: counters[name].start + 2 * counters[name].step for name in names})
    change = after - start
    if later - after != change or not isinstance(change, int):
        return None  # no straight line
    if condition.relation == "!=":
        if change == 0 or not isinstance(start, int) or start % change or -start // change < 0:
            return None
        return -start // change
    if change >= 0 or condition.relation == "==":
        return None
    at_most = 0 if condition.relation == "<" else 1  # one more if it also holds at 0
    trips = ceil_div(start + at_most, -change)
    return max(trips, 0) if isinstance(trips, int) else trips


def step_of(name: str, value: Element) -> Number | None:
    """Change of a counter by an iteration, after which it has a value; None if it varies."""
    if not isinstance(value, (int, Symbolic)) or isinstance(value, bool):
        return None
    step = value - Symbolic.named(name, is_size=False)
    return None if name in symbols_of(step) else step
