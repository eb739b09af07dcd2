"""Which command the words of a command line mean.

The original has one set of flags and takes its command from wherever it stands among them:
``tfprof --graph_path=graph.pb scope``. Without a command it opens its shell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfprof.cli.spelling import Flag, is_bool_word, key_of

SHELL = "shell"
_GLOBAL = ("-h", "--help", "--version")


def command_first(
    words: Sequence[str], commands: Collection[str], flags: Mapping[str, Flag]
) -> list[str]:
    """The words with the command in front.

    Args:
        words: Words of a command line, without the program.
        commands: All commands.
        flags: Options that may stand before a command, by ``key_of``.

    Returns:
        ``help`` and no words at all ask for help, options and paths without a command for the
        shell. What is neither a command nor a file was meant as a command, and stands in front.
    """
    if not words:
        return ["--help"]
    if words[0] in commands or words[0] in _GLOBAL:
        return list(words)
    if words[0] == "help":
        asked = [word for word in words[1:2] if word != "help" and not word.startswith("-")]
        return [*asked, "--help"]
    positions = standing(words, flags).positionals
    meant = next((place for place in positions if words[place] in commands), None)
    if meant is None:
        meant = next((place for place in positions if not _is_path(words[place])), None)
    if meant is None:
        return [SHELL, *words]
    if words[meant].startswith("-"):
        return list(words)
    return [words[meant], *words[:meant], *words[meant + 1 :]]


@dataclass(frozen=True, slots=True)
class Standing:
    """What words are, and what may follow them.

    Attributes:
        positionals: Where the words stand that are neither options nor values of options.
        waiting: The option, by ``key_of``, whose value the next word is or may be; or nothing.
        has_ended: Whether ``--`` has ended the options.
    """

    positionals: tuple[int, ...]
    waiting: str = ""
    has_ended: bool = False


def standing(words: Sequence[str], flags: Mapping[str, Flag], *, bare: bool = False) -> Standing:
    """Tell options, their values and other words from each other.

    Args:
        words: Words of a command line.
        flags: Options by ``key_of``; an unknown one takes no value.
        bare: Whether options go without dashes, too, as those of ``set`` do.
    """
    found: list[int] = []
    waiting = ""
    for position, word in enumerate(words):
        if waiting:
            flag, waiting = flags[waiting], ""
            if flag.arity == "value" or is_bool_word(word):
                continue
        if word == "--":
            return Standing((*found, *range(position + 1, len(words))), has_ended=True)
        is_option = word.startswith("-") and word != "-"
        key = key_of(word)
        if (is_option or bare) and key in flags and flags[key].arity != "flag":
            waiting = key
        elif not is_option:
            found.append(position)
    return Standing(tuple(found), waiting)


def _is_path(word: str) -> bool:
    """Whether the word names a file, a folder or a checkpoint's prefix."""
    try:
        return Path(word).exists() or Path(f"{word}.index").exists()
    except (OSError, ValueError):
        return False
