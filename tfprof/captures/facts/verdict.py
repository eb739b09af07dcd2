"""When a verdict may be given, and what it is (``docs/adr/0023-steps-and-verdicts.md``).

A verdict is about the typical steps, of which there must be enough. A step that took many times
as long, because it traced, compiled or filled buffers, says nothing about the others. And the time
must be explained: the program's own code may read input, and time between steps may be waiting for
input. With much of either, a capture does not show that the input is fast enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.code_times import CodeTime, in_all_steps
from tfprof.captures.facts.between_steps import Between, between_steps
from tfprof.captures.facts.bottleneck import (
    HIGH,
    HIGHLY_INPUT_BOUND,
    MODERATE,
    MODERATELY_INPUT_BOUND,
    NONE,
    UNKNOWN,
    Bottleneck,
    Judged,
    judged,
    on_collectives,
    on_launches,
    waiting_verdict,
)
from tfprof.captures.facts.run_steps import host_code_times, run_steps
from tfprof.captures.facts.statistics import part, summary
from tfprof.captures.facts.steps import BY_KEY, CATEGORIES, FEWEST, HostSteps, RunSteps
from tfprof.captures.facts.tpu_steps import TpuRunSteps
from tfprof.captures.run.run import Run
from tfprof.text.units import milliseconds, milliseconds_between

_LEAST_CAUSE = 0.2
"""A category is named from this part on of a slow step's additional time."""

_NAMED = 0.05
"""A function or annotation is named from this part of the step time on."""


def grounds_of(run: Run, *, uses_tf_data: bool) -> Grounds:
    """What a verdict on a run rests on."""
    steps = run_steps(run)
    return Grounds(
        steps.typical,
        run.memo.once("code_times", lambda: _code_of(steps.typical)),
        run.memo.once("between_steps", lambda: between_steps(steps)),
        uses_tf_data,
    )


def _code_of(steps: RunSteps) -> list[CodeTime]:
    """Code of all hosts; empty if there is little unexplained time."""
    if 100.0 * steps.share_of("other") < MODERATE:
        return []
    code = [times for one in steps.hosts if one.core is None for times in _code_in(one)]
    return sorted(code, key=lambda one: (-one.total_ps, one.name))


def _code_in(steps: HostSteps) -> list[CodeTime]:
    """Code of the steps of a host."""
    by_step = host_code_times(steps.host)
    return in_all_steps(by_step.get(group, ()) for group in steps.times.groups.tolist())


class Grounds(NamedTuple):
    """What a verdict rests on.

    Attributes:
        steps: The typical steps.
        code: Time of the program's own code while nothing else runs.
        between: Time between the steps.
        uses_tf_data: There is tf.data activity, which competes with launches for the CPU.
    """

    steps: RunSteps
    code: Sequence[CodeTime]
    between: Between
    uses_tf_data: bool


def give_verdict(grounds: Grounds) -> Bottleneck:
    """Judge the steps of hosts, or of GPUs."""
    steps = grounds.steps
    if not steps.n_steps or not steps.slowest_ps().sum():
        return UNKNOWN
    waiting, other = 100.0 * steps.share_of("infeed"), 100.0 * unexplained_share(grounds)
    kind, statement = _on_input(grounds, waiting, other)
    is_other_said = kind == "unknown" and other >= HIGH and not _shows_input(steps)
    return Bottleneck(
        kind,
        statement,
        waiting,
        kernel_launch=on_launches(
            100.0 * steps.share_of("kernel_launch"), uses_tf_data=grounds.uses_tf_data
        ),
        all_other=NONE if is_other_said else _on_other(grounds, other),
        device_collectives=on_collectives(100.0 * steps.share_of("device_collectives")),
        compilation=judged(
            100.0 * steps.share_of("compile"),
            "of the step time goes to tracing and compiling functions",
        ),
        between=_on_gaps(grounds.between),
    )


def _on_input(grounds: Grounds, waiting: float, other: float) -> tuple[str, str]:
    steps, between = grounds.steps, grounds.between
    if steps.n_steps < FEWEST:
        count = "1 whole step" if steps.n_steps == 1 else f"{steps.n_steps} whole steps"
        return "unknown", (
            f"No verdict: {count} in this capture, and at least {FEWEST} are needed. "
            f"{waiting:.1f}% of the step time was waiting for input."
        )
    outside = 100.0 * between.wait_share
    if waiting < MODERATELY_INPUT_BOUND <= outside:
        level = "HIGHLY" if outside >= HIGHLY_INPUT_BOUND else "MODERATELY"
        return "host", (
            f"The program is {level} input-bound: {outside:.1f}% of the time from one step to the "
            "next is waiting for input, between the steps. Make the input pipeline faster first."
        )
    doubt = "" if waiting >= MODERATELY_INPUT_BOUND else _doubt(grounds, waiting, other)
    if doubt:
        return "unknown", f"Whether the program waits for its input is not certain: {doubt}"
    return waiting_verdict(waiting)


