"""Loops and conditionals made of single ops: how often each of their nodes runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tfprof.graphs.interpreter.analysis import Analysis, Status
from tfprof.graphs.interpreter.calls import COSTLIEST, costliest, join
from tfprof.graphs.interpreter.dataflow import BACK_EDGES, MERGE
from tfprof.graphs.interpreter.frames import ENTER, EXIT, POP, SWITCH, Frames, Loop, Side
from tfprof.graphs.interpreter.trip_counts import (
    Counter,
    Variable,
    after_loop,
    counters_of,
    is_internal,
    variable,
)
from tfprof.graphs.interpreter.while_loops import trips_of
from tfprof.graphs.model.program import Body
from tfprof.graphs.model.run_counts import scaled
from tfprof.graphs.model.symbolic import Number, Symbolic, total
from tfprof.graphs.model.tensors import DT_INT32, UNKNOWN, Dims, Tensor
from tfprof.graphs.shapes.dims import common_shape

if TYPE_CHECKING:
    from tfprof.graphs.interpreter.engine import Engine

_WHICH = Tensor((), DT_INT32)
"""Second output of ``Merge``: which input came."""


class ControlFlow:
    """Loops and conditionals of one walk.

    The walk is repeated until it gives nothing new: the outputs of a loop are known only after its
    trip count.
    """

    def __init__(self, frames: Frames, body: Body, engine: Engine) -> None:
        self._frames = frames
        self._body = body
        self._engine = engine
        self._variables: dict[int, Variable] = {}
        self._trips: dict[int, Number] = {}
        self._after: dict[int, Tensor] = {}
        self._varying: dict[int, Dims | None] = {}
        self._stacks: dict[int, Tensor] = {}
        self._known: tuple[object, ...] = ()
        self._notes: list[str] = []

    def outputs(self, place: int, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        """Outputs of a control-flow op; None if the rules of plain ops apply."""
        op = self._body.nodes[place].kind.op
        if op in MERGE:
            loop = self._frames.loop_at.get(place)
            return self._merged(place, inputs) if loop is None else self._entered(place, inputs)
        if op in SWITCH:
            data = inputs[0] if inputs else UNKNOWN
            return data, data
        if op in ENTER or op in BACK_EDGES:
            return inputs[:1] or (UNKNOWN,)
        if op in EXIT:
            return (self._left(place, inputs),)
        return self._stacked(place, inputs)

    def _stacked(self, place: int, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        """Values that pass through a stack, which the op that made it identifies."""
        stack = self._source(place)
        for _ in range(len(self._frames.loops)):  # a loop around is one Enter
            if stack >= 0 and self._body.nodes[stack].kind.op in ENTER:
                stack = self._source(stack)
        if self._body.nodes[place].kind.op in POP:
            pushed = self._stacks.get(stack)
            return None if pushed is None else (pushed,)
        if len(inputs) > 1:
            pushed = inputs[1]
            if any(isinstance(n, Symbolic) and is_internal(n) for n in pushed.values or ()):
                pushed = pushed._replace(values=None)  # it is another one in every iteration
            self._stacks[stack] = pushed
        return None

    def _entered(self, place: int, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """A loop variable at any iteration."""
        node = self._body.nodes[place]
        entering = [
            tensor
            for tensor, (source, _) in zip(inputs, node.inputs, strict=True)
            if source not in self._frames.loop_at[place].merges.values()
        ]
        before = entering[0] if entering else UNKNOWN
        var = variable(before, f"{self._body.name}/{node.name}")
        if place in self._varying:
            var = var._replace(during=var.during._replace(shape=self._varying[place]))
        self._variables[place] = var
        return var.during, _WHICH

    def _merged(self, place: int, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The common facts of both sides of a conditional."""
        known = [tensor for tensor in inputs if tensor is not UNKNOWN]
        if not known:
            return UNKNOWN, _WHICH
        tensor, shape = join(known)
        if tensor.shape is None and shape is not None:
            named = self._engine.sizes.named(self._body, self._body.nodes[place], 0, shape)
            tensor = tensor._replace(shape=named)
        return tensor, _WHICH

    def _left(self, place: int, inputs: tuple[Tensor, ...]) -> Tensor:
        """A variable after the last iteration, if that is known already."""
        known = self._after.get(self._source(self._source(place)))
        if known is not None:
            return known
        tensor = inputs[0] if inputs else UNKNOWN
        handle = None if tensor.handle is None else tensor.handle._replace(length=None)
        return tensor._replace(values=None, handle=handle)

    def _source(self, place: int) -> int:
        """The node that a node's first input comes from, -1 without one."""
        inputs = self._body.nodes[place].inputs if place >= 0 else ()
        return inputs[0][0] if inputs else -1

    def learn(self, analysis: Analysis) -> bool:
        """Take over trip counts from a walk; returns whether another walk may find more."""
        before = self._known
        self._notes.clear()
        for number, loop in enumerate(self._frames.loops):
            after = {merge: analysis.tensor((back, 0)) for merge, back in loop.merges.items()}
            counters = counters_of([self._variables[merge] for merge in after], after.values())
            for merge, tensor in after.items():
                self._compare(merge, tensor)
            self._trips[number] = trips = self._trip_count(analysis, loop, counters)
            for merge, tensor in after.items():
                self._after[merge] = after_loop(self._variables[merge], tensor, counters, trips)
        self._known = dict(self._after), dict(self._varying), dict(self._stacks)
        return self._known != before

    def _compare(self, merge: int, after: Tensor) -> None:
        """Take over the sizes of a loop variable that an iteration changes."""
        shape = self._variables[merge].during.shape
        if shape is None or after.shape is None or shape == after.shape:
            return
        self._varying[merge] = None
        if len(shape) == len(after.shape):
            node = self._body.nodes[merge]
            joined = common_shape([shape, after.shape])
            self._varying[merge] = self._engine.sizes.named(self._body, node, 0, joined)

    def _trip_count(
        self, analysis: Analysis, loop: Loop, counters: Mapping[str, Counter]
    ) -> Number:
        name = loop.name or "while"
        condition = analysis.tensor((loop.condition, 0))
        outer = name.rpartition("/")[0] or name
        trips, note = trips_of(self._engine, self._body.name, (name, outer), condition, counters)
        self._notes.append(note)
        return trips

    def count(self, analysis: Analysis) -> None:
        """Enter how often nodes run."""
        for note in self._notes:
            self._engine.note(note)
        trips = {id(loop): self._trips[n] for n, loop in enumerate(self._frames.loops)}
        for place, innermost in self._frames.loop_of.items():
            times: Number = 1
            loop: Loop | None = innermost
            while loop is not None:
                asks = loop is innermost and place in loop.in_condition
                times = times * (trips[id(loop)] + 1 if asks else trips[id(loop)])
                loop = loop.parent
            analysis.times[place] = times
        self._choose_sides(analysis)

    def _choose_sides(self, analysis: Analysis) -> None:
        """Count one side of each conditional, inner conditionals first."""
        switches = self._frames.switches
        on_side: dict[Side, list[int]] = {}
        for place, sides in self._frames.sides.items():
            for side in sides:
                on_side.setdefault(side, []).append(place)
        for predicate in sorted(switches, key=lambda key: (-switches[key], key)):
            places = [on_side.get((*predicate, side), []) for side in (0, 1)]
            costs = [total(self._cost(analysis, place) for place in side) for side in places]
            values = analysis.tensor(predicate).values
            if values and isinstance(values[0], bool):
                chosen: int | None = int(values[0])
            else:
                chosen = self._side_that_ran(places)
            if chosen is None:
                chosen = costliest(costs)
                if costs[0] != costs[1]:
                    self._engine.note(COSTLIEST)
            for place in places[1 - chosen]:
                analysis.times[place] = 0

    def _cost(self, analysis: Analysis, place: int) -> Number:
        outcome = analysis.outcomes[place]
        if outcome is None:
            return 0
        own = outcome.verdict.cost.flops if outcome.verdict.status is Status.COUNTED else 0
        called = [scaled(call.analysis.flops, call.times) for call in outcome.calls or ()]
        return total([own, *called]) * analysis.times.get(place, 1)

    def _side_that_ran(self, places: list[list[int]]) -> int | None:
        """The side whose ops ran, if runs show that it was only one."""
        runs = self._engine.settings.node_runs
        if not runs or self._body is not self._engine.program.body:
            return None
        nodes = self._body.nodes
        ran = [any(nodes[place].name in runs for place in side) for side in places]
        return ran.index(True) if sum(ran) == 1 else None
