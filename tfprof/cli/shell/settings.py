"""The session's options: ``set``, ``reset``, and the list of options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from tfprof.cli.options import Command, chosen_options, view_options
from tfprof.cli.spelling import FALSE_WORDS, Flag, is_bool_word, key_of
from tfprof.cli.view import view_result_options
from tfprof.errors import UsageError
from tfprof.options.spec import OPTIONS

_SHOWN = ("format", "max_rows", "color", "pager")
"""Options for results that many commands have."""

_ASSIGNMENT = re.compile(r"\s*-{0,2}([A-Za-z][\w-]*)\s*=\s*(.*)", re.DOTALL)


def set_command() -> Command:
    """``set``, which only parses options."""
    shown = [option for option in view_result_options() if option.name in _SHOWN]
    return Command(
        "set",
        params=[*view_options(), *shown],
        help="Set options for all commands that follow; -o and --force are for one command only.",
        examples=["set -order_by micros -max_depth 5", "order_by=micros", "reset order_by"],
    )


def as_set(text: str) -> str:
    """``name=value`` as a ``set`` line; other lines stay as they are."""
    match = _ASSIGNMENT.fullmatch(text)
    return text if match is None else f"set {match[1]}={match[2].strip()}"


def with_set(defaults: Mapping[str, Any], words: Sequence[str]) -> dict[str, Any]:
    """The defaults after a ``set``.

    Args:
        defaults: The defaults before it.
        words: The words after ``set``: options, with or without dashes.

    Raises:
        UsageError: An option or a value is wrong; then nothing is set.
    """
    command = set_command()
    flags = command.flags(click.Context(command))
    with command.make_context("set", _with_dashes(words, flags)) as context:
        values = {
            name: value
            for name, value in context.params.items()
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        }
    merged = {**defaults, **values}
    _check(merged)
    return merged


def reset(
    defaults: Mapping[str, Any], at_start: Mapping[str, Any], words: Sequence[str]
) -> dict[str, Any]:
    """The defaults after a ``reset`` of some options, or of all, to those of the start.

    Raises:
        UsageError: There is no such option.
    """
    if not words:
        return dict(at_start)
    names = [key_of(word) for word in words]
    for name in names:
        if name not in _settable():
            raise UsageError(f"there is no option {name!r} to reset{_hint(name)}")
    initial = {name: at_start[name] for name in names if name in at_start}
    kept = {name: value for name, value in defaults.items() if name not in names}
    return {**kept, **initial}


def options_text(defaults: Mapping[str, Any]) -> str:
    """The options as the original lists them, then those that only tfprof has."""
    from tfprof.options.parse import parse_options
    from tfprof.views.show.tfprof_text import render_options

    params = _params(defaults)
    parsed = parse_options(chosen_options(params))
    ours = [option.name for option in OPTIONS if option.is_ours]
    lines = [(name, params[name]) for name in ours]
    lines += [(name, params[name]) for name in _SHOWN if defaults.get(name) is not None]
    return render_options(parsed) + "".join(f"{'-' + name:<28}{_text(v)}\n" for name, v in lines)


def defaults_for(command: click.Command, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of the options that a command has."""
    return {
        parameter.name: defaults[parameter.name]
        for parameter in command.params
        if parameter.name in defaults and _takes(parameter, defaults[parameter.name])
    }


def _with_dashes(words: Sequence[str], flags: Mapping[str, Flag]) -> list[str]:
    """``order_by micros`` and ``order_by=micros`` as ``--order_by=micros``; also ``pager=no``."""
    options: list[str] = []
    rest = list(words)
    while rest:
        spelling, equals, value = rest.pop(0).partition("=")
        flag = flags.get(key_of(spelling))
        option = spelling if spelling.startswith("-") else f"--{key_of(spelling)}"
        if flag is None and not spelling.startswith("-"):
            raise UsageError(f"there is no option {spelling!r} to set{_hint(spelling)}")
        if flag is None or flag.name == "--help":  # the parser says what is wrong
            return [*options, f"{spelling}{equals}{value}", *rest]
        if not equals and rest and (flag.arity == "value" or is_bool_word(rest[0])):
            equals, value = "=", rest.pop(0)
        if flag.arity == "flag" and is_bool_word(value):
            no = "no-" if value.lower() in FALSE_WORDS else ""
            options.append(f"--{no}{flag.name.lstrip('-')}")
        else:
            options.append(f"{option}{equals}{value}")
    return options


def _hint(name: str) -> str:
    close = difflib.get_close_matches(key_of(name), _settable(), n=1)
    return f"; did you mean {close[0]}?" if close else "; help set lists them all"


def _takes(parameter: click.Parameter, value: Any) -> bool:
    return not isinstance(parameter.type, click.Choice) or value in parameter.type.choices


def _settable() -> list[str]:
    return [*(option.name for option in OPTIONS), *_SHOWN]


def _params(defaults: Mapping[str, Any]) -> dict[str, Any]:
    with set_command().make_context("set", [], default_map=dict(defaults)) as context:
        return dict(context.params)


def _check(defaults: Mapping[str, Any]) -> None:
    from tfprof.options.parse import parse_options

    parse_options(chosen_options(_params(defaults)))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
