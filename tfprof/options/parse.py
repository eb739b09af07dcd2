"""Checks an options dict."""

from __future__ import annotations

import difflib
import operator
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tfprof.errors import TfprofWarning, UsageError
from tfprof.options.output import Output, parse_classic_output, parse_output
from tfprof.options.regex import NameMatcher
from tfprof.options.spec import AUTO, BY_NAME, LEGACY_KEYS, OPTIONS, Option

_INT64 = 1 << 63


def is_classic(chosen: bool | None) -> bool:
    """Whether classic mode is on: the given choice, or for None that of ``TFPROF_CLASSIC``."""
    return os.environ.get("TFPROF_CLASSIC", "") not in ("", "0") if chosen is None else chosen


_EVERY_LEVEL = 2**31 - 1
"""Deeper than any tree."""


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """Checked options of one view: the values, and the compiled matchers.

    Attributes:
        values: Every option by name; lists are tuples.
        account: One matcher per element of ``account_type_regexes``.
        start: ``start_name_regexes``; likewise ``trim``, ``show`` and ``hide``.
        output: Target of the report.
        classic: Follow the original also where it is wrong.
        hides_idle: Hide rows that never ran and have no numbers to show.
    """

    values: Mapping[str, Any]
    account: tuple[NameMatcher, ...]
    start: NameMatcher
    trim: NameMatcher
    show: NameMatcher
    hide: NameMatcher
    output: Output
    classic: bool
    hides_idle: bool = False

    def with_step(self, step: int) -> ProfileOptions:
        """The options for another step."""
        return replace(self, values={**self.values, "step": step})

    @property
    def account_everything(self) -> bool:
        """Whether every op counts (``['.*']``)."""
        return len(self.account) == 1 and self.account[0].everything

    @property
    def step(self) -> int:
        """Step to show, negative for the average."""
        return int(self.values["step"])

    @property
    def max_depth(self) -> int:
        """Deepest level shown; classic keeps the low 32 bits, signed, as the original does."""
        depth = int(self.values["max_depth"])
        return (depth + 2**31) % 2**32 - 2**31 if self.classic else depth

    @property
    def order_by(self) -> str:
        """Attribute to sort siblings by; empty for the order of appearance."""
        return str(self.values["order_by"])

    @property
    def account_displayed_op_only(self) -> bool:
        """Whether totals count only what is shown."""
        return bool(self.values["account_displayed_op_only"])

    @property
    def select(self) -> tuple[str, ...]:
        """Attributes to show, without duplicates, in byte order."""
        return tuple(sorted(set(self.values["select"])))

    @property
    def static_float_ops(self) -> bool:
        """Whether float operations are those of the graph, not of recorded runs."""
        return bool(self.values["static_float_ops"])

    def minimum(self, name: str) -> int:
        """A ``min_*`` bound."""
        return int(self.values[f"min_{name}"])


def parse_options(options: Mapping[str, Any], *, classic: bool = False) -> ProfileOptions:
    """Check an options dict; missing keys have TensorFlow's defaults.

    Args:
        options: As ``ProfileOptionBuilder.build()`` of either package gives it.
        classic: Accept what TensorFlow accepts, with a ``TfprofWarning``: unknown keys,
            attributes and orders, invalid regexes, strings where lists are meant.

    Raises:
        UsageError: A key, type or value is wrong; the message names the allowed ones.
    """
    if not isinstance(options, Mapping):
        raise UsageError(
            f"options must be a dict, as ProfileOptionBuilder().build() gives; got {options!r}"
        )
    for key in options:
        if key not in BY_NAME and key not in LEGACY_KEYS:
            _refuse(classic, _unknown("option", str(key), BY_NAME))
    values: dict[str, Any] = {}
    for option in OPTIONS:
        value = options.get(option.name, option.default)
        values[option.name] = _checked(option, value, classic)
    if classic:
        values |= _without_auto(values)
    elif values["max_depth"] < 0:
        raise UsageError(
            f"option max_depth={values['max_depth']} must be 0 (the total alone) or more"
        )
    output = (parse_classic_output if classic else parse_output)(values["output"])
    if output.type == "pprof" and not classic:
        values["max_depth"] = _EVERY_LEVEL  # whole stacks: pprof folds and cuts them itself
    legacy_file = options.get("dump_to_file")
    if legacy_file:
        if not isinstance(legacy_file, str):
            raise UsageError(f"option dump_to_file={legacy_file!r} must be a path (str)")
        warnings.warn(
            f"dump_to_file is deprecated; use output='file:outfile={legacy_file}'",
            TfprofWarning,
            stacklevel=2,
        )
        output = Output("file", legacy_file)

    matchers = {
        option.name: _matcher(option, values[option.name], classic)
        for option in OPTIONS
        if option.is_regex
    }
    account_patterns = values["account_type_regexes"]
    if len(account_patterns) > 1:
        account_patterns = _without_shortcut(account_patterns)
    return ProfileOptions(
        values=values,
        account=tuple(
            NameMatcher([pattern], on_error="never_match") for pattern in account_patterns
        ),
        start=matchers["start_name_regexes"],
        trim=matchers["trim_name_regexes"],
        show=matchers["show_name_regexes"],
        hide=matchers["hide_name_regexes"],
        output=output,
        classic=classic,
    )


