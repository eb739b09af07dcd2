"""Draws chart data of tools with characters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from tfprof.captures.run.result import Chart
from tfprof.captures.show.tool_values import number_text
from tfprof.core.text.characters import Glyphs, escaped
from tfprof.core.text.folding import fitted, folded
from tfprof.core.text.metrics import BLUE, GREEN, ORANGE, PINK
from tfprof.core.text.tables import Column, Grid, text_line

_FILLS: Final = "█▓▒░▞▚▤▥▦▧▨▩"
_ASCII_FILLS: Final = "#=+-:.oxs*%@"
_COLOURS: Final = (
    BLUE, ORANGE, GREEN, PINK, "#f0e442", "#3355dd", "#b22222", "#aa4499", "#7a7a7a", "#ee6677",
    "#66dd66", "#dd66dd",
)  # fmt: skip
"""As many colours as fills; they also differ on terminals with 16 colours."""
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_ASCII_LEVELS: Final = "_.-=+*#"
_UNITS: Final = re.compile(r"\((\w+)\)$|^(us|µs|ms|ns|ps|s|bytes|fraction|percent)$")
_MOST_LABEL: Final = 28
_MOST_BAR: Final = 60


def chart_lines(chart: Chart, top: int, width: int, glyphs: Glyphs) -> Iterator[Text | Grid]:
    """Draw a chart as lines; none for kinds that need a picture, or if there is nothing to draw.

    Args:
        chart: The data.
        top: Bars or parts to draw; 0 is all.
        width: Available width in cells.
        glyphs: Characters to draw with.
    """
    series = {
        name: values if all(map(math.isfinite, values))
        else tuple(value if math.isfinite(value) else 0.0 for value in values)
        for name, values in chart.series.items()
    }  # fmt: skip
    if not chart.x or not any(map(any, series.values())):
        return
    chart = replace(chart, series=series)
    # A few named steps are clearer as bars.
    are_named = chart.kind == "stacked_area" and all(isinstance(x, str) for x in chart.x)
    if chart.kind in ("stacked_bar", "bar") or are_named:
        yield from _stacked(chart, top, width, glyphs)
    elif chart.kind == "pie":
        yield from _parts(chart, top, width, glyphs)
    elif chart.kind in ("line", "stacked_area"):
        yield from _curves(chart, width, glyphs)


def _unit(label: str) -> str:
    """The unit at the end of a label: ``ms`` of ``time (ms)``, or of ``ms`` alone."""
    match = _UNITS.search(label)
    return (match[1] or match[2]).replace("µ", "u") if match else ""


def _stacked(chart: Chart, top: int, width: int, glyphs: Glyphs) -> Iterator[Text]:
    series = {name: values for name, values in chart.series.items() if any(values)}
    n_bars = min(top, len(chart.x)) if top else len(chart.x)
    totals = list(map(sum, zip(*series.values(), strict=True)))
    longest = max(totals) or 1.0
    labels = [_label(chart, x) for x in chart.x[:n_bars]]
    labels = fitted(labels, [_MOST_LABEL] * n_bars, glyphs.ellipsis)
    unit = _unit(chart.y_label)
    numbers = [glyphs.text(number_text(total, unit)) for total in totals[:n_bars]]
    label_width = max(map(cell_len, labels))
    number_width = max(map(len, numbers))
    room = max(10, min(width - label_width - number_width - 4, _MOST_BAR))
    styles = _styles(list(series), glyphs)
    for place in range(n_bars):
        blank = " " * (label_width - cell_len(labels[place]))
        line = text_line(f"{labels[place]}{blank}  {numbers[place]:>{number_width}}  ")
        values = [values[place] for values in series.values()]
        for (fill, colour), cells in zip(styles, _cells(values, longest, room), strict=True):
            line.append(fill * cells, style=colour)
        yield line
    if n_bars < len(chart.x):
        yield Text(f"{len(chart.x) - n_bars:,} more; --top 0 shows all", style="dim")
    if len(series) > 1 or chart.kind != "bar":
        yield from _legend(series, styles, width, glyphs)


def _label(chart: Chart, x: object) -> str:
    """The label of a bar; a bare number gets the name of the axis: ``step 3``."""
    text = escaped(str(x))
    return f"{escaped(chart.x_label)} {text}" if text.isdecimal() else text


def _cells(values: Sequence[float], longest: float, room: int) -> list[int]:
    """Cells of each part of a bar. It rounds the ends, so that errors do not add up."""
    cells, before, end = [], 0, 0.0
    for value in values:
        end += max(value, 0.0)
        edge = round(end / longest * room)
        cells.append(edge - before)
        before = edge
    return cells


def _styles(names: Sequence[str], glyphs: Glyphs) -> list[tuple[str, str]]:
    fills = _ASCII_FILLS if glyphs.is_ascii else _FILLS
    return [
        (fills[place % len(fills)], _COLOURS[place % len(_COLOURS)]) for place in range(len(names))
    ]


def _legend(
    series: dict[str, tuple[float, ...]],
    styles: Sequence[tuple[str, str]],
    width: int,
    glyphs: Glyphs,
) -> Iterator[Text]:
    """The name of each part and its share of all bars, several on a line."""
    whole = sum(map(sum, series.values()))
    line, used = text_line(""), 0
    for (name, values), (fill, colour) in zip(series.items(), styles, strict=True):
        share = number_text(sum(values) / whole, "fraction") if whole else ""
        text = f" {escaped(name)} {share}"
        if used and used + 4 + cell_len(text) > width:
            yield line
            line, used = text_line(""), 0
        if used:
            line.append("   ")
        line.append(fill, style=colour).append(glyphs.text(text), style="dim")
        used += 4 + cell_len(text)
    yield line


def _parts(chart: Chart, top: int, width: int, glyphs: Glyphs) -> Iterator[Text | Grid]:
    values = next(iter(chart.series.values()))
    whole, longest = sum(values), max(values)
    pairs = [(escaped(str(x)), value) for x, value in zip(chart.x, values, strict=True) if value]
    if top and len(pairs) > top:
        rest = sum(value for _, value in pairs[top:])
        pairs = [*pairs[:top], ("others", rest)]
        longest = max(longest, rest)
    unit = _unit(chart.y_label)
    cells = [glyphs.text(number_text(value, unit)) for _, value in pairs]
    shares = [number_text(value / whole, "fraction") for _, value in pairs]
    room = max(width // 2, _MOST_LABEL)
    names = fitted([name for name, _ in pairs], [room] * len(pairs), glyphs.ellipsis)
    lengths = [value / longest for _, value in pairs]
    header = _UNITS.sub("", chart.y_label).strip() or ("memory" if unit == "bytes" else "time")
    yield Grid(
        [
            Column(escaped(chart.x_label), "name", names),
            Column(escaped(header), "number", cells, header_style=BLUE),
            Column("share", "number", shares),
            Column("", "bar", [""] * len(pairs), lengths, style=BLUE, leave_out=1),
        ],
        glyphs,
    )


def _curves(chart: Chart, width: int, glyphs: Glyphs) -> Iterator[Text]:
    """One line for each series: its name, its curve, and its minimum and maximum."""
    unit = _unit(chart.y_label)
    series = {escaped(name): values for name, values in chart.series.items() if any(values)}
    label_width = min(max(map(cell_len, series)), _MOST_LABEL)
    room = max(10, min(width - label_width - 24, _MOST_BAR))
    for name, values in series.items():
        label = folded(name, label_width, glyphs.ellipsis)
        line = text_line(label + " " * (label_width - cell_len(label) + 2))
        line.append(_curve(values, room, glyphs), style=BLUE)
        least, most = number_text(min(values), unit), number_text(max(values), unit)
        span = most if least == most else f"{least} to {most}"
        yield line.append(glyphs.text(f"  {span}"), style="dim")


def _curve(values: Sequence[float], room: int, glyphs: Glyphs) -> str:
    """The maximum of each stretch as a level between the minimum and maximum of all."""
    levels = _ASCII_LEVELS if glyphs.is_ascii else _LEVELS
    least, most = min(values), max(values)
    room = min(room, len(values))
    text = ""
    for cell in range(room):
        part = values[cell * len(values) // room : (cell + 1) * len(values) // room]
        share = (max(part) - least) / (most - least) if most > least else 0.0
        text += levels[min(math.floor(share * len(levels)), len(levels) - 1)]
    return text
