"""``ViewTree``, as users get it: it can also be drawn, which views themselves know nothing of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.renderers.drawing import MAX_NODES, view_to_graphviz
from tfprof.views import result as views

if TYPE_CHECKING:
    import graphviz


class ViewTree(views.ViewTree):
    """What a view shows (``tfprof.views.result.ViewTree``), and how to draw it."""

    def to_graphviz(
        self, *, attribute: str | None = None, max_nodes: int | None = None
    ) -> graphviz.Digraph:
        """The view as a picture.

        Args:
            attribute: What makes a node large and dark: ``micros``, ``bytes``, ``params``,
                ``float_ops`` …; by default the first of ``select`` that has a value.
            max_nodes: Nodes to draw, 50 by default; the lighter ones are counted in boxes.

        Raises:
            UsageError: It is an op view, which has no edges; or an argument is wrong.
            MissingDependencyError: The package ``graphviz`` is not installed.
        """
        chosen = MAX_NODES if max_nodes is None else max_nodes
        return view_to_graphviz(self, attribute=attribute, max_nodes=chosen)
