"""Precomputed answers that are trees of JSON: Pod Viewer, Op Profile, Memory Profile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tfprof.captures.facts.steps import CATEGORIES
from tfprof.captures.legacy.tables import property_table
from tfprof.captures.run.result import Chart, ToolResult
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.captures.tools.memory_profile import BREAKDOWN, SUMMARY
from tfprof.captures.tools.tpu_pod import ALL_REDUCES, CHANNELS, PARTS
from tfprof.core.text.claims import Claim

_POD_PARTS: Final = {
    "highFlopsComputeUs": "high_flops_compute_us",
    "hostInfeedDurationUs": "infeed_us",
    "hostOutfeedDurationUs": "outfeed_us",
    "allReduceComputeDurationUs": "all_reduce_compute_us",
    "allReduceSyncDurationUs": "all_reduce_sync_us",
    "crsDurationUs": "all_reduce_us",
    "sendDurationUs": "send_us",
    "recvDurationUs": "receive_us",
    "bcInfeedTransformDurationUs": "sparse_infeed_transform_us",
    "bcInfeedWaitDurationUs": "sparse_infeed_wait_us",
    "bcOutfeedDurationUs": "sparse_outfeed_us",
}
"""Parts of a step on a Cloud TPU core; what none of them has is other compute."""

_POD_LABELS: Final = {"all_reduce_us": "All-reduce", **dict(PARTS)}

_POD_CATEGORIES: Final = {category.name: f"{category.key}_us" for category in CATEGORIES}

_CHANNELS: Final = tuple(one for one in CHANNELS if one.id not in ("step", "bandwidth"))
_ALL_REDUCES: Final = tuple(
    one
    for one in ALL_REDUCES
    if one.id in ("name", "dataSize", "durationUs", "occurrences", "description")
)
_OP_PROFILE: Final = (
    Column("level", "Level"),
    Column("name", "Name", "string"),
    Column("time_share", "Share of the time", unit="fraction"),
    Column("flops_utilization", "FLOPS utilization", unit="fraction"),
    Column("category", "Category", "string"),
    Column("provenance", "Framework op", "string"),
    Column("expression", "HLO text", "string"),
)
_PICOS_PER_MILLI: Final = 1e9
_MOST_DEPTH: Final = 500


def pod_viewer(data: Any) -> ToolResult:
    """The Pod Viewer, of Cloud TPU or later."""
    steps = data["podStatsSequence"]["podStatsMap"]
    labels = {str(event["id"]): event["name"] for event in data.get("stepBreakdownEvents", ())}
    table = _pod_steps(steps, labels)
    tables = {"workers": table}
    for name, key, columns, title in (
        ("channels", "channelDb", _CHANNELS, "Channels of send and receive"),
        ("all_reduces", "allReduceOpDb", _ALL_REDUCES, "All-reduce ops"),
    ):
        rows = [
            (_text(step.get("stepNum", 0)), *_plain_row(entry, columns))
            for step in steps
            for entry in step.get(key, ())
        ]
        if rows:
            step_column = Column("step", "Step", "string")
            tables[name] = Table(name, (step_column, *columns), rows, title=title)
    around = _flat(data.get("runEnvironment", {}))
    if around:
        tables["environment"] = property_table("environment", around)
    return ToolResult(
        tool="pod",
        title="Pod viewer",
        claims=tuple(_pod_claims(table)),
        tables=tables,
        charts=_pod_chart(table),
        gviz=lambda: data,
    )


def op_profile(data: Any) -> ToolResult:
    """The Op Profile."""
    names = {
        "byProgram": "by_program", "byCategory": "by_category", "byProvenance": "by_provenance",
        "byProgramExcludeIdle": "by_program_without_idle",
        "byCategoryExcludeIdle": "by_category_without_idle",
        "byProvenanceExcludeIdle": "by_provenance_without_idle",
    }  # fmt: skip
    tables = {
        name: Table(name, _OP_PROFILE, _op_rows(data[key]), title=_op_title(name))
        for key, name in names.items()
        if key in data
    }
    trees = {name: data[key] for key, name in names.items() if key in data}
    return ToolResult(
        tool="op-profile",
        title="Op profile",
        claims=tuple(_op_claims(tables)),
        tables=tables,
        data=trees,
        gviz=lambda: data,
    )


def memory_profile(data: Any) -> ToolResult:
    """The Memory Profile."""
    allocators = data.get("memoryProfilePerAllocator", {})
    summary = [_memory_summary(name, profile) for name, profile in sorted(allocators.items())]
    rows = [
        row for name, profile in sorted(allocators.items()) for row in _memory_rows(name, profile)
    ]
    tables = {
        "summary": Table("summary", SUMMARY, summary, title="Allocators"),
        "peak": Table("peak", BREAKDOWN, rows, title="In use at the peak"),
    }
    charts = [_timeline(name, profile) for name, profile in sorted(allocators.items())]
    return ToolResult(
        tool="memory",
        title="Memory profile",
        claims=tuple(_memory_claims(tables["summary"])),
        tables=tables,
        charts=tuple(charts),
        gviz=lambda: data,
    )


def _pod_steps(steps: Sequence[Mapping[str, Any]], labels: Mapping[str, str]) -> Table:
    cores = [
        (step, core, stats)
        for step in steps
        for core, stats in sorted(step["podStatsPerCore"].items(), key=lambda item: int(item[0]))
    ]
    if labels:
        parts = {_POD_CATEGORIES.get(label, f"{key}_us"): label for key, label in labels.items()}
    else:
        known = {key for _, _, stats in cores for key in stats}
        names = [name for key, name in _POD_PARTS.items() if key in known]
        parts = {name: _POD_LABELS[name] for name in (*names, "low_flops_compute_us")}
    columns = (
        Column("step", "Step", "string"),
        Column("host", "Host", "string"),
        Column("core", "Core"),
        Column("chip", "Chip"),
        Column("node", "Node"),
        Column("total_us", "Step time", unit="us"),
        *(Column(key, label, unit="us") for key, label in parts.items()),
        Column("bottleneck", "Bottleneck", "string"),
    )
    rows = []
    for step, core, stats in cores:
        of_core = {
            "step": step.get("stepNum", 0), "core": core, "host": stats.get("hostName"),
            "chip": stats.get("chipId"), "node": stats.get("nodeId"),
            "total_us": stats["totalDurationUs"], "bottleneck": stats.get("bottleneck", ""),
        }  # fmt: skip
        of_core |= _part_times(stats, labels)
        rows.append(_plain_row(of_core, columns))
    return Table("workers", columns, rows, title="Steps of all cores")


def _part_times(stats: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    if labels:
        times = stats["stepBreakdownUs"]
        return {
            _POD_CATEGORIES.get(label, f"{key}_us"): times.get(key, 0)
            for key, label in labels.items()
        }
    known = {column: _number(stats[key]) for key, column in _POD_PARTS.items() if key in stats}
    rest = _number(stats["totalDurationUs"]) - sum(known.values())
    return known | {"low_flops_compute_us": max(0.0, rest)}


def _pod_chart(table: Table) -> tuple[Chart, ...]:
    """Cores of the last step."""
    if not len(table):
        return ()
    last = [row for row in table.rows if row[0] == table.rows[-1][0]]
    series = {
        column.label: tuple(float(row[place] or 0) for row in last)
        for place, column in enumerate(table.columns)
        if column.unit == "us" and column.id != "total_us"
    }
    labels = tuple(f"core {row[2]}" for row in last)
    title = f"Cores of step {last[0][0]}"
    return (Chart("last_step", "stacked_bar", title, "core", "time (us)", labels, series),)


def _pod_claims(table: Table) -> Iterable[Claim]:
    bottlenecks = [str(name) for name in table.column("bottleneck")]
    if not bottlenecks:
        return
    most = max(sorted(set(bottlenecks)), key=bottlenecks.count)
    yield Claim(
        most, "step_count", bottlenecks.count(most), "count",
        details={"all_count": len(bottlenecks)},
        words="{subject} is the bottleneck of {value} of {all_count} steps of cores.",
    )  # fmt: skip


def _plain_row(data: Mapping[str, Any], columns: Sequence[Column]) -> tuple[Cell, ...]:
    """Cells of an object; 64-bit numbers are texts in JSON."""
    cells: list[Cell] = []
    for column in columns:
        value = data.get(column.id)
        if value is None:
            cells.append(None)
        elif column.type == "number":
            cells.append(_number(value))
        else:
            cells.append(", ".join(map(str, value)) if isinstance(value, list) else _text(value))
    return tuple(cells)


def _number(value: Any) -> int | float:
    """A number, also one of 64 bits, which is a text in JSON; larger ones are an error."""
    if not isinstance(value, (int, float)):
        text = str(value)
        value = int(text) if text.lstrip("-").isdecimal() else float(text)
    float(value)
    number: int | float = value
    return number


def _text(value: Any) -> str:
    return str(value)


def _flat(data: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Nested properties under dotted names, two levels at most."""
    flat: dict[str, str] = {}
    for key, value in data.items():
        if isinstance(value, Mapping) and not before:
            flat |= _flat(value, f"{key}.")
        else:
            flat[f"{before}{key}"] = str(value)
    return flat


