"""The code view as a drawing: a graph of calls."""

from __future__ import annotations

import numpy as np

from tfprof.core.text.drawing.plan import Drawing, Edge, Node
from tfprof.views.result import ViewTree
from tfprof.views.show.drawing.flows import Flows
from tfprof.views.show.drawing.labels import line
from tfprof.views.show.drawing.weights import Weights


def draw_calls(tree: ViewTree, weights: Weights, max_nodes: int) -> tuple[Drawing, Flows]:
    """Draw the heaviest lines of a code view, each with the number of its callees left out.

    A line is never heavier than its caller, so the callers of all drawn lines are drawn, too.
    """
    order = np.lexsort((np.arange(len(tree)), tree.depth, -weights.total))
    drawn = np.sort(order[order > 0][:max_nodes]).tolist()
    node_of_row = {row: node for node, row in enumerate(drawn)}
    here = _not_in_callees(tree, weights, drawn)
    largest_here = max(here.values(), default=0)
    largest = max((int(weights.total[row]) for row in drawn), default=0)
    drawing = Drawing()
    for row in drawn:
        own, total = int(weights.own[row]), int(weights.total[row])
        lines = [line(tree.names[row]), *_values(weights, own, total)]
        rest = _rest(tree, weights, row, node_of_row)
        about = "\n".join([tree.names[row], *lines[1:], *rest])
        share = here[row] / largest_here if largest_here else 0.0
        drawing.nodes.append(Node([*lines, *rest], about, share))
    for row in drawn:
        caller = node_of_row.get(int(tree.parent[row]))
        if caller is not None:
            total = int(weights.total[row])
            share = total / largest if largest else 0.0
            drawing.edges.append(Edge(caller, node_of_row[row], "call", weights.form(total), share))
    top = _rest(tree, weights, 0, node_of_row)
    if top:
        drawing.nodes.append(Node(top, "lines that are not drawn", kind="rest"))
    return drawing, Flows([], f"{weights.title} of the call", 0)


def _not_in_callees(tree: ViewTree, weights: Weights, drawn: list[int]) -> dict[int, int]:
    """The cost of each drawn line without its drawn callees."""
    here = {row: int(weights.total[row]) for row in drawn}
    for row in drawn:
        caller = int(tree.parent[row])
        if caller in here:
            here[caller] = max(0, here[caller] - int(weights.total[row]))
    return here


def _values(weights: Weights, own: int, total: int) -> list[str]:
    if own == total:
        return [weights.text(own)]
    return [weights.text(total), f"own: {weights.text(own)}"] if own else [weights.text(total)]


def _rest(tree: ViewTree, weights: Weights, row: int, drawn: dict[int, int]) -> list[str]:
    """A line about the callees that are not drawn; none if all are."""
    rest = [child for child in tree.children_of(row) if child not in drawn]
    if not rest:
        return []
    value = int(weights.total[rest].sum())
    return [f"+ {len(rest):,} more" + (f": {weights.text(value)}" if value else "")]
