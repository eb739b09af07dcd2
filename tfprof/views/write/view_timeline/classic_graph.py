"""The graph view's timeline as the original draws it, byte for byte.

``Timeline::GenerateGraphTimeline`` of ``tfprof_timeline.cc``: one of several slices with an equal
start is drawn, times are whole microseconds, and arrows only lead from device to device.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.text.trace_json import EVENTS_PER_CHUNK, blocks, classic_process_event, escaped
from tfprof.profiles.model.executions import ACCELERATOR, HOST, MEMORY_FIELDS, Device, Executions
from tfprof.views.result import ViewTree
from tfprof.views.spans import differs_from_last, expand_spans, spans_of
from tfprof.views.write.view_timeline.drawn import first_fit_lanes

_PLOT_EVERY_MICROS = 100
_MOST_LISTED = 10
_TIME = MEMORY_FIELDS.index("memory_micros")
_PERSISTENT = MEMORY_FIELDS.index("accelerator_persistent_bytes")
_IN_USE = MEMORY_FIELDS.index("allocator_bytes_in_use")

Curve = list[tuple[int, int]]
"""Times and the bytes from then on, ascending; the first time is 0 or before."""


@dataclass(frozen=True, slots=True)
class MemoryPlot:
    """The plot of one device.

    Attributes:
        device: Name of the device, as JSON text.
        samples: Times and bytes in use, every ``_PLOT_EVERY_MICROS`` at most.
        curves: What each op holds, by its name.
        note: What the original prints about the device.
    """

    device: str
    samples: list[tuple[int, int]]
    curves: dict[str, Curve]
    note: str

    def counters(self, pid: int) -> Iterator[list[str]]:
        """Two counters for each sample, in ``pid`` and the process behind it."""
        held = _HeldBytes(self.curves)
        events = []
        for micros, in_use in self.samples:
            held.advance(micros)
            events.append(
                f'{{"args":{{"Allocator Bytes in Use":{in_use}}},"cat":"Memory",'
                f'"name":"Allocated Bytes","ph":"C","pid":{pid},"tid":0,"ts":{micros}}}'
            )
            listed, rest = held.top(in_use)
            args = ",".join(f'"{key}":"{value}"' for key, value in sorted(listed.items()))
            events.append(
                f'{{"args":{{"Not Displayed":"{rest / 1e6:.2f} MB",{args}}},"cat":"Memory",'
                f'"name":"Top Allocations","ph":"C","pid":{pid + 1},"tid":0,"ts":{micros}}}'
            )
            if len(events) >= EVENTS_PER_CHUNK:
                yield events
                events = []
        yield events


class _HeldBytes:
    """The bytes that each op holds, as time goes on."""

    def __init__(self, curves: dict[str, Curve]) -> None:
        names = sorted(curves)
        self._names = escaped(names)
        self._values = [curves[name][0][1] for name in names]
        self._listed = sorted((-value, op) for op, value in enumerate(self._values))
        self._changes = sorted(
            (micros, op, place, value)
            for op, name in enumerate(names)
            for place, (micros, value) in enumerate(curves[name])
            if place
        )
        self._next = 0

    def advance(self, micros: int) -> None:
        """Take in all that changed before a time."""
        while self._next < len(self._changes) and self._changes[self._next][0] < micros:
            _, op, _, value = self._changes[self._next]
            self._next += 1
            del self._listed[bisect_left(self._listed, (-self._values[op], op))]
            insort(self._listed, (-value, op))
            self._values[op] = value

    def top(self, in_use: int) -> tuple[dict[str, str], int]:
        """The largest holders as arguments of an event, and the bytes of all others."""
        listed = {f"Top Allocation {place:02d}": "N/A" for place in range(1, _MOST_LISTED)}
        count = 0
        for negative, op in self._listed:
            value = -negative
            if value <= 0 or count == _MOST_LISTED:
                break
            if value <= in_use:
                text = f"{value / 1e6:g} MB from {self._names[op]}"
                listed[f"Top Allocation {count:02d}"] = text
                in_use -= value
                count += 1
        return listed, in_use


def plot_memory(tree: ViewTree, step: int, walked: Int64Array) -> list[MemoryPlot]:
    """The plots of all devices but CPUs, in byte order of their names.

    Args:
        tree: The graph view.
        step: The step.
        walked: Rows of the ops that are drawn, in the order of the display.
    """
    facts, ops = tree.facts, tree.profile.ops
    rows_of_device: dict[str, list[int]] = {}
    for row in walked.tolist():
        rows_of_device.setdefault(facts.device(row), []).append(row)
    persistent = _persistent_bytes(tree)
    plots = []
    for device, rows in sorted(rows_of_device.items()):
        if "cpu" in device:
            continue
        samples, most = _samples(tree, step, rows)
        curves = _curves(tree, step, rows, persistent)
        note = f"{device} peak memory: {most / 1e6:.2f} MB\n" if "gpu" in device else ""
        (text,) = escaped([device])
        named = {ops.name(row): curve for row, curve in curves.items()}
        plots.append(MemoryPlot(text, samples, named, note))
    return plots


def _samples(tree: ViewTree, step: int, rows: list[int]) -> tuple[list[tuple[int, int]], int]:
    """What to plot, and the most that was in use."""
    memory = tree.profile.steps.details[step].memory
    rank = {row: place for place, row in enumerate(rows)}
    uses = [(rank[row], place) for place, row in enumerate(memory.rows.tolist()) if row in rank]
    at_time: dict[int, int] = {}
    for _, use in sorted(uses):  # of several samples at one time, the last counts
        micros = int(memory.values[_TIME, use])
        if micros > 0:
            at_time[micros] = int(memory.values[_IN_USE, use])
    plotted = []
    last = 0
    for micros, in_use in sorted(at_time.items()):
        if micros - last >= _PLOT_EVERY_MICROS:
            last = micros
            plotted.append((micros, in_use))
    return plotted, max([0, *at_time.values()])


def _curves(tree: ViewTree, step: int, rows: list[int], persistent: Int64Array) -> dict[int, Curve]:
    """What each op holds over time: its allocations, on top of what stays for all steps."""
    steps = tree.profile.steps
    changes = {row: {0: size} for row, size in zip(rows, persistent[rows].tolist(), strict=True)}
    made = steps.details[step].allocations
    on_gpu = np.array(["GPU" in name for name in steps.strings.values], np.bool_)
    counted = on_gpu[made.allocator_ids]
    columns = (made.rows, made.micros, made.sizes)
    for row, micros, size in zip(*(column[counted].tolist() for column in columns), strict=True):
        if row in changes:
            changes[row][micros] = changes[row].get(micros, 0) + size
    curves = {}
    for row, at_time in changes.items():
        times, added = zip(*sorted(at_time.items()), strict=True)
        curves[row] = list(zip(times, accumulate(added), strict=True))
    return curves


def _persistent_bytes(tree: ViewTree) -> Int64Array:
    """What each op kept on an accelerator, shape (n ops,): its sum in the step with the most."""
    most = np.zeros(len(tree.profile.ops), np.int64)
    for detail in tree.profile.steps.details.values():
        sums = np.zeros_like(most)
        np.add.at(sums, detail.memory.rows, detail.memory.values[_PERSISTENT])
        np.maximum(most, sums, out=most)
    return most


@dataclass(frozen=True, slots=True)
class ClassicTimeline:
    """The content of the file of one step.

    Attributes:
        slices: The slices.
        arrows: Slice that each arrow leaves, and slice that it leads to, shape (2, m); in the
            order of the first.
        memory: Counters of each device that has some.
    """

    slices: _Slices
    arrows: Int64Array
    memory: list[MemoryPlot]

    @property
    def notes(self) -> str:
        """What the original prints while it writes."""
        return "generating trace file.\n" + "".join(plot.note for plot in self.memory)

    def events(self) -> Iterator[list[str]]:
        """The events: processes and slices, then arrows and counters."""
        slices = self.slices
        first_pid = len(slices.devices)
        yield [classic_process_event(pid, name) for pid, name in enumerate(slices.devices)]
        yield from slices.regions()
        for pid, plot in enumerate(self.memory):
            name = f"mem usage on:{plot.device}"
            yield [
                classic_process_event(first_pid + 2 * pid, name),
                classic_process_event(first_pid + 2 * pid + 1, f"{name} allocations"),
            ]
        yield from slices.flows(self.arrows)
        for pid, plot in enumerate(self.memory):
            yield from plot.counters(first_pid + 2 * pid)


@dataclass(frozen=True, slots=True)
class _Slices:
    """The slices in the order of the file: by process, lane and start.

    Attributes:
        rows: Op row, shape (n,).
        starts: Start in µs, shape (n,).
        durations: Duration in µs, shape (n,).
        pids: Process, shape (n,).
        lanes: Lane within the process, shape (n,).
        devices: Title of each process.
        names: Name of every op, as JSON text.
    """

    rows: Int64Array
    starts: Int64Array
    durations: Int64Array
    pids: Int64Array
    lanes: Int64Array
    devices: list[str]
    names: list[str]

    def regions(self) -> Iterator[list[str]]:
        names = self.names
        columns = (self.rows, self.starts, self.durations, self.pids, self.lanes)
        for block in blocks(len(self.rows)):
            rows, starts, durations, pids, lanes = (column[block].tolist() for column in columns)
            yield [
                f'{{"args":{{"name":"{(name := names[row])}"}},"cat":"Op","dur":{duration},'
                f'"name":"{name}","ph":"X","pid":{pid},"tid":{lane},"ts":{start}}}'
                for row, start, duration, pid, lane in zip(
                    rows, starts, durations, pids, lanes, strict=True
                )
            ]

    def flows(self, arrows: Int64Array) -> Iterator[list[str]]:
        sources, targets = arrows
        for block in blocks(len(sources)):
            source, target = sources[block], targets[block]
            columns = (
                self.rows[source],
                self.starts[source] + self.durations[source],
                self.pids[source],
                self.lanes[source],
                self.starts[target],
                self.pids[target],
                self.lanes[target],
            )
            yield [
                f'{{"cat":"DataFlow","id":{flow},"name":"{(name := self.names[row])}_flow",'
                f'"ph":"s","pid":{pid},"tid":{lane},"ts":{end}}},'
                f'{{"cat":"DataFlow","id":{flow},"name":"{name}_flow",'
                f'"ph":"t","pid":{to_pid},"tid":{to_lane},"ts":{start}}}'
                for flow, (row, end, pid, lane, start, to_pid, to_lane) in enumerate(
                    zip(*(column.tolist() for column in columns), strict=True), block.start + 1
                )
            ]


def classic_timeline(tree: ViewTree, step: int) -> ClassicTimeline:
    """The timeline of a graph view made for a step."""
    profile = tree.profile
    ops, strings = profile.ops, profile.steps.strings.values
    trackable = _trackable(tree, step)
    walked = tree.op_rows[1:]  # in the order of the display
    walked = walked[trackable[walked]]
    executions = profile.steps.details[step].executions
    device_rank = np.empty(len(strings), np.int64)
    device_rank[sorted(range(len(strings)), key=strings.__getitem__)] = np.arange(len(strings))

    met = _met_executions(executions, walked, device_rank, len(ops))
    distinct, first = np.unique(executions.device_ids[met], return_index=True)
    by_pid = distinct[np.argsort(first)]
    pid_of_device = np.full(len(strings), -1, np.int64)
    pid_of_device[by_pid] = np.arange(len(by_pid))

    met = _first_of_equal_starts(executions, met, device_rank)
    starts, durations = executions.start_micros[met], executions.duration_micros[met]
    devices = executions.device_ids[met]
    lanes, pids = _lanes(devices, starts, starts + durations), pid_of_device[devices]
    order = np.lexsort((starts, lanes, pids))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    arrows = place[np.stack(_arrows(tree, executions, trackable, met))]
    return ClassicTimeline(
        _Slices(
            executions.rows[met][order],
            starts[order],
            durations[order],
            pids[order],
            lanes[order],
            escaped([_title(strings[device]) for device in by_pid.tolist()]),
            escaped([ops.names[name_id] for name_id in ops.name_ids.array.tolist()]),
        ),
        arrows[:, np.argsort(arrows[0], kind="stable")],
        plot_memory(tree, step, walked),
    )


def _trackable(tree: ViewTree, step: int) -> BoolArray:
    """Ops that ran in the step on a device of their own (``TFGraphNode::trackable``)."""
    profile = tree.profile
    records = profile.steps.records[step]
    ran = np.zeros(len(profile.ops), np.bool_)
    ran[records.rows] = records.window[0] != 0
    ran &= profile.ops.device_ids.array >= 0
    return ran


def _met_executions(
    executions: Executions, walked: Int64Array, device_rank: Int64Array, n_ops: int
) -> Int64Array:
    """Executions of the ops walked, by op, then device, then arrival."""
    rank = np.full(n_ops + 1, -1, np.int64)  # one more for NO_OP
    rank[walked] = np.arange(len(walked))
    counted = (executions.kinds == HOST) | (executions.kinds == ACCELERATOR)
    drawn = np.flatnonzero(counted & (executions.start_micros > 0) & (rank[executions.rows] >= 0))
    order = np.lexsort(
        (drawn, device_rank[executions.device_ids[drawn]], rank[executions.rows[drawn]])
    )
    met: Int64Array = drawn[order]
    return met


def _first_of_equal_starts(
    executions: Executions, met: Int64Array, device_rank: Int64Array
) -> Int64Array:
    """The executions that are drawn, by device and start; of equal starts the first one met."""
    starts, devices = executions.start_micros[met], executions.device_ids[met]
    order = np.lexsort((np.arange(len(met)), starts, device_rank[devices]))
    kept: Int64Array = met[order[differs_from_last(starts[order], devices[order])]]
    return kept


def _lanes(devices: Int64Array, starts: Int64Array, ends: Int64Array) -> Int64Array:
    """Lane of each slice; slices of a device stand together, by start."""
    bounds = np.flatnonzero(np.diff(devices, prepend=-1, append=-1)).tolist()
    parts = [
        first_fit_lanes(starts[first:stop], ends[first:stop]) for first, stop in pairwise(bounds)
    ]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _arrows(
    tree: ViewTree, executions: Executions, trackable: BoolArray, slices: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """Arrows between slices, as places in ``slices``, in the order in which they are found.

    To a slice on a canonical device lead arrows from what ran, by its start, when an input of
    its op was scheduled on another device.
    """
    ops, strings = tree.profile.ops, tree.profile.steps.strings.values
    accounted = tree.facts.match_counts(tree.options.account) > 0
    usable = np.append(trackable & accounted, np.False_)  # the last: not in the graph
    offsets, producers = ops.input_offsets(), ops.input_rows()

    of_op = (executions.kinds == HOST) & (executions.rows >= 0)
    scheduled = np.flatnonzero(of_op & (executions.start_micros > 0))
    runs, run_offsets = spans_of(executions.rows[scheduled], len(ops))
    runs = scheduled[runs]

    canonical = np.array([Device.from_name(name).is_canonical for name in strings], np.bool_)
    targets = np.flatnonzero(canonical[executions.device_ids[slices]])
    find = _SliceIndex(executions, slices)
    parts: list[tuple[Int64Array, Int64Array]] = []
    for block in blocks(len(targets)):
        target = targets[block]
        edges, which = expand_spans(offsets, executions.rows[slices[target]])
        source_rows, target = producers[edges], target[which]
        kept = usable[source_rows]
        run, which = expand_spans(run_offsets, source_rows[kept])
        run, target = runs[run], target[kept][which]
        elsewhere = executions.device_ids[run] != executions.device_ids[slices[target]]
        run, target = run[elsewhere], target[elsewhere]
        source = find(run)
        parts.append((source[source >= 0], target[source >= 0]))
    if not parts:
        none = np.zeros(0, np.int64)
        return none, none
    sources, ends = zip(*parts, strict=True)
    return np.concatenate(sources), np.concatenate(ends)


class _SliceIndex:
    """Finds the slice that stands on the device of an execution at its start."""

    def __init__(self, executions: Executions, slices: Int64Array) -> None:
        self._executions = executions
        self._times = np.unique(executions.start_micros)
        keys = self._keys(slices)
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def _keys(self, places: Int64Array) -> Int64Array:
        table = self._executions
        times: Int64Array = np.searchsorted(self._times, table.start_micros[places])
        return table.device_ids[places] * len(self._times) + times

    def __call__(self, places: Int64Array) -> Int64Array:
        """Place of the slice for each execution, -1 if none stands there."""
        keys = self._keys(places)
        if not len(self._sorted):
            return np.full(len(keys), -1, np.int64)
        at = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.where(self._sorted[at] == keys, self._order[at], -1)


def _title(device: str) -> str:
    kind = "execution" if "stream" in device else "scheduling"
    return f"Op {kind} threads: {device}"
