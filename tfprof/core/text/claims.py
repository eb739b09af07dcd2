"""Claims: statements of tfprof as data, before they become sentences.

Sentences on a run are made from claims, so that users, programs and assistants get the same
numbers, and a test can compare each with the truth. An unknown fact is a claim, too: its value is
None, and ``unknown`` has the reason.

>>> from tfprof.core.text.claims import Claim
>>> claim = Claim("step", "input_share", 0.816, "fraction", details={"step_count": 12},
...               words="{value} of the step time is waiting for input ({step_count:step}).")
>>> claim.text
'81.6% of the step time is waiting for input (12 steps).'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tfprof.core.text.short_names import folded
from tfprof.core.text.units import (
    human_count,
    human_memory,
    milliseconds,
    milliseconds_between,
    short_time,
)
from tfprof.core.text.wording import plural

Detail = str | int | float
Details = dict[str, Detail]


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a fact.

    Attributes:
        subject: Its subject: ``step``, a function, an op, an iterator, a host.
        metric: A metric of the subject: ``step_time``, ``input_share``.
        value: The number; None if it is unknown, or if the claim has none.
        unit: ``ms``, ``us``, ``fraction``, ``bytes``, ``count``, ``points`` (of the step), another
            unit of tables, or empty.
        low: Lower bound of the value; None if not estimated.
        high: Upper bound of the value.
        scope: The steps and hosts that it covers.
        basis: Its basis: events, a rule.
        unknown: Why there is no value; empty if there is one.
        details: Further numbers and names that the sentence mentions; names of numbers end in
            their unit, as ``_ms``.
        parts: Claims that the sentence lists.
        words: The sentence, with ``{value}``, ``{low}``, ``{high}``, ``{range}``, ``{subject}``,
            ``{unknown}``, ``{parts}`` and names of details in braces; forms of numbers are those of
            ``number_text``, that of parts is what separates them, and ``folded`` shortens a long
            name. It is part of this program and never of a file; names from files are details.
    """

    subject: str
    metric: str
    value: float | None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    scope: str = ""
    basis: str = ""
    unknown: str = ""
    details: Mapping[str, Detail] = field(default_factory=dict)
    parts: tuple[Claim, ...] = ()
    words: str = ""

    @property
    def text(self) -> str:
        """The sentence."""
        return self.words.format_map(self.shown)

    @property
    def shown(self) -> dict[str, Any]:
        """Values for the sentence, by name."""
        shown: dict[str, Any] = {
            name: _Name(value) if isinstance(value, str) else _Number(value, unit_of(name))
            for name, value in self.details.items()
        }
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        shown |= {name: _Number(number, self.unit) for name, number in numbers.items()}
        if self.low is not None and self.high is not None and self.unit == "ms":
            shown["range"] = milliseconds_between(self.low, self.high)
        return {
            **shown, "unknown": self.unknown, "subject": _Name(self.subject),
            "parts": _Parts(self.parts),
        }  # fmt: skip

    @property
    def is_known(self) -> bool:
        """Whether the value is known."""
        return not self.unknown

    @property
    def every(self) -> Iterator[Claim]:
        """The claim and its parts."""
        yield self
        for one in self.parts:
            yield from one.every

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data for JSON."""
        return {
            "subject": self.subject, "metric": self.metric, "value": self.value,
            "unit": self.unit, "low": self.low, "high": self.high, "scope": self.scope,
            "basis": self.basis, "unknown": self.unknown, "details": dict(self.details),
            "parts": [one.to_dict() for one in self.parts], "text": self.text,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Number:
    number: float | None
    unit: str

    def __format__(self, form: str) -> str:
        return number_text(self.number, self.unit, form)


class _Name(str):
    __slots__ = ()

    def __format__(self, form: str) -> str:
        return folded(self) if form == "folded" else super().__format__(form)


class _Parts(tuple[Claim, ...]):
    def __format__(self, form: str) -> str:
        return (form or ", ").join(one.text for one in self)


def number_text(number: float | None, unit: str, form: str = "") -> str:
    """A number of a claim in a sentence.

    Args:
        number: The number.
        unit: Its unit.
        form: ``3`` for three digits of a time or a count, and for whole percents, ``%`` for
            those of budgets, ``+`` for a time with its sign; the name of what is
            counted; or a form of Python's for other numbers.

    >>> number_text(0.25, "fraction"), number_text(12.5, "ms", "+"), number_text(1, "count", "op")
    ('25.0%', '+12.5 ms', '1 op')
    """
    if number is None or not math.isfinite(number):
        return "unknown" if number is None else str(number)
    return _FORMS.get(unit, _count)(number, form)


def _time(number: float, form: str) -> str:
    if form == "+":
        return f"{'-' if number < 0 else '+'}{short_time(abs(number))}"
    return short_time(number) if form else milliseconds(number)


def _share(number: float, form: str) -> str:
    if form == "%":
        return f"{100 * number:.1f} %"
    return f"{number:.0%}" if form else f"{number:.1%}"


def _flops(number: float, form: str) -> str:
    return f"{human_count(round(number))}{'' if abs(number) >= 1e3 else ' '}FLOPs"


def _flop_rate(number: float, form: str) -> str:
    scales = ((1e6, "PFLOP/s"), (1e3, "TFLOP/s"), (1.0, "GFLOP/s"))
    scale, unit = next((one for one in scales if abs(number) >= one[0]), scales[-1])
    return f"{number / scale:,.3g} {unit}"


def _count(number: float, form: str) -> str:
    if form == "3":
        whole = round(number)
        if abs(number) >= 1e6 or (number != whole and number >= 1e3):
            return human_count(whole)
        return f"{whole:,}" if number == whole else f"{number:.3g}"
    is_noun = form.replace(" ", "").isalpha()
    return plural(int(number), form) if is_noun else format(number, form or ",.15g")


_FORMS: dict[str, Callable[[float, str], str]] = {
    "fraction": _share,
    "points": lambda number, form: f"{100 * number:+.1f} points",
    "ms": _time,
    "us": lambda number, form: f"{format(number, form or ',.15g')} µs",
    "bytes": lambda number, form: human_memory(round(number)),
    "FLOPs": _flops,
    "gflops_per_s": _flop_rate,
}


_UNITS = {
    "_share": "fraction", "_fraction": "fraction", "_ms": "ms", "_bytes": "bytes",
    "_points": "points", "_us": "us", "_flops": "FLOPs", "_gflops_per_s": "gflops_per_s",
}  # fmt: skip
"""Units by the endings of names of details."""


def unit_of(name: str) -> str:
    """The unit of a number by the end of its name; ``count`` for others."""
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "count")


def unknown(subject: str, metric: str, reason: str) -> Claim:
    """An unknown fact; the sentence is the reason."""
    return Claim(subject, metric, None, unknown=reason, words="{unknown}")


def scoped(claims: Iterable[Claim], scope: str, basis: str = "") -> tuple[Claim, ...]:
    """Claims of one scope and basis; claims with their own keep them."""
    return tuple(
        replace(
            one, scope=one.scope or scope, basis=one.basis or basis,
            parts=scoped(one.parts, scope, basis),
        )
        for one in claims
    )  # fmt: skip


def quoted(sentences: Iterable[str]) -> tuple[Claim, ...]:
    """Unchanged sentences from a file of another program."""
    return tuple(
        Claim("run", "quotation", None, basis="the program that wrote the file",
              details={"sentence": text}, words="{sentence}")
        for text in sentences
    )  # fmt: skip
