"""Results that profilers before XSpace wrote into log folders instead of the underlying data.

TensorFlow 2.2 and 2.3 and the tools of Cloud TPU wrote the answer of each tool into a file of its
own: ``<host>.overview_page.pb``, ``<host>.pod_viewer.json``, ``<host>.trace``, … This module shows
them as written: lists of objects as tables, sentences as the verdict, tips as advice.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, cast

from tfprof.captures.run.result import Advice, Chart, Note, Severity, ToolResult
from tfprof.captures.run.table import Column, Table
from tfprof.core.text.claims import quoted
from tfprof.core.wire import messages as pb
from tfprof.core.wire.messages import message_class, parse
from tfprof.errors import MalformedProfileError, UnknownFormatError
from tfprof.files.numbered_names import natural_order
from tfprof.files.open import load_file
from tfprof.files.precomputed_names import TOOLS, LegacyName, legacy_name
from tfprof.files.remote.path import named

Row = dict[str, Any]

_MESSAGES: Final = {
    "overview_page": "OverviewPage",
    "input_pipeline": "InputPipelineAnalysisResult",
    "tensorflow_stats": "TfStatsDatabase",
    "kernel_stats": "KernelStatsDb",
    "trace": "Trace",
}
"""The message that holds an answer. Answers of other tools are always JSON."""

_TABLES: Final = {
    "stepnum": "steps",
    "stepname": "steps",
    "step_details": "steps",
    "input_analysis/step_details": "steps",
    "selfTimePercent": "top_ops",
    "analysis/top_device_ops": "top_ops",
    "opName": "input_ops",
    "input_op_details": "input_ops",
    "index": "max_infeed_cores",
    "without_idle/tf_stats_record": "ops",
    "with_idle/tf_stats_record": "ops_with_idle",
    "reports": "kernels",
    "podStatsSequence/podStatsMap/podStatsPerCore/*core": "workers",
    "podStatsSequence/podStatsMap/channelDb": "channels",
    "podStatsSequence/podStatsMap/allReduceOpDb": "all_reduces",
    "stepBreakdownEvents": "parts",
    "memoryProfilePerAllocator/*allocator/profileSummary": "allocators",
    "memoryProfilePerAllocator/*allocator/sampledTimelineSnapshots": "timeline",
}
"""Paths to the rows of tables in messages and JSON, and the names of the tables. ``*name`` stands
for any key, which becomes a column of this name. Tables for Google's charts are at the name of
their first column."""

_UNITS: Final = {
    "fraction": r"(?:Time|In)Percent$|_fraction$|_utilization$|^metrics\.(?:time|flops)$",
    "percent": r"_percent$|^infeedPercent",
    "bytes": r"bytes|Bytes|dataSize",
    "gflops_per_s": r"flop_?[rR]ate$",
    "gib_per_s": r"memory_bw$",
    "ms": r"(?:_ms|Ms)$",
    "us": r"(?:_us|Us)(?:$|\.)",
    "ns": r"_ns$",
    "ps": r"Ps$",
}
"""Units, and the names of the columns that have them."""

_SENTENCE: Final = re.compile(r"(?:statement(?:_html)?|_conclusion|summary_next_?step)$")
_TIP: Final = re.compile(r"(?:([a-z]+)_tips|details)$")
_REMARK: Final = re.compile(r"(?:^|\.)(error|warning|info)s?$", re.IGNORECASE)
_UNSHOWN: Final = re.compile(r"color$|link|step_time_breakdown")
_MOST_LEVELS: Final = 500
_WRONG_FORM = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""Errors of reading answers whose content does not match their name."""


