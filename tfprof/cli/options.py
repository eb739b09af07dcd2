"""click options, made from the table in ``tfprof.options.spec``."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import click

from tfprof.cli.answer_cache import AnswerCache
from tfprof.cli.spelling import (
    FALSE_WORDS,
    TRUE_WORDS,
    Flag,
    canonical,
    did_you_mean,
    key_of,
)
from tfprof.core.text.units import bytes_of
from tfprof.errors import UsageError
from tfprof.files.remote.path import named
from tfprof.options.lists import split_list
from tfprof.options.spec import ALL_VIEWS, OPTIONS, UNASKED, Option

CLI_DEFAULTS: Mapping[str, Any] = {
    **UNASKED,
    "max_depth": 10,
}
"""Defaults on the command line; ``max_depth`` is that of the original."""

_HELP_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_STDIN = "/dev/stdin"
_METAVARS = {"int": "N", "bool": "[BOOL]", "str": "TEXT", "list": "LIST"}


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T", bound=_Dataclass)


# Generic in newer releases of click, which older ones cannot subscribe.
if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
    _Choice = click.Choice[str]
else:
    _ParamType = click.ParamType
    _Choice = click.Choice


class Choice(_Choice):
    """One of a few words; the error for a misspelt one suggests the nearest."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Check the value."""
        if value in self.choices:
            return value
        hint = did_you_mean(value.lower(), self.choices)
        return self.fail(f"{value!r} is not one of {', '.join(self.choices)}{hint}", param, ctx)

    def get_missing_message(self, param: Any, ctx: Any = None) -> str:
        """The message if the word is missing."""
        return f"Give one of: {', '.join(self.choices)}"


class InputPath(_ParamType):
    """A file, folder or URL to read; ``-`` is stdin, if the system has a path for it."""

    name = "PATH"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Check the value."""
        if value == "" and isinstance(param, click.Argument):
            self.fail("'' is not the name of a file", param, ctx)
        return _STDIN if value == "-" and Path(_STDIN).exists() else named(value)


class TextFile(InputPath):
    """A file of text: its content."""

    name = "FILE"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read the file."""
        from tfprof.files.disk import read_file

        return bytes(read_file(super().convert(value, param, ctx))).decode("utf-8", "replace")


class OutputPath(_ParamType):
    """A file to write, or ``-`` for stdout."""

    name = "FILE"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Check the value."""
        return value or self.fail("give the name of a file, or - for stdout", param, ctx)


class IntType(_ParamType):
    """A whole number, in decimal digits."""

    name = "N"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read the value; its 64-bit limits are checked with the other options."""
        if isinstance(value, int):
            return value
        if not re.fullmatch(r"[+-]?[0-9]{1,30}", value):
            self.fail(f"{value!r} is not a whole number", param, ctx)
        return int(value)


