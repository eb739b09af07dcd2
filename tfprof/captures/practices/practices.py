"""The best practices of TensorFlow's guides, as recommendations with their evidence.

The guides are those to the profiler, to the performance of GPUs, and to that of tf.data. A practice
gives advice only if the capture shows that it was not followed, or what that costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from tfprof.captures.practices import (
    code_practices,
    input_practices,
    memory_practices,
    op_practices,
    step_practices,
)
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.run.result import Advice
from tfprof.captures.run.run import Run
from tfprof.core.columns.findings import WORTH

Practice = Callable[[Evidence], Iterable[Advice]]
"""Looks at a run and gives advice, or none."""

PRACTICES: Mapping[str, Practice] = {
    "input-pipeline/bound": input_practices.input_bound,
    "input-pipeline/prefetch": input_practices.no_prefetch,
    "input-pipeline/slow-iterator": input_practices.slow_pipelines,
    "copies/to-device": step_practices.copies_to_device,
    "copies/to-host": step_practices.copies_to_host,
    "copies/on-device": step_practices.copies_between_memories,
    "kernel-launch/share": step_practices.kernel_launch,
    "python/unexplained": code_practices.python_time,
    "between-steps/share": code_practices.time_between,
    "compilation/share": code_practices.compiling,
    "collectives/share": step_practices.collectives,
    "workers/straggler": step_practices.stragglers,
    "devices/idle": step_practices.idle_devices,
    "devices/host-loop": step_practices.idle_tensor_cores,
    "precision/mixed": op_practices.mixed_precision,
    "tensor-cores/unused": op_practices.unused_tensor_cores,
    "tf-function/eager": code_practices.eager_ops,
    "tf-function/retracing": code_practices.retracing,
    "tf-function/run-eagerly": code_practices.run_eagerly,
    "xla/outside-compilation": op_practices.outside_compilation,
    "ops/small": op_practices.small_host_ops,
    "memory/capacity": memory_practices.memory_near_capacity,
    "memory/fragmentation": memory_practices.fragmented_memory,
    "ops/heaviest": op_practices.heaviest_op,
}
"""Practices by the rule of their advice. Those for profiles are in ``advisor/registry.py``: they
look at a table of op × step, these at events, so neither can look where the other does."""


def advice(run: Run, *, host: str | None = None) -> tuple[Advice, ...]:
    """What to change, the largest gain first, unknown gains last.

    Gains are upper limits, and do not add up: what one change saves, another cannot.

    Args:
        run: The run.
        host: Ops, kernels and memory of this host only; steps are those of all hosts.

    Raises:
        UsageError: There is no such host.
    """
    hosts = run.chosen(host)
    key = ("advice", *(each.name for each in hosts))
    return run.memo.once(key, lambda: _given(Evidence(run, hosts)))


_MOST = 20
"""Of one rule; files may hold any number of allocators, pipelines and functions."""


def _given(evidence: Evidence) -> tuple[Advice, ...]:
    given = [
        one
        for rule, practice in PRACTICES.items()
        for one in _first(rule, (_possible(one, evidence) for one in practice(evidence)))
    ]
    return tuple(sorted(given, key=lambda one: -weight(one)))


def weight(one: Advice) -> float:
    """Its gain; without one, of what the verdict names as the bottleneck, the part it is about."""
    is_bottleneck = one.rule == "input-pipeline/bound" and one.gain_fraction is None
    return (one.share if is_bottleneck else one.gain_fraction) or 0.0


def _possible(one: Advice, evidence: Evidence) -> Advice:
    """The advice with no larger gain than is left beside the input, unless it is about that."""
    if one.gain_fraction is None or one.rule.startswith("input-pipeline/"):
        return one
    return replace(one, gain_fraction=min(one.gain_fraction, 1.0 - evidence.input_floor))


def _first(rule: str, advice: Iterable[Advice]) -> list[Advice]:
    """What is worth saying by one rule, and how much more of it there is."""
    worth = [one for one in advice if _is_worth(one)]
    more = len(worth) - _MOST
    if more <= 0:
        return worth
    words = "{more_count} more of the same kind: the tools have them all."
    return [*worth[:_MOST], Advice(rule, words, {"more_count": more})]


def _is_worth(one: Advice) -> bool:
    """Whether advice is about enough of the time; what is not about time is, too."""
    return all(part is None or part >= WORTH for part in (one.share, one.gain_fraction))