def open_legacy(path: str | os.PathLike[str]) -> ToolResult:
    """Read a result that the profiler computed during the capture.

    Args:
        path: ``*.overview_page``, ``*.input_pipeline`` (both ``.json`` or ``.pb``),
            ``*.op_profile.json``, ``*.pod_viewer.json``, ``*.memory_profile.json``,
            ``*.tensorflow_stats.pb``, ``*.kernel_stats.pb``, ``*.trace.json`` or ``*.trace``; also
            ``.gz`` or ``.xz``.

    Returns:
        The content of the file, with a note that it is precomputed. ``to_gviz`` returns JSON files
        as they are, and a ``*.trace`` as Chrome's JSON.

    Raises:
        UnknownFormatError: The name does not belong to a result.
        InputError: The file is unreadable.
        MalformedProfileError: The file is damaged, or holds something else.
    """
    name = legacy_name(path)
    if name is None:
        kinds = ", ".join(f"*.{kind}" for kind in TOOLS)
        raise UnknownFormatError(
            f"{named(path)}: not named like a result of an older profiler ({kinds}). Name it "
            "after the tool that it is of, such as host.overview_page.pb"
        )
    file = load_file(path)
    if not (name.is_json or name.answer in _MESSAGES):
        raise UnknownFormatError(
            f"{file.path}: no known profiler wrote {name.answer} as a message. Check the name"
        )
    try:
        result = _read(name, bytes(file.data), file.path)
    except _WRONG_FORM as error:
        form = "JSON" if name.is_json else "message"
        raise MalformedProfileError(
            f"{file.path}: not the {form} that {name.answer} of older profilers is: "
            f"{repr(error)[:200]}. Check that it is complete, and that its name says what it is"
        ) from error
    note = Note(
        "info",
        f"computed when the profile was captured, and read from {file.path}: it has no other steps "
        "or hosts",
        name.host,
    )
    return replace(result, notes=(note, *result.notes))


def plain_text(markup: str) -> str:
    """Convert a piece of HTML to plain text, without tags and with entities as characters.

    >>> plain_text('use <a href="x">tf.data</a> &amp; prefetch')
    'use tf.data & prefetch'
    """
    with_lines = re.sub(r"<br\s*/?>", "\n", markup, flags=re.IGNORECASE)
    return html.unescape(re.sub(r"<[^<>]*>", "", with_lines)).strip()


def _read(name: LegacyName, data: bytes, source: str) -> ToolResult:
    answer, tool, notes = name.answer, name.tool, list[Note]()
    if name.is_json:
        content = json.loads(data, parse_int=_integer)
    else:
        message = parse(getattr(pb, _MESSAGES[answer]), data, source=source)
        content = _chrome(message) if answer == "trace" else _plain(message, source, notes)
    if answer == "trace":
        return _trace(content)
    tree = _charts(content) if isinstance(content, list) else content
    if answer == "op_profile":
        roots = {key: root for key, root in tree.items() if isinstance(root, Mapping)}
        tables = [_table(_words(key, "_"), _preorder(root)) for key, root in roots.items()]
    else:
        tables = [_table(each, _rows(tree, path.split("/"))) for path, each in _TABLES.items()]
    if answer == "memory_profile":
        tables.append(_table("peak", _in_use(tree["memoryProfilePerAllocator"])))
    tables = [table for table in tables if len(table)]
    if name.is_json and tree is content:
        if not (tables or tree.keys() & {"podStatsSequence", "memoryProfilePerAllocator"}):
            raise ValueError("it holds none of the tables")
        tree = tree.get("runEnvironment", {})
    gviz = content if name.is_json else [table.to_gviz() for table in tables]
    return _result(tool, tables, _flat(tree), notes, gviz)


def _integer(text: str) -> float:
    """A number of JSON; numbers with more digits than 64-bit numbers are not exact."""
    return int(text) if len(text) <= 20 else float(text)


def _result(
    tool: str, tables: Sequence[Table], fields: Row, notes: Sequence[Note], gviz: Any
) -> ToolResult:
    """Tables as they are; other fields as sentences, tips, remarks and rows of a summary."""
    sentences, advice, remarks, summary = [], [], [], list[Row]()
    texts = (
        (key, plain_text(f"{one:.6g}" if isinstance(one, float) else str(one)))
        for key, value in fields.items()
        for one in (value if isinstance(value, list) else [value])
        if one
    )
    for key, text in texts:
        if not text.strip("0.%") or _UNSHOWN.search(key):
            continue
        if _SENTENCE.search(key):
            sentences.append(re.sub(r"^\(\d+\)\s*", "", text))
        elif tip := _TIP.search(key):
            advice.append(Advice(f"{tool}/{tip[1] or 'host'}", "{tip}", {"tip": text}))
        elif remark := _REMARK.search(key):
            remarks.append(Note(cast("Severity", remark[1].lower()), text))
        else:
            what = " ".join(_words(key).split(".")[-2:])
            summary.append({"what": what, "value": text})
    if summary:
        tables = [*tables, _table("summary", summary)]
    return ToolResult(
        tool,
        tool.replace("-", " ").capitalize(),
        claims=quoted(dict.fromkeys(sentences)),
        tables={table.name: table for table in tables},
        charts=tuple(_step_chart(table) for table in tables if table.name == "steps"),
        advice=tuple(advice),
        notes=(*dict.fromkeys(notes), *remarks),
        gviz=lambda: gviz,
    )


