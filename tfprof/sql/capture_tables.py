"""Captures as tables: every event, and every step with its time by category."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import HostSteps
from tfprof.captures.run.run import Host, Run
from tfprof.captures.trace.events import begins_ps
from tfprof.captures.trace.model import TraceModel, TraceTrack
from tfprof.core.columns.arrow import ArrowColumn, Coded, Field, Numbers
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.described import Described
from tfprof.core.columns.stacks import Stacks
from tfprof.sql.event_tables import argument_chunks, detail_chunks, is_derived, self_times_ps

NamedRun = tuple[str, Run]
"""A captured run, and its name."""


@dataclass(frozen=True, slots=True)
class CaptureTable:
    """A table made from the columns of captures.

    Attributes:
        about: Meaning of a row.
        columns: Its columns.
        chunks: The rows of some runs, host by host.
    """

    about: str
    columns: tuple[Described, ...]
    chunks: Callable[[Sequence[NamedRun]], Iterable[Sequence[ArrowColumn]]]

    def of(
        self, runs: Sequence[NamedRun], more: Iterable[Sequence[ArrowColumn]] = ()
    ) -> tuple[tuple[Field, ...], list[Sequence[ArrowColumn]]]:
        """The types of the columns, and their rows.

        Args:
            runs: The runs.
            more: Rows of other sources than captures.
        """
        chunks = [*self.chunks(runs), *more]
        fields = []
        for place, column in enumerate(self.columns):
            coded = [one for chunk in chunks if isinstance(one := chunk[place], Coded)]
            widest = np.result_type(*(one.places for one in coded)).name if coded else ""
            if column.type == "string" and not chunks:
                widest = "int8"
            fields.append(column.field(widest))
        return tuple(fields), chunks


_EVENTS = (
    Described("run", "string", "", "name of the run"),
    Described("host", "string", "", "host: the name of its file up to .xplane.pb"),
    Described("plane", "string", "", "process or device: /host:CPU, /device:GPU:0"),
    Described("line", "string", "", "thread or stream"),
    Described("line_id", "int64", "", "number of the thread or stream"),
    Described("is_derived", "bool", "", "not recorded, but worked out: on a derived line, or a "
              "region of a thread pool, from two events"),
    Described("name", "string", "", "what it is"),
    Described("op", "string", "", "op in the name; null without one"),
    Described("op_type", "string", "", "type of that op"),
    Described("start_ps", "int64", "ps", "start, since the begin of the run", "of the row"),
    Described("duration_ps", "int64", "ps", "how long it took", "of the row"),
    Described("self_ps", "int64", "ps", "the same without the recorded events inside it on its "
              "line", "of the row"),
    Described("step", "string", "", "step it belongs to; null without one"),
    Described("event_id", "int64", "", "its number in its host, which other tables of events have"),
)  # fmt: skip

_DETAILS = (
    *_EVENTS[:2],
    _EVENTS[-1],
    Described("parent_id", "int64", "", "the recorded event around it on its line; null without "
              "one"),
    Described("depth", "int64", "", "how many recorded events are around it on its line"),
    Described("correlation_id", "int64", "", "what a kernel and the call that launched it share; "
              "null without one"),
    Described("shape", "string", "", "shapes that it has recorded; null without any"),
    Described("bytes", "int64", "bytes", "copied, set, accessed, allocated or freed; null if it "
              "has not recorded that"),
    Described("details", "string", "", "of a kernel registers, shared memory, grid and block, of "
              "a copy or fill its kind of memory; null without any"),
)  # fmt: skip

_ARGUMENTS = (
    *_EVENTS[:2],
    _EVENTS[-1],
    Described("name", "string", "", "name of the stat"),
    Described("value", "string", "", "its value, as a text"),
    Described("number", "float64", "", "its value; null for texts"),
)


def _event_chunks(runs: Sequence[NamedRun]) -> Iterator[Sequence[ArrowColumn]]:
    for name, run in runs:
        for host, begin_ps in zip(run.hosts, begins_ps(run.hosts), strict=True):
            if len(host.timeline):
                yield events_of(name, host, begin_ps)


def events_of(run: str, host: Host, begin_ps: int) -> list[ArrowColumn]:
    """Columns of a host: starts, durations, kinds and lines are those of the timeline itself.

    Args:
        run: The name of its run.
        host: The host.
        begin_ps: When it begins, since the begin of the run.
    """
    timeline, groups = host.timeline, host.groups()
    lines, planes = timeline.lines, host.space.planes
    durations = timeline.durations_ps
    of_line, of_kind = timeline.line_of, timeline.kinds
    names = list(timeline.names)
    shown = list(groups.names)
    place_of_group = np.full(max(shown, default=-1) + 2, -1, np.int32)
    place_of_group[shown] = np.arange(len(shown))
    ops = timeline.ops
    return [
        Coded(of_line, [run] * len(lines)),
        Coded(of_line, [host.name] * len(lines)),
        Coded(of_line, [planes[line.plane].name for line in lines]),
        Coded(of_line, [line.name for line in lines]),
        Numbers(np.array([line.id for line in lines], np.int64)[of_line]),
        Numbers(is_derived(timeline)),
        Coded(of_kind, names),
        _texts_by_kind(of_kind, [op.name if op.type else "" for op in ops]),
        _texts_by_kind(of_kind, [op.type for op in ops]),
        Numbers(timeline.starts_ps + begin_ps if begin_ps else timeline.starts_ps),
        Numbers(durations),
        Numbers(self_times_ps(host)),
        Coded(place_of_group[groups.of_event], [groups.names[number] for number in shown]),
        Numbers(np.arange(len(timeline))),
    ]


def _texts_by_kind(of_kind: np.ndarray, texts: Sequence[str]) -> Coded:
    """Texts of the kinds of events; empty ones are null."""
    if all(texts):
        return Coded(of_kind, texts)
    is_there = np.array([bool(text) for text in texts], np.bool_)
    return Coded(np.where(is_there[of_kind], of_kind, -1).astype(of_kind.dtype), texts)


_STEPS = (
    Described("run", "string", "", "name of the run"),
    Described("host", "string", "", "host, or core of a TPU"),
    Described("step", "string", "", "its name"),
    Described("step_number", "int64", "", "the number at the end of its name; null without one"),
    Described("start_ps", "int64", "ps", "start, since the begin of the run", "both"),
    Described("duration_ps", "int64", "ps", "from its start to that of the next step", "both"),
    Described("between_ps", "int64", "ps", "how much of that lies between it and the next step",
              "both"),
    *(Described(f"{one.key}_ps", "int64", "ps", one.meaning, one.clock) for one in CATEGORIES),
    Described("is_cut", "bool", "", "the capture began or ended in the middle of it"),
    Described("is_typical", "bool", "", "averages of tools are of such steps: whole, of the main "
              "kind, not far longer than others"),
)  # fmt: skip


def _step_chunks(runs: Sequence[NamedRun]) -> Iterator[Sequence[ArrowColumn]]:
    for name, run in runs:
        begins = begins_ps(run.hosts)
        begin_of = {h.name: begin for h, begin in zip(run.hosts, begins, strict=True)}
        steps = run_steps(run)
        is_typical = np.zeros(steps.n_steps, np.bool_)
        is_typical[steps.typical_places] = True
        for one in steps.hosts:
            if len(one.times):
                yield _steps_of(name, one, begin_of[one.host.name], is_typical)


def _steps_of(
    run: str, steps: HostSteps, begin_ps: int, is_typical: BoolArray
) -> list[ArrowColumn]:
    n_steps = len(steps.times)
    same: Int64Array = np.zeros(n_steps, np.int32)
    numbers = [name.rpartition(" ")[2] for name in steps.names]
    is_number = np.array([number.isdecimal() and len(number) < 19 for number in numbers], np.bool_)
    values = [int(n) if known else 0 for n, known in zip(numbers, is_number.tolist(), strict=True)]
    return [
        Coded(same, [run]),
        Coded(same, [steps.label]),
        Coded(np.arange(n_steps, dtype=np.int32), list(steps.names)),
        Numbers(np.array(values, np.int64), is_number),
        Numbers(steps.times.start_ps + begin_ps),
        Numbers(steps.times.duration_ps),
        Numbers(steps.times.gap_ps),
        *(Numbers(steps.of(category)) for category in CATEGORIES),
        Numbers(steps.is_cut),
        Numbers(is_typical),
    ]


STACK_COLUMNS = (
    Described("run", "string", "", "name of the run"),
    Described("type", "string", "", "what is counted: samples, cpu, time"),
    Described("unit", "string", "", "unit of the value: count, nanoseconds, bytes"),
    Described("name", "string", "", "the innermost call"),
    Described("file", "string", "", "its source file; empty if it is not known"),
    Described("line", "int64", "", "its line; 0 if it is not known"),
    Described("stack", "string", "", "all calls, the outermost first, with semicolons between"),
    Described("value", "int64", "", "weight of the sample, in the unit beside it"),
)
"""Columns of the table of call stacks sampled by other programs."""

CAPTURE_TABLES = {
    "events": CaptureTable("one row for each event of each line", _EVENTS, _event_chunks),
    "steps": CaptureTable("one row for each step of each host", _STEPS, _step_chunks),
    "event_details": CaptureTable(
        "one row for each event, of what is around it and what it has recorded",
        _DETAILS,
        detail_chunks,
    ),
    "event_arguments": CaptureTable(
        "one row for each argument (stat) of each event", _ARGUMENTS, argument_chunks
    ),
}


NamedTrace = tuple[str, Callable[[], TraceModel]]
"""A trace of another program, and its name."""


def events_of_trace(run: str, model: TraceModel) -> Iterator[Sequence[ArrowColumn]]:
    """Rows of the table ``events``: the slices of each track; there are no ops or steps.

    Args:
        run: What it is called.
        model: The trace.
    """
    n_before = 0
    for track in model.tracks:
        yield [*_events_of_track(run, model, track), Numbers(np.arange(len(track)) + n_before)]
        n_before += len(track)


def _events_of_track(run: str, model: TraceModel, track: TraceTrack) -> list[ArrowColumn]:
    n_slices = len(track)
    same: Int64Array = np.zeros(n_slices, np.int32)
    none = Coded(np.full(n_slices, -1, np.int32), [])
    nesting = nest(np.array([0, n_slices]), track.starts, track.starts + track.durations)
    inside = nesting.sums_of_children(track.durations)
    distinct, at = np.unique(track.names_of(np.arange(n_slices)), return_inverse=True)
    return [
        Coded(same, [run]),
        Coded(same, [""]),
        Coded(same, [model.processes[track.process]]),
        Coded(same, [track.name]),
        Numbers(np.full(n_slices, _signed(track.thread_id), np.int64)),
        Numbers(np.zeros(n_slices, np.bool_)),
        Coded(at.astype(np.int32), [model.names[name] for name in distinct.tolist()]),
        none,
        none,
        Numbers(track.starts + track.shift_ps),
        Numbers(track.durations),
        Numbers(np.maximum(track.durations - inside, 0)),
        none,
    ]


def _signed(number: int) -> int:
    """Convert ids, which some programs write as unsigned 64-bit numbers."""
    number %= 1 << 64
    return number - (1 << 64) if number >= 1 << 63 else number


def samples_of_stacks(run: str, stacks: Stacks) -> list[ArrowColumn]:
    """Rows of the table ``stacks``: each number of each sample that is not 0.

    Args:
        run: What it is called.
        stacks: The stacks.
    """
    kinds, rows = np.nonzero(stacks.values)
    nodes = stacks.nodes[rows]
    distinct, at = np.unique(nodes, return_inverse=True)
    names = [frame.name for frame in stacks.frames]
    joined = [";".join([names[f] for f in path]) for path in stacks.paths(distinct.tolist())]
    leaves = stacks.frame_of[nodes]
    same: Int64Array = np.zeros(len(rows), np.int32)
    return [
        Coded(same, [run]),
        Coded(kinds.astype(np.int32), [told.name for told in stacks.types]),
        Coded(kinds.astype(np.int32), [told.unit for told in stacks.types]),
        Coded(leaves.astype(np.int32), names),
        Coded(leaves.astype(np.int32), [frame.file for frame in stacks.frames]),
        Numbers(np.array([frame.line for frame in stacks.frames] or [0], np.int64)[leaves]),
        Coded(at.astype(np.int32), joined),
        Numbers(stacks.values[kinds, rows]),
    ]
