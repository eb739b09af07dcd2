"""The results of a walk through a body: shapes, costs, and calls."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.graphs.flops.formulas import Cost, Formula
from tfprof.graphs.model.program import Body
from tfprof.graphs.model.run_counts import Times, scaled
from tfprof.graphs.model.symbolic import Number, total
from tfprof.graphs.model.tensors import UNKNOWN, Tensor

_FEW = 100
"""Below this number of nodes it does not pay to count those that share an outcome."""


class Status(Enum):
    """Whether an op was counted."""

    COUNTED = "counted"
    FREE = "free"
    UNCOUNTED = "not counted"
    CALL = "call"


class Verdict(NamedTuple):
    """The cost of an op in one run, with the reason.

    Attributes:
        status: Whether it was counted.
        cost: Its own cost; that of functions that it calls is not in it.
        formula: The formula that counted it.
        reason: Why it is free, or why it was not counted.
    """

    status: Status
    cost: Cost = Cost()
    formula: Formula | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A function with the arguments of a call, whose analysis a walk needs."""

    body: Body
    args: tuple[Tensor, ...]


class Call(NamedTuple):
    """A function that a node runs.

    Attributes:
        analysis: The function with the arguments of this call.
        times: How often one run of the node runs it; a fraction if not every run does.
        role: Which of the node's functions it is: ``body``, ``cond``, ``then_branch`` …;
            empty for a plain call.
    """

    analysis: Analysis
    times: Times
    role: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The results of a walk for a node; nodes with equal results share one.

    Attributes:
        op: Op type.
        outputs: Its outputs.
        ids: Numbers of these tensors.
        first: The first of these numbers.
        verdict: Its cost.
        calls: The functions that it runs; None if it is not a call.
    """

    op: str
    outputs: tuple[Tensor, ...]
    ids: tuple[int, ...]
    first: int
    verdict: Verdict
    calls: tuple[Call, ...] | None = None

    def id_of(self, slot: int) -> int:
        """Number of an output; 0 if the node does not have it."""
        return self.ids[slot] if slot < len(self.ids) else 0


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The outcome of each node, None for one that does not run.

    Attributes:
        distinct: The outcomes; more may come.
        numbers: Place of each node's in them, -1 without one.
    """

    distinct: Sequence[Outcome]
    numbers: array[int]

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Outcome | None]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, place: int) -> Outcome | None:
        number = self.numbers[place]
        return self.distinct[number] if number >= 0 else None

    def column(self) -> Int64Array:
        """The numbers, shape (n,)."""
        return np.frombuffer(self.numbers, np.int64)


@dataclass(eq=False)
class Analysis:
    """A body with the tensors that flow through it.

    The cached properties need a walk that is finished.

    Attributes:
        body: The body.
        order: Places of the nodes that run, producers first.
        outcomes: The outcome of each node, by place; None for nodes that do not run.
        times: How often one run of the body runs a node, if not once.
        results: The results of the body.
    """

    body: Body
    order: Sequence[int]
    outcomes: Outcomes
    times: dict[int, Number] = field(default_factory=dict)
    results: tuple[Tensor, ...] = ()

    @cached_property
    def outputs(self) -> dict[int, tuple[Tensor, ...]]:
        """Outputs of each node that runs, by place."""
        return {place: outcome.outputs for place, outcome in self._outcomes()}

    @cached_property
    def verdicts(self) -> dict[int, Verdict]:
        """The verdict on each node that runs, by place."""
        return {place: outcome.verdict for place, outcome in self._outcomes()}

    def _outcomes(self) -> Iterator[tuple[int, Outcome]]:
        for place in self.order:
            outcome = self.outcomes[place]
            if outcome is not None:
                yield place, outcome

    @cached_property
    def calls(self) -> dict[int, tuple[Call, ...]]:
        """The functions that nodes run, by place."""
        numbers, distinct = self.outcomes.column(), self.outcomes.distinct
        used, at = np.unique(numbers, return_inverse=True)  # all functions share the outcomes
        calls = [number >= 0 and distinct[number].calls is not None for number in used.tolist()]
        is_call = np.array(calls, np.bool_)[at]
        places = np.flatnonzero(is_call)
        if not isinstance(self.order, range) and len(places):
            order = np.array(self.order, np.int64)
            places = order[is_call[order]]
        return {
            place: distinct[number].calls or ()
            for place, number in zip(places.tolist(), numbers[places].tolist(), strict=True)
        }

    def tensor(self, edge: tuple[int, int]) -> Tensor:
        """An output of a node; unknown if the walk has not come to the node yet."""
        outcome = self.outcomes[edge[0]] if edge[0] >= 0 else None
        if outcome is None or edge[1] >= len(outcome.outputs):
            return UNKNOWN
        return outcome.outputs[edge[1]]

    def inputs(self, place: int) -> tuple[Tensor, ...]:
        """Inputs of a node."""
        return tuple(map(self.tensor, self.body.nodes[place].inputs))

    @property
    def flops(self) -> Number:
        """Float operations of one run, functions included."""
        return self.cost.flops

    @cached_property
    def cost(self) -> Cost:
        """The cost of one run, functions included."""
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
                called = call.analysis.cost
                macs.append(scaled(called.macs * often, call.times) * count)
                other.append(scaled(called.other * often, call.times) * count)
        return Cost(total(macs), total(other))
