"""The page of the trace viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.captures.run.table import Cell, Column, Table
from tfprof.captures.trace.events import covered_ps
from tfprof.captures.trace.model import TraceModel
from tfprof.captures.trace.track_kinds import track_kind
from tfprof.core.text.characters import escaped
from tfprof.core.text.units import milliseconds
from tfprof.ui.pages.blocks_of_results import notes_block, table_block
from tfprof.ui.pages.document import Block, Page, column, empty, remarks, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.captures.run.result import Note
    from tfprof.inputs.opened import Opened

_PS_PER_US = 1e6

_COLUMNS = (
    Column("track", "Track", "string"),
    Column("busy_us", "Busy", unit="us"),
    Column("events", "Events"),
    Column("process", "Process", "string"),
    Column("lanes", "Lanes"),
    Column("first_us", "First event", unit="us"),
    Column("last_us", "End of the last event", unit="us"),
)


def trace_page(model: TraceModel, notes: Iterable[Note] = ()) -> Page:
    """The page of the trace viewer.

    Args:
        model: The trace.
        notes: Remarks on the data.
    """
    blocks: list[Block] = notes_block(notes)
    lost = [("warning", f"{n:,} events are not shown: each {why}", "")
            for why, n in model.shown.left_out]  # fmt: skip
    lost += [("warning", text, "") for text in model.remarks]
    if lost:
        blocks.append(remarks(lost))
    if model.tracks or model.counters:
        blocks.append(trace_block(model))
    else:
        blocks.append(words([_verdict(model)], lead=True))
        blocks.append(
            empty("There is no event in this trace. A capture holds events if the program ran "
                  "while it was taken.")
        )  # fmt: skip
    return Page("trace", "Trace viewer", "Every event of every thread over time.", blocks)


def trace_page_of(opened: Opened) -> Page:
    """The page of the trace viewer of an opened run."""
    notes = opened.run().notes if opened.run is not None else ()
    return trace_page(opened.events(), notes)


def _verdict(model: TraceModel) -> str:
    shown, n_tracks = model.shown, len(model.tracks)
    first, last = model.range_ps
    parts = [f"{shown.as_slices:,} events"]
    if shown.as_counters:
        parts.append(f"{shown.as_counters:,} values of counters")
    if shown.derived:
        parts.append(f"{shown.derived:,} events made of them (steps, scopes, regions)")
    said = ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]
    return (
        f"{said} in {n_tracks:,} track{'' if n_tracks == 1 else 's'}, over "
        f"{milliseconds((last - first) / 1e9)}; dropped: {shown.dropped:,} of {shown.in_capture:,} "
        "that the capture holds."
    )


def trace_block(model: TraceModel) -> Block:
    """The block of the viewer: tracks, steps and counters; tiles are loaded on request.

    Returns:
        ``t0``, ``t1``, in ps; ``processes``; ``tracks`` with ``process``, ``name``, ``thread_id``,
        ``kind`` of what runs there, ``n`` events, ``lanes``, ``depth`` of what is inside each
        other, ``n_tangled`` events around which some overlap only in part, and ``is_derived``;
        ``counters``; ``steps``, and the place of the ``slowest`` whole one, None without any;
        ``shown``, the counts; ``about``, a sentence on all; and ``overview``, a table of tracks.
    """
    first, last = model.range_ps
    shown = model.shown
    return {
        "kind": "trace",
        "id": "trace",
        "t0": first,
        "t1": last,
        "processes": [escaped(name) for name in model.processes],
        "tracks": [
            {
                "process": track.process, "name": escaped(track.name),
                "thread_id": str(track.thread_id),
                "kind": track_kind(model.processes[track.process], track.name),
                "n": len(track), "lanes": len(track.lanes),
                "depth": track.lanes.depth, "n_tangled": track.lanes.n_tangled,
                "is_derived": track.is_derived,
            }
            for track in model.tracks
        ],
        "counters": [
            {"process": each.process, "name": escaped(each.name)} for each in model.counters
        ],
        "steps": {
            "names": column([escaped(step.name) for step in model.steps]),
            "starts": column([step.start_ps for step in model.steps]),
            "ends": column([step.end_ps for step in model.steps]),
        },
        "slowest": _slowest(model),
        "n_flows": len(model.flows.from_track),
        "shown": {
            "in_capture": shown.in_capture, "as_slices": shown.as_slices,
            "as_counters": shown.as_counters, "derived": shown.derived, "dropped": shown.dropped,
        },
        "about": _verdict(model),
        "overview": table_block(_table(model)),
    }  # fmt: skip


def _slowest(model: TraceModel) -> int | None:
    """Place of the longest step that is whole; of equal ones the first."""
    whole = [at for at, step in enumerate(model.steps) if step.is_whole]
    return max(whole, key=lambda at: (model.steps[at].end_ps - model.steps[at].start_ps, -at),
               default=None)  # fmt: skip


def _table(model: TraceModel) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for track in model.tracks:
        ends = track.starts + track.durations
        rows.append(
            (
                track.name,
                covered_ps(track.starts, ends) / _PS_PER_US,
                len(track),
                model.processes[track.process],
                len(track.lanes),
                track.start_ps(0) / _PS_PER_US,
                (int(ends.max()) + track.shift_ps) / _PS_PER_US,
            )
        )
    return Table("tracks", _COLUMNS, rows, title="Tracks")
