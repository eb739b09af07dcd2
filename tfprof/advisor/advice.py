"""Runs checkers; returns findings, or the reports that ``AdviceProto`` holds."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from tfprof.advisor.classic import CLASSIC_CHECKERS
from tfprof.advisor.context import CheckContext
from tfprof.advisor.registry import Checker, Wanted, items_of, select_checkers
from tfprof.core.columns.findings import Finding
from tfprof.core.text.wording import unknown_name
from tfprof.errors import TfprofWarning, UsageError


def run_checkers(
    context: CheckContext, checkers: Mapping[str, Checker]
) -> dict[str, list[Finding]]:
    """Findings by checker, in the given order."""
    return {name: list(checker(context)) for name, checker in checkers.items()}


def find(context: CheckContext, wanted: Wanted) -> list[Finding]:
    """Findings of the chosen checkers, checker by checker.

    Raises:
        UsageError: There is no checker of that name, or the profile is in classic mode.
    """
    if context.profile.classic:
        raise UsageError(
            "classic mode has no findings, only TensorFlow's reports: use advise(), or a Profiler "
            "without classic=True"
        )
    by_checker = run_checkers(context, select_checkers(wanted))
    return [finding for findings in by_checker.values() for finding in findings]


def report(context: CheckContext, wanted: Wanted) -> dict[str, list[str]]:
    """Reports by checker: the texts of the findings, or the original's reports in classic mode.

    Raises:
        UsageError: There is no checker of that name.
    """
    if context.profile.classic:
        return _classic_reports(context, wanted)
    by_checker = run_checkers(context, select_checkers(wanted))
    return {name: [finding.text for finding in by_checker[name]] for name in by_checker}


def _classic_reports(context: CheckContext, wanted: Wanted) -> dict[str, list[str]]:
    """The reports of the original's checkers; unknown names only cause a warning."""
    names = list(CLASSIC_CHECKERS) if wanted is None else list(map(str, items_of(wanted)))
    for name in sorted({*names} - {*CLASSIC_CHECKERS, "JobChecker"}):
        message = unknown_name("checker", name, CLASSIC_CHECKERS)
        # The warning points at the caller of Profiler.advise.
        warnings.warn(f"{message} in classic mode", TfprofWarning, stacklevel=4)
    return {
        name: checker(context.profile, context.views)
        for name, checker in CLASSIC_CHECKERS.items()
        if name in names
    }
