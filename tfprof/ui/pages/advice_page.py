"""The page of findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tfprof.captures.run.result import Note
from tfprof.core.columns.findings import Finding
from tfprof.core.columns.remarks import Notice
from tfprof.ui.pages.blocks_of_results import findings_block, notes_block, notices_block
from tfprof.ui.pages.document import Block, Page, empty, words
from tfprof.ui.pages.host_choice import host_control

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.inputs.profiler import Profiler


def advice_page(
    findings: Sequence[Finding],
    checkers: Sequence[str],
    notices: Iterable[Notice] = (),
    notes: Iterable[Note] = (),
) -> Page:
    """The page of findings, the most urgent first.

    Args:
        findings: The findings.
        checkers: Names of the checkers that ran.
        notices: Remarks on a profile.
        notes: Remarks on a capture.
    """
    blocks: list[Block] = [*notes_block(notes), *notices_block(notices)]
    blocks += findings_block(findings)
    if not findings:
        blocks.append(empty("Nothing found: no checker sees something to change."))
    blocks.append(words([f"Checked: {', '.join(checkers)}."]))
    return Page("advice", "Advice", "What costs most, and what to do about it.", blocks)


def classic_advice_page(report: str) -> Page:
    """The report of TensorFlow's own checkers, unchanged."""
    lines = [line for line in report.splitlines() if line.strip()]
    return Page("advice", "Advice", "The reports of TensorFlow's own checkers.", [words(lines)])


def advice_of_run(run: Run, params: Mapping[str, str]) -> Page:
    """Findings of the practices in a captured run, or on its ``host``.

    Raises:
        UsageError: There is no such host.
    """
    from tfprof.captures.practices.findings import capture_findings, capture_notes
    from tfprof.captures.practices.practices import PRACTICES

    found = capture_findings(run, host=params.get("host") or None)
    page = advice_page(found, list(PRACTICES), notes=capture_notes(run))
    return replace(page, controls=host_control(run, params))


def advice_of_profile(profiler: Profiler) -> Page:
    """Findings of the checkers in a profile."""
    from tfprof.advisor.registry import select_checkers

    return advice_page(profiler.findings(), list(select_checkers(None)), profiler.notices)
