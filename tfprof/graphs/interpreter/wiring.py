"""The nodes of a body as numbers, so that a walk need not look at each of them.

Nodes of the same kind with the same declared shapes have the same *sort*. With the numbers of the
tensors that flow in, it tells what comes out, and the key of both is one integer.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns.columns import Int64Array
from tfprof.graphs.model.node_table import NodeTable
from tfprof.graphs.model.program import Body, Kind, Node
from tfprof.graphs.model.tensors import PartialShape

TENSOR_BITS = 20
"""Bits for the number of a tensor in a key."""

MOST_TENSORS = 1 << TENSOR_BITS
"""Tensors with higher numbers do not fit into a key."""

_MOST_SORTS = 1 << 62
"""Numbers of more do not fit into 64 bits."""

UNKNOWN_ID, NO_INPUT, UNLIKE = 0, 1, 2
"""Numbers that are no tensors': of what nothing is known, of an input that a node does not have,
and of what no key has in it."""

N_RESERVED = 3


@dataclass(frozen=True, slots=True)
class Wiring:
    """What a walk needs of the nodes.

    Numbers of tensors stand in one list: first those of the first outputs of all nodes, by place,
    then ``UNKNOWN_ID``, ``NO_INPUT`` and ``UNLIKE``, then those of other outputs that are read.

    Attributes:
        places: Places of the nodes, in the order of the walk.
        sorts: Sort of each.
        first: Where the number of its first input stands.
        second: The same for the second input. Nodes that have more inputs, or other outputs that
            are read, point to ``UNLIKE`` with both.
        inputs: Where all inputs of such nodes stand, by place.
        outputs: Outputs of such nodes that are read, and where their numbers stand, by place.
        size: Length of the list.
    """

    places: array[int]
    sorts: array[int]
    first: array[int]
    second: array[int]
    inputs: dict[int, list[int]]
    outputs: dict[int, list[tuple[int, int]]]
    size: int


class Sorts:
    """Numbers of sorts."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Kind, tuple[PartialShape, ...]], int] = {}
        self._count = 0

    def of(self, node: Node) -> int:
        """The sort of a node."""
        key = (node.kind, node.declared)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._count
            self._count += 1
        return number

    def of_table(self, table: NodeTable) -> Int64Array:
        """The sort of each node of a table, shape (n,)."""
        n_lists = len(table.shape_lists) + 1
        pairs = table.kind_ids * n_lists + table.shape_list_ids + 1
        count = len(table.kinds) * n_lists
        if self._count + count >= _MOST_SORTS:  # only those that are there, then
            distinct, places = np.unique(pairs, return_inverse=True)
            pairs, count = places.reshape(-1), len(distinct)
        sorts: Int64Array = self._count + pairs
        self._count += count
        return sorts


def wiring_of(body: Body, order: Sequence[int], sorts: Sorts, apart: Collection[int]) -> Wiring:
    """Put the nodes of a body into numbers.

    Args:
        body: The body.
        order: Places of the nodes, in the order of the walk.
        sorts: Numbers of the sorts.
        apart: Places of nodes about which more is known than their sort and inputs tell.
    """
    if isinstance(body.nodes, NodeTable):
        return _of_table(body.nodes, order, sorts, apart)
    nodes = body.nodes
    n = len(nodes)
    others = sorted({edge for place in order for edge in nodes[place].inputs if edge[1]})
    at = {edge: n + N_RESERVED + i for i, edge in enumerate(others) if edge[0] >= 0}
    outputs: dict[int, list[tuple[int, int]]] = {}
    for (source, slot), position in at.items():
        outputs.setdefault(source, []).append((slot, position))
    keys, first, second = [], [], []
    all_inputs: dict[int, list[int]] = {}
    for place in order:
        node = nodes[place]
        inputs = [
            n + UNKNOWN_ID if edge[0] < 0 else at[edge] if edge[1] else edge[0]
            for edge in node.inputs
        ]
        is_unlike = len(inputs) > 2 or place in outputs or place in apart
        if is_unlike and place not in apart:
            all_inputs[place] = inputs
        inputs += (n + NO_INPUT, n + NO_INPUT)
        keys.append(sorts.of(node))
        first.append(n + UNLIKE if is_unlike else inputs[0])
        second.append(n + UNLIKE if is_unlike else inputs[1])
    places, numbers, ones, twos = [array("q", each) for each in (order, keys, first, second)]
    size = n + N_RESERVED + len(others)
    return Wiring(places, numbers, ones, twos, all_inputs, outputs, size)


def _of_table(
    table: NodeTable, order: Sequence[int], sorts: Sorts, apart: Collection[int]
) -> Wiring:
    """The same by columns."""
    n = len(table)
    is_data = table.ports >= 0
    sources, slots = table.sources[is_data], table.ports[is_data]
    owner = np.repeat(np.arange(n), np.diff(table.offsets))[is_data]
    wires = np.where(sources < 0, n + UNKNOWN_ID, sources)
    is_other = (slots > 0) & (sources >= 0)
    width = int(slots.max(initial=0)) + 1
    others, at = np.unique(sources[is_other] * width + slots[is_other], return_inverse=True)
    wires[is_other] = n + N_RESERVED + at.reshape(-1)
    outputs: dict[int, list[tuple[int, int]]] = {}
    for wire, edge in enumerate(others.tolist(), n + N_RESERVED):
        outputs.setdefault(edge // width, []).append((edge % width, wire))

    counts = np.bincount(owner, minlength=n)
    starts = np.cumsum(counts) - counts
    first, second = np.full((2, n), n + NO_INPUT)
    first[counts > 0] = wires[starts[counts > 0]]
    second[counts > 1] = wires[starts[counts > 1] + 1]
    is_unlike = counts > 2
    is_unlike[list(outputs)] = True
    is_apart = np.zeros(n, np.bool_)
    is_apart[list(apart)] = True
    told = is_unlike & ~is_apart
    ends, all_wires = np.cumsum(counts[told]).tolist(), wires[told[owner]].tolist()
    spans = zip(np.flatnonzero(told).tolist(), [0, *ends], ends, strict=False)
    inputs = {place: all_wires[start:end] for place, start, end in spans}
    is_unlike |= is_apart
    first[is_unlike] = second[is_unlike] = n + UNLIKE
    places = np.arange(n) if isinstance(order, range) else np.array(order, np.int64)
    size = n + N_RESERVED + len(others)
    keys = sorts.of_table(table)[places]
    return Wiring(
        _array(places),
        _array(keys),
        _array(first[places]),
        _array(second[places]),
        inputs,
        outputs,
        size,
    )


def _array(column: Int64Array) -> array[int]:
    """The same in a form that Python reads as fast as a list."""
    return array("q", column.tobytes())
