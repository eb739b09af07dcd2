"""The metrics that a budget may limit: their names, units and meaning."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.insight.budgets.quantities import (
    BYTES,
    COUNT,
    FLOPS,
    SHARE,
    TIME,
    UTILIZATION,
    Dimension,
)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric.

    Attributes:
        name: Its key in a budget.
        dimension: Its dimension.
        about: Its meaning.
        patterns: Where the patterns of a table of limits are searched; empty if there can be
            only one limit.
        needs_pattern: Whether there must be a table.
        is_timed: Whether it is an average over steps, with an interval; other metrics are exact.
    """

    name: str
    dimension: Dimension
    about: str
    patterns: str = ""
    needs_pattern: bool = False
    is_timed: bool = False


METRICS = {
    metric.name: metric
    for metric in (
        Metric("float_operations", FLOPS, "float operations of one step, as tfprof flops counts"),
        Metric("parameters", COUNT, "elements of all variables, as tfprof summary counts"),
        Metric("ops", COUNT, "ops of the program, also those in its functions"),
        Metric("peak_memory", BYTES, "largest memory in use of one allocator"),
        Metric("traces", COUNT, "how often one tf.function was traced since the program started",
               "the function's name"),
        Metric("retraces", COUNT, "calls in the capture that traced a function again",
               "the function's name"),
        Metric("compilations", COUNT, "programs that XLA compiled in the capture"),
        Metric("step_time", TIME, "time of a step", is_timed=True),
        Metric("input_share", SHARE, "part of a step that waits for input", is_timed=True),
        Metric("idle_share", SHARE, "part of a step in which no device works; without devices, "
               "no op runs, and the program waits for none", is_timed=True),
        Metric("mfu", UTILIZATION, "model FLOPs utilization, as tfprof utilization shows it",
               is_timed=True),
        Metric("hfu", UTILIZATION, "hardware FLOPs utilization, with what is computed a second "
               "time", is_timed=True),
        Metric("op_time", TIME, "time of ops in a step", "the op's type and name", True, True),
        Metric("scope_time", TIME, "time of the ops of scopes in a step", "the scope, from its "
               "beginning", True, True),
    )
}  # fmt: skip
"""All metrics by name, in the order of reports."""
