"""Aligned columns for the terminal, as one rich renderable.

rich's own ``Table`` folds at the end of a cell and never leaves out a column; here names lose
their middle, and columns go by priority, so that a view can be read at 80 cells and at 200. Cells
are plain text: rich markup in them means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeVar

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from tfprof.core.text.characters import UNICODE, Glyphs
from tfprof.core.text.folding import fitted, folded, head

Kind = Literal["name", "text", "number", "bar"]

GAP = 2
"""Cells between columns."""

_MIN_NAME = 24
_MIN_TEXT = 12
_BAR_WIDTHS = (6, 20)

_GLUE = "\ue000"  # one cell wide, and no blank
_NUMBER_AND_UNIT = re.compile(r"(?<=\d) (?=(?:%|[µunpm]?s|(?:[kMGTP]i?)?(?:B|FLOP))(?!\w))")

_DIM = Style(dim=True)


class _Ranked(Protocol):
    @property
    def leave_out(self) -> int: ...


T = TypeVar("T", bound=_Ranked)


def fitting(columns: Sequence[T], widths: Sequence[int], room: int) -> list[T]:
    """The columns that fit.

    Args:
        columns: The columns. Those with the highest ``leave_out`` go first, of equal ones the
            last; 0 stays.
        widths: Width of each, with the gap behind it.
        room: Total width, with the gap behind the last.
    """
    lacking = sum(widths) - room
    gone = set()
    ranks = [column.leave_out for column in columns]
    for place in sorted(range(len(columns)), key=lambda place: (-ranks[place], -place)):
        if lacking <= 0 or ranks[place] <= 0:
            break
        gone.add(place)
        lacking -= widths[place]
    return [column for place, column in enumerate(columns) if place not in gone]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a ``Grid``.

    Attributes:
        header: Its header.
        kind: How cells are laid out: names and texts may be folded, numbers never.
        cells: Text of each row; numbers may end in a blank and a unit.
        shares: For bars: part of the whole, 0 to 1, None where there is none.
        guides: For names: the text before each, such as tree lines.
        suffixes: For names: the text after each, in grey.
        style: rich style of the cells.
        header_style: rich style of the header, which is bold besides.
        leave_out: Columns with the highest number go first where width is short; 0 stays.
        about: Its name in the list of columns that are left out.
    """

    header: str
    kind: Kind
    cells: Sequence[str]
    shares: Sequence[float | None] = ()
    guides: Sequence[str] = ()
    suffixes: Sequence[str] = ()
    style: str = ""
    header_style: str = ""
    leave_out: int = 0
    about: str = ""


@dataclass(frozen=True)
class Grid:
    """Columns over rows, with a header.

    Attributes:
        columns: The columns, all of the same length.
        glyphs: What to draw with.
        strong_rows: Rows in bold, such as totals.
        rule_before: Rows with a line above them.
        indent: Cells left of the grid.
    """

    columns: Sequence[Column]
    glyphs: Glyphs = UNICODE
    strong_rows: frozenset[int] = frozenset()
    rule_before: frozenset[int] = frozenset()
    indent: int = 0
    _layouts: dict[int, list[tuple[Column, int]]] = field(default_factory=dict, compare=False)

    def layout(self, width: int) -> list[tuple[Column, int]]:
        """Columns that fit into a width, each with its own width."""
        if width not in self._layouts:
            columns = [_aligned(column) for column in self.columns]
            layout = _layout(columns, width - self.indent)
            self._layouts[width] = [(self._fitted(column, room), room) for column, room in layout]
        return self._layouts[width]

    def _fitted(self, column: Column, width: int) -> Column:
        """The column with names and texts that fit into its width."""
        if column.kind not in ("name", "text"):
            return column
        rows = range(len(column.cells))
        around = [_around(column, row, width) for row in rows]
        rooms = [width - sum(map(cell_len, pair)) for pair in around]
        return replace(
            column,
            cells=fitted(column.cells, rooms, self.glyphs.ellipsis),
            guides=[guide for guide, _ in around] if column.guides else (),
            suffixes=[suffix for _, suffix in around] if column.suffixes else (),
        )

    def left_out(self, width: int) -> list[str]:
        """Columns that do not fit; bars without a name belong to the column before them."""
        shown = {column.header + column.about for column, _ in self.layout(width)}
        return [
            column.about or column.header
            for column in self.columns
            if column.header + column.about not in {*shown, ""}
        ]

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widths = [width for _, width in self.layout(options.max_width)]
        used = self.indent + sum(widths) + GAP * (len(widths) - 1)
        return Measurement(used, used)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        layout = self.layout(options.max_width)
        margin = Segment(" " * self.indent)
        newline = Segment.line()
        grey, bold = _DIM, Style(bold=True)
        styles = [console.get_style(column.style) for column, _ in layout]
        used = sum(width for _, width in layout) + GAP * (len(layout) - 1)

        yield margin
        yield from _spaced(
            _header(column, width, console.get_style(column.header_style) + bold)
            for column, width in layout
        )
        yield newline
        rule = [margin, Segment(self.glyphs.rule * used, grey), newline]
        yield from rule
        if console.color_system is None:  # a line is one piece: styles would not show
            plain = [_plain_cells(column, width, self.glyphs) for column, width in layout]
            for row, cells in enumerate(zip(*plain, strict=True)):
                if row in self.rule_before:
                    yield from rule
                yield Segment(margin.text + (" " * GAP).join(cells))
                yield newline
            return
        for row in range(len(self.columns[0].cells)):
            if row in self.rule_before:
                yield from rule
            strong = bold if row in self.strong_rows else None
            yield margin
            yield from _spaced(
                _cell(column, row, width, (style, strong), self.glyphs)
                for (column, width), style in zip(layout, styles, strict=True)
            )
            yield newline


