"""Shapes from the rules and the graph, and names for sizes that both leave unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tfprof.graphs.model.node_table import Node
from tfprof.graphs.model.program import Body
from tfprof.graphs.model.symbolic import Number, Symbolic
from tfprof.graphs.model.tensors import UNKNOWN, Dims, PartialShape, Tensor

BATCH = "B"
"""The unknown first dimension of inputs: all share one batch."""

_KIND_OF_TRACE = re.compile(r"(?:^|_)(?:inference|forward|backward)_")
_TRACE_NUMBER = re.compile(r"_\d+$")


class Names:
    """Gives each unknown one name; equal names of different things are numbered."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._given: dict[object, Symbolic] = {}
        self._last_numbers: dict[str, int] = {}

    def of(self, name: str, owner: object) -> Symbolic:
        """The unknown that something has.

        Args:
            name: Its name, unless it is taken.
            owner: Its owner; the same owner gets the same unknown again.
        """
        if owner not in self._given:
            unique = name
            while unique in self._taken or unique == BATCH:
                number = self._last_numbers[name] = self._last_numbers.get(name, 1) + 1
                unique = f"{name}#{number}"
            self._taken.add(unique)
            self._given[owner] = Symbolic.named(unique)
        return self._given[owner]

    def batch(self) -> Symbolic:
        """The batch size."""
        return Symbolic.named(BATCH)


def function_label(name: str) -> str:
    """A function's name without the additions of tracing: ``__inference_step_123`` → ``step``."""
    kind = _KIND_OF_TRACE.search(name)
    number = None if kind is None else _TRACE_NUMBER.search(name, kind.end() + 1)
    return name if kind is None or number is None else name[kind.end() : number.start()]


class Inferred(NamedTuple):
    """Outputs by the rules, for a kind of op with certain inputs."""

    shapes: Sequence[PartialShape]
    outputs: Sequence[Tensor]


class Sizes:
    """Completes the shapes that rules give, with ``batch`` and ``input_shapes`` of the settings.

    Attributes:
        names: The unknowns that came up.
        batch_is_free: Some input has an unknown first dimension.
    """

    def __init__(self, batch: int | None, input_shapes: Mapping[str, PartialShape]) -> None:
        self.names = Names()
        self.batch_is_free = False
        self._batch = batch
        self._input_shapes = input_shapes

    def completed(
        self, body: Body, node: Node, inferred: Inferred
    ) -> tuple[tuple[Tensor, ...], bool]:
        """Outputs completed with the graph's shapes; and whether some sizes got names."""
        shapes, outputs = inferred
        completed = []
        is_named = False
        unknown = len(node.declared) - len(outputs)  # of an op type without rules
        if unknown > 0:
            outputs = (*outputs, *[UNKNOWN] * unknown)
            shapes = (*shapes, *[None] * unknown)
        for slot, output in enumerate(outputs):
            shape = shapes[slot]
            if slot < len(node.declared):
                shape = _refined(shape, node.declared[slot])
            if shape is not None and None in shape:
                is_named = True
                shape = self.named(body, node, slot, shape)
            completed.append(Tensor(shape, output.dtype, output.values, output.handle))  # type: ignore[arg-type]  # no None in it
        return tuple(completed), is_named

    def named(self, body: Body, node: Node, slot: int, shape: PartialShape) -> Dims | None:
        """A shape with names for the dimensions that are unknown."""
        if shape is None:
            return None
        label = node.name if slot == 0 else f"{node.name}:{slot}"
        return tuple([
            self.names.of(f"{label}[{axis}]", (body.name, node.name, slot, axis))
            if dim is None
            else dim
            for axis, dim in enumerate(shape)
        ])  # fmt: skip

    def argument(self, body: Body, place: int, args: tuple[Tensor, ...]) -> Tensor:
        """An argument of a function, completed with its declared shape and handle."""
        node = body.nodes[place]
        given = args[place] if place < len(args) else UNKNOWN
        shape = given.shape
        if shape is None and node.declared:
            shape = self.named(body, node, 0, node.declared[0])
        handle = given.handle or node.kind.attrs.get("handle")
        dtype = given.dtype or node.kind.attrs.get("T", 0)
        return Tensor(shape, dtype, given.values, handle)

    def given(self, node: Node, name: str, inferred: Inferred) -> tuple[Tensor, ...]:
        """Outputs of an input of the program; unknown sizes are the user's, or get names."""
        outputs = []
        for slot, output in enumerate(inferred.outputs):
            shape = inferred.shapes[slot]
            if slot < len(node.declared):
                shape = _refined(shape, node.declared[slot])
            if slot == 0 and node.name in self._input_shapes:
                shape = _refined(self._input_shapes[node.name], shape)
            dims = None
            if shape is not None:
                dims = tuple([
                    self._input_size(name, slot, axis) if dim is None else dim
                    for axis, dim in enumerate(shape)
                ])  # fmt: skip
            outputs.append(output._replace(shape=dims))
        return tuple(outputs)

    def _input_size(self, name: str, slot: int, axis: int) -> Number:
        if axis == 0:
            self.batch_is_free = True
            batch = self._batch
            return self.names.batch() if batch is None else batch
        label = name if slot == 0 else f"{name}:{slot}"
        return self.names.of(f"{label}[{axis}]", ("input", name, slot, axis))


def _refined(known: PartialShape, other: PartialShape) -> PartialShape:
    """A shape, completed with the known dimensions of another one."""
    if known is None or other is None or len(known) != len(other):
        return other if known is None else known
    return tuple([
        b if a is None or (b is not None and not isinstance(a, int)) else a
        for a, b in zip(known, other, strict=True)
    ])  # fmt: skip
