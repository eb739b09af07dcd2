r"""Regular expressions of options: RE2 syntax, full match, on top of Python's ``re``.

TensorFlow's profiler matches names with RE2. tfprof reads the same syntax and accepts the same
patterns, but matches with ``re``. Known differences:

* ``\C`` is one character instead of one byte, which differs for text that is not ASCII.
* RE2 also refuses patterns whose compiled program is too large, such as ``\pL{1000}``, and fails
  to match when its automaton runs out of memory. tfprof has no such limits. Instead, it refuses
  groups that nest hundreds of levels deep and cannot be simplified (Python's recursion).
* Scripts such as ``\p{Greek}`` are refused, also in classic mode, where invalid patterns never
  match: the names that they match would be missing.
* Categories and case folding have the Unicode version of the running Python; TensorFlow 2.21
  has Unicode 15.0.

RE2 matches in linear time. ``re`` backtracks, so some patterns, such as ``(a|a)*b`` or
``(a*b?)*c``, take time exponential in the length of a name; ``matching`` limits it. Directly nested
quantifiers such as ``(a+)*`` are merged and harmless.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from tfprof.core.text.matching import matched
from tfprof.errors import UsageError
from tfprof.options._re2_parser import Parser
from tfprof.options._re2_reader import UnsupportedError

__all__ = ["NameMatcher", "translate"]


def translate(pattern: str) -> str:
    r"""Python ``re`` pattern (without flags) that fully matches what RE2 ``pattern`` does.

    Only for ``re.fullmatch``: greediness, captures and group names are dropped.

    Raises:
        UsageError: RE2 would not accept ``pattern``; the message names the construct, its
            position in characters and a remedy.

    Example:
        >>> translate(r"\Qa.b\E(?i:[[:alpha:]]+)\z")
        'a\\.b[A-Za-z\\u017f\\u212a]+\\Z'
    """
    return Parser(pattern).run()


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(translate(pattern))
    except RecursionError:
        raise UsageError(
            f"regular expression {pattern[:60]!r}...: groups are nested too deeply for Python; "
            "remove groups that are not needed"
        ) from None


@dataclass(frozen=True, slots=True)
class NameMatcher:
    """Names that fully match at least one of a list of RE2 patterns; immutable.

    An empty list matches nothing. The module describes differences from RE2, and patterns that
    can take long.

    Args:
        patterns: RE2 patterns, compiled once, here.
        on_error: For an invalid pattern, ``"raise"`` raises a ``UsageError``, and ``"never_match"``
            reports it in ``errors`` and matches nothing, as TensorFlow does. A valid pattern that
            tfprof does not support always raises.

    Attributes:
        everything: Whether the list is exactly ``['.*']``. TensorFlow then skips matching, so even
            a name with a newline matches, which ``.*`` in a longer list does not.
        errors: The error of each invalid pattern, in list order.

    Raises:
        UsageError: A pattern is invalid and ``on_error`` is ``"raise"``, or names a script.

    Example:
        >>> matcher = NameMatcher(["MatMul", "(?i)conv.*"])
        >>> matcher.matches("Conv2D"), matcher.matches("MatMul_1")
        (True, False)
    """

    patterns: Sequence[str]
    on_error: Literal["raise", "never_match"] = "raise"
    everything: bool = field(init=False, compare=False, repr=False)
    errors: tuple[str, ...] = field(init=False, compare=False, repr=False)
    _regexes: tuple[re.Pattern[str], ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        compiled: list[re.Pattern[str]] = []
        errors: list[str] = []
        patterns = tuple(self.patterns)
        for pattern in patterns:
            try:
                compiled.append(_compiled(pattern))
            except UsageError as error:
                if self.on_error == "raise" or isinstance(error, UnsupportedError):
                    raise
                errors.append(str(error))
        object.__setattr__(self, "patterns", patterns)
        object.__setattr__(self, "everything", patterns == (".*",))
        object.__setattr__(self, "errors", tuple(errors))
        object.__setattr__(self, "_regexes", tuple(compiled))

    def matches(self, name: str) -> bool:
        """Whether any pattern matches the whole of ``name``."""
        if self.everything:
            return True
        return any(pattern.fullmatch(name) for pattern in self._regexes)

    def mask(self, names: Sequence[str]) -> npt.NDArray[np.bool_]:
        """``matches`` of each name, shape (len(names),); give each distinct name once.

        Raises:
            UsageError: A pattern takes too long.
        """
        if self.everything:
            return np.ones(len(names), dtype=np.bool_)
        mask = np.zeros(len(names), dtype=np.bool_)
        for pattern in self._regexes:
            mask |= matched(pattern, names, "fullmatch")
        return mask
