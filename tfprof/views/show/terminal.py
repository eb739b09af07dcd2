"""Views for people at a terminal: op types as a table, the other views as trees with columns.

The numbers equal those of the text report. ``view_rows`` explains the dashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

from tfprof.core.text.guides import Guides
from tfprof.core.text.tables import UNICODE, Column, Glyphs, Grid
from tfprof.core.text.units import human_share
from tfprof.views.result import ViewTree
from tfprof.views.show.view_rows import NAME_HEADERS, Numbers, ViewRows

_MAX_GUIDES = 20
"""Levels of tree lines; deeper rows say their depth instead."""


@dataclass(frozen=True)
class ViewTable:
    """A view as a rich renderable.

    Attributes:
        tree: The view.
        max_rows: Show no more rows than this, the largest ones; 0 shows all.
        glyphs: What to draw with.
        hint: Say below how to see rows that were left out.
        own: Show own costs of the rows of a tree, where there is room.
    """

    tree: ViewTree
    max_rows: int = 0
    glyphs: Glyphs = UNICODE
    hint: bool = True
    own: bool = True

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, _Builder(self).grid())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        builder = _Builder(self)
        grid = builder.grid()
        yield grid
        if not self.hint:
            return
        for remark in builder.remarks(grid.left_out(options.max_width)):
            yield Text(self.glyphs.text(remark), style="dim")


class _Builder:
    """Makes the grid of one view."""

    def __init__(self, table: ViewTable) -> None:
        self.view = ViewRows(table.tree, table.max_rows, table.glyphs)
        self.glyphs = table.glyphs
        self.own = table.own
        # A list has its total at the end.
        places = [*range(len(self.view.lines))]
        self.places = [*places[1:], 0] if self.view.is_list else places
        self.lines = [self.view.lines[place] for place in self.places]

    def grid(self) -> Grid:
        """The columns that the options select, for the rows that are shown."""
        columns = [self._names()]
        leave_out = 0
        for numbers in self.view.numbers():
            # The number of definitions is left out together with the number of runs before it.
            leave_out -= 2 if numbers.metric is None else 0
            columns += self._numbers(numbers, leave_out)
            leave_out += 2
        for title, texts in self.view.texts():
            cells = [texts[place] for place in self.places]
            columns.append(Column(title, "text", cells, leave_out=30))
        if not self.view.is_list:
            return Grid(columns, self.glyphs, strong_rows=frozenset({0}))
        last = frozenset({len(self.lines) - 1})
        return Grid(columns, self.glyphs, strong_rows=last, rule_before=last)

    def remarks(self, left_out: Sequence[str]) -> Iterator[str]:
        """What is left out, and how to see it."""
        yield from self.view.remarks()
        if left_out:
            yield f"no room for: {', '.join(left_out)}. Widen the terminal or select less"

    def _names(self) -> Column:
        header = NAME_HEADERS[self.view.tree.kind]
        names = [line.name for line in self.lines]
        if self.view.is_list:
            return Column(header, "name", names)
        hidden = [f" +{line.left_out}" if line.left_out else "" for line in self.lines]
        parents, depths = zip(*((line.parent, line.depth) for line in self.lines), strict=True)
        guides = Guides.of_grid(self.glyphs).texts(parents, depths, _MAX_GUIDES)
        return Column(header, "name", names, guides=guides, suffixes=hidden)

    def _numbers(self, numbers: Numbers, leave_out: int) -> list[Column]:
        """The columns of one metric: the number, its share, and the row's own part."""
        title, colour = numbers.title, numbers.colour
        cells = [numbers.texts[place] for place in self.places]
        columns = [Column(title, "number", cells, leave_out=leave_out, header_style=colour)]
        if numbers.metric is None or numbers.metric != self.view.primary:
            return columns
        if numbers.whole > 0:
            columns += self._shares(numbers)
        if self.own and not self.view.is_list:
            cells = [numbers.own[place] or self.glyphs.missing for place in self.places]
            columns.append(Column("own", "number", cells, leave_out=20, about=f"own {title}"))
        return columns

    def _shares(self, numbers: Numbers) -> list[Column]:
        values = [numbers.values[place] or 0 for place in self.places]
        # The longest bar is full: the largest row of a list, or the root of a tree.
        longest = numbers.whole
        if self.view.is_list:
            longest = max(values[:-1], default=longest)
        shares = [value / longest if 0 < value <= longest else None for value in values]
        percents = [human_share(value, numbers.whole) if value > 0 else "" for value in values]
        colour = numbers.colour
        return [
            Column("share", "number", percents, leave_out=1, header_style=colour),
            Column("", "bar", percents, shares, style=colour, leave_out=1),
        ]
