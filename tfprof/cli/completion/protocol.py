"""click's completion protocol, answered by the completer of the session.

For each press of Tab a shell starts one process. Its script, a file beside this one, passes the
line up to the cursor. Nothing heavy is imported here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click
from click.shell_completion import CompletionItem, ShellComplete

from tfprof.cli.invocation import SHELL, classify
from tfprof.cli.options import Command
from tfprof.cli.program import cli
from tfprof.cli.registry import COMMANDS, find_command
from tfprof.cli.shell.completion import CommandFacts, Completer, Offer
from tfprof.cli.shell.facts import facts_of
from tfprof.cli.shell.files import paths_with_prefix
from tfprof.cli.shell.line import last_word

# Generic in newer releases of click, which older ones cannot subscribe.
if TYPE_CHECKING:
    _Item = CompletionItem[Any]
else:
    _Item = CompletionItem

_ASSIGNMENT = re.compile(r"\w+=.*", re.DOTALL)
_NAME_OF_OPTION = re.compile(r"(--?)([\w-]+)")
_SPECIAL_IN_BASH = re.compile(r"[^\w@%+=:,./~-]")


class LineComplete(ShellComplete):
    """Completes a line of a shell.

    The answer has a line for each candidate: its kind, the completed word and a description, with
    tabs between them. The shell itself completes paths: for ``file`` and ``folder``, the line has
    the part of the word before the path, and the start of the path.
    """

    script: ClassVar[str]
    """The file of the script, beside this one; the shell looks for this name."""

    def source(self) -> str:
        """Text of the script."""
        return Path(__file__).with_name(self.script).read_text("utf-8")

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words between the program and the cursor, and the one at it."""
        before, word = last_word(os.environ["COMP_WORDS"])
        words = [earlier.text for earlier in before]
        while words and _ASSIGNMENT.fullmatch(words[0]):
            del words[0]  # NAME=value before the program
        return words[1:], word.text

    def get_completions(self, args: list[str], incomplete: str) -> list[_Item]:
        """Completions of the word at the cursor."""
        return [
            CompletionItem(offer.head + offer.value, offer.kind, offer.about or offer.path)
            for offer in offers_at(args, incomplete)
        ]

    def format_completion(self, item: _Item) -> str:
        """A line of the answer."""
        return "\t".join((item.type, item.value, item.help or ""))


class BashComplete(LineComplete):
    """Completes a line of bash, which replaces only the part after the last word break."""

    name = "bash"
    script = "tfprof"

    def get_completions(self, args: list[str], incomplete: str) -> list[_Item]:
        """Completions without the part before the word break, quoted for bash."""
        is_quoted = bool(last_word(os.environ["COMP_WORDS"])[1].open_quote)
        kept = incomplete.removesuffix(last_word(os.environ["COMP_CWORD"])[1].text)
        items = []
        for offer in offers_at(args, incomplete):
            is_path_only = offer.kind in ("file", "folder") and offer.head + offer.value == kept
            for whole in [offer] if is_path_only else _COMPLETER.listed(offer):
                text = (whole.head + whole.value).removeprefix(kept)
                text = text if is_quoted else _SPECIAL_IN_BASH.sub(r"\\\g<0>", text)
                items.append(CompletionItem(text, whole.kind))
        return items


class ZshComplete(LineComplete):
    """Completes a line of zsh."""

    name = "zsh"
    script = "_tfprof"


class FishComplete(LineComplete):
    """Completes a line of fish."""

    name = "fish"
    script = "tfprof.fish"


SHELLS: Mapping[str, type[LineComplete]] = {
    completer.name: completer for completer in (BashComplete, ZshComplete, FishComplete)
}
"""The completer for each shell."""


def offers_at(words: Sequence[str], typed: str) -> list[Offer]:
    """Completions of the word at the cursor; options in the spelling that was begun.

    Args:
        words: The words between the program and the cursor.
        typed: The word at the cursor, which may be empty.
    """
    place, paths = _place_of_command(words)
    before = list(words)
    if place is not None:
        command = _command(words[place])
        facts = facts_of(command, _context(command))
        before = [*paths, *words[place + 1 :]]  # without the options before the command
    elif words or typed.startswith("-"):
        facts = _facts_of_program()
    else:
        facts = CommandFacts(arguments="run")
    if facts.arguments == "files":
        facts = replace(facts, arguments="file")
    style = next((mark for mark in "_-" if mark in typed.lstrip("-")), "")
    return [_in_style(offer, style) for offer in _COMPLETER.offers_of(facts, before, typed)]


def _place_of_command(words: Sequence[str]) -> tuple[int | None, list[str]]:
    """Index of the command, or None, and the paths before it."""
    if not words or words[0] in COMMANDS:  # the usual case, which needs no options
        return (0 if words else None), []
    shell = _command(SHELL)
    positionals = classify(words, shell.flags(_context(shell))).positionals
    place = next((place for place in positionals if words[place] in COMMANDS), None)
    return place, [words[other] for other in positionals if place is not None and other < place]


def _in_style(offer: Offer, style: str) -> Offer:
    """The option with ``-`` or ``_`` between its words; ``""`` keeps that of the help text."""
    spelling = _NAME_OF_OPTION.fullmatch(offer.value)
    if not style or offer.head or spelling is None:
        return offer
    return replace(offer, value=spelling[1] + re.sub("[-_]", style, spelling[2]))


def _facts_of_program() -> CommandFacts:
    """Options and arguments without a command: those of the shell and of the group."""
    shell = _command(SHELL)
    facts = facts_of(shell, _context(shell))
    options = {**facts.options, **facts_of(cli, _context(cli)).options}
    return replace(facts, options=options, arguments="run")


def _command(name: str) -> Command:
    command = find_command(name)
    assert isinstance(command, Command)
    return command


def _context(command: click.Command) -> click.Context:
    return click.Context(command, **command.context_settings)


_COMPLETER = Completer(
    {name: entry.short_help for name, entry in COMMANDS.items()},
    lambda name: facts_of(_command(name)),
    None,
    paths_with_prefix,
)
