"""Pages as files, for ``-o FILE.html`` and ``--format html``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfprof.cli.output import Target
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.ui.pages.document import Page

_ALWAYS_SHOWN = ("words", "remarks")
"""Kinds of blocks that go together with a table that is shown alone."""


def write_page(page: Page, source: str, target: Target) -> None:
    """Write a page as one file.

    Args:
        page: The page.
        source: Its subject, such as the names of files.
        target: The target of the file.
    """
    from tfprof.ui.web.report import one_page

    target.write(one_page(page, source).decode())


def with_choice(page: Page, table: str | None, top: int | None) -> Page:
    """A page with one of its tables, or with the first rows of all.

    Args:
        page: The page.
        table: Name of the table; None leaves all blocks.
        top: Rows of each table; None and 0 leave all.

    Raises:
        UsageError: There is no such table.
    """
    from tfprof.ui.pages.rows_table import first_rows

    blocks = list(page.blocks)
    if table is not None:
        tables = [block["id"] for block in blocks if block["kind"] == "table"]
        if table not in tables:
            names = ", ".join(tables) or "none"
            raise UsageError(f"no table {table!r} on the page {page.id}; it has: {names}")
        blocks = [b for b in blocks if b["kind"] in _ALWAYS_SHOWN or b.get("id") == table]
    return replace(page, blocks=[first_rows(block, top) if top else block for block in blocks])


def as_params(values: Mapping[str, Any]) -> dict[str, str]:
    """Options as parameters of a page's address; those that are not set are left out."""
    params = {}
    for name, value in values.items():
        if isinstance(value, bool):
            params[name] = "1" if value else "0"
        elif isinstance(value, (list, tuple)):
            params[name] = ",".join(map(str, value))
        elif value is not None:
            params[name] = str(value)
    return params
