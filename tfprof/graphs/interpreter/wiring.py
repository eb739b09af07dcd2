"""The nodes of a body as numbers, so that a walk need not make each of them.

Nodes of the same kind with the same declared shapes have the same *sort*. Sort and inputs together
determine the outputs.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.graphs.model.node_table import NodeTable, as_array

_LIST_BITS = 31
"""Bits for the number of a list of shapes in a sort; the others are for the kind."""

UNKNOWN_ID, NO_INPUT, UNLIKE = 0, 1, 2
"""Reserved numbers: an unknown tensor, a missing input, and an input that no key may contain."""

N_RESERVED = 3


@dataclass(frozen=True, slots=True)
class Wiring:
    """The columns that a walk needs of the nodes.

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


def wiring_of(nodes: NodeTable, order: Sequence[int], unlike: Collection[int]) -> Wiring:
    """The wiring of a body for a walk in some order.

    ``unlike`` are places of nodes whose sort and inputs do not determine their outcome.
    """
    n = len(nodes)
    is_data = nodes.ports >= 0
    sources, slots = nodes.sources[is_data], nodes.ports[is_data]
    owner = np.repeat(np.arange(n), np.diff(nodes.offsets))[is_data]
    wires = np.where(sources < 0, n + UNKNOWN_ID, sources)
    is_other = (slots > 0) & (sources >= 0)
    outputs: dict[int, list[tuple[int, int]]] = {}
    size = n + N_RESERVED
    if is_other.any():
        width = int(slots.max()) + 1
        others, at = np.unique(sources[is_other] * width + slots[is_other], return_inverse=True)
        wires[is_other] = size + at.reshape(-1)
        for wire, edge in enumerate(others.tolist(), size):
            outputs.setdefault(edge // width, []).append((edge % width, wire))
        size += len(others)

    counts = np.bincount(owner, minlength=n)
    starts = np.cumsum(counts) - counts
    first, second = np.full((2, n), n + NO_INPUT)
    first[counts > 0] = wires[starts[counts > 0]]
    second[counts > 1] = wires[starts[counts > 1] + 1]
    is_unlike = counts > 2
    is_unlike[list(outputs)] = True
    by_itself = np.zeros(n, np.bool_)
    by_itself[list(unlike)] = True
    listed = is_unlike & ~by_itself
    ends, all_wires = np.cumsum(counts[listed]).tolist(), wires[listed[owner]].tolist()
    spans = zip(np.flatnonzero(listed).tolist(), [0, *ends], ends, strict=False)
    inputs = {place: all_wires[start:end] for place, start, end in spans}
    is_unlike |= by_itself
    first[is_unlike] = second[is_unlike] = n + UNLIKE
    places = np.arange(n) if isinstance(order, range) else np.array(order, np.int64)
    sorts = (nodes.kind_ids[places] << _LIST_BITS) + nodes.shape_list_ids[places]
    return Wiring(
        as_array(places),
        as_array(sorts),
        as_array(first[places]),
        as_array(second[places]),
        inputs,
        outputs,
        size,
    )
