"""What could stand at the cursor: a pure function of the line and of what is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from tfprof.cli.shell.line import Word, next_word, quoted
from tfprof.cli.spelling import FALSE_WORDS, TRUE_WORDS, key_of

MOST_SUGGESTIONS = 200
"""More than this nobody reads."""

SETTING = "set"
"""The command that takes settings; ``name=value`` does the same without it."""

_METACHARACTERS = re.compile(r"[\\.+*?()|\[\]{}^$]")
_LITERAL = re.compile(r"(?:\\[^\w\s]|[^\\.+*?()|\[\]{}^$])*\\?")
_LAST_COMMA = re.compile(r"(?:\\.|[^\\])*(?<!\\),", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text that could stand at the cursor.

    Attributes:
        text: What replaces the line from ``start`` on.
        start: Place in the line.
        shown: What to list.
        about: A few words on it.
    """

    text: str
    start: int
    shown: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class OptionFacts:
    """An option of a command.

    Attributes:
        name: With underscores and without dashes.
        takes_value: Whether a value follows; ``False`` for one that may stand alone.
        values: Of what kind values are: ``choice``, ``choices``, ``bool``, ``file``, ``files``,
            ``output``, ``step``, ``names``, ``types``, or nothing that could be known.
        choices: Values of the first two kinds.
        about: What it does.
    """

    name: str
    takes_value: bool
    values: str = ""
    choices: tuple[str, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """A command.

    Attributes:
        options: Its options by name.
        arguments: Of what kind its arguments are: ``file``, ``files`` for those that can be left
            out, ``command``, ``option``, ``setting``, which is an option without dashes, or
            nothing.
        view: Kind of its rows: ``op``, ``code`` or others, whose rows are names of ops.
    """

    options: Mapping[str, OptionFacts] = field(default_factory=dict)
    arguments: str = ""
    view: str = ""


class Words(Protocol):
    """Words by prefix."""

    def starting_with(self, prefix: str) -> Iterator[str]:
        """Words that start with a prefix."""

    def next_levels(self, prefix: str) -> Iterator[str]:
        """The same, cut at the next slash."""

    def containing(self, part: str) -> Iterator[str]:
        """Words from where they contain a text on."""


class KnownWords(Protocol):
    """What a profile holds."""

    @property
    def names(self) -> Words:
        """Names of ops."""

    @property
    def segments(self) -> Words:
        """What stands between the slashes of names."""

    @property
    def types(self) -> Words:
        """Op types, devices and other types."""

    @property
    def lines(self) -> Words:
        """Python lines."""

    @property
    def steps(self) -> Sequence[int]:
        """Steps."""


@dataclass(frozen=True, slots=True)
class Completer:
    """Completes lines.

    Attributes:
        commands: What each command does, by name.
        facts_of: The rest about a command.
        words: What the profile holds.
        files: Paths that start with a text; folders end with a slash.
    """

    commands: Mapping[str, str]
    facts_of: Callable[[str], CommandFacts]
    words: KnownWords
    files: Callable[[str], Iterable[str]]

    def complete(self, text: str) -> list[Suggestion]:
        """What could stand at the end of a line, the most useful first.

        Args:
            text: The line up to the cursor.
        """
        before, word = _last_word(text)
        if any(earlier.bare and earlier.text.startswith("|") for earlier in [*before, word]):
            return []
        follows_arrow = bool(before) and before[-1].bare and before[-1].text == ">"
        if follows_arrow or (word.bare and word.text.startswith(">")):
            return self._outfiles(word, follows_arrow)
        found = self._suggestions([earlier.text for earlier in before], word)
        return list(islice(found, MOST_SUGGESTIONS))

    def _outfiles(self, word: Word, follows_arrow: bool) -> list[Suggestion]:
        start = word.start if follows_arrow else word.start + 1
        typed = word.text if follows_arrow else word.text[1:]
        return [Suggestion(quoted(path), start, path) for path in self.files(typed)]

    def _suggestions(self, before: list[str], word: Word) -> Iterator[Suggestion]:
        if not before:
            names = list(self._command_names(word))
            yield from names
            if not names and SETTING in self.commands:
                yield from self._settings(self.facts_of(SETTING), word, "=")
            return
        if before[0] not in self.commands:
            return
        command = self.facts_of(before[0])
        if word.text.startswith("-"):
            dashes = word.text[: len(word.text) - len(word.text.lstrip("-"))]
            spelling, equals, typed = word.text.partition("=")
            option = command.options.get(key_of(spelling))
            if equals and option is not None:
                yield from self._values(option, command, typed, word.start, f"{spelling}=")
            elif not equals:
                yield from _option_names(command, dashes, key_of(spelling), word.start)
            return
        takes_settings = command.arguments == "setting"
        if takes_settings and "=" in word.text:
            yield from self._settings(command, word)
            return
        previous = before[-1] if len(before) > 1 else ""
        is_name = previous.startswith("-") or takes_settings
        option = command.options.get(key_of(previous)) if is_name else None
        if option is not None and "=" not in previous and option.values:
            yield from self._values(option, command, word.text, word.start)
        if option is None or not option.takes_value:
            yield from self._arguments(command, word)

    def _command_names(self, word: Word) -> Iterator[Suggestion]:
        for name, about in self.commands.items():
            if name.startswith(word.text):
                yield Suggestion(name, word.start, name, about)

    def _settings(
        self, command: CommandFacts, word: Word, behind: str = ""
    ) -> Iterator[Suggestion]:
        """``name=value``, or names with what is to stand behind them."""
        name, equals, typed = word.text.partition("=")
        option = command.options.get(key_of(name))
        if not equals:
            yield from _option_names(command, "", key_of(name), word.start, behind)
        elif option is not None:
            yield from self._values(option, command, typed, word.start, f"{name}=")

    def _arguments(self, command: CommandFacts, word: Word) -> Iterator[Suggestion]:
        if command.arguments in ("files", "") and not word.text:
            yield from _option_names(command, "-", "", word.start)
        if command.arguments in ("file", "files"):
            yield from _offered(self.files(word.text), word.start)
        elif command.arguments == "command":
            yield from self._command_names(word)
        elif command.arguments in ("option", "setting"):
            yield from _option_names(command, "", key_of(word.text), word.start)

    def _values(
        self, option: OptionFacts, command: CommandFacts, typed: str, start: int, head: str = ""
    ) -> Iterator[Suggestion]:
        if option.values in ("choices", "files", "names", "types"):
            kept = _LAST_COMMA.match(typed)
            head += kept[0] if kept else ""
            typed = typed[kept.end() :] if kept else typed
        if option.values in ("choice", "choices"):
            chosen = head.rpartition("=")[2].split(",")
            choices = (choice for choice in option.choices if choice not in chosen)
            found: Iterable[str] = (choice for choice in choices if choice.startswith(typed))
        elif option.values == "bool":
            words = (TRUE_WORDS[0], FALSE_WORDS[0])
            found = (word for word in words if word.startswith(typed.lower()))
        elif option.values in ("file", "files"):
            found = self.files(typed)
        elif option.values == "step":
            found = (str(s) for s in (-1, *self.words.steps) if str(s).startswith(typed))
        elif option.values == "output":
            found = self._outputs(option, typed)
        else:
            found = self._regexes(option, command, typed)
        yield from _offered(found, start, head)

    def _outputs(self, option: OptionFacts, typed: str) -> Iterator[str]:
        kind, arrow, path = typed.partition("outfile=")
        if arrow:
            yield from (f"{kind}{arrow}{file}" for file in self.files(path))
            return
        for choice in option.choices:
            whole = choice if choice in ("none", "stdout") else f"{choice}:outfile="
            if whole.startswith(typed):
                yield whole

    def _regexes(self, option: OptionFacts, command: CommandFacts, typed: str) -> Iterator[str]:
        """Regexes that match what begins like the literal text at the end of the typed one."""
        anywhere = typed.startswith(".*")
        literal = typed[2:] if anywhere else typed
        if not _LITERAL.fullmatch(literal):
            return
        prefix = re.sub(r"\\(.)", r"\1", literal.removesuffix("\\"))
        words = None
        if option.values == "types" or command.view == "op":
            words = self.words.types
        elif command.view == "code":
            words = self.words.lines
        if words is not None:
            found = words.containing(prefix) if anywhere else words.starting_with(prefix)
        elif anywhere and "/" not in prefix:
            found = self.words.segments.starting_with(prefix)
        else:
            found = self.words.names.next_levels(prefix)
        for name in found:
            escaped = _METACHARACTERS.sub(r"\\\g<0>", name).replace(",", "\\,")
            yield f"{'.*' if anywhere else ''}{escaped}"


def _option_names(
    command: CommandFacts, dashes: str, key: str, start: int, behind: str = ""
) -> Iterator[Suggestion]:
    for option in command.options.values():
        if option.name.startswith(key):
            name = f"{dashes}{option.name}{behind}"
            yield Suggestion(name, start, name, option.about)


def _offered(values: Iterable[str], start: int, head: str = "") -> Iterator[Suggestion]:
    for value in values:
        yield Suggestion(_quoted_behind(head, value), start, value)


def _quoted_behind(head: str, value: str) -> str:
    """``-option=value`` with quotes around the value only."""
    spelling, equals, start = head.partition("=")
    if equals and (spelling.startswith("-") or spelling.isidentifier()):
        return f"{spelling}={quoted(start + value)}"
    return quoted(head + value)


def _last_word(text: str) -> tuple[list[Word], Word]:
    """The words before the cursor, and the one at it, which may be empty."""
    words: list[Word] = []
    position = 0
    while (word := next_word(text, position)) is not None:
        words.append(word)
        position = word.end
    if words and words[-1].end == len(text):
        return words[:-1], words[-1]
    return words, Word("", len(text), len(text), "", bare=True)
