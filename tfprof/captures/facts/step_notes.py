"""Notes on steps: what counts as one, and which are incomplete."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.events.steps.step_roots import Calls
from tfprof.captures.facts.framework import Words, words_for
from tfprof.captures.facts.host_devices import uses_gpu
from tfprof.captures.facts.steps import HostSteps, RunSteps
from tfprof.captures.rules import OURS
from tfprof.captures.run.result import Note, listed
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text import how_to_capture
from tfprof.core.text.wording import sentence


def step_notes(cores: Sequence[HostSteps]) -> list[Note]:
    """Notes on the steps of each host, before they are aligned.

    Args:
        cores: The steps of each host; of a TPU host those of its first core.
    """
    notes = []
    words = words_for([steps.host for steps in cores])
    if not any(len(steps.times) for steps in cores):
        notes.append(_no_steps(cores, words))
    for steps in cores:
        notes += _of_host(steps, words)
    return notes


def _no_steps(cores: Sequence[HostSteps], words: Words) -> Note:
    if any(steps.without_work for steps in cores):
        return Note("warning", "no steps: some were marked, but no computation was found in them")
    beside = [steps.calls for steps in cores if steps.calls is not None]
    if beside:
        return Note(
            "warning", "no steps were found: none was marked, and most ops ran one by one, outside "
            f"the calls of {beside[0].function or 'functions'}. {sentence(words.mark_steps)}",
        )  # fmt: skip
    return Note(
        "warning", "no steps were found: none was marked, none was recorded, or the capture is "
        "shorter than a step. "
        f"{sentence(words.mark_steps)}; or {how_to_capture.LONGER}",
    )  # fmt: skip


def _of_host(steps: HostSteps, words: Words) -> list[Note]:
    notes = []
    if steps.calls is not None and len(steps.times):
        notes.append(
            Note("info", f"no step was marked; {_about_calls(steps.calls)}. To be sure, "
                 f"{words.mark_steps}", steps.host.name)
        )  # fmt: skip
    if len(steps.times) and steps.core is None and not _has_work(steps):
        notes.append(
            Note("warning", "no op was seen in any step: ops were not recorded "
                 f"({how_to_capture.OPS}), or the threads that ran them are not linked to the "
                 "steps", steps.host.name)
        )  # fmt: skip
    if steps.program and len(steps.times):
        notes.append(
            Note("info", f"the TPU recorded no steps; each run of {steps.program} counts as one",
                 steps.host.name)
        )  # fmt: skip
    if steps.without_work:
        notes.append(_without_work(steps))
    return notes


def _has_work(steps: HostSteps) -> bool:
    """Whether any step has time beyond the program's own code and the runtime."""
    return bool(steps.times.of(*(kind for kind in Spent if kind > Spent.HOST_RUNTIME)).any())


_SEVERAL_BATCHES = "multi_step_on_iterator"
"""Keras's name for a step of one or more batches."""


def _about_calls(calls: Calls) -> str:
    """Text on what counts as a step if no step was marked."""
    said = f"each call of {calls.function or 'a function'} counts as one"
    if calls.function == _SEVERAL_BATCHES:
        said += " (of several batches, if steps_per_execution is set in Keras)"
    others = [f"{name or 'others'} ({n:,})" for name, n in calls.others.items()]
    return f"{said}; calls of {listed(others)} are in no step" if others else said


def _without_work(steps: HostSteps) -> Note:
    n_marked = len(steps.without_work)
    said = (
        "1 marked step is left out, because no computation was found in it"
        if n_marked == 1
        else f"{n_marked} marked steps are left out, because no computation was found in them"
    )
    if steps.core is not None:
        why = (
            "no run of a program on the TPUs belongs to such a step: it came after the "
            "capture, or is not linked to the step"
        )
    elif uses_gpu(steps.host.by(OURS)):
        why = "the devices ran nothing for such a step, or ran it before or after the capture"
    else:
        why = (
            "it ran no op before the capture ended, ops were not recorded "
            f"({how_to_capture.OPS}), or the threads that ran them are not linked to the marker"
        )
    return Note("warning", f"{said} ({listed(steps.without_work)}): {why}", steps.host.name)


def cut_notes(steps: RunSteps) -> list[Note]:
    """Notes on aligned steps that the beginning or end of the capture cuts."""
    kept = "there are no others" if steps.is_cut.all() else "averages are of the others"
    first_cores = {one.host.name: one for one in reversed(steps.hosts)}  # cores have equal cuts
    return [
        note
        for name in sorted(first_cores)
        for note in _cut_notes(first_cores[name], np.flatnonzero(first_cores[name].is_cut), kept)
    ]


def left_out_notes(steps: HostSteps, rows: Int64Array) -> list[Note]:
    """Notes on cut steps that are omitted, as they cannot be matched with steps of other hosts.

    Args:
        steps: The steps of the host.
        rows: Indices of the omitted steps.
    """
    return _cut_notes(steps, rows, "left out, as other hosts may not have it")


def _cut_notes(steps: HostSteps, rows: Int64Array, kept: str) -> list[Note]:
    whole = steps.times.start_ps[~steps.is_cut]
    middle_ps = int(whole.min(initial=np.iinfo(np.int64).max))
    said: dict[tuple[str, str], list[str]] = {}
    for row in rows.tolist():
        is_first = steps.times.start_ps[row] < middle_ps and row < len(steps.times) - 1
        reason = steps.cut[int(steps.times.groups[row])]
        said.setdefault(("beginning" if is_first else "end", reason), []).append(steps.names[row])
    return [
        Note("info", f"step{'' if len(names) == 1 else 's'} {listed(names)}: cut by the {end} of "
             f"the capture ({reason}); {kept}", steps.host.name)
        for (end, reason), names in said.items()
    ]  # fmt: skip


def judges_all_steps() -> Note:
    """Note for tools whose sentences cover all steps, while their tables cover only some."""
    return Note(
        "info",
        "verdict, averages and advice are about all steps; only tables are of the chosen ones",
    )
