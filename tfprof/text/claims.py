"""What tfprof states, as data: a claim before it is a sentence.

A sentence on a run is made from a claim, so that people, programs and assistants get the same
number, and a test can hold each against the truth. What a capture cannot tell is a claim, too: its
value is None, and ``unknown`` says why.

>>> from tfprof.text.claims import Claim
>>> claim = Claim("step", "input_share", 0.816, "fraction",
...               words="{value} of the step time is waiting for input.")
>>> claim.text
'81.6% of the step time is waiting for input.'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfprof.text.units import milliseconds

Detail = str | int | float


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a fact.

    Attributes:
        subject: What it is about: ``step``, a function, an op, an iterator.
        metric: What of it: ``step_time``, ``input_share``.
        value: The number; None if it is unknown, or if the claim has none.
        unit: ``ms``, ``fraction``, ``count``, or empty.
        low: The least that it can be; None if that is not estimated.
        high: The most that it can be.
        scope: Which steps and hosts it is about.
        basis: What it rests on: which events, which rule.
        unknown: Why there is no value; empty if there is one.
        details: Further numbers and names that the sentence mentions.
        words: The sentence, with ``{value}``, ``{low}``, ``{high}`` and names of details in
            braces. It is part of this program and never of a file; names from files are details.
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
    words: str = ""

    @property
    def text(self) -> str:
        """The sentence."""
        return self.words.format_map(self.shown)

    @property
    def shown(self) -> dict[str, str]:
        """What the sentence may mention, by name."""
        shown = {name: _detail(name, value) for name, value in self.details.items()}
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        shown |= {name: _number(number, self.unit) for name, number in numbers.items()}
        return {**shown, "unknown": self.unknown}

    @property
    def is_known(self) -> bool:
        """Whether the capture tells it."""
        return not self.unknown

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data for JSON."""
        return {
            "subject": self.subject, "metric": self.metric, "value": self.value,
            "unit": self.unit, "low": self.low, "high": self.high, "scope": self.scope,
            "basis": self.basis, "unknown": self.unknown, "details": dict(self.details),
            "text": self.text,
        }  # fmt: skip


def _number(number: float | None, unit: str) -> str:
    if number is None:
        return "unknown"
    if unit == "fraction":
        return f"{number:.1%}"
    if unit == "ms":
        return milliseconds(number)
    return f"{number:,.15g}"


_UNITS = {"_share": "fraction", "_fraction": "fraction", "_ms": "ms"}
"""Units by how the names of details end."""


def unit_of(name: str) -> str:
    """The unit of a number by the end of its name; ``count`` for others."""
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "count")


def _detail(name: str, value: Detail) -> str:
    return value if isinstance(value, str) else _number(value, unit_of(name))


def stated(subject: str, sentences: Iterable[str]) -> tuple[Claim, ...]:
    """Sentences that have no number of their own, or several, as claims.

    Args:
        subject: What they are about.
        sentences: The sentences, the most important first.
    """
    return tuple(
        Claim(subject, "statement", None, details={"sentence": text}, words="{sentence}")
        for text in sentences
    )


def claim_of_numbers(rule: str, text: str, numbers: Mapping[str, Any]) -> Claim:
    """The claim of a sentence that is made already, with the numbers that it rests on.

    Args:
        rule: Short name of what found it.
        text: The sentence.
        numbers: Its numbers and names; the first number is the value, and ``op``, ``python``,
            ``function`` or ``host`` names the subject.
    """
    subjects = ("op", "python", "function", "host", "step")
    subject = next((str(numbers[name]) for name in subjects if name in numbers), "run")
    details = {k: v for k, v in numbers.items() if isinstance(v, (str, int, float))}
    first = next((k for k, v in details.items() if not isinstance(v, str)), "")
    value = float(details[first]) if first else None
    unit = unit_of(first) if first else ""
    return Claim(
        subject, rule, value, unit, basis=first, details={**details, "sentence": text},
        words="{sentence}",
    )  # fmt: skip
