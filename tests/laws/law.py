"""What a law is: input or its reading changes, and what this change does to the answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tests.laws.answers import Answers, differences

Input = TypeVar("Input")
MOST_SHOWN = 5
"""Differences of one answer that are listed."""


def everything(name: str) -> bool:
    """A law about all answers."""
    return True


def of_tfprof(name: str) -> bool:
    """A law about all answers but those of the reference, which depend on the order of the file."""
    return not name.startswith("classic ")


def unchanged(answer: Any) -> Any:
    """The answer that the law expects is the one to the first input."""
    return answer


def same(chance: random.Random, given: Input) -> Input:
    """The second input is the first one."""
    return given


@dataclass(frozen=True)
class Law(Generic[Input]):
    """A law.

    Attributes:
        name: What changes.
        change: Makes the second input of the first one, which it may change itself.
        holds_for: The answers that it is about, by name.
        expected: The answer to the second input, from that to the first.
        compared: Both answers before they are compared.
        answers: How the second input is written, read and asked about; None for as the first one.
    """

    name: str
    change: Callable[[random.Random, Input], Input] = same
    holds_for: Callable[[str], bool] = everything
    expected: Callable[[Any], Any] = unchanged
    compared: Callable[[Any], Any] = unchanged
    answers: Callable[[Input], Answers] | None = None

    def broken(self, first: Answers, second: Answers) -> Iterator[str]:
        """Where the answers to the second input are not those that the law expects."""
        for name in {**first, **second}:
            if not self.holds_for(name):
                continue
            before, after = (each.get(name, "no such answer") for each in (first, second))
            found = list(differences(self.compared(self.expected(before)), self.compared(after)))
            yield from (f"{name}{each}" for each in found[:MOST_SHOWN])


def names_of(laws: Sequence[Law[Any]]) -> list[str]:
    """Their names, for pytest."""
    return [law.name for law in laws]
