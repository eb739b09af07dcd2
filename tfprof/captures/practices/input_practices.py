"""Practices for the input: how long steps wait for it, and which iterator is slow."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.captures.events.ops.input_ops import InputOp
from tfprof.captures.events.ops.tf_data import SLOW_CALL_PS, TfData
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.facts.bottleneck import HIGHLY_INPUT_BOUND, MODERATELY_INPUT_BOUND
from tfprof.captures.facts.calls import Called
from tfprof.captures.facts.slow_iterators import (
    Held,
    are_looped_over,
    slow_iterators,
    told_pipelines,
)
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.tpu_bottleneck import find_tpu_bottleneck
from tfprof.captures.facts.verdict import input_share
from tfprof.captures.practices.evidence import Evidence, and_others, first_of_alike
from tfprof.captures.run.result import Advice
from tfprof.captures.tools.iterator_advice import Suggestion, suggestion
from tfprof.core.text.claims import Details

_WAITING = (Spent.HOST_WAIT_INPUT, Spent.DEVICE_WAIT_HOST)

_RUN_AHEAD = ("Prefetch", "MapAndBatch", "ParallelMap", "ParallelInterleave", "ParallelBatch",
              "DataService")  # fmt: skip
"""Iterators that prepare elements ahead of time."""


def waiting_share(evidence: Evidence) -> float:
    """Part of the step time spent waiting for input, without copies to devices.

    If the program waits between steps instead, it is the part of the time from step to step. For
    TPUs, it is the value in the verdict: that of the core with the longest wait.
    """
    if evidence.tpu is not None:
        return find_tpu_bottleneck(evidence.tpu).claim.value or 0.0
    inside = evidence.spent_share(*_WAITING)
    return inside if _is_much(inside) else max(inside, evidence.grounds.between.wait_share)


def _is_much(share: float) -> bool:
    return 100.0 * share >= MODERATELY_INPUT_BOUND


def _is_bound(evidence: Evidence) -> bool:
    return evidence.has_verdict and _is_much(waiting_share(evidence))


def is_held_up(evidence: Evidence) -> bool:
    """Whether the duration of steps depends on pipelines that run ahead, for which they wait long.

    In that case, time saved in a few steps makes other steps wait longer for their batch.
    """
    if not evidence.has_verdict or 100.0 * waiting_share(evidence) < HIGHLY_INPUT_BOUND:
        return False
    return any(
        _runs_ahead(told_pipelines(host).data) for host in evidence.hosts
    )  # fmt: skip


def input_bound(evidence: Evidence) -> Iterator[Advice]:
    """Steps that wait for input, with the slowest iterator and the remedy."""
    if not _is_bound(evidence):
        return
    share = waiting_share(evidence)
    numbers: Details = {"wait_share": share, "step_ms": evidence.step_ms}
    if evidence.tpu is not None or _is_much(evidence.spent_share(*_WAITING)):
        said = "{wait_share} of the step time is spent waiting for input."
    else:
        said = "{wait_share} of the time from one step to the next is waiting for input."
    gain: float | None = share
    held = slow_iterators(evidence.hosts)
    made = _iterators_made(evidence, held)
    if made is not None and part(made.total_ps, evidence.periods_ps) >= share / 2:
        said += (
            " Most of it is making iterators, {run_count:time}, {run_ms} each with the first "
            "element: let one iterator serve several epochs, with repeat() at the end of the "
            "dataset and a number of steps for each epoch."
        )
        numbers |= {"op": made.name, "run_count": made.n_runs}
        numbers |= {"run_ms": made.total_ps / made.n_runs / 1e9}
    elif not held and are_looped_over(evidence.hosts):
        said += (
            " A loop inside a function takes the elements of the dataset: see in the trace which "
            "of its iterators are slow, and let it prefetch."
        )
    elif not held and evidence.uses_tf_data:
        said += (
            " No iterator of tf.data on these hosts is slow: capture the hosts that prepare the "
            "data, and see in the trace what else comes before the ops of the step."
        )
    elif not held:
        said += f" No iterator of tf.data was seen: {evidence.words.build_input}."
    else:
        worst = held[0]
        remedy, behind, is_python = _remedy(evidence, worst)
        gain = None if is_python else share  # Python may work, or only wait, in the function
        copies = ", one of {copy_count} copies" if worst.n_copies > 1 else ""
        said += (
            f" The slowest iterator is {{iterator_type}} ({{op}}{copies}): {{self_share}} of the "
            f"time of {_slow_calls(worst)}. There, {remedy}"
        )
        numbers |= {**behind, **_numbers_of(worst)}
        numbers |= {"copy_count": worst.n_copies} if copies else {}
    yield Advice("input-pipeline/bound", said, numbers, gain, share)


def _iterators_made(evidence: Evidence, held: list[Held]) -> Called | None:
    """Number and time of iterators made in and between steps, with the first call of each, which
    waits until all buffers are full; None if fewer than two were made."""
    own = {one.name: one for one in (*evidence.between.ran, *evidence.eager)}
    made = own.get("MakeIterator")
    if made is None or made.n_runs < 2:
        return None
    first_ps = sum(one.first_ps for one in held)
    return Called(made.name, made.n_runs, made.total_ps + first_ps)


def _slow_calls(held: Held) -> str:
    """Text on the analysed calls, with their mean duration."""
    if held.n_calls == 1:
        return "its slow call of {call_ms}"
    return "its {analysed_count} slow calls, {call_ms} each on average"


def _numbers_of(held: Held) -> Details:
    """The numbers of a slow iterator; times are those of an average call."""
    return {
        "host": held.host.name, "pipeline": held.pipeline, "op": held.iterator.long_name,
        "op_self_ms": held.self_ps / held.n_calls / 1e9,
        "call_ms": held.calls_ps / held.n_calls / 1e9, "iterator_type": held.iterator.type,
        "self_share": held.share, "analysed_count": held.n_calls,
    }  # fmt: skip


def no_prefetch(evidence: Evidence) -> Iterator[Advice]:
    """Pipelines that steps wait for, and that do not prepare batches ahead.

    Prefetching overlaps the input with the rest of the step. A step then takes as long as the
    longer of the two, so it saves at most the shorter.
    """
    if not _is_bound(evidence):
        return
    waits = waiting_share(evidence)
    gain = min(waits, 1.0 - waits)
    slow = [
        (host, pipeline)
        for host in evidence.hosts
        for data in (told_pipelines(host).data,)
        if not _runs_ahead(data)
        for pipeline in data.pipelines
        if pipeline.max_ps > SLOW_CALL_PS
    ]
    for (host, pipeline), n_others in first_of_alike(slow, lambda one: one[1].name):
        yield Advice(
            "input-pipeline/prefetch",
            f"The pipeline {{pipeline}} on {{host}}{and_others(n_others)} prepares no batch "
            "ahead. End it with prefetch(tf.data.AUTOTUNE), so that the input is prepared while "
            "the model works.",
            {"host": host.name, "pipeline": pipeline.name,
             "mean_call_ms": pipeline.mean_ps / 1e9, "other_host_count": n_others},
            gain, waits,
        )  # fmt: skip


def _runs_ahead(data: TfData) -> bool:
    types = {iterator.type for iterator in data.iterators.values()}
    return any(name.startswith(_RUN_AHEAD) for name in types)


def slow_pipelines(evidence: Evidence) -> Iterator[Advice]:
    """Slow iterators in runs where it is unknown whether steps wait for their pipelines."""
    if _is_bound(evidence):
        return
    most = 1.0
    if evidence.has_verdict and (claim := input_share(evidence.grounds)).is_known:
        most = claim.high or 0.0
    slow = [
        held
        for held in slow_iterators(evidence.hosts)
        if not (held.is_first_slowest and held.n_calls == 1)  # buffers were filled once
    ]
    alike = first_of_alike(slow, lambda one: (one.pipeline, one.iterator.long_name))
    for held, n_others in alike:
        others = ", as on {other_host_count:other host}" if n_others else ""
        remedy, behind, _ = _remedy(evidence, held)
        yield Advice(
            "input-pipeline/slow-iterator",
            "{slow_count} of {call_count} calls of the pipeline {pipeline} on {host} took longer "
            "than 50 µs; {iterator_type} ({op}) took {self_share} of the time of "
            f"{_slow_calls(held)}{others}. If steps wait for it: {remedy}",
            {**_numbers_of(held), "slow_count": held.n_slow, "call_count": held.n_all,
             "slow_call_share": part(held.n_slow, held.n_all),
             "other_host_count": n_others, **behind},
            share=_waited_at_most(evidence, held, most),
        )  # fmt: skip


def _waited_at_most(evidence: Evidence, held: Held, most: float) -> float:
    """Maximum part of the time spent waiting for a pipeline: the time of its slow calls.

    It is a part of the time of all steps, or, without steps, from the first call to the last.
    """
    calls_ps = held.calls_ps * held.n_slow / held.n_calls
    return min(most, part(calls_ps, evidence.periods_ps or held.span_ps))


def _heaviest_below(evidence: Evidence, iterator: str) -> InputOp | None:
    """The op with the largest self time below an iterator that waits for it; copies are merged."""
    stages = evidence.stages_below.get(iterator, {}).values()
    most = max(stages, key=lambda each: sum(op.self_ps for op in each), default=[])
    if not most:
        return None
    first = max(most, key=lambda op: op.self_ps)
    return first._replace(self_ps=sum(op.self_ps for op in most))


def _remedy(evidence: Evidence, held: Held) -> tuple[str, Details, bool]:
    """The remedy for an iterator, and for the one that it waits for if it only keeps a buffer; its
    numbers; and whether the slow part is a Python function, so that the gain is unknown."""
    rule, remedy, numbers = _advised(evidence, held.iterator.long_name)
    below = _heaviest_below(evidence, held.iterator.long_name)
    if "Prefetch" not in held.iterator.type or below is None:
        return remedy, numbers, rule == "python-function"
    rule, advised, numbers = _advised(evidence, below.name)
    there = f" There, {advised}" if rule != "other" else ""
    return (
        f"{remedy} Below it, {{behind}} takes the most time of its own.{there}",
        {"behind": below.name, "behind_self_ms": below.self_ps / 1e9, **numbers},
        rule == "python-function",
    )


def _advised(evidence: Evidence, long_name: str) -> Suggestion:
    """The remedy for an iterator with this name on any of the hosts."""
    alike = [
        (iterator.parallelism, told.calls_python(iterator))
        for told in map(told_pipelines, evidence.hosts)
        for iterator in told.data.iterators.values()
        if iterator.long_name == long_name
    ]
    parallelism = max(parallel for parallel, _ in alike)
    return suggestion(
        long_name.rpartition("::")[2], long_name, parallelism=parallelism,
        is_alone=_heaviest_below(evidence, long_name) is None,
        calls_python=any(is_python for _, is_python in alike),
    )  # fmt: skip
