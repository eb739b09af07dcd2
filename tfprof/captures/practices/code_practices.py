"""Practices for the program's own code: function calls, and activity between steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tfprof.captures.events.steps.code_times import CodeTime
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.facts.bottleneck import HIGH
from tfprof.captures.facts.framework import JAX
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.verdict import code_share, input_share, unexplained_share
from tfprof.captures.practices.evidence import FRAMEWORKS_OWN, Evidence, named, self_time
from tfprof.captures.practices.input_practices import is_held_up
from tfprof.captures.practices.op_practices import MANY_OPS
from tfprof.captures.run.result import Advice
from tfprof.core.columns.findings import WORTH
from tfprof.core.text.claims import Claim, Details
from tfprof.core.text.wording import sentence

MUCH_EAGER = 0.1
MUCH_TRACING = 0.2

_DARK = (Spent.UNKNOWN, Spent.HOST_CODE, Spent.HOST_RUNTIME)
"""Kinds of time in which no op runs."""

_PAUSES = re.compile(r".*\b(sleep|acquire|wait|get|select|poll|recv\w*|join|read\w*|result)")
"""Python functions that only wait: for a thread, a process, a file, a clock."""

_TAKES_INPUT = ("get_next", "__next__")
"""Ends of the names of functions that fetch the next batch."""

_MOST = 0.5
"""Code explains the time without ops from this part of it on."""

_CALLS = 0.5
"""From this mean number of calls on, a step counts as calling a compiled function."""

_SEVERAL = 1.5
"""From this mean number of calls on, one call could take their place."""

_MANY_CALLS = 8
"""From this mean number of calls on, short calls limit a step that does little else."""

_LAUNCH_MS = 0.3
"""Maximum time from the call of a compiled function until something runs."""

_ONE_LAUNCH_MS = 0.05
"""The same where it is the only call: a few microseconds in C++, more with many arguments."""

_EAGER_MS = 0.1
"""Approximate time for Python to call one eager op."""

_MANY_EAGER = 30
"""With fewer eager ops in a step, the call of one function and its runtime may take as long: a
measurement with 13 ops showed no gain."""


def python_time(evidence: Evidence) -> Iterator[Advice]:
    """Steps in which no op runs for much of the time, with the program's own code meanwhile."""
    if evidence.tpu is not None:
        return  # on TPUs, time without an op counts as idle
    steps = evidence.steps
    share = unexplained_share(evidence.grounds) - steps.share(steps.between(*_DARK))
    if 100.0 * share < HIGH or not evidence.has_verdict:
        return
    if steps.share_of("compile") > share:
        return  # tracing is Python, too, and the advice of ``compiling`` fits better
    numbers: Details = {"python_share": share, "step_ms": evidence.step_ms}
    code = _code_in_steps(evidence)
    if evidence.calls_per_step >= _CALLS:
        numbers |= {"call_count": evidence.calls_per_step}
    said = "In {python_share} of the step time no op runs while a step lasts."
    if _is_launch_bound(evidence):
        said = (
            "The program is bound by launches: each step calls compiled functions "
            "{call_count:,.0f} times, and in {python_share} of the step time no op runs while a "
            "step lasts."
        )
    worst = code[0] if code and code_share(evidence.grounds, code[0]) >= WORTH else None
    if worst is not None:
        name, of_code = _about(worst, code_share(evidence.grounds, worst))
        said += f" The most of it is {name}: {{code_share}} of the step time, {{run_ms}} each time."
        numbers |= of_code
    elif not code:
        more, of_runtime = _without_names(evidence)
        said += more
        numbers |= of_runtime
    gain = min(share, _gain(evidence, worst))
    launches = worst is not None and _only_launches(evidence, worst)
    if not _is_own(evidence, worst) and (is_held_up(evidence) if launches else _may_wait(evidence)):
        gain = 0.0
    remedy, of_calls, calls = _remedy(evidence, worst)
    yield Advice(
        "python/unexplained", f"{said} {remedy}", numbers | of_calls,
        gain if gain >= WORTH else None, share, calls,
    )  # fmt: skip


def _about(code: CodeTime, share: float) -> tuple[str, Details]:
    """Text and numbers for a function with its caller, or for an annotation, with its share of the
    time."""
    numbers: Details = {
        "python": code.name, "python_self_ms": code.total_ps / 1e9, "code_share": share,
        "run_ms": code.total_ps / code.n_runs / 1e9,
    }  # fmt: skip
    if code.is_annotation:
        return "{python} (an annotation of the program)", numbers
    if code.caller:
        return "{python}, called from {caller}", {**numbers, "caller": code.caller}
    return "{python}", numbers


