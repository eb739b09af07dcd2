"""Goes through the nodes of which a walk knows everything already: most nodes of a large graph."""

from __future__ import annotations

import functools
from array import array
from collections.abc import Callable
from typing import Any

from tfprof.graphs.interpreter.analysis import Outcome
from tfprof.graphs.interpreter.wiring import TENSOR_BITS, UNLIKE, Wiring
from tfprof.wire.compiled import is_native, native_module

_native: Any = native_module("known_nodes")


class KnownNodes:
    """What was found of nodes, by their sort and the numbers of the two tensors that flow in.

    Attributes:
        outcomes: What was found; others refer to these by number.
    """

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._native: Any = _native.KnownNodes() if _native is not None and is_native() else None

    def number(self, outcome: Outcome) -> int:
        """Give an outcome its number."""
        self.outcomes.append(outcome)
        return len(self.outcomes) - 1

    def add(self, sort: int, first: int, second: int, number: int) -> None:
        """Enter the outcome of nodes of this sort that get these tensors."""
        inputs = (first << TENSOR_BITS) + second
        if self._native is not None:
            self._native.add(sort, inputs, number, self.outcomes[number].first)
        else:
            self._numbers[sort, inputs] = number

    def walk(self, wiring: Wiring, ids: array[int], found: array[int]) -> Callable[[int], int]:
        """What goes through nodes up to the first of which nothing is known.

        Args:
            wiring: The nodes.
            ids: Numbers of tensors as the wiring orders them; those of first outputs come in.
            found: Number of the outcome of each node, by place; those that are known come in.

        Returns:
            From where to begin in the order of the walk to how far it got.
        """
        if self._native is None:
            return functools.partial(self._advance, wiring, ids, found)
        walk = _native.Walk(
            self._native, wiring.places, wiring.sorts, wiring.first, wiring.second, ids, found,
            TENSOR_BITS, UNLIKE,
        )  # fmt: skip
        advance: Callable[[int], int] = walk.advance
        return advance

    def _advance(self, wiring: Wiring, ids: array[int], found: array[int], start: int) -> int:
        places, sorts, first, second = wiring.places, wiring.sorts, wiring.first, wiring.second
        numbers, outcomes = self._numbers, self.outcomes
        for at in range(start, len(places)):
            a, b = ids[first[at]], ids[second[at]]
            number = numbers.get((sorts[at], (a << TENSOR_BITS) + b))
            if number is None or UNLIKE in (a, b):
                return at
            found[places[at]] = number
            ids[places[at]] = outcomes[number].first
        return len(places)