def _step_chart(steps: Table) -> Chart:
    parts = {
        re.sub(r"(?: time)? \(ms\)$", "", column.label): steps.column(column.id)
        for column in steps.columns
        if column.unit == "ms" and column.id not in ("stepTimeMs", "step_time_ms")
    }
    series = {name: tuple(float(each or 0) for each in cells) for name, cells in parts.items()}
    title, labels = "Where the time of each step went", tuple(str(row[0]) for row in steps.rows)
    return Chart("step_breakdown", "stacked_bar", title, "step", "time (ms)", labels, series)


def _charts(parts: Sequence[Mapping[str, Any]]) -> Row:
    """Tables for Google's charts as lists of objects, beside their properties, tips and remarks."""
    tree: Row = {}
    for part in parts:
        ids = [column["id"] for column in part.get("cols", ())]
        rows = [
            {key: cell and cell.get("v") for key, cell in zip(ids, row["c"], strict=True)}
            for row in part.get("rows", ())
        ]
        first = ids[0] if ids else ""
        if first == "dontcare":  # meant for Google's own staff
            continue
        tree |= {first: rows, **part.get("p", {})}
        if first in ("tip_type", "link", "severity"):
            for kind, *more in (row.values() for row in rows):
                key = kind if first == "severity" else f"{kind}_tips" if more else "details"
                tree.setdefault(key, []).append(more[0] if more else kind)
    return tree


def _rows(value: Any, path: Sequence[str], above: Mapping[str, Any] = {}) -> Iterator[Row]:
    """The objects at a path, each with the numbers and texts of the lists' objects above it."""
    if isinstance(value, list):
        for each in value:
            around = {k: v for k, v in each.items() if path and not isinstance(v, (Mapping, list))}
            yield from _rows(each, path, {**above, **around})
    elif not path:
        yield {**above, **_flat(value)}
    elif path[0].startswith("*"):
        for key, each in value.items():
            yield from _rows(each, path[1:], {**above, path[0][1:]: _number(key)})
    elif path[0] in value:
        yield from _rows(value[path[0]], path[1:], above)


def _preorder(node: Mapping[str, Any], level: int = 0) -> Iterator[Row]:
    if level > _MOST_LEVELS:
        raise ValueError(f"more than {_MOST_LEVELS} levels")
    yield {"level": level, **_flat(node)}
    for child in node.get("children", ()):
        yield from _preorder(child, level + 1)


def _flat(data: Mapping[str, Any], above: str = "") -> Row:
    """Fields of an object and of objects in it, by dotted names, without lists of objects."""
    flat: Row = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{above}{key}.")
        elif not (isinstance(value, list) and all(isinstance(each, Mapping) for each in value)):
            flat[f"{above}{key}"] = _number(value)
    return flat


def _number(value: Any) -> Any:
    """The value, converted to a number if it is the text of one, like 64-bit numbers in JSON."""
    is_text = isinstance(value, str) and re.fullmatch(r"-?(0|[1-9]\d{0,18})", value)
    return int(value) if is_text else value


