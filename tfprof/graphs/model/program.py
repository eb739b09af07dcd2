"""A program as analysis sees it: the nodes of a graph, and the functions that they call.

Unlike the op table, which has a row for each op that a profile could time, this has everything
that tells what an op computes: all attributes, and the bodies of functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfprof.graphs.model.tensors import PartialShape

GIVEN_FLOPS = "_tfprof_flops"
"""Attribute of nodes whose float operations the program that made the graph has told."""


class FunctionRef(NamedTuple):
    """An attribute that names a function."""

    name: str


class Kind:
    """What nodes of the same type and attributes have in common; each exists once.

    Attributes:
        op: Op type.
        attrs: Attributes as plain values: numbers, text, tuples; a ``PartialShape`` for a shape,
            a ``Tensor`` for a tensor, a ``FunctionRef`` for a function.
        output_types: Element type of every output, as ``DataType`` numbers, 0 where unknown.
        stateful: Such a node does more than compute its outputs, so it runs even if nobody wants
            those.
    """

    __slots__ = ("attrs", "op", "output_types", "stateful")

    def __init__(
        self,
        op: str,
        attrs: Mapping[str, Any],
        output_types: tuple[int, ...],
        *,
        stateful: bool = False,
    ) -> None:
        self.op = op
        self.attrs = attrs
        self.output_types = output_types
        self.stateful = stateful


class Node(NamedTuple):
    """A node of a body.

    Attributes:
        name: Its name.
        kind: Type and attributes.
        inputs: Place of the producer in the body, and which of its outputs; -1 for a producer
            that the body does not have.
        controls: Places of the nodes that must run before it.
        declared: Shapes of the outputs as far as the graph says them (``_output_shapes``).
    """

    name: str
    kind: Kind
    inputs: tuple[tuple[int, int], ...]
    controls: tuple[int, ...] = ()
    declared: tuple[PartialShape, ...] = ()


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
    nodes: Sequence[Node]
    n_args: int = 0
    results: tuple[tuple[int, int], ...] = ()
    control_results: tuple[int, ...] = ()


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
        variables: Variables that stand beside the graph: those of a model, or of the objects in
            a SavedModel. None if only the graph tells which there are.
        fetches: Places of the nodes whose results are wanted; everything else does not count.
            None for all.
        inputs: Places of the nodes through which data come in, by the name of the input.
    """

    body: Body
    function: Callable[[str], Body | None]
    variables: list[Variable] | None = None
    fetches: tuple[int, ...] | None = None
    inputs: dict[str, int] = field(default_factory=dict)
