r"""Regular expressions of options: RE2 syntax, full match, on top of Python's ``re``.

TensorFlow's profiler matches names with RE2. tfprof reads the same syntax and accepts the same
patterns, but matches with ``re``. Known differences:

* ``\C`` is one character instead of one byte, which differs for text that is not ASCII.
* RE2 also refuses patterns whose compiled program is too large, such as ``\pL{1000}``, and fails
  to match when its automaton runs out of memory. tfprof has no such limits. Instead, it refuses
  groups that nest hundreds of levels deep and cannot be simplified (Python's recursion).
* Scripts such as ``\p{Greek}`` are refused, also in classic mode, where invalid patterns never
  match: the names that they match would be missing.
* Categories and case folding know the Unicode version of the running Python; TensorFlow 2.21
  knows Unicode 15.0.

RE2 matches in linear time. ``re`` backtracks, so some patterns, such as ``(a|a)*b`` or
``(a*b?)*c``, take time exponential in the length of a name. Directly nested quantifiers such as
``(a+)*`` are merged and harmless; there is no guard against the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from tfprof.errors import UsageError
from tfprof.options._re2_parser import Parser
from tfprof.options._re2_reader import UnsupportedError

__all__ = ["NameMatcher", "translate"]

_Test = Callable[[str], object]


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
    _tests: tuple[_Test, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        tests: list[_Test] = []
        errors: list[str] = []
        patterns = tuple(self.patterns)
        for pattern in patterns:
            try:
                tests.append(_compiled(pattern).fullmatch)
            except UsageError as error:
                if self.on_error == "raise" or isinstance(error, UnsupportedError):
                    raise
                errors.append(str(error))
        object.__setattr__(self, "patterns", patterns)
        object.__setattr__(self, "everything", patterns == (".*",))
        object.__setattr__(self, "errors", tuple(errors))
        object.__setattr__(self, "_tests", tuple(tests))

    def matches(self, name: str) -> bool:
        """Whether any pattern matches the whole of ``name``."""
        if self.everything:
            return True
        # A loop, because any() with a generator takes three times as long. String operations for
        # literals, "prefix.*" and ".*part.*" would save at most 0.15 us per name: not worth it.
        for test in self._tests:  # noqa: SIM110
            if test(name):
                return True
        return False

    def count(self, name: str) -> int:
        """How many patterns match the whole of ``name``."""
        return 1 if self.everything else sum(1 for test in self._tests if test(name))

    def mask(self, names: Sequence[str]) -> npt.NDArray[np.bool_]:
        """``matches`` of each name, shape (len(names),); give each distinct name once."""
        if self.everything:
            return np.ones(len(names), dtype=np.bool_)
        if not self._tests:
            return np.zeros(len(names), dtype=np.bool_)
        matches = self.matches
        return np.fromiter(map(matches, names), dtype=np.bool_, count=len(names))
