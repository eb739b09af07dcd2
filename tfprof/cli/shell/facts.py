"""What the completion needs to know of commands, read off click's parameters."""

from __future__ import annotations

import click

from tfprof.cli.options import BoolType, CommandOption
from tfprof.cli.shell.completion import CommandFacts, OptionFacts
from tfprof.cli.spelling import key_of
from tfprof.options.spec import BY_NAME, OUTPUT_TYPES

_FILE_METAVARS = {"FILE": "file", "PATH": "file", "FILES": "files", "DIR": "file"}


def facts_of(command: click.Command) -> CommandFacts:
    """Options and arguments of a command."""
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    facts = [_option_facts(option) for option in options]
    takes_files = any(isinstance(parameter, click.Argument) for parameter in command.params)
    return CommandFacts(
        {fact.name: fact for fact in facts},
        arguments="file" if takes_files else "",
        view=command.name or "",
    )


def _option_facts(option: click.Option) -> OptionFacts:
    name = key_of(max(option.opts, key=len))
    about = (option.help or "").partition(". ")[0].rstrip(".")
    values, choices = _values(name, option)
    takes_value = not option.is_flag and not isinstance(option.type, BoolType)
    return OptionFacts(name, takes_value, values, choices, about)


def _values(name: str, option: click.Option) -> tuple[str, tuple[str, ...]]:
    """Of what kind an option's values are, and which there are."""
    known = BY_NAME.get(name) if isinstance(option, CommandOption) else None
    choices: tuple[str, ...] = ()
    if isinstance(option.type, click.Choice):
        kind, choices = "choice", tuple(map(str, option.type.choices))
    elif isinstance(option.type, BoolType):
        kind = "bool"
    elif name == "output":
        kind, choices = "output", OUTPUT_TYPES
    elif name == "step":
        kind = "step"
    elif known is not None and known.is_regex:
        kind = "types" if name == "account_type_regexes" else "names"
    elif known is not None and known.choices:
        kind, choices = ("choices" if known.kind == "list" else "choice"), known.choices
    else:
        kind = "" if option.is_flag else _FILE_METAVARS.get(str(option.metavar), "")
    return kind, choices
