"""Rules of a family of ops, by op type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.tensors import PartialShape

ResultT = TypeVar("ResultT")

Shapes = Sequence[PartialShape]
"""Shape of each output of an op."""

Rule = Callable[[OpCall], ResultT]


class Rules(dict[str, "Rule[Sequence[ResultT]]"], Generic[ResultT]):
    """Rule by op type, each from an op to one result for every output.

    A rule raises ``UnknownError`` if what it needs is not known.
    """

    def of(self, *op_types: str) -> Callable[[Rule[Sequence[ResultT]]], Rule[Sequence[ResultT]]]:
        """Enter a rule, as a decorator or called with it, for op types separated by spaces."""

        def enter(rule: Rule[Sequence[ResultT]]) -> Rule[Sequence[ResultT]]:
            for op_type in " ".join(op_types).split():
                if op_type in self:
                    raise ValueError(f"{op_type} has two rules")
                self[op_type] = rule
            return rule

        return enter
