"""Finds the command among the words of a command line.

In the original, the command may stand anywhere among the flags: ``tfprof --graph_path=graph.pb
scope``. Without a command, the shell opens.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfprof.cli.spelling import Flag, is_bool_word, key_of
from tfprof.errors import UsageError
from tfprof.files.remote.path import is_remote

SHELL = "shell"
_GLOBAL = ("-h", "--help", "--version")


def command_first(
    words: Sequence[str], commands: Collection[str], flags: Mapping[str, Flag]
) -> list[str]:
    """Move the command to the front.

    Args:
        words: Words of a command line, without the program.
        commands: Names of all commands.
        flags: Options that may stand before a command, by ``key_of``.

    Returns:
        ``--help`` for no words and for ``help``. ``shell`` goes in front of options and paths
        without a command. A word that is neither a command nor a file was meant as a command.
    """
    if not words:
        return ["--help"]
    if words[0] in commands or words[0] in _GLOBAL:
        return list(words)
    if words[0] == "help":
        topic = [word for word in words[1:2] if word != "help" and not word.startswith("-")]
        return [*topic, "--help"]
    places = classify(words, flags).positionals
    place = next((place for place in places if words[place] in commands), None)
    if place is None:
        place = next((place for place in places if not _is_path(words[place])), None)
    if place is None:
        _refuse_misspelt(words[0], flags)
        return [SHELL, *words]
    if words[place].startswith("-"):
        return list(words)
    return [words[place], *words[:place], *words[place + 1 :]]


def _refuse_misspelt(word: str, flags: Mapping[str, Flag]) -> None:
    """Raises a UsageError for ``--versoin``: no command has that option, only the program."""
    key = key_of(word)
    if word.startswith("-") and key not in flags:
        names = [*flags, *map(key_of, _GLOBAL)]
        if difflib.get_close_matches(key, names, 1) == ["version"]:
            raise UsageError(f"unknown option {word!r}; did you mean --version?")


@dataclass(frozen=True, slots=True)
class WordRoles:
    """The roles of words, and what may follow them.

    Attributes:
        positionals: Indices of the words that are neither options nor values of options.
        waiting: The option, by ``key_of``, that the next word may give a value; or ``""``.
        has_ended: Whether ``--`` has ended the options.
    """

    positionals: tuple[int, ...]
    waiting: str = ""
    has_ended: bool = False


def classify(words: Sequence[str], flags: Mapping[str, Flag], *, bare: bool = False) -> WordRoles:
    """Distinguish options, their values and other words.

    Args:
        words: Words of a command line.
        flags: Options by ``key_of``; an unknown one takes no value.
        bare: Whether options may lack dashes, as those of ``set`` may.
    """
    positionals: list[int] = []
    waiting = ""
    for position, word in enumerate(words):
        if waiting:
            flag, waiting = flags[waiting], ""
            if flag.arity == "value" or is_bool_word(word):
                continue
        if word == "--":
            others = range(position + 1, len(words))
            return WordRoles((*positionals, *others), has_ended=True)
        is_option = word.startswith("-") and word != "-"
        key = key_of(word)
        if (is_option or bare) and key in flags and flags[key].arity != "flag":
            waiting = key
        elif not is_option:
            positionals.append(position)
    return WordRoles(tuple(positionals), waiting)


def _is_path(word: str) -> bool:
    """Whether the word names a file, a folder or a checkpoint's prefix."""
    try:
        return is_remote(word) or Path(word).exists() or Path(f"{word}.index").exists()
    except (OSError, ValueError):
        return False