def _op_rows(root: Mapping[str, Any]) -> list[tuple[Cell, ...]]:
    """The tree in preorder."""
    whole = root.get("metrics", {}).get("rawTime")
    rows: list[tuple[Cell, ...]] = []
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > _MOST_DEPTH:
            raise ValueError(f"more than {_MOST_DEPTH} levels")
        metrics = node.get("metrics") or {}
        time, flops = (metrics.get(name) for name in ("time", "flops"))
        time, flops = (None if value is None else _number(value) for value in (time, flops))
        if time is None and whole:
            time = _number(metrics.get("rawTime", 0)) / _number(whole)
        utilization = flops / time if time and flops is not None else None
        xla = node.get("xla") or {}
        rows.append(
            (
                depth, str(node["name"]), time, utilization, str(xla.get("category", "")),
                str(xla.get("provenance", "")), str(xla.get("expression", "")),
            )
        )  # fmt: skip
        waiting += [(child, depth + 1) for child in reversed(node.get("children", ()))]
    return rows


def _op_title(name: str) -> str:
    grouping, _, without = name.removeprefix("by_").partition("_without_")
    return f"By {grouping}" + (", without idle time" if without else "")


def _op_claims(tables: Mapping[str, Table]) -> Iterable[Claim]:
    if not tables:
        return
    first = next(iter(tables.values()))
    tops = [row for row in first.rows if row[0] == 1 and isinstance(row[2], (int, float))]
    if tops:
        top = max(tops, key=lambda row: float(row[2] or 0))
        yield Claim(str(top[1]), "self_share", float(top[2] or 0), "fraction",
                    words="{subject} takes {value} of the time.")  # fmt: skip


