"""Durations as people write them: ``500ms``, ``2s``, ``1.5m``."""

from __future__ import annotations

import re

from tfprof.errors import UsageError

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(ms|s|m|h|)")
_SECONDS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(text: str) -> float:
    """Seconds of a duration; a number without a unit is seconds.

    Raises:
        UsageError: The text is not a duration.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a duration; write it as 500ms, 2s or 1m")
    return float(match[1]) * _SECONDS[match[2]]
