"""Recordings that must keep limits: ``tfprof.trace`` for tests."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from tfprof.capture.eager.trace import trace
from tfprof.errors import TfprofWarning, UsageError
from tfprof.insight.budgets.budget import Limit
from tfprof.insight.budgets.check import Outcome, outcome_of
from tfprof.insight.budgets.measure import measure
from tfprof.insight.budgets.measurement import Measurement, Missing
from tfprof.insight.budgets.metrics import METRICS
from tfprof.insight.budgets.quantities import bound_of
from tfprof.insight.budgets.subject import Subject

_ARGUMENTS: Mapping[str, tuple[str, str]] = {
    "max_flops": ("float_operations", ""),
    "max_params": ("parameters", ""),
    "max_ops": ("ops", ""),
    "max_peak_bytes": ("peak_memory", "bytes"),
    "max_traces": ("traces", ""),
    "max_retraces": ("retraces", ""),
    "max_compilations": ("compilations", ""),
    "max_step_ms": ("step_time", "ms"),
}
"""The metric of each argument of the mark, and the unit of plain numbers."""


class LimitExceededError(AssertionError):
    """A test exceeds a limit of its mark."""


def limits_of_mark(arguments: Mapping[str, Any]) -> list[Limit]:
    """The limits of a mark.

    Args:
        arguments: Its arguments: numbers, or texts with a unit, such as ``max_flops="2 GFLOPs"``.

    Raises:
        UsageError: An argument is unknown, or is not a limit.
    """
    limits = []
    for name, written in arguments.items():
        if name not in _ARGUMENTS:
            close = difflib.get_close_matches(name, [*_ARGUMENTS, "strict"], n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(_ARGUMENTS)}"
            raise UsageError(f"there is no {name}; {hint}")
        metric, unit = METRICS[_ARGUMENTS[name][0]], _ARGUMENTS[name][1]
        plain = isinstance(written, (int, float)) and not isinstance(written, bool)
        try:
            bound = bound_of(f"{written} {unit}".strip() if plain else written, metric.dimension)
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from error
        if bound.is_relative:
            raise UsageError(f"{name}: {written!r} is relative, and a test has no baseline")
        limits.append(Limit(metric, bound))
    return limits


class CheckedTrace(trace):
    """A ``tfprof.trace`` that fails at the end of its block if a limit is exceeded.

    Args:
        targets: As for ``trace``.
        limits: Limits of the block.
        strict: Whether an undecided limit fails, too.

    Attributes:
        outcomes: Outcomes of the limits, after the block.
        is_checked: Whether the block has ended and the limits were checked.
    """

    def __init__(self, *targets: Any, limits: Sequence[Limit] = (), strict: bool = False) -> None:
        super().__init__(*targets)
        self._limits, self._strict = limits, strict
        self.outcomes: list[Outcome] = []
        self.is_checked = False

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop recording, and check.

        Raises:
            LimitExceededError: A limit is exceeded, or cannot be checked.
        """
        __tracebackhide__ = True
        super().__exit__(exception_type, exception, traceback)
        if exception is None:
            self.is_checked = True
            self._check()

    def _check(self) -> None:
        __tracebackhide__ = True
        traced = self._finished()
        subject = Subject("recording", lambda: traced.profiler, traced.run, is_recording=True)
        self.outcomes = [
            outcome_of("recording", limit, self._measured(subject, limit)) for limit in self._limits
        ]
        failed = {"exceeded", "missing", *(["undecided"] if self._strict else [])}
        told = [_told(outcome) for outcome in self.outcomes if outcome.verdict in failed]
        if told:
            raise LimitExceededError("\n".join(told))
        for outcome in self.outcomes:
            if outcome.verdict == "undecided":
                warnings.warn(outcome.message, TfprofWarning, stacklevel=4)

    def _measured(self, subject: Subject, limit: Limit) -> Measurement:
        if limit.metric.name == "parameters" and not self._targets:
            return Missing("it is not known whose; name the model: tfprof_profile(model)")
        return measure(subject, limit)


def _told(outcome: Outcome) -> str:
    return "\n    ".join([outcome.message, *outcome.from_where])
