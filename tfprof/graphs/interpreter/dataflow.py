"""The nodes of a body that run, and their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.graphs.model.node_table import NodeTable
from tfprof.graphs.model.program import Body

BACK_EDGES = frozenset({"NextIteration", "RefNextIteration"})
"""Ops that lead back to the start of a loop of TensorFlow 1."""

MERGE = frozenset({"Merge", "RefMerge"})


def roots_of_function(body: Body) -> list[int]:
    """Nodes that a function always runs: its results, and ops with side effects."""
    roots = [place for place, _ in body.results]
    roots += body.control_results
    if not body.control_results:  # graphs of early releases do not say what else runs
        nodes = body.nodes
        kinds = {kind_id: nodes.kinds[kind_id] for kind_id in nodes.kind_ids.tolist()}
        stateful = {kind_id for kind_id, kind in kinds.items() if kind.stateful}
        roots += [place for place, id_ in enumerate(nodes.kind_ids.tolist()) if id_ in stateful]
    return [place for place in roots if place >= 0]


def needed(body: Body, roots: Iterable[int]) -> bytearray:
    """The nodes that the roots need: 1 at their places."""
    nodes = body.nodes
    offsets, sources = nodes.offsets.tolist(), nodes.sources.tolist()
    wanted = bytearray(len(nodes))
    waiting = list(roots)
    while waiting:
        place = waiting.pop()
        if place >= 0 and not wanted[place]:
            wanted[place] = 1
            waiting += sources[offsets[place] : offsets[place + 1]]
    return wanted


def data_flow_order(body: Body, wanted: Sequence[int] | None = None) -> Sequence[int]:
    """Places of the nodes, producers first.

    Edges that lead back in a loop do not count. If a broken graph has any other cycle, its nodes
    follow in the order of the body.

    Args:
        body: The body.
        wanted: 1 at the places of the nodes to order, as from ``needed``; None for all.
    """
    nodes = body.nodes
    owners, sources = _forward_edges(nodes)
    if (sources < owners).all():  # as most graphs are written
        if wanted is None:
            return range(len(nodes))
        return [place for place, want in enumerate(wanted) if want]
    if wanted is None:
        wanted = bytearray(b"\1") * len(nodes)
    missing = [0] * len(nodes)
    readers: list[list[int]] = [[] for _ in missing]
    for place, source in zip(owners.tolist(), sources.tolist(), strict=True):
        if wanted[place]:
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


def _forward_edges(nodes: NodeTable) -> tuple[Int64Array, Int64Array]:
    """Node and producer of each input; missing producers and edges back in a loop are left out."""
    owners = np.repeat(np.arange(len(nodes)), np.diff(nodes.offsets))
    counts = nodes.sources >= 0
    starts_iteration = np.zeros(len(nodes), np.bool_)
    starts_iteration[nodes.of_types(BACK_EDGES)] = True
    if starts_iteration.any():
        merges = np.zeros(len(nodes), np.bool_)
        merges[nodes.of_types(MERGE)] = True
        counts &= ~(starts_iteration[nodes.sources] & merges[owners])
    return owners[counts], nodes.sources[counts]