def _memory_summary(name: str, profile: Mapping[str, Any]) -> tuple[Cell, ...]:
    summary = profile["profileSummary"]
    peak = summary.get("peakStats", {})
    cells: dict[str, Cell] = {
        "allocator": name,
        "capacity_bytes": int(summary.get("memoryCapacity", 0)),
        "peak_lifetime_bytes": int(summary.get("peakBytesUsageLifetime", 0)),
        "peak_bytes": int(peak.get("peakBytesInUse", 0)),
        "peak_time_ms": int(summary.get("peakStatsTimePs", 0)) / _PICOS_PER_MILLI,
        "stack_bytes": int(peak.get("stackReservedBytes", 0)),
        "heap_bytes": int(peak.get("heapAllocatedBytes", 0)),
        "free_bytes": int(peak.get("freeMemoryBytes", 0)),
        "fragmentation": float(peak.get("fragmentation", 0)),
    }
    return tuple(cells.get(column.id) for column in SUMMARY)


def _memory_rows(name: str, profile: Mapping[str, Any]) -> Iterable[tuple[Cell, ...]]:
    for active in profile.get("activeAllocations", ()):
        place, special = int(active.get("snapshotIndex", 0)), int(active.get("specialIndex", 0))
        if place >= 0:
            of = profile["memoryProfileSnapshots"][place]["activityMetadata"]
        else:
            of = profile["specialAllocations"][special]
        cells: dict[str, Cell] = {
            "allocator": name,
            "op": str(of.get("tfOpName", "")),
            "allocation_bytes": int(of.get("allocationBytes", 0)),
            "requested_bytes": int(of.get("requestedBytes", 0)),
            "occurrences": int(active.get("numOccurrences", 0)),
            "region": str(of.get("regionType", "")),
            "dtype": str(of.get("dataType", "")),
            "shape": str(of.get("tensorShape", "")),
        }
        yield tuple(cells.get(column.id) for column in BREAKDOWN)


def _memory_claims(summary: Table) -> Iterable[Claim]:
    for row in summary.to_rows():
        yield Claim(str(row["allocator"]), "peak_memory", int(row["peak_bytes"] or 0), "bytes",
                    words="{subject} had at most {value} in use.")  # fmt: skip


def _timeline(name: str, profile: Mapping[str, Any]) -> Chart:
    snapshots = profile.get("sampledTimelineSnapshots") or profile["memoryProfileSnapshots"]
    millis = tuple(int(each.get("timeOffsetPs", 0)) / _PICOS_PER_MILLI for each in snapshots)
    series = {
        label: tuple(float(each["aggregationStats"].get(key, 0)) for each in snapshots)
        for label, key in (
            ("stack", "stackReservedBytes"),
            ("heap", "heapAllocatedBytes"),
            ("free", "freeMemoryBytes"),
        )
    }
    title = f"Memory of {name} over time"
    return Chart(
        f"timeline_{name}", "stacked_area", title, "time (ms)", "memory (bytes)", millis, series
    )
