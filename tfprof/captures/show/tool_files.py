"""Results of tools as files: JSON, CSV, the reference's JSON, and traces."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.table import Table
from tfprof.core.text.csv_text import csv_lines
from tfprof.core.text.trace_json import blocks, lines_of, whole_trace

_PACKED: Final = (".gz", ".xz", ".zst")


def result_json(result: ToolResult) -> str:
    """Write ``to_dict`` as JSON with a line for each row; NaN and infinities become null."""
    data = result.to_dict()
    tables = data.pop("tables")
    parts = [f"{_json(key)}: {_json(value)}" for key, value in data.items()]
    written = ",\n".join(f"{_json(name)}: {_table(table)}" for name, table in tables.items())
    place = next((n for n, key in enumerate(data) if key == "charts"), len(parts))
    parts.insert(place, f'"tables": {{{written}}}')
    return "{" + ",\n".join(parts) + "}\n"


def table_json(table: Table) -> str:
    """Write one table as JSON with a line for each row."""
    return f"{_table(table.to_dict())}\n"


def table_csv(table: Table) -> str:
    """Write a header of column ids and one line for each row; None is an empty cell."""
    return "".join(csv_lines([column.id for column in table.columns], table.rows))


def table_paths(path: Path, tables: Iterable[str]) -> dict[str, Path]:
    """Make a file name for each table from a path.

    >>> table_paths(Path("out.csv"), ["steps"])
    {'steps': PosixPath('out.steps.csv')}
    """
    packed = next((ending for ending in _PACKED if path.name.endswith(ending)), "")
    plain = Path(path.name.removesuffix(packed))
    return {name: path.with_name(f"{plain.stem}.{name}{plain.suffix}{packed}") for name in tables}


def gviz_json(data: Any) -> str:
    """Write the reference's JSON."""
    return f"{_json(data)}\n"


def trace_chunks(trace: Mapping[str, Any]) -> Iterator[bytes]:
    """Write the content of a Chrome trace, with a line for each event."""
    head = {key: value for key, value in trace.items() if key != "traceEvents"}
    start = f'{_json(head)[:-1]}{", " if head else ""}"traceEvents": [\n'
    events = trace["traceEvents"]
    pieces = (lines_of(map(_json, events[some])) for some in blocks(len(events)))
    return whole_trace(pieces, start.encode())


def _table(table: Mapping[str, Any]) -> str:
    rows = ",\n".join(_json(row) for row in table["rows"])
    parts = [f'"columns": {_json(table["columns"])}', f'"rows": [\n{rows}\n]']
    if "properties" in table:
        parts.append(f'"properties": {_json(table["properties"])}')
    return "{" + ", ".join(parts) + "}"


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    except ValueError:  # JSON has neither NaN nor infinities
        return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    """Convert NumPy's numbers and other types to a value for JSON."""
    return value.item() if hasattr(value, "item") else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, (list, tuple)) else value
