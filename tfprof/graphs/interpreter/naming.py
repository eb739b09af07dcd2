"""Names of sizes that the graph leaves unknown."""

from __future__ import annotations

import re

from tfprof.graphs.model.symbolic import Symbolic

BATCH = "B"
"""The unknown first dimension of inputs: all share one batch."""

_KIND_OF_TRACE = re.compile(r"(?:^|_)(?:inference|forward|backward)_")
_TRACE_NUMBER = re.compile(r"_\d+$")


class Names:
    """Gives each unknown one name; equal names of different things are numbered."""

    def __init__(self) -> None:
        self._owners: dict[str, object] = {}
        self._given: dict[object, Symbolic] = {}
        self._last_numbers: dict[str, int] = {}

    def of(self, name: str, owner: object) -> Symbolic:
        """The unknown that something has.

        Args:
            name: What to call it if nothing else is called so.
            owner: What it belongs to; the same owner gets the same unknown again.
        """
        unknown = self._given.get(owner)
        if unknown is None:
            unique = name
            while unique in self._owners or unique == BATCH:
                number = self._last_numbers[name] = self._last_numbers.get(name, 1) + 1
                unique = f"{name}#{number}"
            self._owners[unique] = owner
            unknown = self._given[owner] = Symbolic.named(unique)
        return unknown

    def batch(self) -> Symbolic:
        """The batch size."""
        return Symbolic.named(BATCH)


def function_label(name: str) -> str:
    """A function's name without the additions of tracing: ``__inference_step_123`` → ``step``."""
    kind = _KIND_OF_TRACE.search(name)
    number = None if kind is None else _TRACE_NUMBER.search(name, kind.end() + 1)
    return name if kind is None or number is None else name[kind.end() : number.start()]
