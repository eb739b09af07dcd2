"""The best practices of TensorFlow's guides, as recommendations with their evidence.

The guides are those to the profiler, to the performance of GPUs, and to that of tf.data. A practice
gives advice only if the capture shows that it was not followed, or what that costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from tfprof.captures.practices.code_practices import (
    compiling,
    eager_ops,
    python_time,
    retracing,
    run_eagerly,
    time_between,
)
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.practices.input_practices import input_bound, no_prefetch, slow_pipelines
from tfprof.captures.practices.memory_practices import fragmented_memory, memory_near_capacity
from tfprof.captures.practices.op_practices import (
    heaviest_op,
    mixed_precision,
    outside_compilation,
    small_host_ops,
    unused_tensor_cores,
)
from tfprof.captures.practices.step_practices import (
    collectives,
    copies_between_memories,
    copies_to_device,
    copies_to_host,
    idle_devices,
    idle_tensor_cores,
    kernel_launch,
    stragglers,
)
from tfprof.captures.practices.worth import is_worth
from tfprof.captures.run.result import Advice
from tfprof.captures.run.run import Run

Practice = Callable[[Evidence], Iterable[Advice]]
"""Looks at a run and gives advice, or none."""

PRACTICES: Mapping[str, Practice] = {
    "input-pipeline/bound": input_bound,
    "input-pipeline/prefetch": no_prefetch,
    "input-pipeline/slow-iterator": slow_pipelines,
    "copies/to-device": copies_to_device,
    "copies/to-host": copies_to_host,
    "copies/on-device": copies_between_memories,
    "kernel-launch/share": kernel_launch,
    "python/unexplained": python_time,
    "between-steps/share": time_between,
    "compilation/share": compiling,
    "collectives/share": collectives,
    "workers/straggler": stragglers,
    "devices/idle": idle_devices,
    "devices/host-loop": idle_tensor_cores,
    "precision/mixed": mixed_precision,
    "tensor-cores/unused": unused_tensor_cores,
    "tf-function/eager": eager_ops,
    "tf-function/retracing": retracing,
    "tf-function/run-eagerly": run_eagerly,
    "xla/outside-compilation": outside_compilation,
    "ops/small": small_host_ops,
    "memory/capacity": memory_near_capacity,
    "memory/fragmentation": fragmented_memory,
    "ops/heaviest": heaviest_op,
}
"""Practices by the rule of their advice."""


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
    return tuple(sorted(given, key=lambda one: -_weight(one)))


def _weight(one: Advice) -> float:
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
    worth = [one for one in advice if is_worth(one)]
    more = len(worth) - _MOST
    if more <= 0:
        return worth
    words = "{more_count} more of the same kind: the tools have them all."
    return [*worth[:_MOST], Advice(rule, words, {"more_count": more})]