def _table(name: str, rows: Iterable[Row]) -> Table:
    rows = list(rows)
    columns, cells = [], []
    for key in dict.fromkeys(key for row in rows for key in row if key != "tooltip"):
        values = [row.get(key) for row in rows]
        kinds = {type(value) for value in values if value is not None}
        kind: Literal["string", "number", "boolean"] = "string"
        if kinds <= {int, float, bool}:
            kind = "boolean" if kinds == {bool} else "number"
        else:
            values = [v and ", ".join(map(str, v if isinstance(v, list) else [v])) for v in values]
        label = re.sub(r"(?: in)? (ms|us|ns|ps)$", r" (\1)", _words(key).rpartition(".")[2])
        label = re.sub(r"(?: in| as)? (?:percent|fraction)$", " share", label)
        unit = next((unit for unit, pattern in _UNITS.items() if re.search(pattern, key)), "")
        columns.append(Column(key, label, kind, unit))
        cells.append(values)
    return Table(
        name, tuple(columns), list(zip(*cells, strict=True)), title=_words(name).capitalize()
    )


def _words(name: str, gap: str = " ") -> str:
    return re.sub(r"(?<=[a-z\d])(?=[A-Z])|_", gap, name).lower()


def _in_use(profiles: Mapping[str, Any]) -> Iterator[Row]:
    """The allocations at the peak of each allocator."""
    for name, profile in profiles.items():
        snapshots = profile["memoryProfileSnapshots"]
        for one in profile.get("activeAllocations", ()):
            place = int(one.get("snapshotIndex", 0))
            if place >= 0:
                about = snapshots[place]["activityMetadata"]
            else:
                about = profile["specialAllocations"][int(one.get("specialIndex", 0))]
            yield {"allocator": name, **_flat(one), **_flat(about)}


def _plain(value: Any, source: str, notes: list[Note]) -> Any:
    """A message as objects, lists and values, with notes on unknown packed messages."""
    if isinstance(value, pb.OverviewPageTip):
        return value.link
    if isinstance(value, pb.PackedMessage):
        kind = value.type_url.rpartition("/")[2]
        try:
            value = parse(message_class(kind), value.value, source=source)
        except KeyError:
            text = f"messages of the type {kind} cannot be read, and are not shown"
            notes.append(Note("warning", text))
            return {}
    if isinstance(value, Mapping):
        return {key: _plain(each, source, notes) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [made for each in value if (made := _plain(each, source, notes)) != {}]
    if not hasattr(value, "DESCRIPTOR"):
        return value
    return {
        field.name: _plain(getattr(value, field.name), source, notes)
        for field in value.DESCRIPTOR.fields
        if not field.has_presence or value.HasField(field.name)
    }


def _chrome(trace: pb.Trace) -> Row:
    events: list[Row] = []
    for pid, device in sorted(trace.devices.items()):
        about = {"ph": "M", "pid": pid}
        events.append({**about, "name": "process_name", "args": {"name": device.name}})
        events += (
            {**about, "tid": tid, "name": "thread_name", "args": {"name": resource.name}}
            for tid, resource in sorted(device.resources.items())
        )
    for one in trace.trace_events:
        times = {"ts": one.timestamp_ps / 1e6, "dur": one.duration_ps / 1e6}
        place = {"pid": one.device_id, "tid": one.resource_id}
        args = dict(sorted(one.args.items()))
        events.append({"ph": "X", "name": one.name, **place, **times, "args": args})
    return {"displayTimeUnit": "ns", "traceEvents": events}


def _trace(content: Any) -> ToolResult:
    """The tracks of a trace in Chrome's JSON: an object with ``traceEvents``, or a list."""
    whole = content if isinstance(content, Mapping) else {"traceEvents": content}
    names: dict[Any, str] = {}
    counts: Counter[tuple[Any, Any]] = Counter()
    for event in whole["traceEvents"]:
        kind, pid, tid = event.get("ph"), event.get("pid"), event.get("tid")
        if kind in ("X", "i", "I", "B", "E"):
            counts[pid, tid] += 1
        elif kind == "M" and event["name"] in ("process_name", "thread_name"):
            names[pid if event["name"] == "process_name" else (pid, tid)] = event["args"]["name"]
    rows = [
        {
            "process": names.get(pid, f"process {pid}"),
            "thread": names.get((pid, tid), f"thread {tid}"),
            "events": count,
        }
        for (pid, tid), count in sorted(counts.items(), key=lambda one: natural_order(str(one[0])))
    ]
    return _result("trace", [_table("tracks", rows)], {}, (), whole)
