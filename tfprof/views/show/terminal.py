"""Views for terminals: op types as a table, the other views as trees with columns.

The numbers equal those of the text report. ``view_rows`` explains the dashes. An outline has one
line for each row, which can be searched and pasted on its own: there is no header, every number
carries its unit, and all but times say what they count. The lines of a tree hang together by their
guides; op types follow each other below their total.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from tfprof.core.text.characters import UNICODE, Glyphs
from tfprof.core.text.folding import fitted
from tfprof.core.text.guides import Guides
from tfprof.core.text.tables import GAP, Column, Grid, fitting
from tfprof.core.text.units import human_share
from tfprof.views.result import ViewTree
from tfprof.views.show.view_rows import NAME_HEADERS, Line, Numbers, ViewRows

_MAX_GUIDES = 20
"""Levels of tree lines; deeper rows say their depth instead."""


@dataclass(frozen=True)
class ViewTable:
    """A view as a rich renderable.

    Attributes:
        tree: The view.
        max_rows: Show no more rows than this, the largest ones; 0 shows all.
        glyphs: What to draw with.
        hint: Whether to add a hint on how to see rows that were left out.
        own: Whether to show own costs of the rows of a tree, where there is room.
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


MAX_GUIDES = 12
"""Levels of guides; deeper lines stand at the last level, with their depth as a number."""

_INDENT = 4
_NAME_COLUMN = 72
"""Names that are longer push their numbers to the right, where there is room."""
_MIN_NAME = 20

Piece = tuple[str, str]
"""Text and its rich style."""


@dataclass(frozen=True)
class ViewOutline:
    """A view as a rich renderable, fitted to the width of the console.

    Attributes:
        tree: The view.
        max_rows: Show no more rows than this, the largest ones; 0 shows all.
        glyphs: What to draw with.
    """

    tree: ViewTree
    max_rows: int = 0
    glyphs: Glyphs = UNICODE

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines, remarks = _outline(self.tree, self.glyphs, self.max_rows, options.max_width)
        for pieces in lines:
            for text, style in pieces:
                yield Segment(text, Style.parse(style) if style else None)
            yield Segment.line()
        for remark in remarks:
            yield Segment(remark, Style(dim=True))
            yield Segment.line()