def _without_names(evidence: Evidence) -> tuple[str, Details]:
    """Text and numbers for time in which no op runs, if no code was recorded."""
    runtime, unseen = (_inside(evidence, kind) for kind in (Spent.HOST_RUNTIME, Spent.UNKNOWN))
    if runtime > unseen:
        return (
            " The runtime takes {runtime_share} of the step time: it calls functions, hands ops to "
            "threads, and waits for these.",
            {"runtime_share": runtime},
        )
    return (
        " Nothing was recorded there: mostly it is Python between the ops. "
        f"{sentence(evidence.words.trace_python)}.",
        {},
    )


def _inside(evidence: Evidence, *kinds: Spent) -> float:
    """The part of the step time spent on some kinds while steps last."""
    steps = evidence.steps
    return steps.share(steps.spent(*kinds) - steps.between(*kinds))


def _code_in_steps(evidence: Evidence) -> list[CodeTime]:
    """The program's own code during steps, without mere waits for ops; the longest time first."""
    outside = {(one.name, one.is_annotation): one.total_ps for one in evidence.grounds.between.code}
    inside = [
        replace(one, total_ps=one.total_ps - outside.get((one.name, one.is_annotation), 0))
        for one in evidence.grounds.code
        if not (one.waits or one.is_runtime)
    ]
    return sorted((one for one in inside if one.total_ps > 0), key=lambda one: -one.total_ps)


def _is_launching(evidence: Evidence) -> bool:
    """Whether most time without ops in steps goes to the runtime, or to short calls."""
    dark, launching = _inside(evidence, *_DARK), _inside(evidence, Spent.HOST_RUNTIME)
    per_call_ms = dark * evidence.step_ms / max(evidence.calls_per_step, 1e-9)
    return launching >= dark / 2 or per_call_ms < _LAUNCH_MS


def _is_own(evidence: Evidence, worst: CodeTime | None) -> bool:
    """Whether time without ops in steps is the program's own code, not a call of the runtime."""
    if worst is None:
        return False
    if _only_launches(evidence, worst) and not _pauses(worst):
        return False
    most = code_share(evidence.grounds, worst) >= _MOST * _inside(evidence, *_DARK)
    return most or not _is_launching(evidence) or _pauses(worst)


def _is_launch_bound(evidence: Evidence) -> bool:
    """Whether steps call so many functions that the time without ops is that of their calls."""
    dark = _inside(evidence, *_DARK)
    per_call_ms = dark * evidence.step_ms / max(evidence.calls_per_step, 1)
    return dark >= _MOST and evidence.calls_per_step >= _MANY_CALLS and per_call_ms < _LAUNCH_MS


def _only_launches(evidence: Evidence, one: CodeTime) -> bool:
    """Whether the time of a function is that of calling compiled functions."""
    most_ms = _LAUNCH_MS if evidence.calls_per_step >= _SEVERAL else _ONE_LAUNCH_MS
    return one.n_calls > 0 and one.total_ps / 1e9 < most_ms * one.n_calls


def _pauses(one: CodeTime) -> bool:
    """Whether a function only waits."""
    return _PAUSES.fullmatch(one.name) is not None or one.caller.endswith(_TAKES_INPUT)


def _may_wait(evidence: Evidence) -> bool:
    """Whether the program may wait for a queue or a thread besides the recorded activity.

    If so, time saved in calls and launches becomes waiting time.
    """
    return not input_share(evidence.grounds).is_known or is_held_up(evidence)


def _gain(evidence: Evidence, worst: CodeTime | None) -> float:
    """Maximum part of the step time that the remedy saves: that of a function, or of launches."""
    if worst is not None and _is_own(evidence, worst):
        return code_share(evidence.grounds, worst)
    launches_ms = evidence.calls_per_step * _LAUNCH_MS
    launches_ms += _eager_per_step(evidence) * _EAGER_MS if _has_many_eager(evidence) else 0.0
    return launches_ms / max(evidence.step_ms, 1e-9)


def _eager_per_step(evidence: Evidence) -> float:
    return sum(one.n_runs for one in evidence.eager) / max(evidence.n_host_steps, 1)


def _has_many_eager(evidence: Evidence) -> bool:
    return _eager_per_step(evidence) >= _MANY_EAGER


