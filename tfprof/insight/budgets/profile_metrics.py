"""Metrics of recorded steps: their times, those of ops and scopes, and memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfprof.captures.facts.steps import unusual
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text import how_to_capture
from tfprof.core.text.matching import compiled, matched
from tfprof.core.text.wording import plural
from tfprof.inputs.profiler import Profiler, session_of
from tfprof.insight.budgets.frames import line_of_row
from tfprof.insight.budgets.measurement import (
    MOST_CONTRIBUTORS,
    Contributor,
    Measured,
    Measurement,
    Missing,
    largest,
)
from tfprof.profiles.accounting.device_time import peak_holders
from tfprof.profiles.accounting.profile_info import step_figures
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import MEASURES

if TYPE_CHECKING:
    from tfprof.insight.budgets.subject import Subject

_NO_STEP = "no step was recorded"
_ACCELERATOR, _CPU = MEASURES.index("accelerator_exec_micros"), MEASURES.index("cpu_exec_micros")


def step_time(profiler: Profiler) -> Measurement:
    """Time of each typical step, from the first start of an op to the last end, µs."""
    profile = session_of(profiler).complete()
    steps = profile.steps.steps
    walls = [step_figures(profile, step).wall_micros for step in steps]
    if not steps or None in walls:
        return Missing("no execution has a start" if steps else _NO_STEP)
    chosen, remark = _typical(np.array(walls, np.int64))
    typical = [steps[place] for place in chosen]
    values = tuple(float(walls[place] or 0) for place in chosen)
    return Measured(values, True, remark, contributors=heaviest(profile, typical))


def peak_memory(profiler: Profiler) -> Measurement:
    """Largest memory in use of one allocator in any step, bytes."""
    profile = session_of(profiler).complete()
    if not profile.steps.steps:
        return Missing(_NO_STEP)
    known = {step: step_figures(profile, step).peak_bytes for step in profile.steps.steps}
    peaks = {step: peak for step, peak in known.items() if peak is not None}
    if not peaks:
        return Missing(
            "no execution recorded the memory of its allocator, as runs on GPUs do, and on CPUs "
            f"those with {how_to_capture.BFC}"
        )
    fullest = max(peaks, key=lambda step: peaks[step])
    return Measured((float(peaks[fullest]),), contributors=_holders(profile, fullest))


def time_of(subject: Subject, pattern: str, *, of_scopes: bool) -> Measurement:
    """Time of some ops in each typical step, accelerators and CPUs together, µs.

    Args:
        subject: What is checked.
        pattern: Searched in the name and the type of ops, or matched at the beginning of names.
        of_scopes: Match names: the ops in some scopes.
    """
    profile = session_of(subject.profiler).complete()
    steps = profile.steps.steps
    if not steps:
        return Missing(_NO_STEP)
    chosen = _chosen(profile, pattern, of_scopes=of_scopes)
    if not chosen.any():
        what = "scope" if of_scopes else "op"
        return Missing(f"no {what} matches {pattern!r}; tfprof {what} lists them")
    steps, remark = _typical_steps(subject, profile)
    values = []
    for step in steps:
        records = profile.steps.records[step]
        micros = records.values[_ACCELERATOR] + records.values[_CPU]
        values.append(float(micros[chosen[records.rows]].sum()))
    return Measured(tuple(values), True, remark, contributors=heaviest(profile, steps, chosen))


def heaviest(
    profile: Profile, steps: Sequence[int], chosen: np.ndarray | None = None
) -> tuple[Contributor, ...]:
    """The ops that took the most time in a step on average, µs."""
    sums: Int64Array = np.zeros(len(profile.ops), np.int64)
    for step in steps:
        records = profile.steps.records[step]
        sums[records.rows] += records.values[_ACCELERATOR] + records.values[_CPU]
    if chosen is not None:
        sums[~chosen] = 0
    return _largest_ops(profile, sums / max(len(steps), 1))


def _chosen(profile: Profile, pattern: str, *, of_scopes: bool) -> np.ndarray:
    """Which ops match a pattern, shape (n ops,)."""
    ops, expression = profile.ops, compiled(pattern)
    names = [ops.name(row) for row in range(len(ops))]
    if of_scopes:
        of_op = [name.rpartition("/")[0] + "/" for name in names]
        scopes = sorted(set(of_op))
        fits = dict(zip(scopes, matched(expression, scopes, "match").tolist(), strict=True))
        return np.array([fits[scope] for scope in of_op], np.bool_)
    strings = ops.strings.values
    types = [strings[type_id] for type_id in ops.type_ids(classic=False).tolist()]
    distinct = sorted(set(types))
    fits = dict(zip(distinct, matched(expression, distinct, "search").tolist(), strict=True))
    return np.array([fits[op_type] for op_type in types], np.bool_) | matched(
        expression, names, "search"
    )


def _typical_steps(subject: Subject, profile: Profile) -> tuple[list[int], str]:
    """Steps for averages; for a capture, the ones that its tools use."""
    steps = profile.steps.steps
    if subject.run is not None:
        of_run = subject.steps
        typical = [name.rpartition(" ")[2] for name in of_run.typical.names]
        kept = [step for step in steps if str(step) in set(typical)]
        if len(kept) == len(typical):
            return kept, left_out(of_run.n_steps - len(kept))
    walls = [step_figures(profile, step).wall_micros or 0 for step in steps]
    chosen, remark = _typical(np.array(walls, np.int64))
    return [steps[place] for place in chosen], remark


def _typical(durations: Int64Array) -> tuple[list[int], str]:
    kept = np.flatnonzero(~unusual(durations)).tolist()
    return kept, left_out(len(durations) - len(kept))


def left_out(number: int) -> str:
    """A remark on the steps that are not typical."""
    return f"{plural(number, 'step')} left out: cut, or far longer than others" if number else ""


def _holders(profile: Profile, step: int) -> tuple[Contributor, ...]:
    sizes: Int64Array = np.zeros(len(profile.ops), np.int64)
    records, detail = profile.steps.records[step], profile.steps.details[step]
    devices = set(profile.ops.device_ids.array.tolist()) - {-1}
    peaks = [peak_holders(profile.ops, records, detail, device) for device in sorted(devices)]
    for peak in sorted(peaks, key=lambda one: one.peak_bytes)[-1:]:
        np.add.at(sizes, peak.rows, peak.sizes)
    return _largest_ops(profile, sizes)


def _largest_ops(profile: Profile, amounts: np.ndarray) -> tuple[Contributor, ...]:
    rows = np.argsort(-amounts, kind="stable")[:MOST_CONTRIBUTORS].tolist()
    return largest(
        [
            Contributor(profile.ops.name(row), float(amounts[row]), line_of_row(profile, row))
            for row in rows
        ]
    )
