"""``While`` and ``For``: trip counts, results, and costs of iterations."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING

from tfprof.graphs.interpreter.analysis import Analysis, Request
from tfprof.graphs.interpreter.sizes import function_label
from tfprof.graphs.interpreter.trip_counts import (
    Counter,
    TripCount,
    Variable,
    after_loop,
    counters_of,
    is_internal,
    trip_count,
    variable,
    without_fixed,
)
from tfprof.graphs.model.program import Body
from tfprof.graphs.model.symbolic import Number, Symbolic, symbols_of
from tfprof.graphs.model.tensors import DT_INT32, UNKNOWN, Comparison, Tensor
from tfprof.graphs.shapes.dims import common_shape

if TYPE_CHECKING:
    from tfprof.graphs.interpreter.calls import Asking, Caller
    from tfprof.graphs.interpreter.engine import Engine

_PASSING_ON = frozenset({"Identity", "StopGradient"})

MOST_UNROLLED = 64
"""Loops whose iterations cost different amounts are walked iteration by iteration up to this."""

_MOST_ROUNDS = 4
"""Shapes that still change after this number of rounds are unknown."""


def run_while(caller: Caller) -> Asking:
    """Analyse a ``While`` node."""
    body, condition = caller.function("body"), caller.function("cond")
    label = f"{caller.body.name}/{caller.node.name}"
    variables = [
        variable(tensor, f"{label}.{place}", unchanged=is_passed_on(body, place))
        for place, tensor in enumerate(caller.inputs)
    ]
    variables, run = yield from _settled(caller, body, variables)
    counters = counters_of(variables, run.results)
    settled = [without_fixed(var, counters) for var in variables]
    if settled != variables:  # a value that never changes is known at every iteration
        variables, run = yield from _settled(caller, body, settled)
        counters = counters_of(variables, run.results)
    asked = yield Request(condition, tuple(v.during for v in variables))
    condition_value = asked.results[0] if asked.results else UNKNOWN
    names = (caller.node.name,)
    trips, note = trips_of(caller.engine, caller.body.name, names, condition_value, counters)
    caller.engine.note(note)
    pairs = zip(variables, run.results, strict=False)
    outputs = [after_loop(var, after, counters, trips) for var, after in pairs]
    if any(_depends(analysis, counters) for analysis in (run, asked)):
        yield from _iterations(caller, body, condition, variables, counters, trips)
    else:
        caller.add(run, trips, "body")
        caller.add(asked, trips + 1, "cond")
    caller.answer(outputs)


def run_for(caller: Caller) -> Asking:
    """Analyse a ``For`` node, whose body gets the counter and the loop's variables."""
    body = caller.function("body")
    start, limit, step = (caller.inputs[place].values for place in range(3))
    inferred = None
    if start and limit and step and isinstance(step[0], int):
        counter = Symbolic.named("i", is_size=False)
        gap = (counter, limit[0]) if step[0] > 0 else (limit[0], counter)
        inferred = trip_count(Comparison("<", *gap), {"i": Counter(start[0], step[0])})  # type: ignore[arg-type]
    trips, note = _judged_trips(caller.engine, inferred, caller.body.name, caller.node.name)
    caller.engine.note(note)
    args = tuple(tensor._replace(values=None) for tensor in caller.inputs[3:])
    run = yield Request(body, (Tensor((), DT_INT32), *args))
    caller.add(run, trips, "body")
    caller.answer([result._replace(values=None) for result in run.results])


def is_passed_on(body: Body, place: int) -> bool:
    """Whether a loop returns an argument unchanged."""
    if place >= len(body.results):
        return False
    source, slot = body.results[place]
    for _ in range(len(body.nodes)):  # a broken graph may lead in a circle
        if source < body.n_args or slot:
            break
        node = body.nodes[source]
        if node.kind.op not in _PASSING_ON or not node.inputs:
            return False
        source, slot = node.inputs[0]
    return source == place


def _settled(
    caller: Caller, body: Body, variables: list[Variable]
) -> Generator[Request, Analysis, tuple[list[Variable], Analysis]]:
    """Variables with shapes that hold at every iteration, and the analysis of an iteration."""
    for last in [False] * _MOST_ROUNDS + [True]:
        run = yield Request(body, tuple(v.during for v in variables))
        changed = False
        for place, (var, after) in enumerate(zip(variables, run.results, strict=False)):
            during = _common(caller, place, var.during, after, give_up=last)
            if during != var.during:
                variables[place] = var._replace(during=during)
                changed = True
        if not changed:
            break
    return variables, run


