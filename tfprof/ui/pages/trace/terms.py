"""The terms of a search: ``dot dur>1ms arg:shape=2x3 track:stream``.

``trace_terms.js`` reads them by the same rules, for reports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from tfprof.errors import UsageError

_PIECE: Final = re.compile(
    r'[ \t]*((name:|track:|arg:(?:[^ \t"=]+=)?|dur(?=[:<>=]))?(?:"([^"]*)("?)|([^ \t]*)))'
)
"""A word: perhaps its term, then a text in quotes, which may lack its end, or up to a space."""

_DURATION: Final = re.compile(r"(>=|<=|>|<)(\d+(?:\.\d*)?|\.\d+)(ps|ns|us|µs|ms|s)", re.ASCII)
_PS: Final = {"ps": 1.0, "ns": 1e3, "us": 1e6, "µs": 1e6, "ms": 1e9, "s": 1e12}


class Bound(NamedTuple):
    """A condition on durations: a comparison, and the duration in ps."""

    comparison: str
    duration_ps: float

    def holds(self, durations: Any) -> Any:
        """Whether it holds for a duration in ps, or for each of an array."""
        if self.comparison == ">":
            return durations > self.duration_ps
        if self.comparison == ">=":
            return durations >= self.duration_ps
        if self.comparison == "<":
            return durations < self.duration_ps
        return durations <= self.duration_ps


class Argument(NamedTuple):
    """A condition on arguments: one of this name is ``text``; without a name, any holds it."""

    name: str
    text: str

    def holds(self, arguments: str) -> bool:
        """Whether it holds for arguments as a JSON object; upper and lower case are the same."""
        for name, value in json.loads(arguments).items():
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            if self.name:
                if name.lower() == self.name and shown.lower() == self.text:
                    return True
            elif self.text in name.lower() or self.text in shown.lower():
                return True
        return False


class Terms(NamedTuple):
    """What each event that is looked for has: all of these.

    Attributes:
        names: Texts in its name.
        tracks: Texts in the name of its track or process, in lower case.
        durations: Conditions on its duration.
        arguments: Conditions on its arguments.
    """

    names: Sequence[str]
    tracks: Sequence[str]
    durations: Sequence[Bound]
    arguments: Sequence[Argument]


def terms_of(text: str) -> Terms:
    """Read a search.

    Words without a term are a part of the name, with the spaces between them; quotes keep words
    together, and keep a name that looks like a term.

    Raises:
        UsageError: A term is wrong; the message names it, and what to write.
    """
    names: list[str] = []
    tracks: list[str] = []
    durations: list[Bound] = []
    arguments: list[Argument] = []
    plain: tuple[int, int] | None = None  # words beside each other
    place = 0
    while (word := _PIECE.match(text, place)) and word[1]:
        begin, place = word.span(1)
        key, value = word[2] or "", word[5] if word[3] is None else word[3]
        if not key and word[3] is None:
            plain = (plain[0] if plain else begin, place)
            continue
        if word[3] is not None and not word[4]:
            raise UsageError(f'{word[1]}: the quote has no end; write {key}"{value}"')
        if plain:
            names.append(text[slice(*plain)])
            plain = None
        if key == "dur":
            durations.append(_bound(value))
        elif not value and key:
            raise UsageError(f"{key} has no text; write {_EXAMPLES[key[:4]]}")
        elif key == "track:":
            tracks.append(value.lower())
        elif key.startswith("arg:"):
            arguments.append(Argument(key[4:-1].lower(), value.lower()))
        elif value:
            names.append(value)
    if plain:
        names.append(text[slice(*plain)])
    return Terms(names, tracks, durations, arguments)


_EXAMPLES: Final = {
    "name": "name:dot", "trac": "track:stream", "arg:": "arg:f32 or arg:shape=2x3",
}  # fmt: skip


def _bound(value: str) -> Bound:
    found = _DURATION.fullmatch(value)
    if found is None:
        raise UsageError(
            f"dur{value} is not a condition on durations; write dur>1ms or dur<=20us, "
            "with the unit ps, ns, us, ms or s"
        )
    return Bound(found[1], float(found[2]) * _PS[found[3]])
