"""Precomputed traces: Chrome's JSON, and the message ``Trace``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tfprof.captures.run.result import ToolResult
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.core.text.claims import Claim
from tfprof.core.wire import messages as pb
from tfprof.core.wire.messages import parse

_PICOS_PER_MICRO: Final = 1e6
_COLUMNS: Final = (
    Column("process", "Process", "string"),
    Column("thread", "Thread", "string"),
    Column("events", "Events"),
    Column("start", "First event", unit="us"),
    Column("end", "End of the last", unit="us"),
)


def chrome_trace(data: Any) -> ToolResult:
    """A trace from its JSON: an object with ``traceEvents``, or a list of events."""
    whole = data if isinstance(data, Mapping) else {"traceEvents": data}
    return _result(whole["traceEvents"], lambda: whole)


def trace(data: bytes, source: str) -> ToolResult:
    """A trace from a ``Trace`` message."""
    message = parse(pb.Trace, data, source=source)
    events = [*_names(message), *map(_event, message.trace_events)]
    whole = {
        "displayTimeUnit": "ns",
        "metadata": {"highres-ticks": True},
        "traceEvents": events,
    }
    return _result(events, lambda: whole)


def _result(events: Iterable[Mapping[str, Any]], gviz: Any) -> ToolResult:
    table = _tracks(events)
    n_events = sum(int(row[2] or 0) for row in table.rows)
    return ToolResult(
        tool="trace",
        title="Trace viewer",
        claims=(
            Claim(
                "trace",
                "event_count",
                n_events,
                "count",
                details={"track_count": len(table)},
                words="{value:event} on {track_count:track}.",
            ),
        ),
        tables={"tracks": table},
        gviz=gviz,
    )


def _names(message: pb.Trace) -> Iterator[dict[str, Any]]:
    for device_id, device in sorted(message.devices.items()):
        yield _metadata("process_name", device_id, {"name": device.name})
        yield _metadata("process_sort_index", device_id, {"sort_index": device_id})
        for resource_id, resource in sorted(device.resources.items()):
            yield _metadata("thread_name", device_id, {"name": resource.name}, resource_id)
            order = {"sort_index": resource_id}
            yield _metadata("thread_sort_index", device_id, order, resource_id)


def _metadata(
    name: str, process: int, arguments: Mapping[str, Any], thread: int | None = None
) -> dict[str, Any]:
    event = {"ph": "M", "pid": process, "name": name, "args": dict(arguments)}
    return event if thread is None else event | {"tid": thread}


def _event(event: pb.TraceEvent) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "ph": "X" if event.duration_ps else "i",
        "pid": event.device_id,
        "tid": event.resource_id,
        "name": event.name,
        "ts": event.timestamp_ps / _PICOS_PER_MICRO,
    }
    entry |= {"dur": event.duration_ps / _PICOS_PER_MICRO} if event.duration_ps else {"s": "t"}
    return entry | ({"args": dict(sorted(event.args.items()))} if event.args else {})


def _tracks(events: Iterable[Mapping[str, Any]]) -> Table:
    names: dict[tuple[Any, Any], str] = {}
    counts: Counter[tuple[Any, Any]] = Counter()
    spans: dict[tuple[Any, Any], tuple[float, float]] = {}
    for event in events:
        kind, place = event.get("ph"), (event.get("pid"), event.get("tid"))
        if kind == "M" and event["name"] == "process_name":
            names[event["pid"], None] = str(event["args"]["name"])
        elif kind == "M" and event["name"] == "thread_name":
            names[place] = str(event["args"]["name"])
        elif kind in ("X", "i", "I", "B", "E"):
            start = float(event.get("ts", 0))
            end = start + float(event.get("dur", 0))
            least, most = spans.get(place, (start, end))
            spans[place] = (min(least, start), max(most, end))
            counts[place] += 1
    rows: list[tuple[Cell, ...]] = [
        (
            names.get((process, None), f"process {process}"),
            names.get((process, thread), f"thread {thread}"),
            counts[process, thread],
            *spans[process, thread],
        )
        for process, thread in sorted(counts, key=lambda place: tuple(map(_order, place)))
    ]
    return Table("tracks", _COLUMNS, rows, title="Tracks")


def _order(number: Any) -> tuple[float, str]:
    return (float(number), "") if isinstance(number, (int, float)) else (0.0, str(number))
