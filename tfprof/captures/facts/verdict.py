"""Verdicts, and the conditions for one (``docs/adr/0023-steps-and-verdicts.md``).

A verdict covers the typical steps, and there must be enough of them. A step that took many times
as long, because it traced, compiled or filled buffers, is not evidence for the others. And the time
must be explained: the program's own code may read input, and time between steps may be waiting for
input. With much of either, a capture does not show that the input is fast enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.code_times import CodeTime
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.facts.between_steps import WAITING, Between, between_steps
from tfprof.captures.facts.bottleneck import (
    HIGH,
    HIGHLY_INPUT_BOUND,
    INPUT_WORDS,
    MODERATE,
    MODERATELY_INPUT_BOUND,
    NONE,
    UNKNOWN,
    Bottleneck,
    Judged,
    input_level,
    judged,
    on_collectives,
    on_launches,
)
from tfprof.captures.facts.categories import BY_KEY, CATEGORIES
from tfprof.captures.facts.run_steps import host_code_times, run_steps
from tfprof.captures.facts.statistics import part, summary
from tfprof.captures.facts.steps import FEWEST, UNUSUAL, HostSteps, RunSteps
from tfprof.captures.facts.tpu_bottleneck import find_tpu_bottleneck
from tfprof.captures.facts.tpu_steps import TpuRunSteps, tpu_run_steps
from tfprof.captures.run.run import Run
from tfprof.core.columns.columns import Int64Array
from tfprof.core.text import how_to_capture
from tfprof.core.text.claims import Claim, Detail, unknown

_LEAST_CAUSE = 0.2
"""A category is named from this part of a slow step's additional time on."""

_NAMED = 0.05
"""A function or annotation is named from this part of the step time on."""


def grounds_of(run: Run, *, uses_tf_data: bool) -> Grounds:
    """The grounds of a verdict on a run."""
    steps = run_steps(run)
    return Grounds(
        steps.typical,
        run.memo.once("code_times", lambda: _code_of(steps.typical)),
        run.memo.once("between_steps", lambda: between_steps(steps.typical)),
        uses_tf_data,
    )


def _code_of(steps: RunSteps) -> list[CodeTime]:
    """Code times of all hosts; empty if there is little unexplained time."""
    if 100.0 * steps.share_of("other") < MODERATE:
        return []
    hosts = [one for one in steps.hosts if one.core is None]
    code = [times for one in hosts for times in host_code_times(one.host).of(one.times.groups)]
    return sorted(code, key=lambda one: (-one.total_ps, one.name))


class Grounds(NamedTuple):
    """The grounds of a verdict.

    Attributes:
        steps: The typical steps.
        code: Times in which only the program's own code runs.
        between: Time between the steps.
        uses_tf_data: Whether there is tf.data activity, which competes with launches for the CPU.
    """

    steps: RunSteps
    code: Sequence[CodeTime]
    between: Between
    uses_tf_data: bool


def input_claim(run: Run) -> Claim:
    """The verdict's statement on the input of a run: a share, or the reason why it is unknown."""
    steps = run_steps(run)
    tpu = tpu_run_steps(run, steps.typical)
    if tpu is not None:
        return find_tpu_bottleneck(tpu).claim
    return give_verdict(grounds_of(run, uses_tf_data=False)).claim


def give_verdict(grounds: Grounds) -> Bottleneck:
    """Judge the steps of hosts, or of GPUs."""
    steps = grounds.steps
    if not steps.n_steps or not steps.slowest_ps().sum():
        return UNKNOWN
    claim = input_share(grounds)
    other = 100.0 * unexplained_share(grounds)
    is_other_said = bool(claim.unknown) and other >= HIGH and not _shows_input(steps)
    return Bottleneck(
        _kind(claim),
        claim,
        100.0 * (claim.low or 0.0),
        kernel_launch=on_launches(
            100.0 * steps.share_of("kernel_launch"), uses_tf_data=grounds.uses_tf_data
        ),
        all_other=NONE if is_other_said else _on_other(grounds, other),
        device_collectives=on_collectives(100.0 * steps.share_of("device_collectives")),
        compilation=judged(
            "compile_share",
            100.0 * steps.share_of("compile"),
            "of the step time goes to tracing and compiling functions",
        ),
        between=_on_gaps(grounds.between),
    )


def _kind(claim: Claim) -> str:
    if claim.value is None:
        return "unknown"
    if 100.0 * claim.value < MODERATELY_INPUT_BOUND:
        return "device"
    is_between = "between_share" in claim.details
    return "host" if is_between or 100.0 * claim.value >= HIGHLY_INPUT_BOUND else "both"


