"""Variables of a checkpoint, as a table on a terminal and as rows for other formats."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tfprof.core.text.characters import UNICODE, Glyphs, escaped
from tfprof.core.text.metrics import BLUE, GREEN, ORANGE
from tfprof.core.text.tables import Column, Grid
from tfprof.core.text.units import human_memory
from tfprof.files.checkpoint.value_statistics import ValueStatistics
from tfprof.files.checkpoint.value_text import value_texts
from tfprof.files.checkpoint.variable_values import VariableValue

_LINE: Final = 96
"""Characters in a line of values."""


@dataclass(frozen=True, slots=True)
class VariableRow:
    """A variable as shown.

    Attributes:
        name: Its key without the common ending of TensorFlow 2's keys.
        key: Its key.
        full_name: Its name in the program, or nothing.
        dtype: TensorFlow's name of its type.
        shape: Its shape.
        n_values: How many values it has.
        n_bytes: Bytes of the values; None if unknown.
        statistics: None if not requested, or if the values are missing or not real numbers.
    """

    name: str
    key: str
    full_name: str
    dtype: str
    shape: tuple[int, ...]
    n_values: int
    n_bytes: int | None
    statistics: ValueStatistics | None = None


@dataclass(frozen=True)
class VariableTable:
    """Variables as a rich renderable.

    Attributes:
        rows: The variables.
        with_statistics: Show statistics.
        n_all: How many variables there are, shown or not.
        glyphs: What to draw with.
    """

    rows: Sequence[VariableRow]
    with_statistics: bool
    n_all: int
    glyphs: Glyphs = UNICODE

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.rows:
            grid = self._grid()
            yield grid
            left_out = grid.left_out(options.max_width)
            if left_out:
                yield Text(f"no room for: {', '.join(left_out)}", style="dim")
            yield Text()
        yield Text(self.glyphs.text(total_line(self.rows, self.n_all)), no_wrap=True)

    def _grid(self) -> Grid:
        rows = self.rows
        columns = [
            Column("variable", "name", [escaped(row.name) for row in rows]),
            Column("type", "text", [row.dtype for row in rows], leave_out=20),
            Column("shape", "number", [shape_text(row.shape) or "scalar" for row in rows],
                   header_style=GREEN),
            Column("values", "number", [f"{row.n_values:,}" for row in rows],
                   header_style=GREEN, leave_out=50),
            Column("size", "number", [self._size(row) for row in rows], header_style=ORANGE,
                   leave_out=30),
        ]  # fmt: skip
        if any(row.full_name and row.full_name != row.name for row in rows):
            names = [escaped(row.full_name) for row in rows]
            columns.insert(1, Column("in the program", "text", names, leave_out=60))
        if self.with_statistics:
            columns += self._statistics()
        return Grid(columns, self.glyphs)

    def _size(self, row: VariableRow) -> str:
        return self.glyphs.missing if row.n_bytes is None else human_memory(row.n_bytes)

    def _statistics(self) -> Iterator[Column]:
        statistics = [row.statistics for row in self.rows]
        for header, attribute, leave_out in (
            ("min", "minimum", 0), ("max", "maximum", 0), ("mean", "mean", 0),
            ("std dev", "standard_deviation", 10),
        ):  # fmt: skip
            numbers = [
                getattr(each, attribute) if each is not None else None for each in statistics
            ]
            cells = [self._number(number) for number in numbers]
            yield Column(header, "number", cells, header_style=BLUE, leave_out=leave_out)
        for header, attribute in (("zeros", "n_zeros"), ("NaN", "n_nan"), ("Inf", "n_infinite")):
            counts = [getattr(each, attribute) if each is not None else None for each in statistics]
            if header == "zeros" or any(counts):
                cells = [self.glyphs.missing if n is None else f"{n:,}" for n in counts]
                yield Column(header, "number", cells, leave_out=40 if header == "zeros" else 0)

    def _number(self, number: float | None) -> str:
        return self.glyphs.missing if number is None else short_number(number)


def short_number(number: float) -> str:
    """Three digits, or all digits of a whole number below a million."""
    if isinstance(number, int) and abs(number) < 1_000_000:
        return str(number)
    return f"{number:.3g}"


def shape_text(shape: Sequence[int]) -> str:
    """``3x3x64``; nothing for a scalar."""
    return "x".join(map(str, shape))


def total_line(rows: Sequence[VariableRow], n_all: int) -> str:
    """``2 variables, 2,048 values, 8.19 kB``; of how many, if not all are shown."""
    n_values = sum(row.n_values for row in rows)
    n_bytes = sum(row.n_bytes or 0 for row in rows)
    of_all = "" if len(rows) == n_all else f" of {n_all:,}"
    what = "variable" if n_all == 1 else "variables"
    unknown = sum(row.n_bytes is None for row in rows)
    more = f" and {unknown:,} of unknown size" if unknown else ""
    return f"{len(rows):,}{of_all} {what}, {n_values:,} values, {human_memory(n_bytes)}{more}"


def plain_rows(rows: Sequence[VariableRow], *, with_statistics: bool) -> list[dict[str, Any]]:
    """The variables as dicts; None for unknown values."""
    plain = []
    for row in rows:
        known: dict[str, Any] = {
            "name": row.key,
            "full_name": row.full_name,
            "dtype": row.dtype,
            "shape": list(row.shape),
            "n_values": row.n_values,
            "n_bytes": row.n_bytes,
        }
        if with_statistics:
            for name in (
                "minimum", "maximum", "mean", "standard_deviation", "n_zeros", "n_nan",
                "n_infinite",
            ):  # fmt: skip
                known[name] = None if row.statistics is None else getattr(row.statistics, name)
        plain.append(known)
    return plain


# Values in full


def values_text(name: str, value: VariableValue) -> str:
    """A heading, and all values in brackets, each row of the last dimension in lines of its own."""
    if value.values is None:
        return f"{escaped(name)} ({value.dtype})\nonly the code that wrote it can read it\n"
    shape = value.values.shape
    kind = f"{value.dtype}, {shape_text(shape)}" if shape else value.dtype
    heading = f"{escaped(name)} ({kind})\n"
    texts = value_texts(value)
    if not shape:
        return f"{heading}{next(texts)}\n"
    if not math.prod(shape):
        return f"{heading}[]\n"
    return heading + "".join(_rows(shape, texts)) + "\n"


def _rows(shape: Sequence[int], texts: Iterator[str]) -> Iterator[str]:
    rank = len(shape)
    levels = [math.prod(shape[axis:]) for axis in range(rank)]
    used = 0
    for place, text in enumerate(texts):
        opened = sum(place % size == 0 for size in levels)
        if opened:
            before = ",\n" + " " * (rank - opened) if place else ""
            yield before + "[" * opened
            used = rank
        elif used + len(text) > _LINE:
            yield ",\n" + " " * rank
            used = rank
        else:
            yield ", "
        yield text
        used += len(text) + 2
        yield "]" * sum((place + 1) % size == 0 for size in levels)


def nested_values(value: VariableValue) -> Any:
    """Values as JSON has them: nested lists of numbers and texts.

    Numbers are the shortest that read back as the same; NaN and infinity are texts.
    """
    if value.values is None:
        return None
    plain = np.empty(value.flat.size, np.object_)
    for place, text in enumerate(value_texts(value)):
        plain[place] = _json_value(value, place, text)
    return plain.reshape(value.values.shape).tolist()


def value_rows(name: str, value: VariableValue) -> Iterator[dict[str, Any]]:
    """One flat dict for each value: the variable's name, its indices, and the value as text."""
    if value.values is None:
        return
    indices = np.ndindex(value.values.shape)
    for index, text in zip(indices, value_texts(value), strict=True):
        yield {"name": name, "index": ",".join(map(str, index)), "value": text}


def _json_value(value: VariableValue, place: int, text: str) -> Any:
    kind = value.flat.dtype.kind
    if kind == "O":
        return value.flat[place].decode("utf-8", "backslashreplace")
    if kind == "f":
        number = float(text)
        return number if math.isfinite(number) else text
    return json.loads(text.lower()) if kind in "biu" else text
