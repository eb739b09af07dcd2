"""Practices for the input: how long steps wait for it, and which iterator holds it up."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.analysis.xspace.input_ops import InputOp, input_ops
from tfprof.analysis.xspace.step_events import Spent
from tfprof.analysis.xspace.tf_data import SLOW_CALL_PS, Call, Pipeline, TfData
from tfprof.tools.bottleneck import MODERATELY_INPUT_BOUND
from tfprof.tools.evidence import Evidence, part
from tfprof.tools.host_op_db import host_ops
from tfprof.tools.iterator_advice import suggestion
from tfprof.tools.result import Advice
from tfprof.tools.tf_data_bottleneck import pipelines_of

_WAITING = (Spent.HOST_WAIT_INPUT, Spent.DEVICE_WAIT_HOST)


def waiting_share(evidence: Evidence) -> float:
    """Part of the step time that is spent waiting for input, copies to devices left out."""
    return evidence.spent_share(*_WAITING)


def _is_bound(evidence: Evidence) -> bool:
    return 100.0 * waiting_share(evidence) >= MODERATELY_INPUT_BOUND


def input_bound(evidence: Evidence) -> Iterator[Advice]:
    """Steps that wait for input: the iterator that holds them up, and what helps."""
    if not _is_bound(evidence):
        return
    share = waiting_share(evidence)
    found: dict[str, str | float] = {"wait_share": share, "step_ms": evidence.step_ms}
    said = f"{share:.1%} of the step time is spent waiting for input."
    worst = _worst(evidence)
    if worst is None and evidence.uses_tf_data:
        said += (
            " No iterator of tf.data on these hosts is slow: capture the hosts that prepare the "
            "data, and see in the trace what else comes before the ops of the step."
        )
    elif worst is None:
        said += (
            " No iterator of tf.data was seen: build the input with tf.data, and let it prepare "
            "batches while the model works, with prefetch(tf.data.AUTOTUNE)."
        )
    else:
        host, data, pipeline, call, iterator = worst
        known, own_ps = data.iterators[iterator], call.times[iterator].self_ps
        said += (
            f" What holds it up is {known.type} ({known.long_name}): {own_ps / 1e9:,.3f} ms of "
            f"the {call.duration_ps / 1e9:,.3f} ms of the slowest call. There, "
            f"{suggestion(known.type)[1]}"
        )
        below = _heaviest_below(evidence, known.long_name)
        if "Prefetch" in known.type and below is not None:
            said += f" Below it, {below.name} takes the most time of its own."
            found |= {"behind": below.name, "behind_self_ms": below.self_ps / 1e9}
        found |= {"host": host, "pipeline": pipeline.name, "op": known.long_name}
        found |= {"op_self_ms": own_ps / 1e9, "call_ms": call.duration_ps / 1e9}
    yield Advice("input-pipeline/bound", said, found, share)


def no_prefetch(evidence: Evidence) -> Iterator[Advice]:
    """Pipelines that steps wait for, and that prepare nothing ahead."""
    if not _is_bound(evidence):
        return
    for host, data, pipeline in _pipelines(evidence):
        seen = {data.iterators[iterator].type for iterator in data.iterators}
        if pipeline.max_ps <= SLOW_CALL_PS or any("Prefetch" in name for name in seen):
            continue
        yield Advice(
            "input-pipeline/prefetch",
            f"The pipeline {pipeline.name} on {host} prepares no batch ahead. End it with "
            "prefetch(tf.data.AUTOTUNE), so that the input is made while the model works.",
            {"host": host, "pipeline": pipeline.name, "mean_call_ms": pipeline.mean_ps / 1e9},
            waiting_share(evidence),
        )


def slow_pipelines(evidence: Evidence) -> Iterator[Advice]:
    """Iterators that hold up pipelines which steps do not wait for, or of which none was seen."""
    if _is_bound(evidence):
        return
    for host, data, pipeline in _pipelines(evidence):
        call = pipeline.calls[0]
        iterator = call.bottleneck
        if pipeline.max_ps <= SLOW_CALL_PS or iterator is None:
            continue
        known, own_ps = data.iterators[iterator], call.times[iterator].self_ps
        yield Advice(
            "input-pipeline/slow-iterator",
            f"{pipeline.n_slow} of {len(pipeline.calls)} calls of the pipeline {pipeline.name} on "
            f"{host} took longer than 50 µs; in the slowest, {known.type} ({known.long_name}) took "
            f"{own_ps / 1e9:,.3f} ms of {call.duration_ps / 1e9:,.3f} ms. If steps wait for it: "
            f"{suggestion(known.type)[1]}",
            {"host": host, "pipeline": pipeline.name, "op": known.long_name,
             "op_self_ms": own_ps / 1e9, "call_ms": call.duration_ps / 1e9,
             "slow_call_share": part(pipeline.n_slow, len(pipeline.calls))},
        )  # fmt: skip


def _pipelines(evidence: Evidence) -> Iterator[tuple[str, TfData, Pipeline]]:
    for host in evidence.hosts:
        data = pipelines_of(host)
        for pipeline in data.pipelines:
            if not pipeline.feeds_device:
                yield host.name, data, pipeline


def _heaviest_below(evidence: Evidence, iterator: str) -> InputOp | None:
    """What takes the most time of its own of all that an iterator waits for."""
    ops = input_ops([host_ops(host) for host in evidence.hosts], classic=False)
    below = [op for op in ops if op.name.startswith(f"{iterator}::") and op.self_ps]
    return max(below, key=lambda op: op.self_ps, default=None)


def _worst(evidence: Evidence) -> tuple[str, TfData, Pipeline, Call, int] | None:
    """The iterator that holds up the slowest call of all pipelines."""
    found = [
        (host, data, pipeline, pipeline.calls[0], iterator)
        for host, data, pipeline in _pipelines(evidence)
        for iterator in (pipeline.calls[0].bottleneck,)
        if iterator is not None and pipeline.max_ps > SLOW_CALL_PS
    ]
    return max(found, key=lambda one: one[2].max_ps, default=None)
