"""Practices for ops: precision, tensor cores, eager execution, tracing, ops that are too small."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfprof.captures.facts.environment import compute_capability, device_planes
from tfprof.captures.facts.framework import JAX
from tfprof.captures.facts.statistics import part
from tfprof.captures.practices.evidence import FRAMEWORKS_OWN, Evidence, named, self_time
from tfprof.captures.run.result import Advice
from tfprof.core.text.claims import Details

LOW_PRECISION = 0.1
"""Mixed precision is worth a try if a smaller part of the computation is in 16 bits."""

MUCH_EAGER = 0.1
MUCH_TRACING = 0.2
UNUSED_CORES = 0.1
SMALL_OP_PS = 10_000_000
MANY_SMALL = 0.4
MANY_OPS = 200
_MOST = 0.5
"""From this part of the time on, the advice names a category before its heaviest op."""

_TENSOR_CORES_SINCE = (7, 0)
_MATRIX_OPS = re.compile(r"MatMul|Conv|Einsum|convolution|dot|gemm", re.IGNORECASE)


def mixed_precision(evidence: Evidence) -> Iterator[Advice]:
    """Devices that could compute with 16-bit numbers, but do not."""
    wide, share = evidence.steps.compute_shares()
    if not (wide or share) or share >= LOW_PRECISION or not _is_fast_with_16_bits(evidence):
        return
    gain = evidence.steps.share_of("device_compute") * wide / 2
    top = next((op for op in evidence.device_ops if _MATRIX_OPS.search(op.type)), None)
    numbers: Details = {"narrow_share": share, "step_ms": evidence.step_ms}
    words = (
        "Only {narrow_share} of the devices' computation uses 16-bit numbers. With mixed precision "
        f"({evidence.words.mixed_precision}) matrix products take half the time or less, and "
        "activations half the memory."
    )
    if top is not None:
        words += " The heaviest product is {op}, {op_share} of the time on the devices."
        of_device = part(top.self_ps, self_time(evidence.device_ops))
        numbers |= {"op": top.name, "op_share": of_device}
    yield Advice("precision/mixed", words, numbers, gain or None)


def _is_fast_with_16_bits(evidence: Evidence) -> bool:
    """Whether the devices have units for 16-bit products; unknown GPUs count as such."""
    _, gpus = device_planes(evidence.hosts)
    return all(
        capability >= _TENSOR_CORES_SINCE or capability == (0, 0)
        for capability in map(compute_capability, gpus)
    )


def unused_tensor_cores(evidence: Evidence) -> Iterator[Advice]:
    """Kernels of ops that could use tensor cores, but do not."""
    if not _is_fast_with_16_bits(evidence):
        return
    total = sum(times.total_ns for times in evidence.kernels)
    idle = [
        times
        for times in evidence.kernels
        if times.kernel.is_eligible and not times.kernel.uses_tensor_cores
    ]
    share = part(sum(times.total_ns for times in idle), total)
    if share < UNUSED_CORES:
        return
    top = idle[0]
    yield Advice(
        "tensor-cores/unused",
        "{kernel_time_share} of the time of all kernels goes to ops that could use tensor cores "
        "and do not; the heaviest is {op:folded}, {op_share}, with the kernel {kernel:folded}. "
        "Compute in 16 bits (mixed precision) or allow TensorFloat-32 "
        f"({evidence.words.tensor_float}), and make sizes of batches, layers and channels "
        "multiples of 8.",
        {"kernel_time_share": share, "op": top.kernel.op_name or top.kernel.name,
         "op_share": part(top.total_ns, total), "kernel": top.kernel.name},
        evidence.steps.share_of("device_compute") * share / 2 or None,
    )  # fmt: skip


def outside_compilation(evidence: Evidence) -> Iterator[Advice]:
    """Compiled programs that leave ops to the host and wait for them."""
    ops = evidence.outside_ops
    outside, whole = sum(op.self_ps for op in ops), self_time(evidence.device_ops)
    share = part(outside, whole)
    if not outside:
        return
    top = ops[0]
    name = top.provenance.rpartition(":")[0] or top.key.name
    yield Advice(
        "xla/outside-compilation",
        "{outside_share} of the time of ops on the devices goes to exchanging data with ops that "
        "XLA has left to the host (outside compilation), while the program waits; most of it in "
        "{op:folded}. Take what cannot be compiled out of the step: summaries, prints, checks, "
        "strings and Python functions; or run it only every few steps.",
        {"outside_share": share, "op": name, "op_share": part(top.self_ps, whole),
         "run_count": top.occurrences},
        share * (1.0 - evidence.idle_share) if evidence.steps.n_steps else None,
        share * (1.0 - evidence.idle_share),
    )  # fmt: skip


def small_host_ops(evidence: Evidence) -> Iterator[Advice]:
    """Steps on the CPU with so many short ops that their scheduling matters."""
    if evidence.environment.hardware != "CPU_ONLY" or not evidence.steps.n_steps:
        return
    if evidence.words is JAX:
        return  # XLA has fused ops where possible
    ops = [op for op in evidence.host_ops if op.type != "Dataset" and not op.is_eager]
    small = [op for op in ops if op.self_ps < SMALL_OP_PS * op.occurrences]
    runs = sum(op.occurrences for op in small) / max(evidence.n_host_steps, 1)
    share = part(self_time(small), self_time(ops))
    if runs < MANY_OPS or share < MANY_SMALL:
        return
    most = max(small, key=lambda op: op.occurrences)
    name, names = named(most)
    yield Advice(
        "ops/small",
        "A step runs {small_op_count:,.0f} ops of less than 10 µs, {small_share} of the time of "
        f"all ops; {name} runs most often. Scheduling them costs about as much: let XLA fuse them "
        "with tf.function(jit_compile=True), or work on larger tensors.",
        {"small_op_count": runs, "small_share": share, **names, "run_count": most.occurrences},
        evidence.steps.share_of("host_compute") * share or None,
        evidence.steps.share_of("host_compute") * share,
    )  # fmt: skip


def heaviest_op(evidence: Evidence) -> Iterator[Advice]:
    """The op that takes the most time: where to start if no other advice helps."""
    yield from _heaviest_instruction(evidence) or _heaviest_of_framework(evidence)


def _heaviest_instruction(evidence: Evidence) -> list[Advice]:
    """The heaviest XLA instruction, if compiled programs take most of the time.

    These programs run instructions, each of which may stand for several ops of the framework.
    """
    compiled = evidence.compiled_ops
    ops = evidence.device_ops or evidence.host_ops
    whole = sum(op.self_ps for op in compiled)
    in_programs = sum(op.self_ps for op in compiled if op.key.program_id and op.expression)
    if not whole or in_programs < max(whole, self_time(ops)) / 2:
        return []
    top, where = compiled[0], "on the devices" if evidence.device_ops else "of XLA's programs"
    share = part(top.self_ps, whole)
    alike = [op for op in compiled if op.category == top.category]
    of_category = part(sum(op.self_ps for op in alike), whole)
    made_of = top.provenance.rpartition(":")[0]
    name = "{op:folded} ({made_of:folded})" if made_of else "{op:folded}"
    words = f"{name} takes the most time of all ops {where}"
    if of_category >= max(_MOST, 1.25 * share):
        words = (
            f"{{category}} takes {{category_share}} of the time of all ops {where}, in "
            f"{{instruction_count}} instructions; the heaviest is {name}"
        )
    return [
        Advice(
            "ops/heaviest",
            f"{words}, {{op_share}}, in {{run_count}} runs; tfprof hlo-stats has the others.",
            {"op": top.key.name, "op_share": share, "category": top.category,
             "category_share": of_category, "op_self_ms": top.self_ps / 1e9,
             "run_count": top.occurrences, "instruction_count": len(alike), "made_of": made_of},
            share=_of_period(evidence, max(share, of_category), whole),
        )
    ]  # fmt: skip


def _heaviest_of_framework(evidence: Evidence) -> list[Advice]:
    ops, where = evidence.device_ops, "devices"
    tool = "tfprof kernel-stats" if evidence.kernels else "tfprof op-stats"
    if not ops and not evidence.kernels:
        ops = [op for op in evidence.host_ops if not FRAMEWORKS_OWN.fullmatch(op.type)]
        where = "host, iterators left out"
    if not ops:
        return []
    top = ops[0]
    share = part(top.self_ps, self_time(ops))
    name, names = named(top)
    return [
        Advice(
            "ops/heaviest",
            f"{name} takes the most time of all ops on the {where}, {{op_share}}, in {{run_count}} "
            f"runs; {tool} has the others.",
            {**names, "op_share": share, "op_self_ms": top.self_ps / 1e9,
             "run_count": top.occurrences},
            share=_of_period(evidence, share, self_time(ops)),
        )
    ]  # fmt: skip


def _of_period(evidence: Evidence, share: float, ops_ps: int) -> float | None:
    """Maximum part of the step time that some ops take; None without steps.

    Args:
        evidence: The run.
        share: Their part of the time of all ops.
        ops_ps: The time of all ops.
    """
    if evidence.tpu is not None or evidence.device_ops:
        return share * (1.0 - evidence.idle_share)
    if not evidence.steps_ps:
        return None
    return min(share * ops_ps / evidence.steps_ps, 1.0)
