"""The HLO stats' JSON."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from tfprof.captures.events.ops.device_ops import DeviceOp
from tfprof.captures.run.table import Table
from tfprof.captures.tools.hlo_statistics import source_text


def to_json(table: Table, ops: Sequence[DeviceOp]) -> dict[str, Any]:
    """Make the JSON of the table, with call stacks in the cells of the source."""
    place = [column.id for column in table.columns].index("source_info")
    rows = [
        (*row[:place], _source_html(op), *row[place + 1 :])
        for row, op in zip(table.rows, ops, strict=True)
    ]
    return Table(table.name, table.columns, rows).to_gviz()


def _source_html(op: DeviceOp) -> str:
    """The source of an op with its call stack, as in the reference."""
    text = source_text(op)
    if not text:
        return ""
    stack = html.escape(op.source[2], quote=True)
    return f"<span title='{stack}'>{html.escape(text)}</span>"