def _without_auto(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of ``auto`` in classic mode: the defaults of the original's builder."""
    order = BY_NAME["order_by"].builder_default
    select = ["micros" if name == AUTO else name for name in values["select"]]
    return {
        "order_by": order if values["order_by"] == AUTO else values["order_by"],
        "select": tuple(select),
    }


def _checked(option: Option, value: object, classic: bool) -> object:
    """The value in the option's own type, its choices checked."""
    if option.kind == "int":
        return _integer(option, value)
    if option.kind == "bool":
        if not isinstance(value, (bool, int)):
            raise UsageError(f"option {option.name}={value!r} must be True or False")
        return bool(value)
    if option.kind == "str":
        if not isinstance(value, str):
            raise UsageError(f"option {option.name}={value!r} must be a string")
        if option.choices and value and value not in option.choices:
            _refuse(classic, _unknown(f"{option.name} value", value, option.choices))
        return value
    return _strings(option, value, classic)


def _integer(option: Option, value: object) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # the TypeError is the test
    except TypeError:
        raise UsageError(f"option {option.name}={value!r} must be an integer") from None
    if not -_INT64 <= number < _INT64:
        raise UsageError(f"option {option.name}={value!r} does not fit into 64 bits")
    return number


def _strings(option: Option, value: object, classic: bool) -> tuple[str, ...]:
    if isinstance(value, str):
        _refuse(
            classic,
            f"option {option.name}={value!r} must be a list of strings; write [{value!r}] "
            "(TensorFlow splits the string letter by letter)",
        )
    if not isinstance(value, Iterable):
        raise UsageError(f"option {option.name}={value!r} must be a list of strings")
    strings = tuple(value)
    for element in strings:
        if not isinstance(element, str):
            raise UsageError(f"option {option.name}: {element!r} must be a string")
        if option.choices and element not in option.choices:
            _refuse(classic, _unknown(f"{option.name} attribute", element, option.choices))
    return strings


def _without_shortcut(patterns: Iterable[str]) -> tuple[str, ...]:
    """Patterns in which ``.*`` is an ordinary regex, which does not match newlines.

    The original takes it as "everything" only if it is the only pattern, and only for the account,
    start and show options.
    """
    return tuple("(?:.*)" if pattern == ".*" else pattern for pattern in patterns)


def _matcher(option: Option, patterns: tuple[str, ...], classic: bool) -> NameMatcher:
    if option.name in {"trim_name_regexes", "hide_name_regexes"}:
        patterns = _without_shortcut(patterns)
    try:
        matcher = NameMatcher(patterns, on_error="never_match")
    except UsageError as error:
        raise UsageError(f"option {option.name}: {error}") from None
    for problem in matcher.errors:
        _refuse(classic, f"option {option.name}: {problem}")
    return matcher


def _unknown(what: str, value: str, allowed: Iterable[str]) -> str:
    names = list(allowed)
    close = difflib.get_close_matches(value, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"unknown {what} {value!r}{hint} Allowed: {', '.join(names)}"


def _refuse(classic: bool, message: str) -> None:
    if not classic:
        raise UsageError(message)
    warnings.warn(message, TfprofWarning, stacklevel=2)
