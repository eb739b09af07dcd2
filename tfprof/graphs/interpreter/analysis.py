"""What is known of a body once it has been walked: shapes, costs, and what it calls."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, overload

import numpy as np

from tfprof.columns.columns import Int64Array
from tfprof.graphs.flops.formulas import Cost, Formula
from tfprof.graphs.model.program import Body
from tfprof.graphs.model.run_counts import Times, scaled
from tfprof.graphs.model.symbolic import Number, total
from tfprof.graphs.model.tensors import UNKNOWN, Tensor

_FEW = 100
"""Number of nodes below which it does not pay to find out which share an outcome."""


class Status(Enum):
    """What became of an op."""

    COUNTED = "counted"
    FREE = "free"
    UNCOUNTED = "not counted"
    CALL = "call"


class Verdict(NamedTuple):
    """What an op costs in one run, and why.

    Attributes:
        status: Whether it was counted.
        cost: Its own cost; that of functions that it calls is not in it.
        formula: How it was counted.
        reason: Why it is free, or why it was not counted.
    """

    status: Status
    cost: Cost = Cost()
    formula: Formula | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A function with the arguments of a call, whose analysis a walk asks for."""

    body: Body
    args: tuple[Tensor, ...]


class Call(NamedTuple):
    """A function that a node runs.

    Attributes:
        analysis: The function with the arguments of this call.
        times: How often one run of the node runs it; a fraction if only some of them do.
        role: Which of the node's functions it is: ``body``, ``cond``, ``then_branch`` …;
            empty for a plain call.
    """

    analysis: Analysis
    times: Times
    role: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a walk has found out about a node; nodes with equal results share one.

    Attributes:
        op: Op type.
        outputs: What comes out.
        ids: Numbers of these tensors.
        first: The first of them.
        verdict: What it costs.
        calls: What it calls; None if it is no call.
    """

    op: str
    outputs: tuple[Tensor, ...]
    ids: tuple[int, ...]
    first: int
    verdict: Verdict
    calls: tuple[Call, ...] | None = None

    def id_of(self, slot: int) -> int:
        """Number of an output; 0 for one that the node does not have."""
        return self.ids[slot] if slot < len(self.ids) else 0


class Outcomes(Sequence["Outcome | None"]):
    """The outcome of each node, None for one that does not run.

    Args:
        distinct: The outcomes; more may come.
        numbers: Place of each node's in them, -1 without one.
    """

    def __init__(self, distinct: Sequence[Outcome], numbers: array[int]) -> None:
        self.distinct = distinct
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Outcome | None: ...
    @overload
    def __getitem__(self, place: slice) -> list[Outcome | None]: ...
    def __getitem__(self, place: int | slice) -> Outcome | list[Outcome | None] | None:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        number = self.numbers[place]
        return self.distinct[number] if number >= 0 else None

    def column(self) -> Int64Array:
        """The numbers, shape (n,)."""
        return np.frombuffer(self.numbers, np.int64)


@dataclass(slots=True)
class Analysis:
    """A body with what flows through it.

    Attributes:
        body: The body.
        order: Places of the nodes that run, producers first.
        outcomes: What was found of each node, by place; None for nodes that do not run.
        times: How often one run of the body runs a node, where that is not once.
        results: What the body returns.
    """

    body: Body
    order: Sequence[int]
    outcomes: Outcomes
    times: dict[int, Number] = field(default_factory=dict)
    results: tuple[Tensor, ...] = ()
    _outputs: dict[int, tuple[Tensor, ...]] | None = None
    _verdicts: dict[int, Verdict] | None = None
    _calls: dict[int, tuple[Call, ...]] | None = None
    _cost: tuple[Number, Number] | None = None

    @property
    def outputs(self) -> dict[int, tuple[Tensor, ...]]:
        """What comes out of each node that runs, by place. Of a walk that is finished."""
        if self._outputs is None:
            self._outputs = {
                place: outcome.outputs
                for place in self.order
                if (outcome := self.outcomes[place]) is not None
            }
        return self._outputs

    @property
    def verdicts(self) -> dict[int, Verdict]:
        """What each of them costs. Of a walk that is finished."""
        if self._verdicts is None:
            self._verdicts = {
                place: outcome.verdict
                for place in self.order
                if (outcome := self.outcomes[place]) is not None
            }
        return self._verdicts

    @property
    def calls(self) -> dict[int, tuple[Call, ...]]:
        """What nodes call, by place. Of a walk that is finished."""
        if self._calls is None:
            numbers, distinct = self.outcomes.column(), self.outcomes.distinct
            is_call = np.array([*(each.calls is not None for each in distinct), False])
            places = np.flatnonzero(is_call[numbers])
            if not isinstance(self.order, range) and len(places):
                order = np.array(self.order, np.int64)
                places = order[is_call[numbers[order]]]
            self._calls = {
                place: distinct[number].calls or ()
                for place, number in zip(places.tolist(), numbers[places].tolist(), strict=True)
            }
        return self._calls

    def tensor(self, edge: tuple[int, int]) -> Tensor:
        """What comes out of an output of a node, as far as the walk has come."""
        outcome = self.outcomes[edge[0]] if edge[0] >= 0 else None
        if outcome is None or edge[1] >= len(outcome.outputs):
            return UNKNOWN
        return outcome.outputs[edge[1]]

    def inputs(self, place: int) -> tuple[Tensor, ...]:
        """What flows into a node."""
        return tuple(map(self.tensor, self.body.nodes[place].inputs))

    @property
    def macs(self) -> Number:
        """Multiply-adds of one run, functions included."""
        return self.cost[0]

    @property
    def other(self) -> Number:
        """Float operations besides."""
        return self.cost[1]

    @property
    def flops(self) -> Number:
        """Float operations of one run, functions included."""
        return 2 * self.macs + self.other

    @property
    def cost(self) -> tuple[Number, Number]:
        """Multiply-adds and other operations of one run. Of a walk that is finished."""
        return self.add_up() if self._cost is None else self._cost

    def add_up(self) -> tuple[Number, Number]:
        """Work out the cost, those of all functions that are called being known."""
        counted: Iterable[tuple[Outcome | None, Number, int]]
        if self.times or len(self.outcomes) < _FEW:
            counted = [(each, self.times.get(n, 1), 1) for n, each in enumerate(self.outcomes)]
        else:
            counted = [(each, 1, count) for each, count in Counter(self.outcomes).items()]
        macs: list[Number] = []
        other: list[Number] = []
        for outcome, often, count in counted:
            if outcome is None:
                continue
            cost = outcome.verdict.cost
            if outcome.verdict.status is Status.COUNTED:
                macs.append(cost.macs * often * count)
                other.append(cost.other * often * count)
            for call in outcome.calls or ():
                macs.append(scaled(call.analysis.macs * often, call.times) * count)
                other.append(scaled(call.analysis.other * often, call.times) * count)
        self._cost = total(macs), total(other)
        return self._cost
