"""Which command the words of a command line mean.

The original has one set of flags and takes its command from wherever it stands among them:
``tfprof --graph_path=graph.pb scope``. Without a command it opens its shell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    positions = _positionals(words, flags)
    meant = next((place for place in positions if words[place] in commands), None)
    if meant is None:
        meant = next((place for place in positions if not _is_path(words[place])), None)
    if meant is None:
        return [SHELL, *words]
    if words[meant].startswith("-"):
        return list(words)
    return [words[meant], *words[:meant], *words[meant + 1 :]]


def _positionals(words: Sequence[str], flags: Mapping[str, Flag]) -> list[int]:
    """Where the words stand that are neither options nor values of options."""
    found: list[int] = []
    position = 0
    while position < len(words):
        word = words[position]
        if word == "--":
            return [*found, *range(position + 1, len(words))]
        flag = flags.get(key_of(word)) if word.startswith("-") else None
        if not word.startswith("-") or word == "-":
            found.append(position)
        elif flag is not None and position + 1 < len(words):
            takes_next = flag.arity == "value" or (
                flag.arity == "bool" and is_bool_word(words[position + 1])
            )
            position += takes_next
        position += 1
    return found


def _is_path(word: str) -> bool:
    """Whether the word names a file, a folder or a checkpoint's prefix."""
    try:
        return Path(word).exists() or Path(f"{word}.index").exists()
    except (OSError, ValueError):
        return False
