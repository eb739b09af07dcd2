"""Completions at the cursor: a pure function of the line, the commands and the profile.

The session completes its lines with it, and so does the system's shell (``tfprof.cli.completion``),
which has files but no profile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Literal

from tfprof.cli.invocation import classify
from tfprof.cli.shell.line import last_word, quoted
from tfprof.cli.spelling import FALSE_WORDS, TRUE_WORDS, Flag, key_of

if TYPE_CHECKING:
    from tfprof.cli.shell.words import ProfileWords

MOST_SUGGESTIONS = 200
"""Most suggestions; users do not read more."""

SETTING = "set"
"""The command that takes settings; ``name=value`` does the same without it."""

_METACHARACTERS = re.compile(r"[\\.+*?()|\[\]{}^$]")
_LITERAL = re.compile(r"(?:\\[^\w\s]|[^\\.+*?()|\[\]{}^$])*\\?")
_LAST_COMMA = re.compile(r"(?:\\.|[^\\])*(?<!\\),", re.DOTALL)


Kind = Literal["whole", "open", "file", "folder"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text that could stand at the cursor.

    Attributes:
        text: What replaces the line from ``start`` on.
        start: Position in the line.
        shown: The text to list.
        about: A short description.
    """

    text: str
    start: int
    shown: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A completion of the word at the cursor, without quotes.

    Attributes:
        head: Start of the word, which stays as it is and is not shown: ``--select=bytes,``.
        value: The completed part.
        about: A short description.
        kind: ``open`` if more can follow, ``file`` or ``folder`` if a path follows.
        path: Start of this path.
    """

    head: str
    value: str
    about: str = ""
    kind: Kind = "whole"
    path: str = ""


@dataclass(frozen=True, slots=True)
class OptionFacts:
    """A spelling of an option of a command.

    Attributes:
        name: Its spelling in the help text, without dashes.
        takes_value: Whether a value must follow.
        values: Kind of its values: ``choice``, ``choices``, ``bool``, ``file``, ``files``,
            ``folder``, ``output``, ``step``, ``names``, ``types``, or ``""`` for any text.
        choices: Values of the first two kinds.
        about: A short description.
    """

    name: str
    takes_value: bool
    values: str = ""
    choices: tuple[str, ...] = ()
    about: str = ""

    @property
    def flag(self) -> Flag:
        """How its value is spelt."""
        if self.takes_value:
            return Flag(self.name, "value")
        return Flag(self.name, "bool" if self.values == "bool" else "flag")


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """A command.

    Attributes:
        options: Its options by name.
        arguments: Kind of its arguments: ``file``, ``files`` (optional), ``choice``, ``command``,
            ``run`` (a command or a file), ``option``, ``setting`` (an option without dashes), or
            ``""`` for none.
        view: The view that it shows: ``op``, ``code``, or another one with names of ops.
        choices: Arguments of the kind ``choice``.
        most: Most arguments that it takes; None is any number.
    """

    options: Mapping[str, OptionFacts] = field(default_factory=dict)
    arguments: str = ""
    view: str = ""
    choices: tuple[str, ...] = ()
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Completer:
    """Completes lines.

    Attributes:
        commands: Description of each command, by name.
        facts_of: Options and arguments of a command.
        words: Words of the profile; None if there is none.
        files: Paths that start with a text; folders end with a slash.
    """

    commands: Mapping[str, str]
    facts_of: Callable[[str], CommandFacts]
    words: ProfileWords | None
    files: Callable[[str], Iterable[str]]

    def complete(self, text: str) -> list[Suggestion]:
        """Completions at the end of a line of the session, the most useful first.

        Args:
            text: The line up to the cursor.
        """
        before, word = last_word(text)
        if any(earlier.bare and earlier.text.startswith("|") for earlier in [*before, word]):
            return []
        follows_arrow = bool(before) and before[-1].bare and before[-1].text == ">"
        start, offers = word.start, self._offers([earlier.text for earlier in before], word.text)
        if follows_arrow:
            offers = iter([Offer("", "", kind="file", path=word.text)])
        elif word.bare and word.text.startswith(">"):
            start, offers = start + 1, iter([Offer("", "", kind="file", path=word.text[1:])])
        listed = (whole for offer in offers for whole in self.listed(offer))
        return [
            Suggestion(_quoted_behind(offer.head, offer.value), start, offer.value, offer.about)
            for offer in islice(listed, MOST_SUGGESTIONS)
        ]

    def listed(self, offer: Offer) -> Iterator[Offer]:
        """The offer, or an offer for each existing path that it stands for."""
        if offer.kind in ("file", "folder"):
            for path in self.files(offer.path):
                is_folder = path.endswith("/")
                if is_folder or offer.kind == "file":
                    kind: Kind = "open" if is_folder else "whole"
                    yield Offer(offer.head, offer.value + path, kind=kind)
        else:
            yield offer

    def _offers(self, before: list[str], typed: str) -> Iterator[Offer]:
        if not before:
            names = list(self._command_names(typed))
            yield from names
            if not names and SETTING in self.commands:
                yield from self._settings(self.facts_of(SETTING), typed, "=")
        elif before[0] in self.commands:
            yield from self.offers_of(self.facts_of(before[0]), before[1:], typed)

    def offers_of(
        self, command: CommandFacts, before: Sequence[str], typed: str
    ) -> Iterator[Offer]:
        """Completions of the word at the cursor.

        Args:
            command: The command of the line.
            before: The other words before the cursor.
            typed: The word at the cursor, which may be empty.
        """
        takes_settings = command.arguments == "setting"
        flags = {name: option.flag for name, option in command.options.items()}
        roles = classify(before, flags, bare=takes_settings)
        waiting = command.options.get(roles.waiting)
        is_value = waiting is not None and waiting.takes_value
        if typed.startswith("-") and not roles.has_ended and not is_value:
            spelling, equals, value = typed.partition("=")
            option = command.options.get(key_of(spelling))
            if equals and option is not None:
                yield from self._values(option, command, value, f"{spelling}=")
            elif not equals:
                dashes = typed[: len(typed) - len(typed.lstrip("-"))]
                yield from _option_names(command, dashes, key_of(typed))
            return
        if takes_settings and "=" in typed:
            yield from self._settings(command, typed)
            return
        if waiting is not None and waiting.values:
            yield from self._values(waiting, command, typed)
        if not is_value and (command.most is None or len(roles.positionals) < command.most):
            yield from self._arguments(command, typed)

    def _command_names(self, typed: str) -> Iterator[Offer]:
        for name, about in self.commands.items():
            if name.startswith(typed):
                yield Offer("", name, about)

    def _settings(self, command: CommandFacts, typed: str, behind: str = "") -> Iterator[Offer]:
        """Completions of ``name=value``, or names followed by ``behind``."""
        name, equals, value = typed.partition("=")
        option = command.options.get(key_of(name))
        if not equals:
            yield from _option_names(command, "", key_of(name), behind)
        elif option is not None:
            yield from self._values(option, command, value, f"{name}=")

    def _arguments(self, command: CommandFacts, typed: str) -> Iterator[Offer]:
        if command.arguments in ("files", "") and not typed:
            yield from _option_names(command, "-", "")
        if command.arguments in ("command", "run"):
            names = list(self._command_names(typed))
            yield from names
            if names or command.arguments == "command":
                return
        if command.arguments in ("file", "files", "run"):
            yield Offer("", "", kind="file", path=typed)
        elif command.arguments == "choice":
            yield from (Offer("", word) for word in command.choices if word.startswith(typed))
        elif command.arguments in ("option", "setting"):
            yield from _option_names(command, "", key_of(typed))

    def _values(
        self, option: OptionFacts, command: CommandFacts, typed: str, head: str = ""
    ) -> Iterator[Offer]:
        if option.values in ("choices", "files", "names", "types"):
            kept = _LAST_COMMA.match(typed)
            head += kept[0] if kept else ""
            typed = typed[kept.end() :] if kept else typed
        if option.values in ("file", "files", "folder"):
            kind: Kind = "folder" if option.values == "folder" else "file"
            yield Offer(head, "", kind=kind, path=typed)
        elif option.values in ("choice", "choices"):
            chosen = head.rpartition("=")[2].split(",")
            for choice in option.choices:
                if choice not in chosen and choice.startswith(typed):
                    yield Offer(head, choice, kind="whole" if option.values == "choice" else "open")
        elif option.values == "bool":
            words = (TRUE_WORDS[0], FALSE_WORDS[0])
            yield from (Offer(head, word) for word in words if word.startswith(typed.lower()))
        elif option.values == "output":
            yield from _outputs(option, typed, head)
        elif self.words is not None and option.values == "step":
            steps = (str(step) for step in (-1, *self.words.steps))
            yield from (Offer(head, step) for step in steps if step.startswith(typed))
        elif self.words is not None and option.values in ("names", "types"):
            regexes = _regexes(self.words, option, command, typed)
            yield from (Offer(head, regex) for regex in regexes)


def _outputs(option: OptionFacts, typed: str, head: str) -> Iterator[Offer]:
    before, arrow, path = typed.partition("outfile=")
    if arrow:
        yield Offer(head, before + arrow, kind="file", path=path)
        return
    for choice in option.choices:
        if choice in ("none", "stdout"):
            if choice.startswith(typed):
                yield Offer(head, choice)
        elif (whole := f"{choice}:outfile=").startswith(typed):
            yield Offer(head, whole, kind="open")


def _regexes(
    known: ProfileWords, option: OptionFacts, command: CommandFacts, typed: str
) -> Iterator[str]:
    """Regexes for the names that begin with the typed text, or contain it after ``.*``."""
    anywhere = typed.startswith(".*")
    literal = typed[2:] if anywhere else typed
    if not _LITERAL.fullmatch(literal):
        return
    prefix = re.sub(r"\\(.)", r"\1", literal.removesuffix("\\"))
    words = None
    if option.values == "types" or command.view == "op":
        words = known.types
    elif command.view == "code":
        words = known.lines
    if words is not None:
        names = words.containing(prefix) if anywhere else words.starting_with(prefix)
    elif anywhere and "/" not in prefix:
        names = known.segments.starting_with(prefix)
    else:
        names = known.names.next_levels(prefix)
    for name in names:
        escaped = _METACHARACTERS.sub(r"\\\g<0>", name).replace(",", "\\,")
        yield f"{'.*' if anywhere else ''}{escaped}"


def _option_names(
    command: CommandFacts, dashes: str, key: str, behind: str = ""
) -> Iterator[Offer]:
    for option in command.options.values():
        is_short = len(option.name) == 1
        if key_of(option.name).startswith(key) and (not is_short or dashes == "-"):
            yield Offer("", f"{dashes}{option.name}{behind}", option.about)


def _quoted_behind(head: str, value: str) -> str:
    """``-option=value`` with quotes only around the value."""
    spelling, equals, start = head.partition("=")
    if equals and (spelling.startswith("-") or spelling.isidentifier()):
        return f"{spelling}={quoted(start + value)}"
    return quoted(head + value)
