"""From a view to its drawing; that of the code view is a graph of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.core.text.drawing.dot import to_digraph
from tfprof.core.text.drawing.plan import Drawing, Edge, Node
from tfprof.errors import UsageError
from tfprof.views.result import ViewTree
from tfprof.views.show.drawing.flows import Flows
from tfprof.views.show.drawing.graphs import draw_operations, draw_scopes
from tfprof.views.show.drawing.labels import line
from tfprof.views.show.drawing.weights import Weights, choose_weights

if TYPE_CHECKING:
    import graphviz


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


MAX_NODES: Final = 50
"""More make a picture too large to read."""


def view_to_graphviz(
    tree: ViewTree, *, attribute: str | None = None, max_nodes: int = MAX_NODES
) -> graphviz.Digraph:
    """Draw a view.

    The graph view shows the heaviest ops, the scope view opens the heaviest scopes, both with
    the data that flows between them; the code view is a call graph. Dashed boxes count what is
    left out.

    Args:
        tree: A scope, graph or code view.
        attribute: What makes a node large and dark: ``micros``, ``bytes``, ``params``,
            ``float_ops`` …; None is the first of the view's ``select`` that has a value.
        max_nodes: Nodes to draw besides those dashed boxes.

    Raises:
        UsageError: The view has no edges, there is no such attribute, or ``max_nodes`` is not
            positive.
        MissingDependencyError: The package ``graphviz`` is not installed.
    """
    return to_digraph(draw_view(tree, attribute=attribute, max_nodes=max_nodes))


def draw_view(
    tree: ViewTree, *, attribute: str | None = None, max_nodes: int = MAX_NODES
) -> Drawing:
    """The drawing as plain data. Arguments and errors as in ``view_to_graphviz``."""
    if max_nodes < 1:
        raise UsageError(f"max_nodes={max_nodes} must be at least 1")
    if tree.kind == "op":
        raise UsageError(
            "the op view is a list, which has no edges to draw; draw the scope, graph or code view"
        )
    weights = choose_weights(tree, attribute)
    draw = {"graph": draw_operations, "scope": draw_scopes, "code": draw_calls}[tree.kind]
    drawing, flows = draw(tree, weights, max_nodes)
    drawing.title = _title(tree, drawing, weights, flows)
    return drawing


def _title(tree: ViewTree, drawing: Drawing, weights: Weights, flows: Flows) -> list[str]:
    """What is shown, and how to read it."""
    step = tree.options.step
    several = len(tree.profile.steps.steps) > 1
    of_step = f", step {step}" if step >= 0 else ", average of a step" if several else ""
    whole = weights.form(int(weights.total[0]))
    n_drawn = sum(node.kind != "rest" for node in drawing.nodes)
    things = {"graph": "ops", "scope": "scopes and ops", "code": "lines"}[tree.kind]
    own = "own " if tree.kind == "graph" else ""
    rest = ", without the lines below that are drawn" if tree.kind == "code" else ""
    lines = [
        f"{tree.kind} view{of_step}: {weights.title} {whole}; "
        f"{n_drawn:,} of {len(tree) - 1:,} {things}",
    ]
    if not own or weights.own.any():
        lines.append(f"size and colour of boxes: {own}{weights.title}{rest}")
    if flows.measure:
        lines.append(f"width of arrows: {flows.measure}")
    kinds = {edge.kind for edge in drawing.edges}
    dashes = [
        text
        for kind, text in (
            ("through", "dotted: data flow through ops that are not drawn"),
            ("control", "dashed: control inputs"),
        )
        if kind in kinds
    ]
    if dashes:
        lines.append("; ".join(dashes))
    if flows.n_left_out:
        lines.append(f"{flows.n_left_out:,} narrow arrows are left out; others connect these boxes")
    return lines
