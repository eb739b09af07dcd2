"""The limit of steps on TPUs (``op_stats_to_input_pipeline_analysis.cc``)."""

from __future__ import annotations

from tfprof.captures.facts.bottleneck import (
    HIGHLY_INPUT_BOUND,
    MODERATE,
    MODERATELY_INPUT_BOUND,
    NONE,
    UNKNOWN,
    Bottleneck,
    Judged,
    input_verdict,
)
from tfprof.captures.facts.framework import TENSORFLOW, Words
from tfprof.captures.facts.tpu_steps import TpuRunSteps
from tfprof.core.text.claims import Claim

_MUCH_ALL_REDUCE = 6.0
_MUCH_SPARSE = 10.0


def find_tpu_bottleneck(steps: TpuRunSteps, words: Words = TENSORFLOW) -> Bottleneck:
    """Judge steps by their parts; each part comes from the core that decides it.

    Args:
        steps: The steps that count.
        words: The remedies of the framework.
    """
    parts = steps.breakdown
    total = float(parts.total.sum())
    if not total:
        return UNKNOWN

    def percent(*amounts: float) -> float:
        return 100.0 * sum(amounts) / total

    waiting = percent(parts.waiting.sum())
    idle = percent(parts.idle.sum())
    compute, sync = percent(parts.all_reduce_compute.sum()), percent(parts.all_reduce_sync.sum())
    kind, claim = input_verdict(waiting, 0.0)
    is_significant = idle >= MODERATE or compute + sync >= _MUCH_ALL_REDUCE
    if kind == "device" and steps.n_unseen_chips and is_significant:
        kind, claim = "both", _unseen(steps.n_unseen_chips, idle, compute + sync)
    return Bottleneck(
        kind,
        claim,
        waiting,
        all_other=_idle(idle, words),
        device_collectives=_all_reduce(compute, sync),
        output=_output(percent(parts.outfeed.sum())),
        sparse_core=_sparse(percent(parts.sparse_compute.sum())),
    )


def _unseen(n_chips: int, idle: float, all_reduce: float) -> Claim:
    return Claim(
        "step", "input_share", None, "fraction",
        unknown=f"{n_chips} chips of the system are not in this capture",
        details={"chip_count": n_chips, "idle_share": idle / 100.0,
                 "all_reduce_share": all_reduce / 100.0},
        words="The program COULD be input-bound on hosts that are not in this capture: "
        "{chip_count} chips of the system are missing, and TensorCores are idle {idle_share} of "
        "the step time and in all-reduce {all_reduce_share}. Capture all hosts.",
    )  # fmt: skip


def _idle(percent: float, words: Words) -> Judged:
    if percent < MODERATE:
        return NONE
    return Judged.of(
        "moderate", "idle_share", percent,
        "TensorCores are idle in {value} of the step time, and not for input. To avoid waiting "
        "for the host between steps, {remedy}.",
        remedy=words.several_steps,
    )  # fmt: skip


def _all_reduce(compute: float, sync: float) -> Judged:
    if compute + sync < _MUCH_ALL_REDUCE:
        return NONE
    return Judged.of(
        "moderate", "all_reduce_share", compute + sync,
        "{value} of the step time goes to all-reduce: {sync_share} is waiting for the slowest "
        "core, {compute_share} the reduction itself.",
        sync_share=sync / 100.0, compute_share=compute / 100.0,
    )  # fmt: skip


def _output(percent: float) -> Judged:
    if percent < MODERATELY_INPUT_BOUND:
        return NONE
    level = "high" if percent >= HIGHLY_INPUT_BOUND else "moderate"
    words = "{value} of the step time goes to output to the host."
    return Judged.of(level, "output_share", percent, words)


def _sparse(percent: float) -> Judged:
    if not percent:
        return NONE
    level = "high" if percent >= _MUCH_SPARSE else "moderate"
    words = "{value} of the step time is embedding work of SparseCores."
    return Judged.of(level, "sparse_core_share", percent, words)