def input_share(grounds: Grounds) -> Claim:
    """Part of the periods of steps spent waiting for input, or copying it to devices.

    Only this function decides it; verdicts, budgets and advice use the result. The share is unknown
    if there are too few steps, or if enough of the time may be unrecorded input to change the
    verdict.
    """
    steps, between = grounds.steps, grounds.between
    waiting = steps.share_of("infeed")
    if not _shows_input(steps):
        most = waiting + steps.share_of("other") + steps.spent_share(Spent.HOST_CALLBACK)
    else:
        most = waiting + between.share - between.wait_share
    doubt, details = _doubt(grounds, waiting)
    claim = Claim(
        "step", "input_share", waiting, "fraction", waiting, min(1.0, max(waiting, most)),
        steps.scope,
        basis="events that wait for an input pipeline, in steps and between them",
    )  # fmt: skip
    if doubt:
        parts = _where(grounds) if "{parts}" in doubt else ()
        claim = replace(claim, value=None, details=details, parts=parts, words=doubt)
        words = _UNCERTAIN if steps.n_steps >= FEWEST else "No verdict: {unknown}"
        return replace(claim, unknown=claim.text, words=words)
    percent = 100.0 * waiting
    level = input_level(percent)
    copies = steps.spent_share(Spent.HOST_TO_DEVICE)
    words = INPUT_WORDS[level]
    if between.wait_share > 0.5 * waiting and percent >= MODERATELY_INPUT_BOUND:
        details = {"level": level, "between_share": between.wait_share}
        words = _BETWEEN
    elif copies > 0.2 * waiting and percent >= MODERATELY_INPUT_BOUND:
        details = {"copy_share": copies}
        words = _WITH_COPIES[level]
    return replace(claim, details=details, words=words)


_WITH_COPIES = {
    "HIGHLY": "The program is HIGHLY input-bound: {value} of the step time is waiting for input, "
    "{copy_share} of it copying it to devices. Make these faster first.",
    "MODERATELY": "The program is MODERATELY input-bound: {value} of the step time is waiting for "
    "input; copying it to devices is {copy_share}. Look at these as well as at the rest.",
}
_BETWEEN = (
    "The program is {level} input-bound: {value} of the time from one step to the next is waiting "
    "for input, {between_share} between the steps. Make the input pipeline faster first."
)
_UNCERTAIN = "Whether the program waits for its input is not certain: {unknown}"


def _doubt(grounds: Grounds, waiting: float) -> tuple[str, dict[str, Detail]]:
    """Why it is uncertain whether the program waits for its input; empty if it is certain."""
    steps = grounds.steps
    if steps.n_steps < FEWEST:
        count = "1 whole step" if steps.n_steps == 1 else f"{steps.n_steps} whole steps"
        return (
            f"{count} in this capture, and at least {FEWEST} are needed. {{waiting_share}} of the "
            "step time was waiting for input."
        ), {"waiting_share": waiting}
    callbacks = steps.spent_share(Spent.HOST_CALLBACK)
    is_sure = 100.0 * waiting >= _sure_from(steps)
    if 100.0 * callbacks >= HIGH and not (is_sure and _shows_input(steps)):
        return (
            "in {callback_share} of the step time the program's graph calls Python, which may read "
            "input; the capture does not tell."
        ), {"callback_share": callbacks}
    if is_sure:
        return "", {}
    if not steps.has_ops:
        return f"no op was recorded in its steps ({how_to_capture.OPS}).", {}
    return _doubt_of_dark(grounds, waiting)


def _sure_from(steps: RunSteps) -> float:
    """From this percentage of waiting on, more of it would not change the verdict."""
    return MODERATELY_INPUT_BOUND if _shows_input(steps) else HIGHLY_INPUT_BOUND


def _doubt_of_dark(grounds: Grounds, waiting: float) -> tuple[str, dict[str, Detail]]:
    """Why time without an op leaves the verdict open; empty if there is little such time."""
    steps, between = grounds.steps, grounds.between
    other = unexplained_share(grounds)
    if 100.0 * other >= HIGH and not _shows_input(steps):
        return (
            "no input pipeline was recorded in its steps, and in {other_share} of the step time no "
            "op runs: {parts}. Input that Python makes or reads is part of that."
        ), {"other_share": other}
    dark = between.share - between.wait_share - between.busy_share
    if 100.0 * dark >= HIGH:
        return (
            "{waiting_share} of the step time is waiting for input, but {dark_share} of the time "
            "from one step to the next lies between steps, where no op runs: {parts}."
        ), {"waiting_share": waiting, "dark_share": dark}
    return "", {}


