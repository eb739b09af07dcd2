"""The best practices of TensorFlow's guides, as recommendations with their evidence.

The guides cover the profiler, the performance of GPUs, and the performance of tf.data. A practice
gives advice only if the capture shows that a program did not follow it, or what that costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from tfprof.captures.practices import (
    code_practices,
    compilation_practices,
    graph_practices,
    hlo_practices,
    input_practices,
    memory_practices,
    op_practices,
    step_practices,
)
from tfprof.captures.practices.collective_practices import collective_rule
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.run.result import Advice
from tfprof.captures.run.run import Run
from tfprof.core.columns.findings import WORTH

Practice = Callable[[Evidence], Iterable[Advice]]
"""Examines a run and gives advice, or none."""

PRACTICES: Mapping[str, Practice] = {
    "input-pipeline/bound": input_practices.input_bound,
    "input-pipeline/prefetch": input_practices.no_prefetch,
    "input-pipeline/slow-iterator": input_practices.slow_pipelines,
    "copies/to-device": step_practices.copies_to_device,
    "copies/to-host": step_practices.copies_to_host,
    "copies/on-device": step_practices.copies_between_memories,
    "kernel-launch/share": step_practices.kernel_launch,
    "command-buffers/unknown-ops": graph_practices.unknown_ops,
    "python/unexplained": code_practices.python_time,
    "between-steps/share": code_practices.time_between,
    "compilation/share": compilation_practices.compiling,
    "collectives/share": step_practices.collectives,
    "collectives/compute-stream": collective_rule("collectives/compute-stream"),
    "collectives/serial": collective_rule("collectives/serial"),
    "collectives/small": collective_rule("collectives/small"),
    "workers/straggler": step_practices.stragglers,
    "devices/idle": step_practices.idle_devices,
    "devices/host-loop": step_practices.idle_tensor_cores,
    "precision/mixed": op_practices.mixed_precision,
    "tensor-cores/unused": op_practices.unused_tensor_cores,
    "tf-function/eager": code_practices.eager_ops,
    "tf-function/retracing": code_practices.retracing,
    "tf-function/run-eagerly": code_practices.run_eagerly,
    "xla/outside-compilation": op_practices.outside_compilation,
    "xla/layout": hlo_practices.layout_changes,
    "xla/convert": hlo_practices.conversions,
    "xla/pad": hlo_practices.paddings,
    "xla/loop-of-updates": hlo_practices.loops_of_updates,
    "xla/small-updates": hlo_practices.updates_of_small_arrays,
    "xla/tile-padding": hlo_practices.tile_padding,
    "xla/callback": hlo_practices.callbacks,
    "ops/small": op_practices.small_host_ops,
    "memory/capacity": memory_practices.memory_near_capacity,
    "memory/fragmentation": memory_practices.fragmented_memory,
    "memory/duplicate": memory_practices.duplicated_arguments,
    "ops/heaviest": op_practices.heaviest_op,
}
"""Practices by the rule of their advice. Practices for profiles are in ``advisor/registry.py``:
those use a table of op × step, these use events, so neither can replace the other."""


def advice(run: Run, *, host: str | None = None) -> tuple[Advice, ...]:
    """Recommended changes, the largest gain first, unknown gains last.

    Gains are upper limits and do not add up: two changes may save the same time.

    Args:
        run: The run.
        host: Use ops, kernels and memory of this host only; steps are those of all hosts.

    Raises:
        UsageError: The host does not exist.
    """
    hosts = run.chosen(host)
    key = ("advice", *(each.name for each in hosts))
    return run.memo.once(key, lambda: _given(Evidence(run, hosts)))


_MOST = 20
"""Maximum for one rule; files may hold any number of allocators, pipelines and functions."""


def _given(evidence: Evidence) -> tuple[Advice, ...]:
    given = [
        one
        for rule, practice in PRACTICES.items()
        for one in _first(rule, (_possible(one, evidence) for one in practice(evidence)))
    ]
    return tuple(sorted(given, key=lambda one: -weight(one)))


def weight(one: Advice) -> float:
    """Sort key: the gain; for the verdict's bottleneck without a gain, the share in question."""
    is_bottleneck = one.rule == "input-pipeline/bound" and one.gain_fraction is None
    return (one.share if is_bottleneck else one.gain_fraction) or 0.0


def _possible(one: Advice, evidence: Evidence) -> Advice:
    """The advice with its gain limited to the time left beside input, unless it is about input."""
    if one.gain_fraction is None or one.rule.startswith("input-pipeline/"):
        return one
    return replace(one, gain_fraction=min(one.gain_fraction, 1.0 - evidence.input_floor))


def _first(rule: str, advice: Iterable[Advice]) -> list[Advice]:
    """The worthwhile advice of one rule, up to the maximum, with a count of the rest."""
    worth = [one for one in advice if _is_worth(one)]
    more = len(worth) - _MOST
    if more <= 0:
        return worth
    words = "{more_count} more of the same kind: the tools have them all."
    return [*worth[:_MOST], Advice(rule, words, {"more_count": more})]


def _is_worth(one: Advice) -> bool:
    """Whether advice is about enough of the time; advice without times always is."""
    return all(part is None or part >= WORTH for part in (one.share, one.gain_fraction))