def glued(text: str) -> str:
    """The text with each number and its unit as one word, to be wrapped; then ``unglued``."""
    return _NUMBER_AND_UNIT.sub(_GLUE, text)


def unglued(text: str) -> str:
    """The text as it was before ``glued``."""
    return text.replace(_GLUE, " ")


def text_line(text: str, style: str = "") -> Text:
    """Make a line that rich does not fold."""
    return Text(text, style=style, no_wrap=True, overflow="ignore")


def bar(share: float, width: int, glyphs: Glyphs = UNICODE) -> str:
    """A bar of ``share`` × ``width`` cells, in eighths of a cell; never empty above zero."""
    steps = len(glyphs.bars)
    units = round(max(0.0, min(share, 1.0)) * width * steps)
    if units == 0:
        return glyphs.bars[0] if share > 0 and steps > 1 else ""
    full, rest = divmod(units, steps)
    return glyphs.bars[-1] * full + (glyphs.bars[rest - 1] if rest else "")


def _aligned(column: Column) -> Column:
    """The column with units padded to equal width, so that the digits line up."""
    if column.kind != "number":
        return column
    pairs = [cell.rpartition(" ") if " " in cell else (cell, "", "") for cell in column.cells]
    widest = max((len(unit) for number, _, unit in pairs), default=0)
    if not widest:
        return column
    cells = [f"{number} {unit:<{widest}}" for number, _, unit in pairs]
    return replace(column, cells=cells)


def _natural(column: Column) -> int:
    if column.kind == "bar":
        return _BAR_WIDTHS[1]
    guides = column.guides or [""] * len(column.cells)
    suffixes = column.suffixes or [""] * len(column.cells)
    return max(
        cell_len(column.header),
        *(
            cell_len(guide) + cell_len(cell) + cell_len(suffix)
            for guide, cell, suffix in zip(guides, column.cells, suffixes, strict=True)
        ),
        0,
    )


def _least(column: Column, natural: int) -> int:
    if column.kind == "bar":
        return _BAR_WIDTHS[0]
    if column.kind == "number":
        return natural
    return min(natural, _MIN_NAME if column.kind == "name" else _MIN_TEXT)


def _layout(columns: Sequence[Column], width: int) -> list[tuple[Column, int]]:
    """Leave out columns until the rest fits, then share out the room that is left."""
    natural = {id(column): _natural(column) for column in columns}
    least = {id(column): _least(column, natural[id(column)]) for column in columns}
    kept = fitting(columns, [least[id(column)] + GAP for column in columns], width + GAP)
    widths = {id(column): least[id(column)] for column in kept}
    room = max(width + GAP - sum(widths.values()) - GAP * len(kept), 0)
    # Names first: a folded name costs the reader more than a short bar.
    for kind in ("name", "text", "bar"):
        for column in kept:
            if column.kind == kind:
                more = min(room, natural[id(column)] - widths[id(column)])
                widths[id(column)] += more
                room -= more
    return [(column, widths[id(column)]) for column in kept]


def _spaced(cells: Iterable[list[Segment]]) -> Iterator[Segment]:
    for index, cell in enumerate(cells):
        if index:
            yield Segment(" " * GAP)
        yield from cell


def _header(column: Column, width: int, style: Style) -> list[Segment]:
    text = folded(column.header, width)
    room = " " * (width - cell_len(text))
    if column.kind == "number":
        return [Segment(room), Segment(text, style)]
    return [Segment(text, style), Segment(room)]


def _around(column: Column, row: int, width: int) -> tuple[str, str]:
    """The texts before and after a name, as far as they fit."""
    guide = column.guides[row] if column.guides else ""
    suffix = column.suffixes[row] if column.suffixes else ""
    # Deep in a narrow tree the guides are shortened, so that part of the name stays.
    text = min(cell_len(column.cells[row]), _MIN_TEXT)
    guide = head(guide, max(0, width - cell_len(suffix) - text))
    keeps_suffix = cell_len(suffix) + _MIN_TEXT <= width - cell_len(guide)
    return guide, suffix if keeps_suffix else ""


def _plain_cells(column: Column, width: int, glyphs: Glyphs) -> list[str]:
    """The cells of a column as ``_cell`` shows them, without styles."""
    if column.kind == "number":
        return [text.rjust(width) for text in column.cells]
    if column.kind == "bar":
        bars = ["" if share is None else bar(share, width, glyphs) for share in column.shares]
        return [text + " " * (width - cell_len(text)) for text in bars]
    nothing = [""] * len(column.cells)
    around = (column.guides or nothing, column.cells, column.suffixes or nothing)
    return [
        "".join((*texts, " " * (width - sum(map(cell_len, texts)))))
        for texts in zip(*around, strict=True)
    ]


def _cell(
    column: Column, row: int, width: int, styles: tuple[Style, Style | None], glyphs: Glyphs
) -> list[Segment]:
    style, strong = styles
    if column.kind == "bar":
        share = column.shares[row]
        text = "" if share is None else bar(share, width, glyphs)
        return [Segment(text, style), Segment(" " * (width - cell_len(text)))]
    text = column.cells[row]
    if column.kind == "number":
        dim = text.lstrip()[:1] in (glyphs.missing, "n") or text.split(" ")[0] == "0"
        shown = _DIM if dim else style
        return [Segment(text.rjust(width), shown + strong if strong else shown)]
    guide = column.guides[row] if column.guides else ""
    suffix = column.suffixes[row] if column.suffixes else ""
    blank = width - cell_len(guide) - cell_len(text) - cell_len(suffix)
    return [
        Segment(guide, _DIM),
        Segment(text, style + strong if strong else style),
        Segment(suffix, _DIM),
        Segment(" " * blank),
    ]
