"""Rewrites options into one spelling: ``-max_depth 4``, ``--max-depth=4`` → ``--max_depth=4``.

The original takes ``--max_depth=4`` on the command line and ``-max_depth 4`` in its shell. Here
one pure function serves both. click sees one spelling, so a value may begin with a dash.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tfprof.errors import UsageError

TRUE_WORDS = ("true", "t", "yes", "y", "1")
FALSE_WORDS = ("false", "f", "no", "n", "0")

Arity = Literal["flag", "bool", "value"]


@dataclass(frozen=True, slots=True)
class Flag:
    """A known option.

    Attributes:
        name: The spelling for click, such as ``--max_depth``.
        arity: ``flag`` never takes a value, ``value`` always; ``bool`` takes one of
            ``TRUE_WORDS`` and ``FALSE_WORDS`` if that is the next word, and else means true.
    """

    name: str
    arity: Arity


def key_of(word: str) -> str:
    """The key of an option, the same for all its spellings: ``--max-depth`` → ``max_depth``."""
    return word.lstrip("-").replace("-", "_")


def canonical(words: Sequence[str], flags: Mapping[str, Flag]) -> list[str]:
    """Rewrite the options among the words.

    Args:
        words: Words of a command line, without the command.
        flags: Options by ``key_of``; one of a single letter may be joined to its value.

    Returns:
        The words with every option in one spelling, joined to its value by ``=``. Other words
        stay as they are, and so does everything from ``--`` on.

    Raises:
        UsageError: An option is unknown or lacks its value.
    """
    result: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*result, word, *rest]
        if not word.startswith("-") or word == "-":
            result.append(word)
            continue
        spelling, equals, value = word.partition("=")
        flag = flags.get(key_of(spelling))
        if flag is None:
            short = flags.get(word[1]) if not word.startswith("--") else None
            if short is None or short.arity != "value" or _looks_misspelt(spelling, flags):
                raise UsageError(_unknown(spelling, flags))
            flag, equals, value = short, "=", word[2:]
        if not equals:
            value = _next_value(spelling, flag, rest)
        elif flag.arity == "flag":
            raise UsageError(f"option {spelling} takes no value, but got {value!r}")
        if flag.arity == "flag":
            result.append(flag.name)
        elif flag.name.startswith("--"):
            result.append(f"{flag.name}={value}")
        else:
            result += [flag.name, value]
    return result


def _next_value(spelling: str, flag: Flag, rest: list[str]) -> str:
    """The value of an option without ``=``; the word is removed from the rest."""
    if flag.arity == "bool":
        return rest.pop(0) if rest and is_bool_word(rest[0]) else "true"
    if flag.arity == "flag":
        return ""
    if not rest:
        raise UsageError(f"option {spelling} needs a value")
    return rest.pop(0)


def is_bool_word(word: str) -> bool:
    """Whether the word says true or false."""
    return word.lower() in TRUE_WORDS + FALSE_WORDS


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """``; did you mean 'scope'?``, or ``otherwise`` if no known word is similar."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else otherwise


def _looks_misspelt(spelling: str, flags: Mapping[str, Flag]) -> bool:
    """Whether ``-outfil`` is a misspelt long option rather than ``-o`` with a value."""
    key = key_of(spelling)
    names = [name for name in flags if len(name) > 1]
    if any(key.startswith(name) or name.startswith(key) for name in names):
        return True
    return bool(difflib.get_close_matches(key, names, 1, 0.8))


def _unknown(spelling: str, flags: Mapping[str, Flag]) -> str:
    close = difflib.get_close_matches(key_of(spelling), flags, n=1)
    hint = f"; did you mean --{close[0]}?" if close else "; --help lists them all"
    return f"unknown option {spelling!r}{hint}"
