"""StragglerChecker: devices that keep the others waiting."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.core.columns.findings import Finding, Gain, Severity
from tfprof.core.text.wording import share_text, time_text
from tfprof.profiles.model.executions import ACCELERATOR, HOST, Processor

MIN_EXCESS = 0.2
"""Part by which a straggler is busy longer than typical devices of its kind; less is noise."""

MIN_EXCESS_MICROS = 100
"""Per step; less is noise."""

MIN_STEP_SHARE = 0.5
"""Part of the steps in which it must be late: a straggler is always the same device."""

CRITICAL_EXCESS = 1.0
"""Twice as long as a typical device."""

_RULE = "StragglerChecker"
_GPU_LINK = "https://www.tensorflow.org/guide/gpu_performance_analysis"
_LINK = "https://www.tensorflow.org/guide/distributed_training"

PerDevice = dict[Processor, float]


def check_stragglers(context: CheckContext) -> list[Finding]:
    """Find devices that in most steps work longer, or end later, than others of their kind.

    The checker compares work among the devices of one kind in a job, and ends only within one
    process, because the clocks of two machines differ.
    """
    busy, ends = _by_step(context)
    findings = []
    processors = sorted({processor for step in busy for processor in step})
    for processor in processors:
        kind = (processor.job, processor.kind)
        alike = [p for p in processors if p != processor and (p.job, p.kind) == kind]
        finding = _straggler(processor, alike, busy, "works")
        if finding is None:
            beside = [other for other in alike if other.task == processor.task]
            finding = _straggler(processor, beside, ends, "ends after")
        if finding is not None:
            findings.append(finding)
    return findings


def _by_step(context: CheckContext) -> tuple[list[PerDevice], list[PerDevice]]:
    """How long each CPU and GPU worked in each step, and when it ended, from the step's start.

    GPUs without kernel times are omitted.
    """
    busy_steps, end_steps = [], []
    for times in context.times:
        devices: dict[Processor, list[int]] = {}
        for device_id in np.unique(times.device_ids).tolist():
            role = context.roles[device_id]
            if role is not None:
                devices.setdefault(role.processor, []).append(device_id)
        busy: PerDevice = {}
        end: PerDevice = {}
        for processor, device_ids in devices.items():
            chosen = np.isin(times.device_ids, device_ids)
            if processor.kind == "cpu":
                chosen &= (times.kinds == HOST) & context.works_in(times)
            else:
                chosen &= times.kinds == ACCELERATOR
            if chosen.any():
                busy[processor] = times.busy_nanos(chosen) / 1000
                first = int(times.start_nanos.min())
                end[processor] = (int(times.end_nanos[chosen].max()) - first) / 1000
        busy_steps.append(busy)
        end_steps.append(end)
    return busy_steps, end_steps


def _straggler(
    processor: Processor, others: Sequence[Processor], steps: Sequence[PerDevice], verb: str
) -> Finding | None:
    own: list[float] = []
    typical: list[float] = []
    for step in steps:
        peers = [step[other] for other in others if other in step]
        if processor in step and peers:
            own.append(step[processor])
            typical.append(median_low(peers))
    late = [
        mine - theirs >= max(MIN_EXCESS * theirs, MIN_EXCESS_MICROS)
        for mine, theirs in zip(own, typical, strict=True)
    ]
    if sum(late) <= MIN_STEP_SHARE * len(late):
        return None
    busy, usual = sum(own) / len(own), sum(typical) / len(typical)
    excess = busy - usual
    if excess < MIN_EXCESS * usual:
        return None
    more = f" ({share_text(excess / usual)} more)" if usual > 0 else ""
    message = (
        f"{processor.label} {verb} {time_text(busy)} per step, a typical device of its kind "
        f"{time_text(usual)}{more}; it is late in {sum(late)} of {len(late)} steps. Where devices "
        "wait for each other, all wait for it. Give it a fair share of the work, and see what "
        "else runs on it."
    )
    evidence = {
        "own_micros": busy,
        "typical_micros": usual,
        "excess_micros": excess,
        "late_step_count": sum(late),
        "step_count": len(late),
    }
    if usual > 0:
        evidence["excess_share"] = excess / usual
    severity: Severity = "critical" if excess >= CRITICAL_EXCESS * usual else "warning"
    gain = Gain(excess, "micros", "what it is behind a typical device of its kind")
    link = _GPU_LINK if processor.kind == "gpu" else _LINK
    return Finding(_RULE, severity, message, evidence, gain=gain, link=link)
