"""Derives how often a loop runs from its condition and its variables.

The condition is a truth value over the loop's variables at some iteration, each of which changes
by a fixed amount per iteration: ``i < 10`` with ``i`` from 0 by 1 holds ten times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tfprof.graphs.model.symbolic import Number, Symbolic, bind, ceil_div, minimum, symbols_of
from tfprof.graphs.model.tensors import DT_INT32, DT_INT64, Comparison, Conjunction, Element, Tensor


class Counter(NamedTuple):
    """A loop variable that changes by the same amount in every iteration.

    Attributes:
        start: Its value before the first iteration.
        step: Its change in an iteration.
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
    start, after, later = (
        bind(gap, {name: counters[name].start + trips * counters[name].step for name in names})
        for trips in range(3)
    )
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


class Variable(NamedTuple):
    """A loop variable.

    Attributes:
        before: Its value before the loop.
        during: Its facts at every iteration.
        counter: Name that stands for its value at some iteration; empty if there is none.
        length: Name that stands for its length if it is a list; empty otherwise.
    """

    before: Tensor
    during: Tensor
    counter: str = ""
    length: str = ""


def variable(before: Tensor, label: str, *, unchanged: bool = False) -> Variable:
    """A loop variable from its value before the loop; the label is unique in the analysis."""
    if unchanged:
        return Variable(before, before)
    counter = length = ""
    values = None
    if before.shape == () and before.dtype in (DT_INT32, DT_INT64):
        counter = f"{label}.value"
        values = (Symbolic.named(counter, is_size=False),)
    handle = before.handle
    if handle is not None and handle.length is not None:
        length = f"{label}.length"
        handle = handle._replace(length=Symbolic.named(length, is_size=False))
    return Variable(before, Tensor(before.shape, before.dtype, values, handle), counter, length)


def counters_of(variables: Iterable[Variable], results: Iterable[Tensor]) -> dict[str, Counter]:
    """The counters in variables, derived from their values after an iteration."""
    counters: dict[str, Counter] = {}
    for variable, after in zip(variables, results, strict=False):
        if variable.counter and after.values:
            step = step_of(variable.counter, after.values[0])
            if step is not None:
                counters[variable.counter] = Counter(_start(variable), step)
        if variable.length and after.handle is not None and after.handle.length is not None:
            step = step_of(variable.length, after.handle.length)
            before = variable.before.handle
            if step is not None and before is not None and before.length is not None:
                counters[variable.length] = Counter(before.length, step)
    return counters


def without_fixed(variable: Variable, counters: dict[str, Counter]) -> Variable:
    """The variable with its start value, if no iteration changes it."""
    during, counter, length = variable.during, variable.counter, variable.length
    if counter in counters and counters[counter].step == 0:
        start = counters[counter].start
        if not is_internal(start):
            during, counter = during._replace(values=(start,)), ""
    if length in counters and counters[length].step == 0 and during.handle is not None:
        handle = during.handle._replace(length=counters[length].start)
        during, length = during._replace(handle=handle), ""
    return Variable(variable.before, during, counter, length)


def _start(variable: Variable) -> Number:
    values = variable.before.values
    start = values[0] if values else None
    if isinstance(start, (int, Symbolic)) and not isinstance(start, bool):
        return start
    return Symbolic.named(f"{variable.counter}.start", is_size=False)


def is_internal(number: Number) -> bool:
    """Whether a number depends on the iteration, or on an unknown start."""
    return any(name.endswith((".value", ".length", ".start")) for name in symbols_of(number))


def after_loop(
    variable: Variable, after: Tensor, counters: dict[str, Counter], trips: Number | None
) -> Tensor:
    """A variable after a loop, from its value after an iteration; ``trips`` is None if unknown."""
    if variable.during is variable.before:
        return variable.before
    values = None
    handle = after.handle
    if trips is not None and variable.counter in counters:
        end = _end(counters[variable.counter], trips)
        values = None if end is None else (end,)
    if handle is not None:
        length = handle.length
        if variable.length:
            length = None
            if trips is not None and variable.length in counters:
                length = _end(counters[variable.length], trips)
        handle = handle._replace(length=length)
    shape = after.shape if variable.during.shape is None else variable.during.shape
    return Tensor(shape, after.dtype, values, handle)


def _end(counter: Counter, trips: Number) -> Number | None:
    end = counter.start + counter.step * trips
    return None if is_internal(end) else end