class MemorySize(_ParamType):
    """An amount of memory: ``4G``, ``512M``."""

    name = "SIZE"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read the value, as bytes."""
        try:
            return value if isinstance(value, int) else bytes_of(value)
        except UsageError as error:
            return self.fail(str(error), param, ctx)


class BoolType(_ParamType):
    """The original's words for true and false."""

    name = "BOOL"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read the value."""
        if isinstance(value, bool):
            return value
        if value.lower() in TRUE_WORDS + FALSE_WORDS:
            return value.lower() in TRUE_WORDS
        allowed = ", ".join(f"{t}/{f}" for t, f in zip(TRUE_WORDS, FALSE_WORDS, strict=True))
        return self.fail(f"{value!r} is neither true nor false; use one of {allowed}", param, ctx)


class CommandOption(click.Option):
    """An option with its section of the help text."""

    def __init__(self, *args: Any, section: str = "Other", **kwargs: Any) -> None:
        self.section = section
        super().__init__(*args, **kwargs)

    @property
    def flag(self) -> Flag:
        """How its value is spelt."""
        name = max(self.opts, key=len)
        if isinstance(self.type, BoolType):
            return Flag(name, "bool")
        return Flag(name, "flag" if self.is_flag else "value")


class HelpedArgument(click.Argument):
    """An argument with a line of its own in the help text.

    Args:
        name: Name of the parameter.
        shown: Name in the help text, such as ``PATH...``.
        about: Text of the line.
        section: Section of the help text.
    """

    def __init__(
        self, name: str, shown: str, about: str, section: str = "Input", **kwargs: Any
    ) -> None:
        super().__init__([name], **kwargs)
        self.section = section
        self._record = (shown, about)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """The line in the help text."""
        return self._record


class Command(click.Command):
    """A command that accepts every spelling of its options and groups them in its help.

    Args:
        args: As for click.
        examples: Lines for its help.
        is_cached: Keep its answers. They must depend on nothing but its options and files.
        kwargs: As for click.
    """

    def __init__(
        self, *args: Any, examples: Sequence[str] = (), is_cached: bool = False, **kwargs: Any
    ) -> None:
        self.examples = tuple(examples)
        self._is_cached = is_cached
        if is_cached:
            kwargs["params"] = [*kwargs.get("params", ()), cache_option()]
        super().__init__(*args, **{"context_settings": _HELP_SETTINGS, **kwargs})

    def invoke(self, ctx: click.Context) -> Any:
        """Run, or write the kept answer; a shell keeps none, as it has the files in memory."""
        is_wanted = self._is_cached and ctx.params.pop("cache")
        if is_wanted and isinstance(ctx.obj, AnswerCache):
            return ctx.obj.answer(ctx, super().invoke)
        return super().invoke(ctx)

    def flags(self, ctx: click.Context) -> dict[str, Flag]:
        """All options by key, for ``canonical``."""
        flags: dict[str, Flag] = {}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, CommandOption):
                flags |= {key_of(name): parameter.flag for name in parameter.opts}
            names = parameter.secondary_opts
            if not isinstance(parameter, CommandOption):
                names = [*parameter.opts, *names]
            flags |= {key_of(name): Flag(name, "flag") for name in names}
        return flags

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse options in any spelling."""
        try:
            words = canonical(args, self.flags(ctx))
        except UsageError as error:
            raise click.UsageError(str(error), ctx) from error
        return super().parse_args(ctx, words)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                section = getattr(parameter, "section", "Other")
                sections.setdefault(section, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=28)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, ready to be pasted."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(_example(example, formatter.width))


def cache_option(section: str = "Result") -> CommandOption:
    """``--no-cache``."""
    return CommandOption(
        ["--cache/--no-cache"], default=True, section=section,
        help="Give the answer of an earlier run if the files, the options and tfprof are the same. "
        "Answers lie in TFPROF_CACHE. [default: --cache]",
    )  # fmt: skip


def from_params(kind: type[T], params: Mapping[str, Any]) -> T:
    """A dataclass whose fields get the values of click's parameters of the same names."""
    return kind(**{name: params[name] for name in kind.__dataclass_fields__ if name in params})


def view_options() -> list[CommandOption]:
    """One click option for each option of the views."""
    return [_view_option(option) for option in OPTIONS]


def chosen_options(params: Mapping[str, Any]) -> dict[str, Any]:
    """The library's options dict from click's parameters; missing ones have their defaults."""
    chosen = {}
    for option in OPTIONS:
        default = CLI_DEFAULTS[option.name]
        value = params.get(option.name, default)
        if option.kind == "list":
            value = split_list(value) if params.get(option.name) else list(default)
        chosen[option.name] = value
    return chosen


def _view_option(option: Option) -> CommandOption:
    types: dict[str, Callable[[], _ParamType]] = {
        "int": IntType, "bool": BoolType, "str": lambda: click.STRING, "list": lambda: click.STRING,
    }  # fmt: skip
    is_list = option.kind == "list"
    return CommandOption(
        [f"--{option.name}"],
        type=types[option.kind](),
        multiple=is_list,
        default=() if is_list else CLI_DEFAULTS[option.name],
        metavar="REGEXES" if option.is_regex else _METAVARS[option.kind],
        help=_help(option),
        section="What to show",
    )


def _help(option: Option) -> str:
    default = CLI_DEFAULTS[option.name]
    if isinstance(default, list):
        shown = ",".join(default) or "''"
    else:
        shown = str(default).lower() if isinstance(default, bool) else str(default)
    facts = [f"{option.unit}, default {shown}" if option.unit else f"default {shown}"]
    if option.views != ALL_VIEWS:
        facts.append(f"in {', '.join(option.views)}")
    choices = f" One of: {', '.join(option.choices)}." if option.choices else ""
    if option.kind == "list" and choices:
        choices = choices.replace("One of", "Any of")
    return f"{option.help}{choices} [{'; '.join(facts)}]"


def _example(text: str, width: int) -> str:
    lines = textwrap.wrap(
        text, width - 6, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return " \\\n".join(f"  {line}" for line in lines) + "\n"
