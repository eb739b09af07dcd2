"""Variables of a loop: at any iteration, and after the last one."""

from __future__ import annotations

from typing import NamedTuple

from tfprof.graphs.interpreter.trip_counts import Counter, step_of
from tfprof.graphs.model.symbolic import Number, Symbolic, symbols_of
from tfprof.graphs.model.tensors import DT_INT32, DT_INT64, Tensor


class Variable(NamedTuple):
    """A loop variable.

    Attributes:
        before: What enters the loop.
        during: What holds at every iteration.
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


def counters_of(variable: Variable, after: Tensor) -> dict[str, Counter]:
    """The counters in a variable, worked out from its value after an iteration."""
    counters: dict[str, Counter] = {}
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
