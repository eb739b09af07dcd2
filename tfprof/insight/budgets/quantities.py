"""Numbers with units, as people write them in budgets, and as reports show them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from tfprof.core.text.claims import number_text
from tfprof.errors import UsageError

_NUMBER = re.compile(r"([+-]?)\s*(\d[\d_,]*(?:\.\d+)?(?:e[+-]?\d{1,2})?)\s*(.*)", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Dimension:
    """The dimension of a metric, and its units.

    Attributes:
        name: Name in messages.
        unit: The unit of the numbers inside tfprof.
        scale: Value of each unit in that unit.
        example: A limit, for messages.
        is_floor: Whether larger numbers are better, so that limits are lower limits.
        most: The most that a number can be.
    """

    name: str
    unit: str
    scale: dict[str, float]
    example: str
    is_floor: bool = False
    most: float = math.inf

    @property
    def sign(self) -> str:
        """How its limits begin."""
        return ">=" if self.is_floor else "<="


_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}

COUNT = Dimension("a number", "", _PREFIXES, "<= 25.6 M")
FLOPS = Dimension(
    "float operations", "FLOPs",
    _PREFIXES | {f"{prefix}FLOPs": size for prefix, size in _PREFIXES.items()}, "<= 12 GFLOPs",
)  # fmt: skip
BYTES = Dimension(
    "a size in memory", "bytes",
    {"bytes": 1.0} | {f"{prefix}B": size for prefix, size in (_PREFIXES | _BINARY).items()},
    "<= 1.5 GB",
)  # fmt: skip
TIME = Dimension(
    "a time", "µs", {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}, "<= 25 ms"
)
SHARE = Dimension("a share of the step", "", {"%": 0.01}, "<= 5 %", most=1.0)
UTILIZATION = Dimension("a utilization", "", {"%": 0.01}, ">= 40 %", is_floor=True, most=1.0)
SHARES = (SHARE, UTILIZATION)


@dataclass(frozen=True, slots=True)
class Bound:
    """The largest value of a metric that is allowed: an amount, or an amount above a baseline.

    Of metrics whose larger values are better, it is the smallest.

    Attributes:
        text: The limit as written, or ``<= 25 ms``.
        amount: In the unit of the dimension; added to the baseline, if the limit is relative.
        factor: Multiplies the baseline; 0 for a limit without a baseline.
    """

    text: str
    amount: float
    factor: float = 0.0

    @property
    def is_relative(self) -> bool:
        """Whether it needs a baseline."""
        return self.factor > 0


def bound_of(written: object, dimension: Dimension) -> Bound:
    """Read a limit: ``"<= 25 ms"``, ``"25 ms"``, ``"+5 %"``, ``"+2 ms"``, or a number.

    ``<=`` may be left out: limits are upper limits, except for utilization, whose limits are lower
    ones: ``">= 40 %"``, ``"-2 points"``. A sign makes the limit relative to the baseline.

    Args:
        written: The value in the budget.
        dimension: What is limited.

    Raises:
        UsageError: The text is not a limit of this dimension; the message lists valid forms.
    """
    if isinstance(written, bool) or not isinstance(written, (str, int, float)):
        raise UsageError(f"{written!r} is not a limit; write it as {dimension.example!r}")
    text = " ".join(str(written).split())
    comparison = dimension.sign
    match = _NUMBER.fullmatch(text.removeprefix(comparison).strip())
    if match is None:
        wrong = text[:1] in "<>=" and not text.startswith(comparison)
        kind = "lower" if dimension.is_floor else "upper"
        why = f"limits are {kind} limits" if wrong else "it is not a number with a unit"
        relative = f"{comparison} {'-5 %' if dimension.is_floor else '+5 %'}"
        raise UsageError(f"{text!r}: {why}; write it as {dimension.example!r} or {relative!r}")
    sign, digits, unit = match.groups()
    number = float(re.sub("[_,]", "", digits)) * (-1 if sign == "-" else 1)
    if not math.isfinite(number):
        raise UsageError(f"{text!r} is too large")
    shown = f"{comparison} {text.removeprefix(comparison).strip()}"
    if sign and unit == "%":
        return Bound(shown, 0.0, _factor(number, text))
    return Bound(shown, number * _size(unit, text, dimension, sign), 1.0 if sign else 0.0)


def _factor(percent: float, text: str) -> float:
    if percent <= -100:
        raise UsageError(f"{text!r}: less than nothing would be left of the baseline")
    return 1 + percent / 100


def _size(unit: str, text: str, dimension: Dimension, sign: str) -> float:
    if dimension in SHARES and sign and unit in ("points", "pp"):
        return 0.01
    scale = dimension.scale
    by_lower = {name.lower(): name for name in scale}
    found = unit if unit in scale else by_lower.get(unit.lower()) if len(unit) > 1 else None
    if found is None:
        known = ", ".join(repr(name) for name in scale if name)
        problem = f"has the unit {unit!r}" if unit else "has no unit"
        raise UsageError(
            f"{text!r} {problem}, but {dimension.name} is limited; use one of {known}, such as "
            f"{dimension.example!r}"
        )
    return scale[found]


def shown(amount: float, dimension: Dimension) -> str:
    """An amount to three digits, with its unit."""
    unit, factor, form = stated_in(dimension)
    return number_text(amount * factor, unit, form)


def stated_in(dimension: Dimension) -> tuple[str, float, str]:
    """The unit of claims on a dimension, the scale to it, and the format of numbers."""
    return _STATED[dimension.name]


_STATED = {
    TIME.name: ("ms", 1e-3, "3"), SHARE.name: ("fraction", 1.0, "%"),
    UTILIZATION.name: ("fraction", 1.0, "%"),
    BYTES.name: ("bytes", 1.0, ""), FLOPS.name: ("FLOPs", 1.0, ""), COUNT.name: ("count", 1.0, "3"),
}  # fmt: skip