def _shows_input(steps: RunSteps) -> bool:
    """Whether most steps read input from a recorded pipeline; copies alone do not count."""
    return bool((steps.spent(*WAITING) > 0).mean() > 0.5)


def unexplained_share(grounds: Grounds) -> float:
    """Part of the step time in which no op runs, and the program does not wait for one.

    0 if no op was recorded: then the capture does not show when ops run.
    """
    if not grounds.steps.has_ops:
        return 0.0
    return grounds.steps.share(unexplained_ps(grounds.steps))


def unexplained_ps(steps: RunSteps) -> Int64Array:
    """Time without an op, and without waiting for one, on the slowest host, shape (n_steps,)."""
    other = steps.of(BY_KEY["other"])
    if 100.0 * steps.share(other) < MODERATE:
        return other
    idle_ps: Int64Array = np.maximum(other - steps.decided(_waits_ps), 0)
    return idle_ps


def _waits_ps(steps: HostSteps) -> Int64Array:
    """Time of each step of a host in which its code waits for ops that have not begun."""
    if steps.core is not None:
        return np.zeros(len(steps.times), np.int64)
    return host_code_times(steps.host).waits_ps(steps.times.groups)


def code_share(grounds: Grounds, one: CodeTime) -> float:
    """Part of the step time in which only one function or annotation runs."""
    return part(one.total_ps, sum(int(o.times.duration_ps.sum()) for o in grounds.steps.hosts))


def described(one: CodeTime) -> str:
    """The name of a function with its caller, or of an annotation."""
    if one.is_annotation:
        return f"{one.name} (an annotation of the program)"
    if one.is_runtime:
        return f"the runtime ({one.name.rpartition(' ')[2]})"
    return f"{one.name}, called from {one.caller}" if one.caller else one.name


def _where(grounds: Grounds) -> tuple[Claim, ...]:
    """Code that ran while no op did."""
    code = [one for one in grounds.code if not one.waits]
    named = [one for one in code if code_share(grounds, one) >= _NAMED][:2]
    if named:
        return tuple(
            Claim(described(one), "code_share", code_share(grounds, one), "fraction",
                  words="{value} is {subject}")
            for one in named
        )  # fmt: skip
    recorded = sum(code_share(grounds, one) for one in code)
    if recorded > 0.5 * unexplained_share(grounds):
        return (Claim("Python", "code_share", recorded, "fraction",
                      words="it is Python, in many functions"),)  # fmt: skip
    amount = "little" if code else "nothing"
    reason = f"{amount} was recorded there, as is Python without its tracer"
    return (unknown("Python", "code_share", reason),)


def _on_other(grounds: Grounds, percent: float) -> Judged:
    if percent < MODERATE:
        return NONE
    level = "high" if percent >= HIGH else "moderate"
    words = "In {value} of the step time no op runs: {parts}."
    return Judged.of(level, "unexplained_share", percent, words, _where(grounds))


def _on_gaps(between: Between) -> Judged:
    if 100.0 * between.share < MODERATELY_INPUT_BOUND:
        return NONE
    words = "{value} of the time lies between steps, {gap_ms}"
    if between.longest_ms > UNUSUAL * between.gap_ms:
        words += " as a rule, {longest_ms} after step {after}"
    parts = []
    if between.wait_share >= _NAMED * between.share:
        parts.append("{wait_share} waiting for input")
    if between.busy_share >= _NAMED * between.share:
        parts.append("{busy_share} ops that are in no step")
    code = _named_code(between)
    if code:
        parts.append("in {code}")
    return Judged.of(
        "high", "between_share", 100.0 * between.share,
        f"{words}{': ' + ', '.join(parts) if parts else ''}.",
        gap_ms=between.gap_ms, longest_ms=between.longest_ms, after=between.after,
        wait_share=between.wait_share, busy_share=between.busy_share, code=code,
    )  # fmt: skip


def _named_code(between: Between) -> str:
    """The code with the most time between the steps; empty if none stands out."""
    total = sum(one.total_ps for one in between.code)
    named = [described(one) for one in between.code[:2] if one.total_ps >= 0.2 * total > 0]
    return " and ".join(named)


