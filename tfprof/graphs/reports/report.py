"""``FlopsReport``, the result of ``tfprof.flops``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from tfprof.core.columns.frames_of_rows import ReadByDataFrames
from tfprof.core.columns.mixins import NotebookMixin
from tfprof.core.hardware import DeviceLike, device_of
from tfprof.graphs.costs.roofline import Roofline, roofline
from tfprof.graphs.costs.scope_sums import scope_sums, with_inner_scopes
from tfprof.graphs.flops.formulas import Cost
from tfprof.graphs.interpreter import tally
from tfprof.graphs.interpreter.analysis import Analysis, Status
from tfprof.graphs.interpreter.phases import STEP
from tfprof.graphs.model.symbolic import Number, total, typical
from tfprof.graphs.reports.flops_text import explanation, headline, shape_text


class Explanation(str):
    """Text that an interactive session shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class FlopsReport(NotebookMixin, ReadByDataFrames):
    """Float operations of one run of a program, and how they were counted.

    A multiply-add is two float operations and one MAC. Initializers of variables run once, not in
    every run, so they are not in the totals; ``by_phase`` has them.

    Attributes:
        convention: ``flops`` or ``macs``: the unit of ``total`` and of the dictionaries.
        notes: Remarks on the numbers.
        analysis: The walk through the program that the numbers come from.
    """

    def __init__(
        self,
        analysis: Analysis,
        *,
        convention: str = "flops",
        notes: tuple[str, ...] = (),
        layer_of: Mapping[str, str] | None = None,
    ) -> None:
        self.convention = convention
        self.notes = notes
        self.analysis = analysis
        self._layer_of = layer_of or {}

    @cached_property
    def ops(self) -> list[tally.OpRow]:
        """Every op with its cost and number of runs."""
        return list(tally.op_rows(self.analysis))

    @cached_property
    def _phases(self) -> dict[str, Cost]:
        return {phase.value: cost for phase, cost in tally.by_phase(self.ops).items()}

    @property
    def flops(self) -> Number:
        """Float operations: an ``int``, or a ``Symbolic`` if sizes are unknown."""
        return total(self._phases[phase.value].flops for phase in STEP)

    @property
    def macs(self) -> Number:
        """Multiply-adds; other float operations, such as those of a ReLU, are left out."""
        return total(self._phases[phase.value].macs for phase in STEP)

    @property
    def total(self) -> Number:
        """``flops`` or ``macs``, by the convention."""
        return self.flops if self.convention == "flops" else self.macs

    @cached_property
    def by_type(self) -> dict[str, Number]:
        """Count of each op type that has any, largest first."""
        costs = tally.by_type([row for row in self.ops if row.phase in STEP])
        counts = {name: self._count(cost) for name, cost in costs.items()}
        known = {name: count for name, count in counts.items() if count != 0}
        return dict(sorted(known.items(), key=lambda item: (-typical(item[1]), item[0])))

    @cached_property
    def by_scope(self) -> dict[str, Number]:
        """Count of each name scope, inner scopes included; ``""`` is the whole.

        Scopes of a Keras model are its layers.
        """
        sums = scope_sums(self.analysis, self._layer_of or None, with_tensors=False)
        return {
            scope: self._count(Cost(amounts.macs, amounts.other))
            for scope, amounts in with_inner_scopes(sums.own).items()
            if amounts.flops != 0
        }

    @property
    def by_phase(self) -> dict[str, Number]:
        """Count of each part of a step: forward, backward, optimizer, initialization."""
        return {phase: self._count(cost) for phase, cost in self._phases.items()}

    @cached_property
    def op_counts(self) -> tally.Coverage:
        """How many ops of each type were counted, are free, or could not be counted."""
        return tally.coverage(self.ops)

    @property
    def coverage(self) -> float:
        """Share of the ops that were counted or are free, 0 to 1."""
        return self.op_counts.share

    @property
    def uncounted(self) -> dict[str, str]:
        """The reasons for uncounted ops, by op type."""
        return self.op_counts.reasons

    def to_rows(self) -> list[dict[str, Any]]:
        """Every op as a dictionary, such as ``pandas.DataFrame`` takes.

        ``flops`` and ``macs`` are those of all ``runs`` together.
        """
        return [
            {
                "name": row.name,
                "function": row.function,
                "type": row.op_type,
                "phase": row.phase.value,
                "runs": row.times,
                "flops": row.flops if row.verdict.status is Status.COUNTED else None,
                "macs": row.macs if row.verdict.status is Status.COUNTED else None,
                "status": row.verdict.status.value,
                "formula": "" if row.verdict.formula is None else row.verdict.formula.rule,
                "numbers": dict(row.verdict.cost.numbers),
                "reason": row.verdict.reason,
                "inputs": [shape_text(tensor.shape) for tensor in row.inputs],
                "outputs": [shape_text(tensor.shape) for tensor in row.outputs],
            }
            for row in self.ops
        ]

    def roofline(self, device: DeviceLike) -> Roofline:
        """The least time that a device needs for each op of a step.

        Args:
            device: Its name, such as ``a100``, or (operations per second, bytes per second).

        Raises:
            UsageError: There is no such device.
        """
        return roofline(self.ops, device_of(device))

    def explain(self, top: int | None = None) -> Explanation:
        """How each op was counted, as text.

        Args:
            top: Show only the ``top`` most expensive lines of ops; None for all.
        """
        return Explanation(explanation(self, top))

    def __str__(self) -> str:
        return headline(self)

    def __repr__(self) -> str:
        return f"<FlopsReport {self.flops:,} FLOPs>"

    def _count(self, cost: Cost) -> Number:
        return cost.flops if self.convention == "flops" else cost.macs
