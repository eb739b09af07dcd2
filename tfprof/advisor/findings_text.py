"""Findings as text: the most urgent first, each with its line, gain and link."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tfprof.core.columns.findings import SEVERITIES, Finding, Gain, Severity
from tfprof.core.text.characters import UNICODE, Glyphs, escaped
from tfprof.core.text.metrics import BLUE, ORANGE, RED
from tfprof.core.text.tables import glued, unglued
from tfprof.core.text.wording import listing, memory_text, plural, time_text

_STYLES: dict[Severity, str] = {"critical": RED, "warning": ORANGE, "info": BLUE}
_MARGIN = "  "
_LABEL = 6
_LEAST_WIDTH = 20
_MAX_WIDTH = 100
"""Wider prose is hard to read."""


@dataclass(frozen=True)
class FindingsReport:
    """Findings as a rich renderable.

    Attributes:
        findings: The findings.
        checkers: Names of the checkers that ran.
        glyphs: The characters for drawing.
    """

    findings: Sequence[Finding]
    checkers: Sequence[str] = ()
    glyphs: Glyphs = UNICODE

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self._headline(), style="bold")
        width = min(options.max_width, _MAX_WIDTH)
        for severity in SEVERITIES:
            for finding in self.findings:
                if finding.severity == severity:
                    yield Text()
                    yield from self._finding(finding, console, width)
        quiet = [n for n in self.checkers if n not in {finding.rule for finding in self.findings}]
        if quiet:
            yield Text()
            text = f"Nothing to report: {', '.join(map(escaped, quiet))}"
            yield from _wrapped(text, console, width, style="dim")

    def _headline(self) -> str:
        counts = [
            (sum(finding.severity == severity for finding in self.findings), severity)
            for severity in SEVERITIES
        ]
        nouns = {"critical": "critical finding", "warning": "warning", "info": "remark"}
        parts = [plural(count, nouns[severity]) for count, severity in counts if count]
        return listing(parts) if parts else "Nothing found"

    def _finding(self, finding: Finding, console: Console, width: int) -> Iterator[Text]:
        head = Text(f"{finding.severity}: ", style=f"bold {_STYLES[finding.severity]}")
        head.append(escaped(finding.rule), style="bold default")
        yield head
        yield from _wrapped(self._own(finding.message), console, width, _MARGIN)
        if finding.location is not None:
            yield _detail("line", escaped(finding.place))
        if finding.gain is not None:
            text = self._own(gain_text(finding.gain))
            lines = _wrapped(text, console, width - len(_MARGIN) - _LABEL)
            for place, line in enumerate(lines):
                yield _detail("" if place else "gain", line.plain)
        if finding.link:
            yield _detail("see", escaped(finding.link))

    def _own(self, text: str) -> str:
        return self.glyphs.text(escaped(text))


def _detail(label: str, text: str) -> Text:
    line = Text(f"{_MARGIN}{label:<{_LABEL}}", style="dim", no_wrap=True, overflow="ignore")
    return line.append(text, style="default not dim")


def _wrapped(
    text: str, console: Console, width: int, margin: str = "", style: str = ""
) -> Iterator[Text]:
    """Lines of a text; a number and its unit stay together."""
    whole = Text(glued(text))
    for line in whole.wrap(console, max(width - len(margin), _LEAST_WIDTH)):
        plain = margin + unglued(line.plain.rstrip())
        yield Text(plain, style=style, no_wrap=True, overflow="ignore")


def gain_text(gain: Gain) -> str:
    """``up to 441 ms per step: the time in which only input ops run``."""
    if gain.unit == "micros":
        return f"up to {time_text(gain.amount)} per step: {gain.how}"
    return f"up to {memory_text(gain.amount)}: {gain.how}"


def findings_json(findings: Sequence[Finding], checkers: Sequence[str]) -> str:
    """One object with one finding a line, for line tools such as grep."""
    lines = ",\n".join(json.dumps(_plain(finding), default=float) for finding in findings)
    return f'{{"checkers": {json.dumps(list(checkers))}, "findings": [\n{lines}\n]}}\n'


def _plain(finding: Finding) -> dict[str, Any]:
    location = finding.location
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "evidence": dict(finding.evidence),
        "location": None
        if location is None
        else {
            "file": location.file,
            "line_number": location.line_number,
            "function": location.function,
        },
        "gain": None if finding.gain is None else asdict(finding.gain),
        "link": finding.link,
    }
