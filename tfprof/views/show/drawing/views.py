"""From a view to its drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.core.text.drawing.dot import to_digraph
from tfprof.core.text.drawing.plan import Drawing
from tfprof.errors import UsageError
from tfprof.views.result import ViewTree
from tfprof.views.show.drawing.calls import draw_calls
from tfprof.views.show.drawing.flows import Flows
from tfprof.views.show.drawing.name_scopes import draw_scopes
from tfprof.views.show.drawing.operations import draw_operations
from tfprof.views.show.drawing.weights import Weights, choose_weights

if TYPE_CHECKING:
    import graphviz

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
