"""Recommendations of the tools about a captured run, as findings like those of checkers.

>>> from tfprof.testing.xspace_builders import event, host, line, opened, xspace
>>> step = event("train", 0, 100_000, step_num=7, _r=1)
>>> run = opened(xspace(host(line(step, event("dense/MatMul:MatMul", 0, 90_000)))))
>>> [finding.rule for finding in capture_findings(run)]
['ops/heaviest']
"""

from __future__ import annotations

from collections.abc import Collection

from tfprof.captures.facts.framework import TENSORFLOW, words_for
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.practices.practices import PRACTICES, advice
from tfprof.captures.run.result import Advice, Note
from tfprof.captures.run.run import Run
from tfprof.core.columns.findings import Finding, Gain, Severity
from tfprof.errors import UsageError

WARNING_GAIN, CRITICAL_GAIN = 0.05, 0.2
"""Gains, as parts of the step, from which a finding is a warning or critical."""

_WITHOUT_GAIN: dict[str, Severity] = {
    "tf-function/eager": "warning",
    "tf-function/retracing": "warning",
    "tf-function/run-eagerly": "warning",
    "memory/capacity": "warning",
}
"""Severity of rules whose cost lies outside the steps."""

_PAGES = {
    "input-pipeline": "guide/data_performance_analysis",
    "tf-function": "guide/function",
    "python": "guide/profiler",
    "devices": "guide/profiler",
    "workers": "guide/profiler",
    "ops": "guide/profiler",
    "xla": "xla",
}
_ELSE = "guide/gpu_performance_analysis"

_TO_MICROS = {"ms": 1000.0, "us": 1.0}


def capture_findings(
    run: Run, wanted: Collection[str] | None = None, *, host: str | None = None
) -> list[Finding]:
    """The findings of the tools' practices, the one with the largest gain first.

    Args:
        run: The run.
        wanted: Rules of ``tfprof.captures.practices.practices``; None is all of them.
        host: Ops, kernels and memory of one host only.

    Raises:
        UsageError: There is no such rule, or no such host.
    """
    for rule in wanted or ():
        if rule not in PRACTICES:
            from tfprof.advisor.registry import unknown_checker

            raise UsageError(unknown_checker(rule, PRACTICES))
    step_micros = Evidence(run, run.hosts).step_ms * 1000
    guide = words_for(run.hosts).guide
    return [
        finding_of(one, step_micros, guide)
        for one in advice(run, host=host)
        if wanted is None or one.rule in wanted
    ]


def capture_notes(run: Run) -> list[Note]:
    """Remarks on the data: files that could not be read, steps that are missing or cut."""
    return [*run.notes, *run_steps(run).notes]


def finding_of(advised: Advice, step_micros: float, guide: str = TENSORFLOW.guide) -> Finding:
    """A recommendation as a finding, with its numbers as evidence.

    Args:
        advised: The recommendation.
        step_micros: Mean duration of a step; 0 if unknown, and then the finding has no gain.
        guide: Address of the framework's guide.
    """
    part = advised.gain_fraction
    gain = None
    if part and step_micros:
        gain = Gain(part * step_micros, "micros", f"{part:.1%} of the step, as an upper limit")
    page = _PAGES.get(advised.rule.partition("/")[0], _ELSE)
    evidence = dict(
        _number(name, value)
        for name, value in advised.evidence.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    )
    link = guide if guide != TENSORFLOW.guide else guide + page
    return Finding(advised.rule, _severity(advised), advised.message, evidence, None, gain, link)


def _severity(advised: Advice) -> Severity:
    gain = advised.gain_fraction or 0.0
    if gain >= CRITICAL_GAIN:
        return "critical"
    return "warning" if gain >= WARNING_GAIN else _WITHOUT_GAIN.get(advised.rule, "info")


def _number(name: str, value: float) -> tuple[str, float]:
    """The number in the unit that findings use, and the name to match."""
    words, _, unit = name.rpartition("_")
    factor = _TO_MICROS.get(unit)
    return (name, value) if factor is None else (f"{words}_micros", value * factor)
