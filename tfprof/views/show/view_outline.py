"""Views as outlines: one line for each row, which can be searched and pasted on its own.

There is no header: every number carries its unit, and all but times say what they count. The
lines of a tree hang together by their guides; op types follow each other below their total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style

from tfprof.core.text.folding import fitted
from tfprof.core.text.guides import Guides
from tfprof.core.text.tables import GAP, UNICODE, Glyphs, fitting
from tfprof.core.text.units import human_share
from tfprof.views.result import ViewTree
from tfprof.views.show.view_rows import Line, Numbers, ViewRows

MAX_GUIDES = 12
"""Levels of guides; deeper lines stand at the last level, with their depth as a number."""

_INDENT = 4
_NAME_COLUMN = 72
"""Names that are longer push their numbers to the right, where there is room."""
_MIN_NAME = 20
_UNLIMITED = 1_000_000

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


def view_outline(
    tree: ViewTree, glyphs: Glyphs = UNICODE, max_rows: int = 0, width: int | None = None
) -> str:
    """A view as plain text.

    Args:
        tree: The view.
        glyphs: What to draw with.
        max_rows: Show no more rows than this, the largest ones; 0 shows all.
        width: Fold names and leave out numbers beyond this; None does neither.
    """
    lines, remarks = _outline(tree, glyphs, max_rows, width or _UNLIMITED)
    texts = ["".join(text for text, _ in pieces) for pieces in lines]
    return "".join(f"{line}\n" for line in [*texts, *remarks])


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
