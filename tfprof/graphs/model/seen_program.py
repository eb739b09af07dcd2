"""A program together with what its recorded runs show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from tfprof.graphs.model.program import Program


@dataclass(frozen=True, slots=True)
class ObservedControlFlow:
    """What runs tell about loops and conditionals.

    Attributes:
        trips: How often a loop ran per entry, on average and rounded, by name.
        branches: How often each branch of a conditional ran, by name.
        nodes: How often each op ran, by name.
    """

    trips: Mapping[str, int] = field(default_factory=dict)
    branches: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    nodes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeenProgram:
    """A program, and what its recorded runs tell about it.

    Attributes:
        program: The program.
        observed: How often its loops and branches ran.
        idle: Places of the nodes that no recorded run has run.
    """

    program: Program
    observed: ObservedControlFlow
    idle: Sequence[int]


@runtime_checkable
class HasSeenProgram(Protocol):
    """What can say which program it has seen, as a ``Profiler`` can.

    A special method, so that ``flops`` and ``summary`` can take a profiler without knowing one.
    """

    def __seen_program__(self, static: bool) -> SeenProgram:
        """The program; with ``static``, all its ops count, not only those that ran."""
