"""The page of source lines: what each costs, beside its text where that may be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tfprof.captures.show.tool_values import number_text
from tfprof.core.columns.library_files import is_library_file
from tfprof.core.text.characters import escaped
from tfprof.errors import EmptyProfileError
from tfprof.inputs.opened import Opened
from tfprof.ui.pages.document import Block, Page, empty, remarks, words
from tfprof.ui.pages.missing_views import NO_SOURCE, missing_stacks
from tfprof.ui.pages.source_costs import (
    OPTIONS,
    Costs,
    Line,
    costs_of_programs,
    costs_of_stacks,
)
from tfprof.ui.pages.source_lines import source_texts, why_no_text
from tfprof.ui.pages.view_titles import SOURCE_LINES

ID, TITLE = SOURCE_LINES
_ABOUT: Final = "What lines of the program cost, beside their text."
MOST_LINES: Final = 1000
"""Most lines with a cost on the page, the most expensive ones."""


def source_page(opened: Opened, params: Mapping[str, str]) -> Page:
    """The page of source lines.

    Args:
        opened: An opened run.
        params: Of the page's address; none has an effect.

    Raises:
        InputError: The run cannot be read.
    """
    del params
    parts: list[tuple[str, str, str, Costs]] = []
    if opened.run is not None:
        costs = costs_of_programs(opened.run().hosts)
        title = "Lines that compiled programs were made for"
        parts.append(("programs", title, "instructions", costs))
    if opened.profiler is not None and not missing_stacks(opened):
        try:
            costs = costs_of_stacks(opened.views().view("code", OPTIONS))
            parts.append(("stacks", "Lines that made ops", "function", costs))
        except EmptyProfileError:
            pass
    parts = [part for part in parts if part[3].lines and part[3].measures]
    if not parts:
        return Page(ID, TITLE, _ABOUT, [empty(f"{NO_SOURCE[0].upper()}{NO_SOURCE[1:]}.")])
    blocks: list[Block] = [words([_sentence(parts[0][3])], lead=True)]
    for name, title, header, costs in parts:
        blocks.append(code_block(name, title, header, costs, opened.source_roots))
        if len(costs.lines) > MOST_LINES:
            left = len(costs.lines) - MOST_LINES
            text = f"{left:,} more lines with the lowest costs are left out."
            blocks.append(remarks([("info", text, "")]))
    return Page(ID, TITLE, _ABOUT, blocks)


def _sentence(costs: Costs) -> str:
    """The most expensive line, and how much has no line."""
    first, measure = costs.lines[0], costs.measures[0]
    value = first.values[0] or 0.0
    share = f", {value / measure.whole:.1%} of all" if measure.whole else ""
    text = (
        f"{_short(first)} has the most {measure.label}: {number_text(value, measure.unit)}{share}."
    )
    with_line = sum(one.values[0] or 0.0 for one in costs.lines)
    if measure.whole and with_line < 0.995 * measure.whole:
        rest = number_text(measure.whole - with_line, measure.unit)
        text += f" {rest} belong to no recorded line."
    return text


def _short(line: Line) -> str:
    name = line.frame.file.replace("\\", "/").rpartition("/")[2]
    return f"{name}:{line.frame.line_number}"


def code_block(id: str, title: str, header: str, costs: Costs, roots: Sequence[Path]) -> Block:
    """Lines of files with their costs, the most expensive file first.

    Args:
        id: Name of the block on its page.
        title: Its heading.
        header: What names beside lines without texts are.
        costs: The lines.
        roots: Folders whose files may be read; see ``source_lines``.
    """
    lines = costs.lines[:MOST_LINES]
    of_file: dict[str, list[Line]] = {}
    for line in lines:
        of_file.setdefault(line.frame.file, []).append(line)
    files = list(of_file)
    # The user's own lines come before those of libraries.
    frames = sorted([line.frame for line in lines], key=lambda one: is_library_file(one.file))
    texts = source_texts(frames, files, roots)
    return {
        "kind": "code-lines",
        "id": id,
        "title": title,
        "header": header,
        "measures": [
            {"id": each.id, "label": each.label, "unit": each.unit, "whole": each.whole}
            for each in costs.measures
        ],
        "files": [
            {
                "path": escaped(path),
                "is_library": is_library_file(path),
                "note": "" if at in texts else why_no_text(path, roots),
                "lines": _lines(of_file[path], texts.get(at, {})),
            }
            for at, path in enumerate(files)
        ],
    }


def _lines(lines: Sequence[Line], texts: Mapping[int, str]) -> list[dict[str, Any]]:
    """Lines by number: those with costs, and those around them whose text is known.

    Without texts the most expensive line comes first.
    """
    by_number = {line.frame.line_number: line for line in lines}
    return [
        {
            "number": number,
            "text": texts.get(number),
            "values": by_number[number].values if number in by_number else None,
            "detail": escaped(by_number[number].described()) if number in by_number else "",
            "find": escaped(by_number[number].place) if number in by_number else "",
        }
        for number in (sorted({*by_number, *texts}) if texts else by_number)
    ]
