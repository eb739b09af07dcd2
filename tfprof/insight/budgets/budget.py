"""Budgets: TOML files with limits, validated word by word."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tfprof.core.hardware import device_of
from tfprof.core.text.matching import compiled
from tfprof.errors import MissingDependencyError, UsageError
from tfprof.files.disk import read_file
from tfprof.files.remote.path import named
from tfprof.insight.budgets.metrics import METRICS, Metric
from tfprof.insight.budgets.quantities import Bound, bound_of

_SETTINGS = "settings"
_SETTING_TYPES: Mapping[str, tuple[type, str]] = {
    "strict": (bool, "true or false"),
    "confidence": (float, "a number between 0.5 and 1, such as 0.95"),
    "batch": (int, "a whole number from 1"),
    "device": (str, "a device such as 'h100', or its rates, '989e12,3.35e12'"),
}
_LONGEST_PATTERN = 1000
_LONGEST_LINE = 4 * _LONGEST_PATTERN
_MOST_EQUALS = 20
_MOST_DOTS = 2 * _LONGEST_PATTERN


@dataclass(frozen=True, slots=True)
class Limit:
    """One line of a budget.

    Attributes:
        metric: The metric that it limits.
        bound: The largest value allowed.
        pattern: Regular expression for functions, ops or scopes; empty for the whole program.
        line: Line in the budget, from 1; 0 if unknown.
    """

    metric: Metric
    bound: Bound
    pattern: str = ""
    line: int = 0

    @property
    def name(self) -> str:
        """The metric and its pattern."""
        return f"{self.metric.name}[{self.pattern}]" if self.pattern else self.metric.name


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a file.

    Attributes:
        path: The file, as the user named it.
        limits: In the order of the file.
        strict: Whether a limit that noise leaves undecided counts as not checked.
        confidence: Confidence level of the intervals of times.
        batch: First dimension of inputs, where the graph leaves it open.
        device: Peak rates for utilization; None for what is known.
    """

    path: str
    limits: tuple[Limit, ...]
    strict: bool = False
    confidence: float = 0.95
    batch: int | None = None
    device: str | None = None


def read_budget(path: str | os.PathLike[str]) -> Budget:
    """Read a budget.

    Raises:
        InputError: The file cannot be read.
        UsageError: It is not TOML, or it has an unknown key or an invalid limit; the message names
            the line and the nearest known word.
        MissingDependencyError: Python 3.10 needs the package tomli.
    """
    name = named(path)
    return budget_of(bytes(read_file(name)), name)


def budget_of(data: bytes, name: str = "budget.toml") -> Budget:
    """A budget of the bytes of a file; errors as ``read_budget``.

    Example:
        >>> budget = budget_of(b'step_time = "<= 25 ms"')
        >>> budget.limits[0].name, budget.limits[0].bound.amount
        ('step_time', 25000.0)
    """
    tomllib = _reader()
    try:
        text = data.decode("utf-8-sig")
        if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):
            raise RecursionError  # the reader's time grows with the square of a key's parts
        content = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: is not a budget: it is not a text in UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: is not TOML: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{name}: is nested too deeply for a budget") from error
    reader = _Reader(name, _lines_of_keys(text, tomllib))
    settings = reader.settings(content.pop(_SETTINGS, {}))
    limits = tuple(reader.limits(content))
    if not limits:
        known = ", ".join(METRICS)
        raise UsageError(f"{name}: has no limit; give one of {known}")
    return Budget(name, limits, **settings)


def _reader() -> Any:
    try:
        return importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    except ImportError as error:
        raise MissingDependencyError(
            "reading budgets with Python 3.10 needs the package tomli: pip install 'tfprof[gate]'"
        ) from error