def _common(caller: Caller, place: int, during: Tensor, after: Tensor, *, give_up: bool) -> Tensor:
    """The facts that hold before and after an iteration."""
    shape = during.shape
    if shape != after.shape and shape is not None:
        if after.shape is None or len(after.shape) != len(shape) or give_up:
            shape = None
        else:
            joined = common_shape([shape, after.shape])
            shape = caller.engine.sizes.named(caller.body, caller.node, place, joined)
    handle, later = during.handle, after.handle
    if handle is not None and later is not None:
        element = later.shape  # the first items show what the list holds
        if handle.shape is not None and None not in handle.shape:
            element = common_shape([handle.shape, later.shape])
        handle = handle._replace(shape=element)
    elif handle is None and later is not None and during.values is None:
        handle = later if later.length is None else later._replace(length=None)
    values = during.values if shape == during.shape else None
    return Tensor(shape, during.dtype or after.dtype, values, handle)


def trips_of(
    engine: Engine,
    body: str,
    names: Sequence[str],
    condition: Tensor,
    counters: Mapping[str, Counter],
) -> tuple[Number, str]:
    """How often a loop runs: as the user says, by its condition, or unknown; and a note.

    Args:
        engine: The analysis.
        body: Name of the function that the loop is in.
        names: Names of the loop; the first one is shown.
        condition: The condition at some iteration.
        counters: Counters of the loop.
    """
    for name in names:
        given = _given_trips(engine, name)
        if given is not None:
            return given, ""
    inferred = trip_count(condition.values[0], counters) if condition.values else None
    return _judged_trips(engine, inferred, body, names[0])


def _judged_trips(
    engine: Engine, inferred: TripCount | None, body: str, name: str
) -> tuple[Number, str]:
    if inferred is None or is_internal(inferred.trips):
        label = f"{function_label(body)}/{name}" if body else name
        trips = engine.sizes.names.of(f"trips({label})", ("trips", body, name))
        note = f"how often the loop {label} runs is not known; give trip_counts={{{name!r}: n}}"
        return trips, note
    if inferred.is_bound:
        note = f"the loop {name} may end before its counter does; counted as if it did not"
        return inferred.trips, note
    return inferred.trips, ""


def _given_trips(engine: Engine, name: str) -> int | None:
    """How often a loop runs according to the user, by its name or the last parts of its name."""
    given = engine.settings.trip_counts
    parts = name.split("/")
    for first in range(len(parts)):
        ending = "/".join(parts[first:])
        if ending in given:
            return given[ending]
    return given.get("")


def _depends(analysis: Analysis, counters: dict[str, Counter]) -> bool:
    """Whether the cost of an iteration depends on a counter."""
    return any(name in counters for name in symbols_of(analysis.flops))


def _iterations(
    caller: Caller,
    body: Body,
    condition: Body,
    variables: Sequence[Variable],
    counters: dict[str, Counter],
    trips: Number,
) -> Asking:
    """Walk each iteration with the counters' values, as they cost different amounts."""
    if not isinstance(trips, int) or trips > MOST_UNROLLED:
        unnamed = tuple(v.during._replace(values=None) for v in variables)
        caller.add((yield Request(body, unnamed)), trips, "body")
        caller.add((yield Request(condition, unnamed)), trips + 1, "cond")
        return
    for trip in range(trips + 1):
        args = tuple(_at(var, counters, trip) for var in variables)
        if trip < trips:
            caller.add((yield Request(body, args)), 1, "body")
        caller.add((yield Request(condition, args)), 1, "cond")


def _at(var: Variable, counters: dict[str, Counter], trip: int) -> Tensor:
    """A variable at the start of an iteration."""
    tensor = var.during
    if var.counter in counters:
        counter = counters[var.counter]
        tensor = tensor._replace(values=(counter.start + counter.step * trip,))
    if var.length in counters and tensor.handle is not None:
        counter = counters[var.length]
        length = counter.start + counter.step * trip
        tensor = tensor._replace(handle=tensor.handle._replace(length=length))
    return tensor
