"""Findings: what to do about a run, whatever has looked at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tfprof.core.columns.frames import Frame

Severity = Literal["info", "warning", "critical"]

SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
"""The most severe first."""

WORTH = 0.05
"""Advice is about at least this part of the time from one step to the next, and may save as much.
What is less is not advice, whatever the rule: verdicts remark on it, if at all."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What following the advice can save at most, per step.

    Attributes:
        amount: How much.
        unit: Of ``amount``: microseconds of time, or bytes of memory.
        how: How it was computed.
    """

    amount: float
    unit: Literal["micros", "bytes"]
    how: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of advice, as people see it: of a checker on a profile, or made of the ``Advice``
    of a practice or tool on a capture (``captures/practices/findings.py``).

    Attributes:
        rule: Name of the checker or practice.
        severity: ``info`` is good to know, ``warning`` costs the program noticeably,
            ``critical`` costs it more than anything else is likely to.
        message: The problem and the remedy.
        evidence: Every number in the message, and those it is computed from, by a name that ends
            in its unit: ``_micros``, ``_bytes``, ``_share`` (0 to 1) or ``_count``.
        location: The user's line that it is about; None without a call stack.
        gain: What it can save; None if unknown.
        link: Page of TensorFlow's documentation with the advice, or empty.

    Example:
        >>> Finding("MyChecker", "info", "The step reads 3 files.", {"file_count": 3}).text
        'The step reads 3 files.'
    """

    rule: str
    severity: Severity
    message: str
    evidence: Mapping[str, float]
    location: Frame | None = None
    gain: Gain | None = None
    link: str = ""

    @property
    def text(self) -> str:
        """The message and the line it is about, as in ``AdviceProto``."""
        return f"{self.message} [{self.place}]" if self.location else self.message

    @property
    def place(self) -> str:
        """``train.py:43 in conv2d``, with the path as recorded; empty without a line."""
        return self.location.place if self.location else ""
