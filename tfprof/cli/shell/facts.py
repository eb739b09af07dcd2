"""What the completion needs to know of commands, read off click's parameters."""

from __future__ import annotations

import click

from tfprof.cli.reference import OptionReference, option_reference
from tfprof.cli.shell.completion import CommandFacts, OptionFacts
from tfprof.cli.spelling import key_of
from tfprof.options.spec import BY_NAME, OUTPUT_TYPES


def facts_of(command: click.Command) -> CommandFacts:
    """Options and arguments of a command."""
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    options.sort(key=_names_input)  # last: a session has its input
    facts = [_option_facts(option) for option in options]
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    needs_file = any(argument.required for argument in arguments)
    return CommandFacts(
        {fact.name: fact for fact in facts},
        arguments="file" if needs_file else "files" if arguments else "",
        view=command.name or "",
    )


def _names_input(option: click.Option) -> bool:
    return getattr(option, "section", "") == "Input"


def _option_facts(option: click.Option) -> OptionFacts:
    name = key_of(max(option.opts, key=len))
    described = option_reference(option)
    values, choices = _values(name, described)
    return OptionFacts(
        name, described.takes_value, values, choices, described.summary_of(option.opts[0])
    )


def _values(name: str, option: OptionReference) -> tuple[str, tuple[str, ...]]:
    """Of what kind an option's values are, and which there are."""
    if option.kind == "output":
        return "output", OUTPUT_TYPES
    if option.is_of_views and name == "step":
        return "step", ()
    if option.is_of_views and BY_NAME[name].is_regex:
        return "types" if name == "account_type_regexes" else "names", ()
    kinds = {"none": "", "text": "", "folder": "file"}
    return kinds.get(option.kind, option.kind), option.choices
