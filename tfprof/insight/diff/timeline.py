"""Both runs in one timeline: two colours, and the first common step at the same moment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.run.run import Run
from tfprof.captures.trace.events import trace
from tfprof.core.text.trace_json import whole_trace
from tfprof.errors import UsageError
from tfprof.insight.diff.side import Side

_COLOURS = ("thread_state_runnable", "thread_state_iowait")
"""Names of Chrome's palette: blue for before, orange for after."""
_OTHER_PIDS = 1 << 20
"""Added to process ids of the second run."""


def timeline_of_both(first: Side, second: Side, step: int | None = None) -> Iterator[bytes]:
    """A trace in Chrome's format with the events of two captures.

    Args:
        first: The run before; its processes are called ``before: …``.
        second: The run after.
        step: Only this step; None is all.

    Raises:
        UsageError: A side is not a capture, or has no such step.
    """
    if first.run is None or second.run is None:
        raise UsageError("a timeline of both needs two captures; profiles have no common clock")
    shift_us = _first_step_us(first.run, step) - _first_step_us(second.run, step)
    moved = (
        _moved(event, place, name, shift_us if place else 0.0)
        for place, (run, name) in enumerate(((first.run, "before"), (second.run, "after")))
        for event in trace(run, step=step).to_gviz()["traceEvents"]
        if "pid" in event
    )
    pieces = (json.dumps(event).encode() for event in moved)
    yield from whole_trace(pieces, b'{"displayTimeUnit": "ns", "traceEvents": [\n')


def _first_step_us(run: Run, step: int | None) -> float:
    """When the first of the steps begins, in the time of the trace."""
    steps = run_steps(run)
    if not steps.n_steps:
        return 0.0
    place = steps.places(step)[0]
    return float(steps.hosts[0].times.start_ps[place]) / 1e6


def _moved(event: dict[str, Any], place: int, name: str, shift_us: float) -> dict[str, Any]:
    moved = {**event, "pid": event["pid"] + place * _OTHER_PIDS}
    if "ts" in moved:
        moved["ts"] = moved["ts"] + shift_us
    if event.get("ph") == "M" and event.get("name") == "process_name":
        moved["args"] = {"name": f"{name}: {event['args']['name']}"}
    elif event.get("ph") == "M" and event.get("name") == "process_sort_index":
        index = event["args"]["sort_index"]
        moved["args"] = {"sort_index": index + place * _OTHER_PIDS}
    elif event.get("ph") == "X":
        moved["cname"] = _COLOURS[place]
    if "id" in event:
        moved["id"] = f"{name}-{event['id']}"
    if "bind_id" in event:
        moved["bind_id"] = f"{name}-{event['bind_id']}"
    return moved
