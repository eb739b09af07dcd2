"""Odd values in JSON and TOML, and odd lines in texts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

from fuzz.formats.messages import odd_text

_ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**300,
    10**400, 0.5, -0.0, 1e-320, 1e308, -1e308, float("nan"), float("inf"), -float("inf"), "", "0",
    "1e999", "nan", "\ud800", "\udfff\ud800", "a\0b", "\x1b]0;x\x07", "\u202e", "__proto__", [], {},
    [[]], [None], {"": None}, [[], {}], "x" * 300,
)  # fmt: skip
"""Values in place of others; JSON has lone surrogates, as escapes, and numbers of any length."""

_DEPTH = 100_000
_MOST_COPIES = 400


def changed_json(chance: random.Random, data: bytes) -> bytes:
    """A document with another one's values, keys and order; the same bytes if it is none."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return data
    for _ in range(chance.choice((1, 1, 1, 2, 4, 12))):
        content = _changed(chance, content)
    return _written(chance, content)


def _changed(chance: random.Random, content: Any) -> Any:
    """The document, of which one value, or the order or number of values, is another."""
    places = list(_places(content))
    if not places:
        return _odd(chance)
    owner, key = chance.choice(places)
    kind = chance.randrange(10)
    if kind < 4:
        owner[key] = _odd(chance)
    elif kind == 4:
        other, place = chance.choice(places)
        owner[key], other[place] = other[place], owner[key]
        if _is_cyclic(content):  # a value cannot be put into itself
            owner[key], other[place] = other[place], owner[key]
    elif kind == 5:
        del owner[key]
    elif kind == 6 and isinstance(owner, dict):
        owner[odd_text(chance) if chance.random() < 0.5 else chance.choice(_names(content))] = _odd(
            chance
        )
    elif isinstance(owner, list):
        _reordered(chance, owner, key)
    elif isinstance(owner[key], (int, float)):
        factor = -1 if kind == 7 else chance.choice((10, 1e9, 1e-9))
        with suppress(OverflowError):  # a number of hundreds of digits
            owner[key] *= factor
    return content


def _reordered(chance: random.Random, values: list[Any], place: int) -> None:
    kind = chance.randrange(4)
    if kind == 0:
        chance.shuffle(values)
    elif kind == 1:
        values.reverse()
    elif kind == 2:
        values[place:place] = [values[place]] * chance.choice((1, 2, 30, _MOST_COPIES))
    else:
        del values[place:]


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    """Each list or object with each of its keys, but only a few of a long list."""
    keys: Any = ()
    if isinstance(content, dict):
        keys = list(content)
    elif isinstance(content, list):
        keys = range(min(len(content), 40))
    for key in keys:
        yield content, key
        yield from _places(content[key])


def _names(content: Any) -> list[str]:
    return [key for owner, key in _places(content) if isinstance(owner, dict)] or ["a"]


def _is_cyclic(content: Any) -> bool:
    try:
        list(_places(content))
    except RecursionError:
        return True
    return False


def _odd(chance: random.Random) -> Any:
    return odd_text(chance) if chance.random() < 0.25 else deepcopy(chance.choice(_ODD))


def _written(chance: random.Random, content: Any) -> bytes:
    text = json.dumps(content, ensure_ascii=chance.random() < 0.9)
    kind = chance.randrange(60)
    if kind == 0:  # nested far deeper than any reader goes
        text = text.replace("1", "[" * _DEPTH + "]" * _DEPTH, 1)
    elif kind == 1:  # more digits than Python turns into a number
        text = text.replace("1", "1" * 5000, 1)
    elif kind == 2:
        text = text[: chance.randrange(len(text) + 1)]
    elif kind == 3:  # keys twice
        text = text.replace("}", ', "name": 7}', 1)
    start = chance.choice(("",) * 8 + ("\ufeff", " \n\t", "//"))
    return (start + text).encode("utf-8", "surrogatepass")


def changed_lines(
    chance: random.Random, data: bytes, words: Callable[[random.Random], str]
) -> bytes:
    """A text in which lines and words change places, are repeated, left out, or others.

    Args:
        chance: Decides.
        data: The text.
        words: Makes a word in place of another.
    """
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(lines))
        kind = chance.randrange(8)
        if kind == 0:
            lines[at:at] = [lines[at]] * chance.choice((1, 3, _MOST_COPIES))
        elif kind == 1 and len(lines) > 1:
            del lines[at]
        elif kind == 2:
            chance.shuffle(lines)
        elif kind == 3:
            lines[at] += words(chance)
        else:
            parts = lines[at].split(" ")
            parts[chance.randrange(len(parts))] = words(chance)
            lines[at] = " ".join(parts)
    ending = chance.choice(("\n",) * 6 + ("\r\n", "\r", "\u2028", "\x85"))
    return ending.join(lines).encode("utf-8", "surrogateescape")
