"""The report as text: short where all is well, with a remedy where it is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tfprof.core.text.characters import UNICODE, Glyphs, escaped
from tfprof.core.text.metrics import BLUE, GREEN, ORANGE, RED
from tfprof.core.text.wording import listing, plural, shortened
from tfprof.doctor.report import Area, Check, Report, Status

_STYLES: dict[Status, str] = {
    "ok": GREEN, "note": BLUE, "warning": ORANGE, "error": RED, "unknown": ORANGE,
    "not_applicable": "dim",
}  # fmt: skip
_MARKS: dict[Status, str] = {
    "ok": "✓", "note": "i", "warning": "!", "error": "✗", "unknown": "?", "not_applicable": "–",
}  # fmt: skip
_ASCII_MARKS: dict[Status, str] = {
    **_MARKS, "ok": "+", "error": "x", "not_applicable": "-",
}  # fmt: skip
_JOINED = "Packages"
"""The area whose ``ok`` results share one line, as they are only names and versions."""

_TROUBLE: tuple[Status, ...] = ("error", "warning")
_INDENT = "  "
_HANGING = "    "
_COMMAND = "      "
_MAX_WIDTH = 100
_MOST = 20
"""Results of one name in a row: a file holds any number of remarks."""
_LEAST_WIDTH = 20


@dataclass(frozen=True)
class ReportText:
    """A report as a rich renderable.

    Attributes:
        report: The results.
        glyphs: The characters for drawing.
    """

    report: Report
    glyphs: Glyphs = UNICODE

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, _MAX_WIDTH)
        for area in self.report.areas:
            yield _unbroken(Text(escaped(area.title), style="bold"))
            good, rest = _joined_and_single(area)
            if good:
                names = [self.glyphs.text(escaped(check.message)) for check in good]
                yield from self._marked("ok", _filled(names, width - len(_HANGING)))
            for name, group in groupby(rest, lambda check: check.name):
                same = list(group)
                for check in same[:_MOST]:
                    yield from self._check(check, console, width)
                if n_more := len(same[_MOST:]):
                    more = f"{n_more:,} more {name}; --format json has all"
                    yield from self._marked(same[-1].status, [self.glyphs.text(more)])
            yield Text()
        yield self._verdict()

    def _marked(self, status: Status, lines: Iterable[str]) -> Iterator[Text]:
        """Lines with the mark of the status before the first."""
        mark = (_ASCII_MARKS if self.glyphs.is_ascii else _MARKS)[status]
        style = "dim" if status == "not_applicable" else "default"
        for place, line in enumerate(lines):
            margin = Text(_HANGING if place else _INDENT)
            if not place:
                margin.append(f"{mark} ", style=f"bold {_STYLES[status]}")
            yield _unbroken(margin.append(line, style=style))

    def _check(self, check: Check, console: Console, width: int) -> Iterator[Text]:
        yield from self._marked(check.status, self._wrapped(check.message, console, width))
        if check.remedy:
            for line in self._wrapped(check.remedy, console, width):
                yield _unbroken(Text(_HANGING).append(line))
        for command in check.command.splitlines():
            yield _unbroken(Text(_COMMAND).append(escaped(command), style=BLUE))

    def _wrapped(self, text: str, console: Console, width: int) -> list[str]:
        whole = Text(self.glyphs.text(escaped(shortened(text))))
        room = max(width - len(_HANGING), _LEAST_WIDTH)
        return [line.plain.rstrip() for line in whole.wrap(console, room)]

    def _verdict(self) -> Text:
        worst = self.report.worst
        if worst not in _TROUBLE:
            limit = ", as far as could be checked" if self.report.count("unknown") else ""
            return Text(f"All is well{limit}.", style=f"bold {GREEN}")
        counts = [(self.report.count(status), status) for status in _TROUBLE]
        problems = listing([plural(count, status) for count, status in counts if count])
        return Text(f"{problems}; see the remedies above.", style=f"bold {_STYLES[worst]}")


def _unbroken(line: Text) -> Text:
    line.no_wrap, line.overflow = True, "ignore"
    return line


def _joined_and_single(area: Area) -> tuple[Sequence[Check], Sequence[Check]]:
    """The checks that share one line, and those with lines of their own."""
    if area.title != _JOINED:
        return (), area.checks
    good = [check for check in area.checks if check.status == "ok"]
    return good, [check for check in area.checks if check.status != "ok"]


def _filled(names: Sequence[str], room: int) -> list[str]:
    """Names in lines, broken only between names."""
    lines = [""]
    for name in names:
        if lines[-1] and cell_len(f"{lines[-1]}, {name},") > max(room, _LEAST_WIDTH):
            lines[-1] += ","
            lines.append(name)
        else:
            lines[-1] += f", {name}" if lines[-1] else name
    return lines
