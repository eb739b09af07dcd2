"""Results of tools for a terminal: the verdict, then charts and tables, then advice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final, TypeVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tfprof.captures.run.result import Advice, Chart, Note, ToolResult
from tfprof.captures.run.table import Table
from tfprof.captures.show.tool_charts import chart_lines
from tfprof.captures.show.tool_tables import tool_grids
from tfprof.captures.show.tool_values import number_text
from tfprof.core.text.characters import UNICODE, Glyphs, escaped
from tfprof.core.text.metrics import BLUE, ORANGE, RED
from tfprof.core.text.tables import glued, text_line, unglued
from tfprof.core.text.wording import shortened

TOP: Final = 20
"""Number of rows to show of each table."""

_STYLES: Final = {"error": RED, "warning": ORANGE, "info": BLUE}
_MAX_WIDTH: Final = 100
"""Wider prose is hard to read."""

T = TypeVar("T")


@dataclass(frozen=True)
class ToolText:
    """The result of a tool as a rich renderable.

    Attributes:
        result: The result.
        table: Show this table only; empty shows everything.
        top: How many rows of each table, bars of each chart, sentences, notes, charts and
            recommendations to show; 0 is all.
        glyphs: Characters to draw with.
    """

    result: ToolResult
    table: str = ""
    top: int = TOP
    glyphs: Glyphs = UNICODE

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        if self.table:
            yield from self._table(self.result.table(self.table), width)
            return
        yield Text(escaped(self.result.title), style=f"bold {BLUE}")
        yield from self._first(
            self.result.verdict, "sentences", width,
            lambda place, one: self._prose(one, width, "" if place else "bold"),
        )  # fmt: skip
        yield from self._notes([n for n in self.result.notes if n.severity != "info"], width)
        yield from self._first(
            self.result.charts, "charts", width, lambda _, chart: self._chart(chart, width)
        )
        variants = _variants(self.result.tables)
        for name, table in self.result.tables.items():
            if name not in variants and (shown := list(self._table(table, width))):
                yield Text()
                yield from shown
        if variants:
            yield Text()
            yield from self._prose(f"--table also takes: {', '.join(variants)}", width, "dim")
        if self.result.advice:
            yield Text()
            yield Text("What to do", style="bold")
            yield from self._first(
                self.result.advice, "recommendations", width,
                lambda place, one: self._advice(place + 1, one, width),
            )  # fmt: skip
        yield from self._notes([n for n in self.result.notes if n.severity == "info"], width)

    @property
    def _is_alone(self) -> bool:
        """Whether there is only one table to show, which then appears even without rows."""
        return bool(self.table) or len(self.result.tables) == 1

    def _notes(self, notes: Sequence[Note], width: int) -> RenderResult:
        if notes:
            yield Text()
        yield from self._first(notes, "notes", width, lambda _, note: self._note(note, width))

    def _note(self, note: Note, width: int) -> Iterator[Text]:
        kind = "note" if note.severity == "info" else note.severity
        lines = self._wrapped(f"{kind}: {note}", width)
        for place, line in enumerate(lines):
            text = text_line(line, "dim" if note.severity == "info" else "")
            if place == 0 and note.severity != "info":
                text.stylize(f"bold {_STYLES[note.severity]}", 0, len(kind) + 1)
            yield text

    def _first(
        self, items: Sequence[T], what: str, width: int, show: Callable[[int, T], RenderResult]
    ) -> RenderResult:
        """The first items, as many as rows of a table, and the number of further ones."""
        shown = items[: self.top] if self.top else items
        for place, one in enumerate(shown):
            yield from show(place, one)
        if len(shown) < len(items):
            more = f"{len(items) - len(shown):,} more {what}; --top 0 shows all"
            yield from self._prose(more, width, "dim")

    def _chart(self, chart: Chart, width: int) -> RenderResult:
        lines = list(chart_lines(chart, self.top, width, self.glyphs))
        if lines:
            yield Text()
            yield Text(self._own(chart.title), style="bold")
            yield from lines

    def _table(self, table: Table, width: int) -> RenderResult:
        title = self._own(table.title or table.name)
        shown = tool_grids(table, self.top, width, self.glyphs, whole=self._is_alone)
        for place, part in enumerate(shown):
            if place:
                yield Text()
            yield Text(f"{title}: {part.title}" if part.title else title, style="bold")
            if part.grid is not None:
                yield part.grid
            for remark in part.remarks:
                yield from self._prose(remark, width, "dim")

    def _advice(self, number: int, advice: Advice, width: int) -> Iterator[Text]:
        head = f"{number:>2}. "
        margin = " " * len(head)
        for place, line in enumerate(self._wrapped(advice.message, width - len(head))):
            yield text_line((margin if place else head) + line)
        if advice.gain_fraction is not None:
            share = number_text(advice.gain_fraction, "fraction")
            yield text_line(f"{margin}gain: up to {share} of the step time", "dim")

    def _prose(self, text: str, width: int, style: str = "") -> Iterator[Text]:
        for line in self._wrapped(text, width):
            yield text_line(line, style)

    def _wrapped(self, text: str, width: int) -> list[str]:
        """Lines of a message, which may contain names from the profile; newlines stay."""
        room = max(20, min(width, _MAX_WIDTH))
        if self.top:
            text = shortened(text, "; --top 0 shows all")
        return [
            line for paragraph in text.split("\n") for line in _filled(self._own(paragraph), room)
        ]

    def _own(self, text: str) -> str:
        return self.glyphs.text(escaped(text))


def _filled(text: str, width: int) -> list[str]:
    """Lines of at most this width, except for single words such as paths."""
    lines = wrap(glued(text), width, break_on_hyphens=False, break_long_words=False)
    return [unglued(line) for line in lines] or [""]


def _variants(tables: Collection[str]) -> list[str]:
    """Tables that are variants of another one, such as ``ops_with_idle`` of ``ops``."""
    return [
        name
        for name in tables
        if any(name.startswith((f"{o}_with_", f"{o}_without_")) for o in tables)
    ]
