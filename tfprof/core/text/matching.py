"""Regular expressions on the names of a profile, within a limit of time.

``re`` backtracks: ``(a|a)*b`` takes time exponential in the length of a name, and ``.*a.*b.*`` time
that grows with its square, which is minutes for one name of 400,000 letters. Python does nothing
else meanwhile, nor can another thread end it: patterns that may take long run in their own process.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from tfprof.errors import UsageError

_STEPS: Final = 1e6
"""Estimated choices that take 10 ms at most; the estimate is nearly always far too high."""

_AT_ONCE: Final = 64
"""Names between two looks at the clock."""

_SECONDS: Final = 2.0
"""Processor time of one pattern, beside that of each name."""

_SECONDS_OF_A_NAME: Final = 1e-5
_WAITING: Final = 15
"""Factor for a busy machine; also the only limit on Windows."""

_MOST_SHOWN: Final = 80
"""Characters of an expression in an error."""

_CHOICES: Final = "*+?{|"
_REPEATED_GROUP: Final = re.compile(r"\)[*+{]")

_PROGRAM: Final = """
import json, re, signal, sys
pattern, flags, method, seconds, names = json.load(sys.stdin)
if hasattr(signal, "setitimer"):
    signal.setitimer(signal.ITIMER_PROF, seconds)
test = getattr(re.compile(pattern, flags), method)
sys.stdout.write("".join("1" if test(name) else "0" for name in names))
"""


def compiled(text: str, flags: int = 0) -> re.Pattern[str]:
    """A user's regular expression.

    Args:
        text: The expression, as Python writes it.
        flags: Flags of ``re``.

    Raises:
        UsageError: It is not a regular expression.
    """
    try:
        return re.compile(text, flags)
    except (re.error, RecursionError, OverflowError, FutureWarning) as error:
        # The warning, where it is an error, is about sets that may mean something else one day.
        shown = text if len(text) < _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
        raise UsageError(f"{shown!r} is not a regular expression: {error}") from None


def matched(
    pattern: re.Pattern[str], names: Sequence[str], method: Literal["fullmatch", "match", "search"]
) -> npt.NDArray[np.bool_]:
    """Whether a pattern matches each name, shape (len(names),); give each distinct name once.

    Args:
        pattern: The pattern.
        names: The names.
        method: Which method of the pattern.

    Raises:
        UsageError: It takes longer than 2 s, and 10 s for each million names.
    """
    try:
        return _matched(pattern, names, method)
    except TimeoutError:
        longest = max(map(len, names))
        raise UsageError(
            f"regular expression {pattern.pattern[:60]!r} takes longer than "
            f"{_seconds(names):.0f} s on {len(names):,} names, the longest of which has "
            f"{longest:,} characters; write it with fewer repeats, and none of a group"
        ) from None


def _matched(pattern: re.Pattern[str], names: Sequence[str], method: str) -> npt.NDArray[np.bool_]:
    mask = np.zeros(len(names), np.bool_)
    is_slow = _most_steps(pattern.pattern, names, method) > _STEPS
    test, until = getattr(pattern, method), time.process_time() + _seconds(names)
    quick: list[int] = np.flatnonzero(~is_slow).tolist()
    for start in range(0, len(quick), _AT_ONCE):
        if time.process_time() > until:
            raise TimeoutError
        rows = quick[start : start + _AT_ONCE]
        mask[rows] = [test(names[row]) is not None for row in rows]
    if is_slow.any():
        slow = [names[row] for row in np.flatnonzero(is_slow).tolist()]
        mask[is_slow] = _matched_elsewhere(pattern, slow, method)
    return mask


def _seconds(names: Sequence[str]) -> float:
    return _SECONDS + _SECONDS_OF_A_NAME * len(names)


def _most_steps(pattern: str, names: Sequence[str], method: str) -> npt.NDArray[np.float64]:
    """Upper bound of the work for each name, shape (n,): every choice tried everywhere."""
    lengths = np.fromiter(map(len, names), np.float64, len(names))
    n_choices = sum(map(pattern.count, _CHOICES)) + (method == "search")
    with np.errstate(over="ignore"):
        if _REPEATED_GROUP.search(pattern):
            return np.power(n_choices + 1.0, lengths)
        return np.power(lengths + len(pattern), n_choices)


def _matched_elsewhere(
    pattern: re.Pattern[str], names: Sequence[str], method: str
) -> npt.NDArray[np.bool_]:
    import subprocess

    seconds = _seconds(names)
    question: list[Any] = [pattern.pattern, pattern.flags, method, seconds, list(names)]
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROGRAM], input=json.dumps(question).encode(),
            capture_output=True, timeout=_WAITING * seconds, check=True,
        )  # fmt: skip
    except subprocess.SubprocessError:
        raise TimeoutError from None
    mask: npt.NDArray[np.bool_] = np.frombuffer(done.stdout, np.uint8) == ord("1")
    return mask
