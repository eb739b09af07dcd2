"""Shortens names to the width of a column so that different names stay different.

``replica_4/…/RandomUniform`` in every row would be useless: a shortened name keeps its start, its
end and the place where it differs from the most similar name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile
from operator import eq

from rich.cells import cell_len

from tfprof.core.text.short_names import short_name

_STARTS_OF_WORDS = re.compile(r"[/:<>(),. ]")


def folded(text: str, width: int, ellipsis: str = "…") -> str:
    """The text in at most ``width`` cells; the middle is left out if it does not fit.

    More is kept of the end than of the start: names differ in their last parts.
    """
    if cell_len(text) <= width:
        return text
    room = width - len(ellipsis)
    if room <= 0:
        return head(text, width)
    start = head(text, room * 2 // 5)
    return f"{start}{ellipsis}{_tail(text, room - cell_len(start))}"


def fitted(names: Sequence[str], rooms: Sequence[int], ellipsis: str = "…") -> list[str]:
    """Names in the room that each has: different ones look different, where that is possible.

    C++ functions lose template arguments and parameters first.

    Args:
        names: The names; equal ones look equal.
        rooms: Cells for each.
        ellipsis: What stands for what was left out.
    """
    short = {name: short_name(name) for name in dict.fromkeys(names)}
    shown = []
    for name, room in zip(names, rooms, strict=True):
        text = name if cell_len(name) <= room else short[name]
        shown.append(folded(text, room, ellipsis))
    alike: dict[str, set[str]] = {}
    for name, text in zip(names, shown, strict=True):
        alike.setdefault(text, set()).add(name)
    differences = {}
    for group in alike.values():
        if len(group) > 1:
            differences.update(_differences(sorted(group)))
    return [
        _around(name, short[name], differences[name], room, ellipsis)
        if name in differences and cell_len(name) > room
        else text
        for name, text, room in zip(names, shown, rooms, strict=True)
    ]


def head(text: str, width: int) -> str:
    """As many leading characters as fit."""
    used = 0
    for index, char in enumerate(text):
        used += cell_len(char)
        if used > width:
            return text[:index]
    return text


def _tail(text: str, width: int) -> str:
    return head(text[::-1], width)[::-1]


def _differences(names: Sequence[str]) -> dict[str, int]:
    """Where each of some sorted, distinct names differs from the most similar one."""
    shared = [sum(takewhile(bool, map(eq, *pair))) for pair in pairwise(names)]
    return {
        name: max(before, after)
        for name, before, after in zip(names, [0, *shared], [*shared, 0], strict=True)
    }


def _around(name: str, short: str, place: int, room: int, ellipsis: str) -> str:
    """The start, the part that begins where a name differs from others, and the end."""
    words = [word.end() for word in _STARTS_OF_WORDS.finditer(name, 0, place)]
    start = words[-1] if words and place - words[-1] < room // 3 else place
    if short != name:  # a function, then what tells its templates apart
        first = head(short, room // 2)
        rest = room - cell_len(first) - 2 * len(ellipsis)
        return f"{first}{ellipsis}{head(name[start:], rest)}{ellipsis}" if rest > 0 else first
    scope = name.find("/") + 1
    first = head(name, min(scope if 0 < scope <= room // 3 else room // 5, start))
    rest = room - cell_len(first) - len(ellipsis)
    if cell_len(name[start:]) <= rest:
        return f"{first}{ellipsis}{_tail(name, rest)}"
    middle = head(name[start:], rest // 2)
    end = _tail(name, rest - cell_len(middle) - len(ellipsis))
    return f"{first}{ellipsis}{middle}{ellipsis}{end}"
