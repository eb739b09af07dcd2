"""Placeholder of the pages of views; the lead puts the real one in its place."""

from __future__ import annotations

from collections.abc import Mapping

from tfprof.pages.document import Page
from tfprof.pages.rows_table import rows_table
from tfprof.views.result import ViewTree


def view_page(tree: ViewTree, source: str, params: Mapping[str, str]) -> Page:
    """The page of a view."""
    most = int(params.get("max_rows", "0")) or None
    rows = [
        {name: str(v) if isinstance(v, (list, dict)) else v for name, v in row.items()}
        for row in tree.to_rows()
    ]
    return Page(tree.kind, tree.kind, source, [rows_table(tree.kind, "", rows[:most])])
