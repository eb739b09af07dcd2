"""What is known of a body once it has been walked: shapes, costs, and what it calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from tfprof.analysis.flops.formulas import Cost, Formula
from tfprof.model.program import Body
from tfprof.model.run_counts import Times
from tfprof.model.symbolic import Number
from tfprof.model.tensors import UNKNOWN, Tensor


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


@dataclass(slots=True)
class Analysis:
    """A body with what flows through it.

    Attributes:
        body: The body.
        order: Places of the nodes that run, producers first.
        outputs: What comes out of each of those nodes, by place.
        verdicts: What each of them costs.
        times: How often one run of the body runs a node, where that is not once.
        calls: What nodes call.
        results: What the body returns.
        macs: Multiply-adds of one run, functions included.
        other: Float operations besides.
    """

    body: Body
    order: list[int]
    outputs: dict[int, tuple[Tensor, ...]] = field(default_factory=dict)
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    times: dict[int, Number] = field(default_factory=dict)
    calls: dict[int, tuple[Call, ...]] = field(default_factory=dict)
    results: tuple[Tensor, ...] = ()
    macs: Number = 0
    other: Number = 0

    def tensor(self, edge: tuple[int, int]) -> Tensor:
        """What comes out of an output of a node."""
        outputs = self.outputs.get(edge[0], ())
        return outputs[edge[1]] if edge[1] < len(outputs) else UNKNOWN

    def inputs(self, place: int) -> tuple[Tensor, ...]:
        """What flows into a node."""
        return tuple(self.tensor(edge) for edge in self.body.nodes[place].inputs)

    @property
    def flops(self) -> Number:
        """Float operations of one run, functions included."""
        return 2 * self.macs + self.other
