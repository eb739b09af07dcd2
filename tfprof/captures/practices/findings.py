"""Advice on a captured run as findings, like those of checkers on a profile.

>>> from tfprof.testing.xspace_builders import event, host, line, opened, xspace
>>> step = event("train", 0, 100_000, step_num=7, _r=1)
>>> run = opened(xspace(host(line(step, event("dense/MatMul:MatMul", 0, 90_000)))))
>>> [finding.rule for finding in capture_findings(run)]
['ops/heaviest']
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tfprof.captures.facts.framework import TENSORFLOW, words_for
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.practices.practices import PRACTICES, advice, weight
from tfprof.captures.run.result import Advice, Note
from tfprof.captures.run.run import Run
from tfprof.core.columns.findings import Finding, Gain, Severity
from tfprof.core.text.wording import unknown_name
from tfprof.errors import UsageError

WARNING_GAIN, CRITICAL_GAIN = 0.05, 0.2
"""Gains, as parts of the step, from which a finding is a warning or critical."""

_COST_ELSEWHERE = {
    "tf-function/eager", "tf-function/retracing", "tf-function/run-eagerly", "memory/capacity",
}  # fmt: skip
"""Rules whose cost may lie outside the steps: their findings are warnings even without a gain."""


class Subject(NamedTuple):
    """The tool and the guide for more information on findings.

    Attributes:
        tool: The tool that shows more; empty if there is none.
        guide: Page of TensorFlow's guides.
    """

    tool: str = ""
    guide: str = "guide/gpu_performance_analysis"


_SUBJECTS: Mapping[str, Subject] = {
    "input-pipeline/slow-iterator": Subject("tf-data", "guide/data_performance_analysis"),
    "input-pipeline": Subject("input-pipeline", "guide/data_performance_analysis"),
    "copies": Subject("trace"),
    "kernel-launch": Subject("trace"),
    "command-buffers": Subject("kernel-stats"),
    "python": Subject("trace", "guide/profiler"),
    "compilation": Subject("compiles"),
    "collectives": Subject("collectives"),
    "workers": Subject("stragglers", "guide/profiler"),
    "devices": Subject("trace", "guide/profiler"),
    "precision": Subject("kernel-stats"),
    "tensor-cores": Subject("kernel-stats"),
    "tf-function/retracing": Subject("compiles", "guide/function"),
    "tf-function": Subject("overview", "guide/function"),
    "xla": Subject("hlo-stats", "xla"),
    "ops": Subject("op-stats", "guide/profiler"),
    "memory": Subject("memory"),
    "memory/duplicate": Subject("memory-viewer", "guide/profiler"),
}
"""By the rule of a practice or tool, or by the first part of the rule."""

_TO_MICROS = {"ms": 1000.0, "us": 1.0}


def capture_findings(
    run: Run, wanted: Collection[str] | None = None, *, host: str | None = None
) -> list[Finding]:
    """The findings of the practices, the largest gain first.

    Args:
        run: The run.
        wanted: Names in ``PRACTICES``; None for all of them.
        host: Use ops, kernels and memory of one host only.

    Raises:
        UsageError: The rule or the host does not exist.
    """
    for rule in wanted or ():
        if rule not in PRACTICES:
            raise UsageError(unknown_name("checker", rule, PRACTICES))
    advised = advice(run, host=host)
    return findings_of(run, [one for one in advised if wanted is None or one.rule in wanted])


def findings_of(run: Run, advised: Iterable[Advice]) -> list[Finding]:
    """Advice on a run as findings; gains are parts of its mean step."""
    step_micros = Evidence(run, run.hosts).step_ms * 1000
    guide = words_for(run.hosts).guide
    return [finding_of(one, step_micros, guide) for one in advised]


def capture_notes(run: Run) -> list[Note]:
    """Notes on the data: unreadable files, steps that are missing or cut."""
    return [*run.notes, *run_steps(run).notes]


def subject_of(rule: str) -> Subject:
    """The tool and the guide for findings of a rule."""
    return _SUBJECTS.get(rule) or _SUBJECTS.get(rule.partition("/")[0], Subject())


def finding_of(advised: Advice, step_micros: float, guide: str = TENSORFLOW.guide) -> Finding:
    """Advice as a finding, with its numbers as evidence.

    Args:
        advised: The advice.
        step_micros: Mean duration of a step; 0 if unknown, and the finding then has no gain.
        guide: Address of the framework's guide.
    """
    part = advised.gain_fraction
    gain = None
    if part and step_micros:
        gain = Gain(part * step_micros, "micros", f"{part:.1%} of the step, as an upper limit")
    evidence = dict(
        _number(name, value)
        for name, value in advised.evidence.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    )
    link = guide if guide != TENSORFLOW.guide else guide + subject_of(advised.rule).guide
    return Finding(advised.rule, _severity(advised), advised.message, evidence, None, gain, link)


def _severity(advised: Advice) -> Severity:
    part = weight(advised)
    if part >= CRITICAL_GAIN:
        return "critical"
    is_warning = part >= WARNING_GAIN or advised.rule in _COST_ELSEWHERE
    return "warning" if is_warning else "info"


def _number(name: str, value: float) -> tuple[str, float]:
    """The number in the unit of findings, and the matching name."""
    words, _, unit = name.rpartition("_")
    factor = _TO_MICROS.get(unit)
    return (name, value) if factor is None else (f"{words}_micros", value * factor)
