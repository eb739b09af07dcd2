"""The nodes of a large graph as columns; a ``Node`` is made of them when one is asked for."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np

from tfprof.columns.columns import Int64Array
from tfprof.graphs.model.program import Kind, Node
from tfprof.graphs.model.tensors import PartialShape


class RowNames(Sequence[str]):
    """Names of nodes, looked up when they are asked for.

    Args:
        names: All names.
        ids: Place of each node's name in them.
    """

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


@dataclass(slots=True, eq=False)
class NodeTable(Sequence[Node]):
    """Nodes as columns.

    Attributes:
        names: Name of each node.
        kinds: The different kinds; one is decoded when it is asked for.
        op_types: Op type of each of them.
        kind_ids: Place of each node's kind in ``kinds``, shape (n,).
        shape_lists: The different lists of declared output shapes; the last one is empty.
        shape_list_ids: Place of each node's list, -1 without one, shape (n,).
        offsets: Start of each node's inputs in the next two columns, shape (n + 1,).
        sources: Place of the producer of each input, -1 for one that is not there.
        ports: Which of its outputs; -1 for a control input.
    """

    names: Sequence[str]
    kinds: Sequence[Kind]
    op_types: Sequence[str]
    kind_ids: Int64Array
    shape_lists: Sequence[tuple[PartialShape, ...]]
    shape_list_ids: Int64Array
    offsets: Int64Array
    sources: Int64Array
    ports: Int64Array
    _made: list[Node | None] = field(init=False)

    def __post_init__(self) -> None:
        self._made = [None] * len(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, place: int) -> Node: ...
    @overload
    def __getitem__(self, place: slice) -> list[Node]: ...
    def __getitem__(self, place: int | slice) -> Node | list[Node]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        node = self._made[place]
        if node is None:
            place %= len(self)
            edges = range(int(self.offsets[place]), int(self.offsets[place + 1]))
            ports = [(edge, int(self.ports[edge])) for edge in edges]
            node = self._made[place] = Node(
                self.names[place],
                self.kinds[int(self.kind_ids[place])],
                tuple([(int(self.sources[edge]), port) for edge, port in ports if port >= 0]),
                tuple([int(self.sources[edge]) for edge, port in ports if port < 0]),
                self.shape_lists[int(self.shape_list_ids[place])],
            )
        return node

    def of_types(self, op_types: Container[str]) -> Int64Array:
        """Places of the nodes of some types."""
        wanted = np.array([op in op_types for op in self.op_types], np.bool_)
        return np.flatnonzero(wanted[self.kind_ids])
