"""When advice is worth giving: one rule for all practices."""

from __future__ import annotations

from tfprof.captures.run.result import Advice

WORTH = 0.05
"""Advice is about at least this part of the time from one step to the next, and may save as much.
What is less is not advice, whatever the practice: verdicts remark on it, if at all."""


def is_worth(one: Advice) -> bool:
    """Whether advice is about enough of the time; what is not about time is, too."""
    return all(part is None or part >= WORTH for part in (one.share, one.gain_fraction))