def _remedy(evidence: Evidence, worst: CodeTime | None) -> tuple[str, Details, tuple[Claim, ...]]:
    """The remedy for time without ops in steps, by the activity then: text, its numbers, and the
    functions that it lists."""
    words, calls = evidence.words, evidence.calls_per_step
    is_own = _is_own(evidence, worst)
    if is_own and worst is not None and _pauses(worst):
        return _to_wait_less(evidence), {}, ()
    if is_own:
        faster = "Make it faster, or let another thread do it while the step before computes."
        return faster, {}, ()
    fewer = f"{words.whole_step}, or {words.several_steps}."
    if calls >= _SEVERAL:
        many = "A step calls compiled functions {call_count:,.0f} times; in all {parts}."
        if _is_launch_bound(evidence):  # which said so before
            many = "In all steps: {parts}."
        return f"{many} {fewer}", {}, _often(evidence)
    if calls >= _CALLS:
        return *_of_one_call(evidence), ()
    return fewer, {}, ()


def _to_wait_less(evidence: Evidence) -> str:
    return (
        "The program waits there. Make what it waits for faster, or let it be ready before the "
        f"step needs it: {evidence.words.build_input}."
    )


def _of_one_call(evidence: Evidence) -> tuple[str, Details]:
    """The remedy for steps that call one function and do little else."""
    words = evidence.words
    one_call = "A step is one call already, of {called}"
    called: Details = {"called": evidence.called[0].name}
    if not _is_launching(evidence):
        return f"{one_call}: what the program does beside it counts.", called
    batches = _batches_of_step(evidence)
    if batches >= 1.5:
        use = f"use {words.fuse}, or larger batches"
        return f"{one_call}, with {{batch_count:,.0f}} batches: {use}.", {
            **called, "batch_count": batches,
        }  # fmt: skip
    ops = sum(op.occurrences for op in evidence.host_ops) / evidence.n_host_steps
    if ops >= MANY_OPS and words is not JAX:
        use = f"use {words.fuse}; or {words.several_steps}"
        return f"{one_call}, which runs {{op_count:,.0f}} ops: {use}.", {**called, "op_count": ops}
    return f"{one_call}: {words.several_steps}.", called


def _batches_of_step(evidence: Evidence) -> float:
    """Elements of a pipeline per step; 0 with several devices, which share the elements."""
    ops = evidence.host_ops
    if any(op.type.startswith("MultiDeviceIterator") for op in ops):
        return 0.0
    taken = sum(op.occurrences for op in ops if op.name == "Iterator::Root")
    return taken / max(evidence.n_host_steps, 1)


def _often(evidence: Evidence) -> tuple[Claim, ...]:
    """The functions with the most calls."""
    most = sorted(evidence.called, key=lambda one: -one.n_runs)[:3]
    return tuple(
        Claim(one.name, "run_count", one.n_runs, "count", words="{subject} {value:time}")
        for one in most
    )


def time_between(evidence: Evidence) -> Iterator[Advice]:
    """Time between steps without waiting for input, and the activity in it."""
    between = evidence.between
    share = between.share - between.wait_share
    if evidence.tpu is not None or not evidence.has_verdict or 100.0 * share < HIGH:
        return
    numbers: Details = {
        "between_without_input_share": share, "step_ms": evidence.step_ms, "gap_ms": between.gap_ms,
        "longest_ms": between.longest_ms, "step": between.after,
    }  # fmt: skip
    said = (
        "{between_without_input_share} of the time from the first step to the last lies between "
        "steps, beside recorded waiting for input: {gap_ms} as a rule, at most {longest_ms}, after "
        "step {step}."
    )
    most = [one for one in between.ran if not FRAMEWORKS_OWN.fullmatch(one.name)]
    total_ps = sum(one.total_ps for one in most)
    ran = [one for one in most[:3] if one.total_ps >= total_ps / 5]
    code = [one for one in between.code if part(one.total_ps, evidence.periods_ps) >= WORTH]
    own = [one for one in code if not (one.waits or one.is_runtime)]
    functions: tuple[Claim, ...] = ()
    if between.busy_share >= WORTH and ran:
        said += " {busy_share} are ops that are in no step, those of {parts}."
        functions = tuple(
            Claim(one.name, "run_time", one.total_ps / 1e9, "ms", words="{subject}") for one in ran
        )
        numbers |= {"function": ran[0].name, "busy_share": between.busy_share}
    if own:
        name, of_code = _about(own[0], part(own[0].total_ps, evidence.periods_ps))
        said += f" {{code_share}} is {name}, {{run_ms}} each time."
        numbers |= of_code
    if own and _pauses(own[0]):
        said += f" {_to_wait_less(evidence)}"
    elif own:
        said += " Do it less often, make it faster, or let another thread do it during the steps."
    elif between.busy_share >= share / 2:
        said += " Run them less often, or on less data."
    elif between.code:
        said += f" It is Python, in many functions: {evidence.words.several_steps}."
    else:
        said += (
            " Nothing else was recorded there, as is Python without its tracer: callbacks, "
            f"checkpoints, prints. {sentence(evidence.words.trace_python)}."
        )
        if between.gap_ms < _LAUNCH_MS:
            said += f" Or {evidence.words.several_steps}."
    yield Advice("between-steps/share", said, numbers, share, share, functions)


