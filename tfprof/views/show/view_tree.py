"""``ViewTree``, as users get it: with texts and pictures, of which views know nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.errors import UsageError
from tfprof.files.checkpoint.value_text import short_text
from tfprof.views import result as views
from tfprof.views.result import Row, ViewKind
from tfprof.views.variable_values import SELECT, shows_values, value_of_row

if TYPE_CHECKING:
    import graphviz

VIEWS: tuple[ViewKind, ...] = ("scope", "graph", "op", "code")


class ViewTree(views.ViewTree):
    """What a view shows (``tfprof.views.result.ViewTree``), and how to draw it."""

    def to_rows(self) -> list[Row]:
        """All shown nodes as flat dicts: ``name``, ``depth``, and every metric.

        If ``tensor_value`` is selected and there is a checkpoint, the scope and graph view have
        it, too: the first values of a variable as text, and how many more there are.

        Raises:
            InputError: Values can not be read.
        """
        rows = super().to_rows()
        if shows_values(self):
            for place, row in enumerate(rows):
                value = value_of_row(self, place)
                row[SELECT] = "" if value is None else short_text(value)
        return rows

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
        from tfprof.views.show.drawing import MAX_NODES, view_to_graphviz

        chosen = MAX_NODES if max_nodes is None else max_nodes
        return view_to_graphviz(self, attribute=attribute, max_nodes=chosen)


def view_kind(cmd: str) -> ViewKind:
    """The view that a command means.

    Raises:
        UsageError: There is none.
    """
    for kind in VIEWS:
        if cmd == kind:
            return kind
    raise UsageError(f"unknown cmd: {cmd!r}; use one of {', '.join(VIEWS)}")
