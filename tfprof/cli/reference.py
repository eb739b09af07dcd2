"""The whole command line as plain data, read from the click commands.

Completion, man pages and the reference of commands are made from it, so that none of them can
miss an option. No command's own code is imported.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import click

from tfprof.cli.invocation import SHELL
from tfprof.cli.options import Command, CommandOption, view_options
from tfprof.cli.program import cli
from tfprof.cli.registry import COMMANDS
from tfprof.cli.spelling import key_of
from tfprof.core.version import __version__
from tfprof.options.spec import BY_NAME

ValueKind = Literal[
    "none", "bool", "text", "choice", "choices", "file", "files", "folder", "output", "command"
]
"""The kind of an option's value, or of an argument.

``choices`` and ``files`` are lists separated by commas, ``output`` is a value of ``--output``,
``command`` the name of a command or a path.
"""

_KINDS_OF_WORDS: dict[str, ValueKind] = {
    "FILES": "files", "PATHS": "files", "FILE": "file", "PATH": "file",
    "FOLDER": "folder", "DIR": "folder",
}  # fmt: skip
_HELP_OF_VIEWS = {key_of(option.opts[0]): option.help for option in view_options()}
_DEFAULT = re.compile(r" *\[(?:default: (?P<default>.*)|(?:.*, )?default (?P<fact>[^;]*).*)\]$")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A part of a help text; a literal one keeps its lines."""

    text: str
    is_literal: bool = False


@dataclass(frozen=True, slots=True)
class OptionReference:
    """An option.

    Attributes:
        names: Its spellings in the help text: ``-o``, ``--outfile``; also ``--no-classic``.
        metavar: Name of its value in the help text; empty for a flag.
        kind: Kind of its value.
        choices: Accepted values, or elements of its list; empty for any.
        is_repeatable: Whether it may be given several times.
        section: Its section of the help text.
        help: All of its help text.
        is_of_views: Whether it is one of ``tfprof.options.spec``, described in docs/options.md.
    """

    names: tuple[str, ...]
    metavar: str
    kind: ValueKind
    choices: tuple[str, ...]
    is_repeatable: bool
    section: str
    help: str
    is_of_views: bool = False

    @property
    def takes_value(self) -> bool:
        """Whether a value must follow; that of a ``bool`` is optional."""
        return self.kind not in ("none", "bool")

    @property
    def default(self) -> str:
        """The default, from the help text; empty if it names none."""
        match = _DEFAULT.search(self.help)
        return (match["default"] or match["fact"]) if match else ""

    @property
    def text(self) -> str:
        """The help text without the default."""
        return _DEFAULT.sub("", self.help)

    def summary_of(self, name: str) -> str:
        """The help text in short, for a line beside one of the names."""
        if name.startswith("--no-") and name != self.names[0]:
            return f"The opposite of {self.names[0]}"
        if self.choices and self.text.startswith(f"{self.choices[0]}:"):
            return self.text.rstrip(".")
        return re.split(r"(?<=[\w)])\. ", self.text, maxsplit=1)[0].rstrip(".")


@dataclass(frozen=True, slots=True)
class ArgumentReference:
    """An argument; the attributes are those of ``OptionReference``."""

    metavar: str
    kind: ValueKind
    choices: tuple[str, ...]
    is_repeatable: bool
    section: str
    help: str


@dataclass(frozen=True, slots=True)
class CommandReference:
    """A command.

    Attributes:
        name: Its name; empty for the program without a command.
        summary: Its line in ``tfprof --help``.
        usage: Its usage line.
        help: Its help text.
        arguments: Arguments in their order.
        options: Options in the order of the help text.
        examples: Command lines, ready to be pasted.
    """

    name: str
    summary: str
    usage: str
    help: tuple[Paragraph, ...]
    arguments: tuple[ArgumentReference, ...]
    options: tuple[OptionReference, ...]
    examples: tuple[str, ...]

    def sections(self) -> dict[str, list[ArgumentReference | OptionReference]]:
        """Arguments and options by section, as the help text shows them."""
        sections: dict[str, list[ArgumentReference | OptionReference]] = {}
        parameters: list[ArgumentReference | OptionReference] = [*self.arguments, *self.options]
        for parameter in parameters:
            sections.setdefault(parameter.section, []).append(parameter)
        return sections


@dataclass(frozen=True, slots=True)
class ProgramReference:
    """The program.

    Attributes:
        version: Its version.
        program: Options and arguments without a command; its name is empty.
        commands: The commands in the order of the help text.
    """

    version: str
    program: CommandReference
    commands: tuple[CommandReference, ...]

    def groups(self) -> list[tuple[tuple[str, ...], CommandReference]]:
        """Names of commands with equal arguments and options, and one of these commands."""
        groups: dict[object, list[CommandReference]] = {}
        for command in (self.program, *self.commands):
            groups.setdefault((command.arguments, command.options), []).append(command)
        return [(tuple(c.name for c in alike), alike[0]) for alike in groups.values()]


