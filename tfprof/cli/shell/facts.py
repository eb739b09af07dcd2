"""The facts that completion needs about commands, from click's parameters."""

from __future__ import annotations

from collections.abc import Iterator

import click

from tfprof.cli.reference import OptionReference, option_reference
from tfprof.cli.shell.completion import CommandFacts, OptionFacts
from tfprof.cli.spelling import key_of
from tfprof.options.spec import BY_NAME, OUTPUT_TYPES


def facts_of(command: click.Command, context: click.Context | None = None) -> CommandFacts:
    """Options and arguments of a command.

    Args:
        command: The command.
        context: If given, also the options that every command has, and all spellings.
    """
    parameters = command.params if context is None else command.get_params(context)
    options = [p for p in parameters if isinstance(p, click.Option) and not p.hidden]
    options.sort(
        key=lambda option: getattr(option, "section", "") in ("Input", "Many hosts")
    )  # last: a session has its input
    facts = [fact for option in options for fact in _option_facts(option, context is not None)]
    arguments = [p for p in parameters if isinstance(p, click.Argument)]
    choices: tuple[str, ...] = getattr(arguments[0].type, "choices", ()) if arguments else ()
    needs_one = any(argument.required for argument in arguments)
    return CommandFacts(
        {key_of(fact.name): fact for fact in facts},
        "choice" if choices else "file" if needs_one else "files" if arguments else "",
        view=command.name or "",
        choices=tuple(choices),
        most=1 if arguments and arguments[0].nargs == 1 else None,
    )


def _option_facts(option: click.Option, all_spellings: bool) -> Iterator[OptionFacts]:
    described = option_reference(option)
    names = described.names if all_spellings else (max(option.opts, key=len),)
    for name in names:
        values, choices = _values(described)
        about = described.summary_of(name)
        yield OptionFacts(name.lstrip("-"), described.takes_value, values, choices, about)


def _values(option: OptionReference) -> tuple[str, tuple[str, ...]]:
    """Kind of an option's values, and the choices."""
    name = key_of(option.names[-1])
    if option.kind == "output":
        return "output", OUTPUT_TYPES
    if option.is_of_views and name == "step":
        return "step", ()
    if option.is_of_views and BY_NAME[name].is_regex:
        return "types" if name == "account_type_regexes" else "names", ()
    return "" if option.kind in ("none", "text") else option.kind, option.choices
