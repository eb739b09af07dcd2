"""A program with facts from its recorded runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from tfprof.graphs.model.program import Program


@dataclass(frozen=True, slots=True)
class ObservedControlFlow:
    """How often loops, branches and ops ran.

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
    """A program with facts from its recorded runs.

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
    """An object that has recorded runs of a program, such as a ``Profiler``.

    With this protocol, ``flops`` and ``summary`` take a profiler without importing it.
    """

    def __seen_program__(self, static: bool) -> SeenProgram:
        """The program; with ``static``, all its ops count, not only those that ran."""
