"""Calls of ``tf.function``: how often each was traced, and the time that tracing took."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.events.timeline.timeline import Timeline


class FunctionCalls(NamedTuple):
    """Calls of one function.

    Attributes:
        name: Name of the function.
        calls: Number of calls, by mode: ``eager``, ``concrete``, ``traced``,
            ``notTraced``.
        self_ps: Time of the calls without nested calls, by mode.
        compiler: ``xla``, ``other``, or ``mixed``; empty if unknown.
        n_traces: Total number of traces, from the last call.
        n_retraces: Calls that traced it again after an earlier trace. Each function has its own
            count, also if several have one name, such as those of several Keras models.
    """

    name: str
    calls: dict[str, int]
    self_ps: dict[str, int]
    compiler: str
    n_traces: int
    n_retraces: int = 0

    @property
    def expensive_share(self) -> float:
        """Share of the time in calls that traced or ran eagerly."""
        total = sum(self.self_ps.values())
        costly = self.self_ps.get("traced", 0) + self.self_ps.get("eager", 0)
        return costly / total if total else 0.0


def function_calls(timeline: Timeline) -> list[FunctionCalls]:
    """Calls of all functions of a host (``xplane_to_tf_functions.cc``), by name."""
    calls_stat = timeline.stat("tf_function_call")
    texts = calls_stat.only(calls_stat.is_text() & timeline.on_host[calls_stat.events])
    if not len(texts):
        return []
    events = texts.events
    first = np.searchsorted(events, timeline.first)
    nesting = nest(first, timeline.starts_ps[events], timeline.ends_of(events))
    durations = timeline.durations_ps[events]
    own = durations - nesting.sums_of_children(durations)
    traces = timeline.stat("tracing_count").at(events)
    calls: dict[str, dict[str, int]] = {}
    times: dict[str, dict[str, int]] = {}
    compilers: dict[str, set[str]] = {}
    counts: dict[str, int] = {}
    retraces: dict[str, int] = {}
    # One row for each call of a function: these are few.
    for event, mode, self_ps, traced in zip(
        events.tolist(), texts.values.tolist(), own.tolist(), traces.tolist(), strict=True
    ):
        name = timeline.name(event)
        kind, _, compiler = texts.texts[mode].partition("-")
        calls.setdefault(name, {})[kind] = calls.get(name, {}).get(kind, 0) + 1
        times.setdefault(name, {})[kind] = times.get(name, {}).get(kind, 0) + self_ps
        if compiler:
            compilers.setdefault(name, set()).add("xla" if compiler == "xla" else "other")
        counts[name] = max(counts.get(name, 0), traced)
        retraces[name] = retraces.get(name, 0) + (kind == "traced" and traced > 1)
    return [
        FunctionCalls(
            name, calls[name], times[name],
            "mixed" if len(used) > 1 else next(iter(used), ""), counts[name],
            retraces[name],
        )
        for name in sorted(calls)
        for used in (compilers.get(name, set()),)
    ]  # fmt: skip