def _outline(
    tree: ViewTree, glyphs: Glyphs, max_rows: int, width: int
) -> tuple[list[list[Piece]], list[str]]:
    """Lines in pieces, and the remarks below them."""
    rows = ViewRows(tree, max_rows, glyphs)
    # In a narrow terminal guides take no more than a third of it.
    guides = _guides(rows.lines, glyphs, min(MAX_GUIDES, max(2, width // 3 // _INDENT)))
    suffixes = [f" +{line.left_out}" if line.left_out else "" for line in rows.lines]
    longest = max(
        cell_len(guide) + cell_len(line.name) + len(suffix)
        for guide, line, suffix in zip(guides, rows.lines, suffixes, strict=True)
    )
    least = min(longest, _MIN_NAME + max(map(cell_len, guides)))
    columns = _tail(rows)
    tail = fitting(columns, [column.width + GAP for column in columns], width - least)
    shown = set(map(id, tail))
    left_out = sorted((c for c in columns if id(c) not in shown), key=lambda c: c.leave_out)
    room = max(width - sum(column.width + GAP for column in tail), least)
    column = min(longest, room, _NAME_COLUMN)

    widths = [cell_len(g) + len(s) for g, s in zip(guides, suffixes, strict=True)]
    rooms = [max(room - width, 1) for width in widths]
    names = fitted([line.name for line in rows.lines], rooms, glyphs.ellipsis)
    lines = []
    for place, (name, around) in enumerate(zip(names, widths, strict=True)):
        pieces = [
            (guides[place], "dim"),
            (name, "bold" if place == 0 else ""),
            (suffixes[place], "dim"),
            (" " * (column - around - cell_len(name)), ""),
        ]
        for each in tail:
            pieces += [(" " * GAP, ""), *each.cells[place]]
        lines.append(_stripped(pieces))
    remarks = [*rows.remarks()]
    if left_out:
        remarks.append(f"no room for: {', '.join(column.about for column in left_out)}")
    wrapped = [part for text in remarks for part in wrap(glyphs.text(text), width)]
    return lines, wrapped


def _stripped(pieces: list[Piece]) -> list[Piece]:
    """The line without blanks at its end."""
    while pieces and not pieces[-1][0].strip():
        pieces.pop()
    if pieces:
        pieces[-1] = (pieces[-1][0].rstrip(), pieces[-1][1])
    return [piece for piece in pieces if piece[0]]


def _guides(lines: Sequence[Line], glyphs: Glyphs, most: int) -> list[str]:
    """The guide before each name; below ``most`` levels, the depth as a number."""
    rule, bar = glyphs.rule * 2, glyphs.line.rstrip()
    branch, last_branch = ((g.rstrip() + rule)[:3] for g in (glyphs.branch, glyphs.last_branch))
    marks = Guides(
        f"{branch} ",
        f"{last_branch} ",
        bar.ljust(_INDENT),
        " " * _INDENT,
        lambda depth: f"{glyphs.ellipsis}{depth} ",
    )
    return marks.texts([line.parent for line in lines], [line.depth for line in lines], most)


@dataclass(frozen=True, slots=True)
class _Column:
    """Cells of equal width behind the names.

    Attributes:
        about: What they show.
        width: In character cells.
        leave_out: Columns with the highest number go first where width is short; 0 stays.
        cells: The pieces of each line.
    """

    about: str
    width: int
    leave_out: int
    cells: Sequence[list[Piece]]


def _tail(rows: ViewRows) -> list[_Column]:
    columns = []
    for place, numbers in enumerate(rows.numbers()):
        is_primary = numbers.metric is not None and numbers.metric == rows.primary
        columns.append(_amounts(numbers, 0 if is_primary else 10 + place))
        if numbers.whole > 0:
            leave_out = 5 if is_primary else 30 + place
            columns.append(_shares(numbers, leave_out))
        if is_primary:
            columns += _own(numbers)
    for title, texts in rows.texts():
        width = max(map(cell_len, texts))
        columns.append(_Column(title, width, 50, [_padded(text, width, "dim") for text in texts]))
    return columns


def _amounts(numbers: Numbers, leave_out: int) -> _Column:
    """The numbers with what they count: ``93.8 MB memory``, ``12 runs``."""
    if numbers.title == "time":
        pairs = [_with_unit(text) for text in numbers.texts]
        unit = max(len(unit) for _, unit in pairs)
        cells = [f"{number} {label:<{unit}}" if unit else number for number, label in pairs]
    else:
        singular = numbers.title.removesuffix("s")
        cells = [f"{text} {singular if text == '1' else numbers.title}" for text in numbers.texts]
    width = max(map(len, cells))
    return _Column(numbers.title, width, leave_out, [[(cell.rjust(width), "")] for cell in cells])


def _with_unit(text: str) -> tuple[str, str]:
    number, _, unit = text.rpartition(" ")
    return (number, unit) if number else (text, "")


def _shares(numbers: Numbers, leave_out: int) -> _Column:
    texts = []
    for value in numbers.values:
        texts.append(human_share(value, numbers.whole) if value and value > 0 else "")
    width = max(map(len, texts))
    cells = [[(text.rjust(width), numbers.colour)] for text in texts]
    return _Column(f"share of {numbers.title}", width, leave_out, cells)


def _own(numbers: Numbers) -> list[_Column]:
    """Own costs, where they are not 0 and differ from the total."""
    texts = [
        f"own {text}" if own and own != value else ""
        for text, own, value in zip(numbers.own, numbers.own_values, numbers.values, strict=True)
    ]
    width = max(map(len, texts))
    cells = [_padded(text, width, "dim") for text in texts]
    return [_Column(f"own {numbers.title}", width, 20, cells)] if width else []


def _padded(text: str, width: int, style: str = "") -> list[Piece]:
    return [(text, style), (" " * (width - cell_len(text)), "")]