def about_step_time(steps: RunSteps, tpu: TpuRunSteps | None = None) -> tuple[Claim, ...]:
    """The duration of a step, and the omitted steps; empty without steps.

    Args:
        steps: All steps.
        tpu: The typical steps of a TPU, all cores together.
    """
    typical = steps.typical
    if not typical.n_steps:
        return ()
    took_ps = typical.slowest_ps() if tpu is None else tpu.breakdown.total
    took = summary((took_ps / 1e9).tolist())
    own_ms = float(typical.own_ps().mean()) / 1e9
    gap_ms = float(typical.gap_ps().mean()) / 1e9
    kind = typical.main_kind
    claim = Claim(
        "step", "step_time", took.average, "ms", took.minimum, took.maximum,
        scope=typical.scope + (f" called {kind}" if kind else ""),
        basis="from the start of a step to that of the next",
        details={"step_count": typical.n_steps, "own_ms": own_ms, "gap_ms": gap_ms},
        words="A step takes {value} on average ({step_count} steps, {range}).",
    )  # fmt: skip
    if typical.n_steps == 1:
        claim = replace(claim, words="The one step took {value}.")
    elif tpu is None and 100.0 * gap_ms >= MODERATELY_INPUT_BOUND * took.average:
        claim = replace(claim, words="From one step to the next {value} pass on average "
                        "({step_count} steps, {range}): {own_ms} in the step, {gap_ms} between it "
                        "and the next.")  # fmt: skip
    return (claim, *_about_kinds(steps), *_about_unusual(steps))


def _about_kinds(steps: RunSteps) -> list[Claim]:
    """Steps of other kinds, which averages do not include."""
    whole = steps.whole
    kinds, took = np.array(whole.kinds, np.str_), whole.slowest_ps()
    claims = []
    others = set() if steps.rules.keeps_all_steps else set(whole.kinds) - {whole.main_kind}
    for kind in sorted(others):
        took_ps = took[kinds == kind]
        claim = Claim(
            f"step {kind}", "step_time", float(took_ps.mean()) / 1e9, "ms",
            scope=f"steps called {kind}", basis="from the start of a step to that of the next",
            details={"step_count": len(took_ps), "kind": kind, "main": whole.main_kind},
            words="Of the steps called {kind} there are {step_count}, {value} each on average; "
            "all else is about those called {main}.",
        )  # fmt: skip
        if not took_ps.all():  # periods begin at the end of the work of earlier steps
            claim = replace(
                claim, value=None, unknown="they ran beside work of the steps before them",
                words="Of the steps called {kind} there are {step_count}; how long they take is "
                "unknown, as {unknown}; all else is about those called {main}.",
            )  # fmt: skip
        claims.append(claim)
    return claims


def _about_unusual(steps: RunSteps) -> list[Claim]:
    """Steps that took much longer than the others, with the categories that took longer."""
    whole, is_unusual = steps.whole, steps.is_unusual
    usual_ms = float(np.median(steps.typical.slowest_ps())) / 1e9
    usual_gap_ms = float(np.median(steps.typical.gap_ps())) / 1e9
    names, took, gaps = whole.names, whole.slowest_ps(), whole.gap_ps()
    amounts = np.stack([whole.of(category) for category in CATEGORIES])
    usual = np.stack([np.median(steps.typical.of(category)) for category in CATEGORIES])
    claims = []
    for place in np.flatnonzero(is_unusual).tolist():
        took_ms = float(took[place]) / 1e9
        more_ms = (amounts[:, place] - usual) / 1e9
        most, *others = np.argsort(-more_ms, kind="stable").tolist()
        least_ms = _LEAST_CAUSE * (took_ms - usual_ms)
        causes = [most, *(number for number in others if more_ms[number] >= least_ms)]
        parts = [
            Claim(CATEGORIES[number].name, "time_change", float(more_ms[number]), "ms",
                  words="{value} more of {subject}")
            for number in causes
        ]  # fmt: skip
        gap_ms = float(gaps[place]) / 1e9
        if gap_ms - usual_gap_ms >= least_ms:
            parts.append(
                Claim("between", "time", gap_ms, "ms",
                      words="{value} of it lie between this step and the next")
            )  # fmt: skip
        claims.append(
            Claim(
                f"step {names[place]}", "step_time", took_ms, "ms", parts=tuple(parts),
                details={"name": names[place], "times_count": took_ms / usual_ms},
                words="Step {name} took {value}, {times_count:,.1f} times as long: {parts}; it is "
                "left out of averages and of the verdict.",
            )
        )  # fmt: skip
    return claims