def eager_ops(evidence: Evidence) -> Iterator[Advice]:
    """Ops that Python calls one by one."""
    if evidence.words is JAX:
        return  # JAX compiles its ops, one by one or together
    on_host = [
        op for op in evidence.host_ops
        if not (op.is_eager and op.occurrences < evidence.n_host_steps)
        and not FRAMEWORKS_OWN.fullmatch(op.type)
    ]  # fmt: skip
    calls_ps = sum(one.total_ps for one in evidence.eager if not FRAMEWORKS_OWN.match(one.name))
    for where, ops in (("host", on_host), ("device", evidence.device_ops)):
        eager = [op for op in ops if op.is_eager]
        share = part(self_time(eager), self_time(ops))
        if share <= MUCH_EAGER:
            continue
        top = eager[0]
        name, names = named(top)
        remedy = "Put the training step into a tf.function; in Keras, leave out run_eagerly=True"
        if evidence.calls_per_step >= _CALLS:
            if not _has_many_eager(evidence):
                continue
            remedy = "Move them into {called}, which each step calls"
            names |= {"called": evidence.called[0].name}
        yield Advice(
            "tf-function/eager",
            f"{{eager_share}} of the time of ops on the {where} is that of eager ops, most of it "
            f"in {name}, {{run_count}} times. {remedy}.",
            {"where": where, "eager_share": share, **names,
             "op_share": part(top.self_ps, self_time(ops)), "run_count": top.occurrences},
            share=_of_periods(calls_ps, evidence) if where == "host" else None,
        )  # fmt: skip


def run_eagerly(evidence: Evidence) -> Iterator[Advice]:
    """Functions that run eagerly, op by op."""
    for call in evidence.functions:
        eager = part(call.self_ps.get("eager", 0), sum(call.self_ps.values()))
        if eager < MUCH_TRACING:
            continue
        yield Advice(
            "tf-function/run-eagerly",
            "{eager_share} of the time of {function}, a tf.function, went to {run_count} of "
            "{call_count} calls that ran eagerly, op by op. Remove "
            "tf.config.run_functions_eagerly(True) or run_eagerly=True, which are for debugging.",
            {"function": call.name, "eager_share": eager, "run_count": call.calls["eager"],
             "call_count": sum(call.calls.values())},
            share=_of_periods(call.self_ps["eager"], evidence),
        )  # fmt: skip


def retracing(evidence: Evidence) -> Iterator[Advice]:
    """Functions that are traced while the program should run."""
    for call in evidence.functions:
        expensive = call.expensive_share
        if expensive < MUCH_TRACING or not call.calls.get("traced"):
            continue
        traced = call.calls["traced"]
        of_period = _of_periods(call.self_ps.get("traced", 0), evidence)
        is_saved = traced > 1 and not is_held_up(evidence)
        yield Advice(
            "tf-function/retracing",
            "{tracing_share} of the time of {function} went to {traced_count} of {call_count} "
            f"calls, which traced it{_AGAIN if traced > 1 else _ONCE}",
            {"function": call.name, "tracing_share": expensive, "trace_count": call.n_traces,
             "traced_count": traced, "call_count": sum(call.calls.values())},
            of_period if is_saved else None, of_period,
        )  # fmt: skip


_ONCE = ". If it was the first call, capture later steps; if not, see its arguments."
_AGAIN = (
    " again. Pass tensors, not Python numbers, of the same shape and type each time; or set an "
    "input_signature with None for sizes that change, or reduce_retracing=True."
)


def _of_periods(time_ps: int, evidence: Evidence) -> float | None:
    return min(1.0, part(time_ps, evidence.steps_ps)) if evidence.steps_ps else None
