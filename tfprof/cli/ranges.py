"""Ranges as options take them: ``10:20``, ``10:`` or ``10``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from tfprof.errors import UsageError

N = TypeVar("N", int, float)


def range_of(
    option: str, text: str, value_of: Callable[[str], N], example: str
) -> tuple[N | None, N | None]:
    """The ends of ``first:last``, each of which may be missing; one value is both.

    Args:
        option: Its name, for messages.
        text: The value of the option.
        value_of: Reads one end.
        example: A right one.

    Raises:
        UsageError: The text is not a range.
    """
    first, colon, last = text.partition(":")
    if not text.strip(": "):
        raise UsageError(f"option --{option} is {text!r}; write it as {example}")
    try:
        begin = value_of(first.strip()) if first.strip() else None
        end = value_of(last.strip()) if last.strip() else None
    except UsageError as error:
        raise UsageError(f"option --{option}: {error}") from error
    return (begin, end) if colon else (begin, begin)


def step_number(text: str) -> int:
    """The number of a step.

    Raises:
        UsageError: The text is not a number.
    """
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise UsageError(f"{text!r} is not the number of a step; write 10:20, 10: or 10")
    return int(text)
