"""Resolves ``auto``: which order and which attributes a profile has numbers for.

Without a chosen order and attributes, views show what was recorded, the largest first, without rows
that never ran: see ``docs/adr/0022-views-sort-by-cost.md``. Given options are never changed.
"""

from __future__ import annotations

from dataclasses import replace

from tfprof.options.parse import ProfileOptions
from tfprof.options.spec import AUTO
from tfprof.profiles.accounting.accounting import METRIC_ROW, Metrics
from tfprof.profiles.model.profile import Profile
from tfprof.views.ordering import METRIC_OF_ORDER, OF_GRAPHS

_FOR_READERS = ("stdout", "file", "none")
"""Outputs whose rows people read; drawings and timelines show size by place and colour."""

_OF_RUNS = ("micros",)

_BY_COST = (
    "micros", "accelerator_micros", "cpu_micros", "bytes", "peak_bytes", "residual_bytes",
    "output_bytes", "float_ops", "params",
)  # fmt: skip
"""Rows are sorted by the first of these that is shown and known."""


def settled(options: ProfileOptions, profile: Profile, metrics: Metrics) -> ProfileOptions:
    """The options with every ``auto`` replaced; ``metrics`` are those of every op."""
    values = dict(options.values)
    has_runs = bool(profile.steps.steps)
    if AUTO in values["select"]:
        known = [name for name in OF_GRAPHS if not has_runs and _is_known(name, metrics)]
        named = [name for name in values["select"] if name != AUTO]
        values["select"] = tuple(dict.fromkeys([*named, *(known or _OF_RUNS)]))
    if values["order_by"] != AUTO:
        return replace(options, values=values)
    shown = [name for name in _BY_COST if name in values["select"]]
    known = [name for name in shown if _is_known(name, metrics)]
    is_read = options.output.type in _FOR_READERS
    values["order_by"] = known[0] if known and is_read else "name"
    return replace(options, values=values, hides_idle=bool(known) and is_read and has_runs)


def needs_float_ops(options: ProfileOptions, profile: Profile) -> bool:
    """Whether the rows of a view, or their order, depend on float operations.

    The options are those before ``settled``.
    """
    select = options.values["select"]
    return (
        "float_ops" in select
        or options.order_by == "float_ops"
        or options.minimum("float_ops") > 0
        or (AUTO in select and not profile.steps.steps)
    )


def idle_metrics(options: ProfileOptions) -> list[int]:
    """Rows of the metrics that are all 0 for an idle node: runs, and the shown metrics."""
    shown = [METRIC_OF_ORDER[name] for name in options.select if name in METRIC_OF_ORDER]
    return [METRIC_ROW[metric] for metric in ("run_count", *shown)]


def _is_known(name: str, metrics: Metrics) -> bool:
    return bool(metrics[METRIC_ROW[METRIC_OF_ORDER[name]]].any())
