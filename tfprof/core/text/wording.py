"""Forms of numbers and names in findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfprof.core.columns.frames import Frame
from tfprof.core.text.units import human_memory, human_share, human_time

_FINE = 10**12

_MOST_LETTERS = 4000
"""Most letters to show of a text from a file."""


def time_text(micros: float) -> str:
    """``541 ms``."""
    return human_time(round(micros))


def memory_text(size_bytes: float) -> str:
    """``93.8 MB``."""
    return human_memory(round(size_bytes))


def share_text(share: float) -> str:
    """``30.3 %`` for 0.303."""
    return human_share(round(share * _FINE), _FINE)


def quoted(name: str) -> str:
    """A name from the profile, in quotes."""
    return f"'{name}'"


def line_names(lines: Sequence[Frame]) -> list[str]:
    """``train.py:43:conv2d`` for each line; with the whole path where names would be the same."""
    short = [f"{line.file.rpartition('/')[2]}:{line.line_number}:{line.function}" for line in lines]
    return [
        name if short.count(name) == 1 else f"{line.file}:{line.line_number}:{line.function}"
        for name, line in zip(short, lines, strict=True)
    ]


def listing(items: Sequence[str]) -> str:
    """``a, b and c``."""
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


def sentence(clause: str) -> str:
    """A clause as the beginning of a sentence; code at its beginning stays as it is."""
    if "(" in clause.partition(" ")[0]:
        return clause
    return clause[:1].upper() + clause[1:]


def plural(count: int, noun: str, nouns: str = "") -> str:
    """``1 op``, ``3,000 ops``; ``nouns`` is for plurals with more than an s."""
    return f"{count} {noun}" if count == 1 else f"{count:,} {nouns or noun + 's'}"


_NO_NOUNS = ("ed", "slow", "other", "more", "last", "lost", "parallel")


def many(noun: str) -> str:
    """The plural of a noun, ``copies``; an adjective stays as it is."""
    if noun.endswith(("s", *_NO_NOUNS)):
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("ch", "sh", "x")) else f"{noun}s"


def shortened(text: str, where: str = "") -> str:
    """A text of a file, cut if it is very long; ``where`` names the place of the whole text."""
    if len(text) <= _MOST_LETTERS:
        return text
    return f"{text[:_MOST_LETTERS]}… ({len(text):,} letters{where})"


def unknown_name(what: str, name: str, allowed: Iterable[str]) -> str:
    """Message for a name that is not allowed, with a similar one that is."""
    import difflib  # only for errors

    names = list(allowed)
    by_lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    hint = f"; did you mean {by_lower[close[0]]!r}?" if close else "."
    return f"unknown {what} {name!r}{hint} Allowed: {', '.join(names)}"
