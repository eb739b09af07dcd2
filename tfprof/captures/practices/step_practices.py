"""Practices for the time of steps outside computation: copies, launches, waiting."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.statistics import part
from tfprof.captures.practices.evidence import Evidence, self_time
from tfprof.captures.run.result import Advice
from tfprof.core.text import how_to_capture
from tfprof.core.text.claims import Details

if TYPE_CHECKING:
    from tfprof.captures.tools.op_statistics import Op

STRAGGLES = 1.2
"""A worker is a straggler if it works this many times as long as the others."""

MOSTLY_IDLE = 0.5

_BETWEEN_MEMORIES = ("copy-done", "copy-start")
_ON_HOST = "S(5)"
"""The host's memory, in the layout of an array."""

_COLLECTIVE = re.compile(
    r"Collective|AllReduce|Nccl|AllGather|all-reduce|all-gather", re.IGNORECASE
)


def copies_to_device(evidence: Evidence) -> Iterator[Advice]:
    """Steps that wait for data on its way to the device."""
    share = evidence.spent_share(Spent.HOST_TO_DEVICE)
    if not share:
        return
    yield Advice(
        "copies/to-device",
        "{copy_share} of the step time goes to copies from the host to the device. Bring batches "
        f"there ahead of time ({evidence.words.copy_ahead}), send integers or 16-bit numbers and "
        "convert them there, and keep what does not change on the device.",
        {"copy_share": share, "step_ms": evidence.step_ms, **_copies(evidence, "HToD")},
        share,
        share,
    )


def copies_to_host(evidence: Evidence) -> Iterator[Advice]:
    """Steps that wait for results on their way to the host."""
    share = evidence.steps.share_of("outfeed")
    if not share:
        return
    yield Advice(
        "copies/to-host",
        "{copy_share} of the step time goes to copies from the device to the host. Fetch losses "
        f"and metrics only every few steps, or {evidence.words.several_steps}; and keep ops that "
        "run on the CPU out of the step.",
        {"copy_share": share, "step_ms": evidence.step_ms, **_copies(evidence, "DToH")},
        share,
        share,
    )


def copies_between_memories(evidence: Evidence) -> Iterator[Advice]:
    """Compiled programs that wait while arrays move from one memory to another."""
    ops = [op for op in evidence.compiled_ops if op.category.startswith(_BETWEEN_MEMORIES)]
    if not ops or not evidence.device_ops:
        return
    whole = sum(op.self_ps for op in evidence.compiled_ops)
    share = part(sum(op.self_ps for op in ops), whole) * (1.0 - evidence.idle_share)
    top = ops[0]
    where = "between the device and its host" if _ON_HOST in top.expression else "to another memory"
    yield Advice(
        "copies/on-device",
        f"{{copy_share}} of the time of the devices is waiting for copies of arrays {where}, most "
        "of it in {op:folded}, {run_count:time}. Leave what each step needs on the device, and in "
        "one layout: offload fewer activations and states to the host, or let their copies begin "
        "earlier, while something computes.",
        {"copy_share": share, "op": top.key.name, "op_share": part(top.self_ps, whole),
         "run_count": top.occurrences},
        share,
        share,
    )  # fmt: skip


def kernel_launch(evidence: Evidence) -> Iterator[Advice]:
    """Devices that wait for the host to launch their kernels."""
    share = evidence.steps.share_of("kernel_launch")
    if not share:
        return
    numbers: Details = {"launch_share": share, "step_ms": evidence.step_ms}
    words = "{launch_share} of the step time goes to launching kernels."
    kernels = evidence.kernels
    runs = sum(times.occurrences for times in kernels)
    if runs and evidence.n_host_steps:
        words += (
            " {kernel_count:,.0f} kernels run in a step, {mean_kernel_us:,.1f} each on average."
        )
        mean_us = sum(times.total_ns for times in kernels) / runs / 1000
        most = max(kernels, key=lambda times: times.occurrences)
        numbers |= {"kernel_count": runs / evidence.n_host_steps, "mean_kernel_us": mean_us}
        numbers |= {"op": most.kernel.op_name or most.kernel.name, "run_count": most.occurrences}
    if evidence.is_without_graphs:
        words += (
            " The real run may spend less: XLA ran without command buffers for this capture. "
            f"Before a change, {how_to_capture.KEEP_GRAPHS}, and capture again."
        )
        yield Advice("kernel-launch/share", words, numbers, share=share)
        return
    if evidence.uses_tf_data:
        words += (
            " tf.data works on the same CPUs: give the GPU threads of its own with the environment "
            "variable TF_GPU_THREAD_MODE=gpu_private."
        )
    words += (
        f" Launch fewer and larger kernels: with a larger batch, or {evidence.words.fuse}; or "
        f"{evidence.words.several_steps}."
    )
    yield Advice("kernel-launch/share", words, numbers, share)


