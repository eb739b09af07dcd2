"""In which order the nodes of a body compute, and which of them compute at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tfprof.graphs.model.node_table import NodeTable
from tfprof.graphs.model.program import Body

BACK_EDGES = frozenset({"NextIteration", "RefNextIteration"})
"""Ops that lead back to the start of a loop of TensorFlow 1."""

_MERGES = frozenset({"Merge", "RefMerge"})


def roots_of_function(body: Body) -> list[int]:
    """Nodes that a function runs in any case: its results, and what does more than compute."""
    roots = [place for place, _ in body.results]
    roots += body.control_results
    if not body.control_results:  # graphs of early releases do not say what else runs
        roots += [place for place, node in enumerate(body.nodes) if node.kind.stateful]
    return [place for place in roots if place >= 0]


def needed(body: Body, roots: Iterable[int]) -> bytearray:
    """Which nodes run so that the roots can: 1 at their places."""
    nodes = body.nodes
    wanted = bytearray(len(nodes))
    waiting = list(roots)
    while waiting:
        place = waiting.pop()
        if place < 0 or wanted[place]:
            continue
        wanted[place] = 1
        node = nodes[place]
        waiting.extend(source for source, _ in node.inputs)
        waiting.extend(node.controls)
    return wanted


def data_flow_order(body: Body, wanted: Sequence[int] | None = None) -> Sequence[int]:
    """Places of the nodes, producers first.

    Edges that lead back in a loop do not count. In a cycle that is none of TensorFlow's, which no
    graph should have, nodes follow in the order of the body.

    Args:
        body: The body.
        wanted: 1 at the places of the nodes to order, as from ``needed``; None for all.
    """
    nodes = body.nodes
    if _is_ordered(body):
        if wanted is None:
            return range(len(nodes))
        return [place for place, want in enumerate(wanted) if want]
    if wanted is None:
        wanted = bytearray(b"\1") * len(nodes)
    missing = [0] * len(nodes)
    readers: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        if not wanted[place]:
            continue
        sources = [source for source, _ in node.inputs]
        sources += node.controls
        for source in sources:
            if source >= 0 and not _leads_back(body, source, place):
                missing[place] += 1
                readers[source].append(place)
    ready = [place for place, want in enumerate(wanted) if want and not missing[place]]
    order: list[int] = []
    done = bytearray(len(nodes))
    left = iter([place for place, want in enumerate(wanted) if want])
    while True:
        for place in ready:  # grows while it is walked
            done[place] = 1
            order.append(place)
            for reader in readers[place]:
                missing[reader] -= 1
                if not missing[reader] and not done[reader]:
                    ready.append(reader)
        stuck = next((place for place in left if not done[place]), None)
        if stuck is None:
            return order
        done[stuck] = 1  # a cycle
        ready = [stuck]


def _is_ordered(body: Body) -> bool:
    """Whether every node stands behind its producers, as most graphs are written."""
    if isinstance(body.nodes, NodeTable):
        table = body.nodes
        owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
        is_ahead = table.sources >= owner
        controls = table.ports < 0
        return not (is_ahead & controls).any() and all(
            _leads_back(body, source, place)
            for source, place in zip(
                table.sources[is_ahead].tolist(), owner[is_ahead].tolist(), strict=True
            )
        )
    for place, node in enumerate(body.nodes):
        for source, _ in node.inputs:
            if source >= place and not _leads_back(body, source, place):
                return False
        for source in node.controls:
            if source >= place:
                return False
    return True


def _leads_back(body: Body, source: int, place: int) -> bool:
    nodes = body.nodes
    return nodes[source].kind.op in BACK_EDGES and nodes[place].kind.op in _MERGES
