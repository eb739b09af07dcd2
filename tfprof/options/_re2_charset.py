"""Sets of code points: the matches of one RE2 character, class or group.

A set is a list of inclusive ``(first, last)`` ranges. RE2 resolves classes, case folding and
negation on such sets, in this order, so doing the same gives the same language, which Python's
own classes and ``IGNORECASE`` would not (``\\w`` is Unicode there, ``(?i)[^k]`` matches U+212A).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from unicodedata import category

CodePoints = list[tuple[int, int]]

MAX_CODE_POINT = 0x10FFFF
ANY: CodePoints = [(0, MAX_CODE_POINT)]
NOT_NEWLINE: CodePoints = [(0, 9), (11, MAX_CODE_POINT)]

# \s lacks \v, which [[:space:]] has; all three are ASCII even for Unicode text.
PERL_CLASSES: Mapping[str, CodePoints] = {
    "d": [(0x30, 0x39)],
    "s": [(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)],
    "w": [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
}

POSIX_CLASSES: Mapping[str, CodePoints] = {
    "alnum": [(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
    "alpha": [(0x41, 0x5A), (0x61, 0x7A)],
    "ascii": [(0x00, 0x7F)],
    "blank": [(0x09, 0x09), (0x20, 0x20)],
    "cntrl": [(0x00, 0x1F), (0x7F, 0x7F)],
    "digit": PERL_CLASSES["d"],
    "graph": [(0x21, 0x7E)],
    "lower": [(0x61, 0x7A)],
    "print": [(0x20, 0x7E)],
    "punct": [(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
    "space": [(0x09, 0x0D), (0x20, 0x20)],
    "upper": [(0x41, 0x5A)],
    "word": PERL_CLASSES["w"],
    "xdigit": [(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
}


@cache
def unicode_group(name: str) -> CodePoints | None:
    """The set of ``\\p{name}``: a category, a letter of categories, or ``Any``."""
    if name == "Any":
        return ANY
    members = [ranges for key, ranges in _categories().items() if name in (key, key[0])]
    return merged(pair for ranges in members for pair in ranges) or None


@cache
def _categories() -> Mapping[str, CodePoints]:
    """The code points of each general category but ``Cn``; built once, in about 0.1 s.

    RE2 has no group for ``Cn``, the unassigned code points.
    """
    categories: dict[str, CodePoints] = {}
    code_points = range(MAX_CODE_POINT + 1)
    for name, members in groupby(code_points, lambda code_point: category(chr(code_point))):
        first, *rest = members
        categories.setdefault(name, []).append((first, rest[-1] if rest else first))
    del categories["Cn"]
    return categories


def contains(ranges: Sequence[tuple[int, int]], code_point: int) -> bool:
    """Whether a *merged* set has ``code_point``."""
    at = bisect_right(ranges, (code_point, MAX_CODE_POINT)) - 1
    return at >= 0 and code_point <= ranges[at][1]


def merged(ranges: Iterable[tuple[int, int]]) -> CodePoints:
    """The same set with sorted, disjoint and non-adjacent ranges."""
    result: CodePoints = []
    for first, last in sorted(ranges):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return result


def negated(ranges: Iterable[tuple[int, int]]) -> CodePoints:
    """All code points that are not in the set."""
    result: CodePoints = []
    free = 0
    for first, last in merged(ranges):
        if first > free:
            result.append((free, first - 1))
        free = last + 1
    if free <= MAX_CODE_POINT:
        result.append((free, MAX_CODE_POINT))
    return result


def folded(ranges: Iterable[tuple[int, int]]) -> CodePoints:
    """The set and everything that differs from a member only in case (simple folding)."""
    base = merged(ranges)
    # Nearly all names are ASCII; they must not pay for the scan behind _case_orbits.
    orbits = _ASCII_ORBITS if not base or base[-1][1] < 0x80 else _case_orbits()
    extra = [
        (member, member)
        for orbit in orbits
        if any(contains(base, member) for member in orbit)
        for member in orbit
    ]
    return merged(base + extra)


# Kelvin sign and long s are the two non-ASCII characters that fold to ASCII letters.
_ASCII_ORBITS: tuple[tuple[int, ...], ...] = tuple(
    (upper, upper + 0x20, *{0x4B: (0x212A,), 0x53: (0x17F,)}.get(upper, ()))
    for upper in range(0x41, 0x5B)
)


@cache
def _case_orbits() -> tuple[tuple[int, ...], ...]:
    """Groups of code points that are equal under simple case folding; built once, in about 0.1 s.

    ``str`` has only full folding and mappings. Joining each character with its one-character
    mappings gives RE2's table (compared for all code points with TensorFlow 2.21), except for
    U+0131, dotless i, which upper-cases to I but folds to itself.
    """
    orbits: dict[str, set[str]] = {}
    for code_point in range(0x80, 0x1F000):  # nothing above has case
        char = chr(code_point)
        if char == "\u0131":
            continue
        for other in (char.lower(), char.upper(), char.casefold()):
            if other != char and len(other) == 1:
                joined = orbits.get(char, {char}) | orbits.get(other, {other})
                for member in joined:
                    orbits[member] = joined
    groups = {tuple(sorted(map(ord, orbit))) for orbit in orbits.values()}
    # Orbits with an ASCII letter are in _ASCII_ORBITS.
    return (*_ASCII_ORBITS, *sorted(group for group in groups if group[0] >= 0x80))


def render(ranges: Iterable[tuple[int, int]]) -> str:
    """A Python ``re`` pattern (without flags) for exactly one character of the set."""
    base = merged(ranges)
    if not base:
        return "(?!)"
    if base == ANY:
        return "(?s:.)"
    if base == NOT_NEWLINE:
        return "."
    if len(base) == 1 and base[0][0] == base[0][1]:
        return re.escape(chr(base[0][0]))
    inverse = negated(base)
    if len(inverse) < len(base):
        return f"[^{_class_body(inverse)}]"
    return f"[{_class_body(base)}]"


def _class_body(ranges: CodePoints) -> str:
    parts = []
    for first, last in ranges:
        parts.append(_class_char(first))
        if last > first + 1:
            parts.append("-")
        if last > first:
            parts.append(_class_char(last))
    return "".join(parts)


def _class_char(code_point: int) -> str:
    # Only letters and digits stay as they are: re warns about "[[", "--", "&&" and the like.
    if code_point < 0x80 and chr(code_point).isalnum():
        return chr(code_point)
    return f"\\U{code_point:08x}" if code_point > 0xFFFF else f"\\u{code_point:04x}"