def _doubt(grounds: Grounds, waiting: float, other: float) -> str:
    """Why it is uncertain whether the program waits for its input; empty if it is certain."""
    if other >= HIGH and not _shows_input(grounds.steps):
        return (
            "no input pipeline was recorded in its steps, and in "
            f"{other:.1f}% of the step time no op runs: {_where(grounds)}. Input that Python makes "
            "or reads is part of that."
        )
    if 100.0 * grounds.between.share >= HIGH:
        return (
            f"{waiting:.1f}% of the step time is waiting for input, but "
            f"{grounds.between.share:.1%} of the time from one step to the next is in no step."
        )
    return ""


def _shows_input(steps: RunSteps) -> bool:
    """Whether most steps take their input from a recorded pipeline."""
    return bool((steps.of(BY_KEY["infeed"]) > 0).mean() > 0.5)


def unexplained_share(grounds: Grounds) -> float:
    """Part of the step time in which no op runs, and the program waits for none."""
    waits = sum(code_share(grounds, one) for one in grounds.code if one.waits)
    return max(0.0, grounds.steps.share_of("other") - waits)


def code_share(grounds: Grounds, one: CodeTime) -> float:
    """Part of the step time in which only one function or annotation runs."""
    return part(one.total_ps, sum(int(o.times.duration_ps.sum()) for o in grounds.steps.hosts))


def described(one: CodeTime) -> str:
    """The name of a function with its caller, or of an annotation."""
    if one.is_annotation:
        return f"{one.name} (an annotation of the program)"
    return f"{one.name}, called from {one.caller}" if one.caller else one.name


def _where(grounds: Grounds) -> str:
    """What ran while no op did."""
    code = [one for one in grounds.code if not one.waits]
    named = [one for one in code if code_share(grounds, one) >= _NAMED][:2]
    if named:
        return ", ".join(f"{code_share(grounds, one):.1%} is {described(one)}" for one in named)
    if code:
        return "it is Python, in many functions"
    return "nothing was recorded there, mostly Python between the ops"


def _on_other(grounds: Grounds, percent: float) -> Judged:
    if percent < MODERATE:
        return NONE
    level = "high" if percent >= HIGH else "moderate"
    return level, f"In {percent:.1f}% of the step time no op runs: {_where(grounds)}."


def _on_gaps(between: Between) -> Judged:
    if 100.0 * between.share < HIGH:
        return NONE
    said = (
        f"Between two steps {milliseconds(between.gap_ms)} pass, {between.share:.1%} of the time "
        "from one step to the next"
    )
    if between.wait_share:
        said += f"; {milliseconds(between.wait_ms)} of it is waiting for input"
    return "high", f"{said}."


def about_step_time(steps: RunSteps, tpu: TpuRunSteps | None = None) -> tuple[str, ...]:
    """How long a step takes, and which steps are left out; nothing without steps.

    Args:
        steps: All steps.
        tpu: The typical steps of a TPU, all cores together.
    """
    typical = steps.typical
    if not typical.n_steps:
        return ()
    took_ps = typical.slowest_ps() if tpu is None else tpu.breakdown.total
    took = summary((took_ps / 1e9).tolist())
    if typical.n_steps == 1:
        return (f"The one step took {milliseconds(took.average)}.",)
    said = (
        f"A step takes {milliseconds(took.average)} on average ({typical.n_steps} steps, "
        f"{milliseconds_between(took.minimum, took.maximum)})."
    )
    return (said, *_about_unusual(steps))


def _about_unusual(steps: RunSteps) -> list[str]:
    """Steps that took much longer than the others, and what took longer in them."""
    whole, is_unusual = steps.whole, steps.is_unusual
    usual_ms = float(np.median(steps.typical.slowest_ps())) / 1e9
    names, took = whole.names, whole.slowest_ps()
    amounts = np.stack([whole.of(category) for category in CATEGORIES])
    usual = np.stack([np.median(steps.typical.of(category)) for category in CATEGORIES])
    sentences = []
    for place in np.flatnonzero(is_unusual).tolist():
        took_ms = float(took[place]) / 1e9
        more_ms = (amounts[:, place] - usual) / 1e9
        most, *others = np.argsort(-more_ms, kind="stable").tolist()
        least_ms = _LEAST_CAUSE * (took_ms - usual_ms)
        causes = [most, *(number for number in others if more_ms[number] >= least_ms)]
        named = [
            f"{milliseconds(more_ms[number])} more of {CATEGORIES[number].name}"
            for number in causes
        ]
        sentences.append(
            f"Step {names[place]} took {milliseconds(took_ms)}, {took_ms / usual_ms:,.1f} times as "
            f"long: {', '.join(named)}; it is left out of averages and of the verdict."
        )
    return sentences