def program_reference() -> ProgramReference:
    """The command line of this version."""
    context = click.Context(cli, info_name="tfprof", **cli.context_settings)
    commands = []
    for name, entry in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command is not None
        commands.append(command_reference(name, entry.short_help, command, context))
    return ProgramReference(__version__, _program(context, commands), tuple(commands))


def _program(context: click.Context, commands: Sequence[CommandReference]) -> CommandReference:
    """The program without a command: options and paths of the shell, which then opens."""
    shell = [option for c in commands if c.name == SHELL for option in c.options]
    own = [option_reference(p) for p in cli.get_params(context) if isinstance(p, click.Option)]
    names = {name for option in own for name in option.names}
    shell = [option for option in shell if not names.intersection(option.names)]
    first = ArgumentReference("COMMAND", "command", tuple(COMMANDS), True, "Commands", "")
    return CommandReference(
        "", _paragraphs(cli.help)[0].text, "tfprof COMMAND [OPTIONS] [PATH]...",
        (*_paragraphs(cli.help), *_paragraphs(cli.epilog)), (first,), (*own, *shell), (),
    )  # fmt: skip


def command_reference(
    name: str, summary: str, command: click.Command, parent: click.Context
) -> CommandReference:
    """One command below the one that the context belongs to."""
    context = click.Context(command, parent, name, **command.context_settings)
    parameters = [p for p in command.get_params(context) if not getattr(p, "hidden", False)]
    return CommandReference(
        name=name,
        summary=summary,
        usage=" ".join([context.command_path, *command.collect_usage_pieces(context)]),
        help=_paragraphs(command.help),
        arguments=tuple(_argument(p, context) for p in parameters if isinstance(p, click.Argument)),
        options=tuple(option_reference(p) for p in parameters if isinstance(p, click.Option)),
        examples=command.examples if isinstance(command, Command) else (),
    )


def _paragraphs(text: str | None) -> tuple[Paragraph, ...]:
    r"""The paragraphs of a help text of click, where a line ``\b`` starts a literal one."""
    paragraphs = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text or "")):
        lines = block.splitlines()
        if lines and lines[0].strip() == "\b":
            paragraphs.append(Paragraph("\n".join(lines[1:]), is_literal=True))
        elif lines:
            paragraphs.append(Paragraph(" ".join(line.strip() for line in lines)))
    return tuple(paragraphs)


def _argument(argument: click.Argument, context: click.Context) -> ArgumentReference:
    choices = _choices(argument)
    record = argument.get_help_record(context)
    metavar = record[0] if record else argument.human_readable_name
    kind: ValueKind = "choice" if choices else _kind_of(argument.type, metavar)
    return ArgumentReference(
        metavar=metavar,
        kind="file" if kind == "files" else kind,  # separate words, not a list in one
        choices=choices,
        is_repeatable=argument.nargs == -1,
        section=getattr(argument, "section", "Arguments"),
        help=record[1] if record else "",
    )


def option_reference(option: click.Option) -> OptionReference:
    """One option."""
    key = key_of(max(option.opts, key=len))
    is_of_views = key in _HELP_OF_VIEWS and _HELP_OF_VIEWS[key] == option.help
    choices = _choices(option)
    if not choices and is_of_views:
        choices = BY_NAME[key].choices
    arity = option.flag.arity if isinstance(option, CommandOption) else "flag"
    kind: ValueKind = "none"
    if arity == "bool":
        kind, choices = "bool", ("true", "false")
    elif arity == "value" and is_of_views and key == "output":
        kind = "output"
    elif arity == "value" and choices:
        kind = "choices" if option.multiple else "choice"
    elif arity == "value":
        kind = _kind_of(option.type, option.metavar or "")
    metavar = option.metavar or "|".join(choices)
    return OptionReference(
        names=(*option.opts, *option.secondary_opts),
        metavar="" if kind == "none" else metavar,
        kind=kind,
        choices=choices,
        is_repeatable=option.multiple,
        section=getattr(option, "section", "Other"),
        help=option.help or "",
        is_of_views=is_of_views,
    )


def _choices(parameter: click.Parameter) -> tuple[str, ...]:
    choices: Iterable[object] = getattr(parameter.type, "choices", ())
    return tuple(map(str, choices))


def _kind_of(kind: object, metavar: str) -> ValueKind:
    """The kind of a value, by its type or else by its name in the help text."""
    if isinstance(kind, click.Path):
        return "file" if kind.file_okay else "folder"
    words = (word for word in re.findall(r"[A-Z]+", metavar) if word in _KINDS_OF_WORDS)
    return _KINDS_OF_WORDS.get(next(words, ""), "text")
