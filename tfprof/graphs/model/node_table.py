"""The nodes of a graph or function as columns, from which a ``Node`` is made on demand."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, overload

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.graphs.model.tensors import PartialShape


@dataclass(slots=True, eq=False)
class Kind:
    """Type and attributes that several nodes share; each combination exists once.

    Attributes:
        op: Op type.
        attrs: Attributes as plain values: numbers, text, tuples; a ``PartialShape`` for a shape,
            a ``Tensor`` for a tensor, a ``FunctionRef`` for a function.
        output_types: Element type of every output, as ``DataType`` numbers, 0 where unknown.
        stateful: Such a node has side effects, so it runs even if its outputs are unused.
    """

    op: str
    attrs: Mapping[str, Any]
    output_types: tuple[int, ...]
    stateful: bool = False


class Node(NamedTuple):
    """A node of a body.

    Attributes:
        name: Its name.
        kind: Type and attributes.
        inputs: Place of the producer in the body, and which of its outputs; -1 for a producer
            that the body does not have.
        controls: Places of the nodes that must run before it.
        declared: Shapes of the outputs in the graph (``_output_shapes``).
    """

    name: str
    kind: Kind
    inputs: tuple[tuple[int, int], ...]
    controls: tuple[int, ...] = ()
    declared: tuple[PartialShape, ...] = ()


class Kinds(Protocol):
    """The kinds of a program, decoded on demand.

    Attributes:
        op_types: Op type of each.
    """

    op_types: list[str]

    def __getitem__(self, number: int, /) -> Kind: ...


class RowNames(Sequence[str]):
    """Names of nodes, looked up on demand: ``ids`` are their places in ``names``."""

    def __init__(self, names: Sequence[str], ids: Int64Array) -> None:
        self._names = names
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self._names[name_id] for name_id in self._ids[place].tolist()]
        return self._names[int(self._ids[place])]


@dataclass(eq=False)
class NodeTable:
    """Nodes as columns.

    Kinds and lists of shapes belong to the program: graph and functions share them.

    Attributes:
        names: Name of each node.
        kinds: The different kinds.
        kind_ids: Place of each node's kind in ``kinds``, shape (n,).
        shape_lists: The different lists of declared output shapes; the first one is empty.
        shape_list_ids: Place of each node's list, shape (n,).
        offsets: Start of each node's inputs in the next two columns, shape (n + 1,).
        sources: Place of the producer of each input, -1 if it is missing.
        ports: Which of its outputs; -1 for a control input.
    """

    names: Sequence[str]
    kinds: Kinds
    kind_ids: Int64Array
    shape_lists: Sequence[tuple[PartialShape, ...]]
    shape_list_ids: Int64Array
    offsets: Int64Array
    sources: Int64Array
    ports: Int64Array

    def __post_init__(self) -> None:
        self._made: list[Node | None] = [None] * len(self.names)

    def __len__(self) -> int:
        return len(self._made)

    def __iter__(self) -> Iterator[Node]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, place: int) -> Node:
        node = self._made[place]
        if node is None:
            place %= len(self)
            edges = slice(int(self.offsets[place]), int(self.offsets[place + 1]))
            sources, ports = self.sources[edges].tolist(), self.ports[edges].tolist()
            inputs = list(zip(sources, ports, strict=True))
            controls: tuple[int, ...] = ()
            if -1 in ports:
                controls = tuple([source for source, port in inputs if port < 0])
                inputs = [edge for edge in inputs if edge[1] >= 0]
            node = self._made[place] = Node(
                self.names[place],
                self.kind(place),
                tuple(inputs),
                controls,
                self.shape_lists[int(self.shape_list_ids[place])],
            )
        return node

    def kind(self, place: int) -> Kind:
        """Type and attributes of a node."""
        return self.kinds[int(self.kind_ids[place])]

    @cached_property
    def ops(self) -> list[str]:
        """Op type of each node."""
        op_types = self.kinds.op_types
        return [op_types[kind_id] for kind_id in self.kind_ids.tolist()]

    def of_types(self, op_types: Container[str]) -> list[int]:
        """Places of the nodes of some types."""
        kind_types = self.kinds.op_types
        if len(kind_types) < len(self):  # the graph itself rather than one of many functions
            is_wanted = np.array([op in op_types for op in kind_types], np.bool_)
            places: list[int] = np.flatnonzero(is_wanted[self.kind_ids]).tolist()
            return places
        return [place for place, op in enumerate(self.ops) if op in op_types]

    @cached_property
    def data_sources(self) -> tuple[array[int], array[int]]:
        """Producers of each node's inputs, control inputs left out, for walks node by node.

        The first column is the start of each node's inputs in the second one, shape (n + 1,).
        """
        is_data = self.ports >= 0
        starts = np.concatenate([[0], np.cumsum(is_data)])
        return as_array(starts[self.offsets]), as_array(self.sources[is_data])


def as_array(column: Int64Array) -> array[int]:
    """A column in a form that Python reads as fast as a list."""
    return array("q", column.tobytes())
