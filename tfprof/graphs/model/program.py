"""A program for analysis: the nodes of a graph, and the functions that they call.

The op table has a row for each op that a profile may time. This has all that determines what an op
computes: all attributes, and the bodies of functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfprof.graphs.model.node_table import NodeTable
from tfprof.graphs.model.tensors import PartialShape

GIVEN_FLOPS = "_tfprof_flops"
"""Attribute of nodes whose float operations the user's program has given."""


class FunctionRef(NamedTuple):
    """An attribute that names a function."""

    name: str


def functions_in(attrs: Mapping[str, Any]) -> Iterator[str]:
    """Names of the functions that attributes refer to."""
    for value in attrs.values():
        is_list = isinstance(value, tuple) and not isinstance(value, FunctionRef)
        for item in value if is_list else (value,):
            if isinstance(item, FunctionRef):
                yield item.name


@dataclass(frozen=True, slots=True)
class Body:
    """The nodes of a graph or of a function.

    Attributes:
        name: Name of the function; empty for the graph itself.
        nodes: In the order of the file; the arguments of a function come first, as ``_Arg``.
        n_args: Number of arguments.
        results: Node and output of each result of a function.
        control_results: Further nodes that a function runs.
    """

    name: str
    nodes: NodeTable
    n_args: int = 0
    results: tuple[tuple[int, int], ...] = ()
    control_results: tuple[int, ...] = ()

    def places(self) -> dict[str, int]:
        """Place of each node by name."""
        return {name: place for place, name in enumerate(self.nodes.names)}


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that a program declares.

    Attributes:
        name: Its name.
        shape: Its shape.
        dtype: Element type as a ``DataType`` number.
        trainable: Whether training changes it; None if the program does not say.
    """

    name: str
    shape: PartialShape
    dtype: int
    trainable: bool | None = None


@dataclass(slots=True)
class Program:
    """A graph and its functions.

    Attributes:
        body: The graph.
        function: Body of a function by name, None for a name that the library does not have.
        variables: Variables of a model, or of the objects in a SavedModel. None if they have to be
            found in the graph.
        fetches: Places of the nodes whose results are wanted; only what these need counts. None
            for all.
        inputs: Places of the nodes for inputs, by the name of the input.
    """

    body: Body
    function: Callable[[str], Body | None]
    variables: list[Variable] | None = None
    fetches: tuple[int, ...] | None = None
    inputs: dict[str, int] = field(default_factory=dict)
