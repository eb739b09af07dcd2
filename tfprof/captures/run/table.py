"""Tables of the tools, and their form in the reference's JSON (Google's chart tables)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tfprof.core.columns.arrow import stream_of
from tfprof.core.columns.described import Clock
from tfprof.core.columns.frames_of_rows import column_of
from tfprof.core.columns.mixins import DiffMixin, NotebookMixin

Cell = str | int | float | bool | None

Row = dict[str, Cell]
"""A row by column id."""


KINDS = {"string": "string", "boolean": "bool", "number": "number"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        id: Its name in JSON and CSV; the reference's if it has such a column.
        label: Its heading.
        type: Type of its cells; None in a cell means "unknown".
        unit: ``us``, ``ms``, ``bytes``, ``fraction`` (of one, shown as a percentage), ``percent``,
            ``gflops_per_s``, ``gib_per_s`` …; empty for texts and plain numbers.
        role: ``tooltip`` if the reference shows it on hovering.
        meaning: What it holds.
        clock: The clock of its times: ``host``, ``device``, ``both`` or ``of the row``.
        links: Pages with details on the name in a cell; the first page that has them counts.
    """

    id: str
    label: str
    type: Literal["string", "number", "boolean"] = "number"
    unit: str = ""
    role: str = ""
    meaning: str = ""
    clock: Clock = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Table(NotebookMixin, DiffMixin):
    """Rows of cells.

    Attributes:
        name: Unique in a result: ``steps``, ``host_ops`` …
        columns: Its columns.
        rows: A tuple of cells for each row, in the order of the columns.
        properties: The reference's custom properties, all of them texts.
        title: Its heading.
    """

    name: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    title: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Table {self.name}: {len(self):,} rows of {len(self.columns)} columns>"

    def to_rows(self) -> list[Row]:
        """Return the rows as dicts by column id."""
        ids = [column.id for column in self.columns]
        return [dict(zip(ids, row, strict=True)) for row in self.rows]

    def column(self, column_id: str) -> list[Cell]:
        """Return the cells of a column.

        Raises:
            KeyError: There is no such column.
        """
        for place, column in enumerate(self.columns):
            if column.id == column_id:
                return [row[place] for row in self.rows]
        raise KeyError(f"table {self.name} has no column {column_id!r}")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the table to pandas, polars, pyarrow or DuckDB; field metadata holds the units.

        ``polars.DataFrame(table)``, ``pandas.DataFrame.from_arrow(table)``. Numbers are int64 if
        all known ones are whole, else float64.

        Args:
            requested_schema: Ignored, as the protocol permits.
        """
        cells = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        made = [
            column_of(column.id, own, unit=column.unit, kind=KINDS[column.type])
            for column, own in zip(self.columns, cells, strict=True)
        ]
        return stream_of([field for field, _ in made], [[values for _, values in made]])

    def to_dict(self) -> dict[str, Any]:
        """Return columns, rows and properties as plain data."""
        columns = [
            {"id": column.id, "label": column.label, "type": column.type, "unit": column.unit}
            for column in self.columns
        ]
        data: dict[str, Any] = {"columns": columns, "rows": self.to_rows()}
        return data | ({"properties": dict(self.properties)} if self.properties else {})

    def to_gviz(self) -> dict[str, Any]:
        """Return the table as the reference writes it: numbers as floats, without units."""
        columns = []
        for column in self.columns:
            entry: dict[str, Any] = {"id": column.id, "label": column.label, "type": column.type}
            columns.append(entry | ({"p": {"role": column.role}} if column.role else {}))
        rows = [
            {
                "c": [
                    {"v": float(cell) if column.type == "number" and cell is not None else cell}
                    for column, cell in zip(self.columns, row, strict=True)
                ]
            }
            for row in self.rows
        ]
        data = {"cols": columns, "rows": rows}
        return data | ({"p": dict(self.properties)} if self.properties else {})