class _Reader:
    """Reads the content of a budget, and reports the line of each mistake."""

    def __init__(self, name: str, lines: Mapping[tuple[str, ...], int]) -> None:
        self._name, self._lines = name, lines

    def limits(self, content: Mapping[str, Any]) -> Iterator[Limit]:
        for key, value in content.items():
            metric = METRICS.get(key)
            if metric is None:
                raise self._wrong((key,), f"{key!r} is not a metric{_nearest(key)}")
            if not isinstance(value, dict):
                if metric.needs_pattern:
                    raise self._wrong(
                        (key,), f"{key} needs a table of patterns: [{key}] and below it "
                        f"'MatMul' = {metric.dimension.example!r}"
                    )  # fmt: skip
                yield from self._limits(metric, value, "", (key,))
                continue
            if not metric.patterns:
                raise self._wrong((key,), f"{key} has one limit, and no table of patterns")
            for pattern, written in value.items():
                self._check_pattern(pattern, (key, pattern))
                yield from self._limits(metric, written, pattern, (key, pattern))

    def _limits(
        self, metric: Metric, written: object, pattern: str, place: tuple[str, ...]
    ) -> Iterator[Limit]:
        for one in written if isinstance(written, list) else [written]:
            try:
                bound = bound_of(one, metric.dimension)
            except UsageError as error:
                raise self._wrong(place, f"{'.'.join(place)}: {error}") from error
            yield Limit(metric, bound, pattern, self._lines.get(place, 0))

    def settings(self, given: object) -> dict[str, Any]:
        if not isinstance(given, dict):
            raise self._wrong((_SETTINGS,), f"{_SETTINGS} is a table: [{_SETTINGS}]")
        for key, value in given.items():
            place = (_SETTINGS, key)
            if key not in _SETTING_TYPES:
                raise self._wrong(place, f"{key!r} is not a setting{_nearest(key, _SETTING_TYPES)}")
            kind, what = _SETTING_TYPES[key]
            if type(value) is not kind or not _is_in_range(key, value):
                raise self._wrong(place, f"{key} = {value!r} must be {what}")
        return dict(given)

    def _check_pattern(self, pattern: str, place: tuple[str, ...]) -> None:
        try:
            if not pattern or len(pattern) > _LONGEST_PATTERN:
                raise UsageError(f"a pattern has 1 to {_LONGEST_PATTERN} characters")
            compiled(pattern)
        except UsageError as error:
            raise self._wrong(place, str(error)) from error

    def _wrong(self, place: tuple[str, ...], problem: str) -> UsageError:
        line = self._lines.get(place, 0)
        return UsageError(f"{self._name}:{line}: {problem}" if line else f"{self._name}: {problem}")


def _is_in_range(key: str, value: Any) -> bool:
    if key == "device":
        return _is_device(value)
    return bool(0.5 < value < 1 if key == "confidence" else value >= 1 if key == "batch" else True)


def _is_device(name: str) -> bool:
    try:
        device_of(name)
    except UsageError:
        return False
    return True


def _nearest(key: str, known: Iterable[str] = METRICS) -> str:
    """The nearest of the known words; all of them if none is near."""
    names = list(known)
    others = [_SETTINGS] if names == list(METRICS) else []
    close = difflib.get_close_matches(key.replace("-", "_").lower(), [*names, *others], n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(names)}"


def _lines_of_keys(text: str, tomllib: Any) -> dict[tuple[str, ...], int]:
    """The line of each key by its path, which TOML readers do not report.

    Lines are read one by one, so text in a multi-line string may be taken for a key: the result
    is only used to point at a line.
    """
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        written = line.strip()
        is_table = written.startswith("[")
        if len(written) > _LONGEST_LINE:
            continue
        # Quoted keys may hold a "=".
        ends = [0] if is_table else [at for at, char in enumerate(written) if char == "="]
        for end in ends[:_MOST_EQUALS]:
            try:
                path = _path(tomllib.loads(written if is_table else f"{written[:end]}=0"))
            except (tomllib.TOMLDecodeError, RecursionError):
                continue
            table = path if is_table else table
            lines.setdefault(path if is_table else (*table, *path), number)
            break
    return lines


def _path(content: Any) -> tuple[str, ...]:
    """The keys of nested tables with one key each."""
    path: list[str] = []
    while isinstance(content, dict) and content:
        key, content = next(iter(content.items()))
        path.append(key)
    return tuple(path)