def collectives(evidence: Evidence) -> Iterator[Advice]:
    """Devices that exchange gradients while nothing else runs."""
    share = evidence.collectives.share
    if not share:
        return
    is_without_waits = evidence.collectives.has_waits
    what = "the exchange of data between devices"
    what += ", waiting for late devices left out," if is_without_waits else ""
    ops = [op for op in evidence.device_ops if _COLLECTIVE.search(f"{op.name} {op.type}")]
    yield Advice(
        "collectives/share",
        f"{{collective_share}} of the step time goes to {what} while they compute nothing. "
        "Communicate less often, with a larger batch on each device; in 16 bits, with mixed "
        f"precision; and while the backward pass still runs{evidence.words.overlap}.",
        {"collective_share": share, "step_ms": evidence.step_ms,
         "device_count": evidence.environment.n_cores, **_top(ops, evidence.device_ops)},
        share,
    )  # fmt: skip


def stragglers(evidence: Evidence) -> Iterator[Advice]:
    """A host that works longer than the others, so that they wait for it."""
    slow = evidence.slow_hosts
    if slow is None:
        return
    at = slow.slowest
    own_ms = float(slow.own_ps[at].mean()) / 1e9
    others_ms = own_ms - slow.excess_ps(at) / 1e9
    interval = slow.interval_ps(at)
    is_noise = interval is not None and interval.low <= 0
    if own_ms <= 0 or own_ms < STRAGGLES * others_ms or is_noise:
        return
    name, (cause, more_ps) = slow.works[at].name, slow.causes(at)[0]
    if len(slow.joint) and not slow.delays:
        return
    wait = "they wait" if len(slow.joint) else "if they train together, they wait"
    yield Advice(
        "workers/straggler",
        "{host} works {own_ms} in a step, communication left out, the others {others_ms}: "
        f"{wait} for it. Its largest excess is {{cause}}, {{cause_ms}}. Check whether its machine, "
        "its part of the data or its devices are slower (tfprof stragglers; the overview of this "
        "host alone).",
        {"host": name, "own_ms": own_ms, "others_ms": others_ms, "cause": cause.name,
         "cause_ms": more_ps / 1e9, "host_count": len(slow.works)},
        part(slow.excess_ps(at), slow.step_ps),
    )  # fmt: skip


def idle_devices(evidence: Evidence) -> Iterator[Advice]:
    """Devices that are idle most of the time."""
    share = evidence.idle_share
    if share < MOSTLY_IDLE or not evidence.device_ops:
        return
    busiest = max(
        (c for c in CATEGORIES if not c.key.startswith("device")),
        key=lambda c: evidence.steps.share_of(c.key),
    )
    of_step = evidence.steps.share_of(busiest.key)
    words = "The devices run no op for {idle_share} of the time that they were captured."
    if of_step:
        words += " Besides computing, steps spend the most on {category}: {category_share}."
        if not (evidence.is_without_graphs and busiest.key == "kernel_launch"):
            words += " Improve that first."
    else:
        words += " No step shows why: mark steps, and capture several whole ones."
    if evidence.is_without_graphs:
        words += (
            " A part of it may be gaps between kernels that the real run does not have, as XLA ran "
            "without command buffers for this capture."
        )
    yield Advice(
        "devices/idle", words,
        {"idle_share": share, "category": busiest.name, "category_share": of_step},
    )  # fmt: skip


def idle_tensor_cores(evidence: Evidence) -> Iterator[Advice]:
    """TensorCores that wait for the host between the ops of a step, but not for its input."""
    tpu = evidence.tpu
    total = 0.0 if tpu is None else float(tpu.breakdown.total.sum())
    if tpu is None or not total or evidence.idle_share >= MOSTLY_IDLE:
        return
    share = float(tpu.breakdown.idle.sum()) / total
    if not share:
        return
    place = int(np.argmax(tpu.breakdown.idle))
    yield Advice(
        "devices/host-loop",
        "TensorCores are idle in {idle_share} of the step time, and not for input; the longest, "
        "{idle_ms}, in step {step}. To avoid waiting for the host between steps, "
        f"{evidence.words.several_steps}.",
        {"idle_share": share, "step_ms": evidence.step_ms, "step": tpu.names[place],
         "idle_ms": float(tpu.breakdown.idle[place]) / 1e9},
        share,
    )  # fmt: skip


def _copies(evidence: Evidence, direction: str) -> Details:
    ops = evidence.device_ops
    return _top([op for op in ops if direction.lower() in op.type.lower()], ops)


def _top(chosen: Sequence[Op], ops: Sequence[Op]) -> Details:
    """Evidence: the first of the chosen ops, with its part of the time of all ops."""
    if not chosen:
        return {}
    return {"op": chosen[0].name, "op_share": part(chosen[0].self_ps, self_time(ops))}
