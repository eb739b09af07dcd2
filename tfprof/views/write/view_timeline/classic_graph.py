"""The graph view's timeline as the original draws it, byte for byte.

``Timeline::GenerateGraphTimeline`` of ``tfprof_timeline.cc``: one of several slices with an equal
start is drawn, times are whole microseconds, and arrows only lead from device to device.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.profiles.model.devices import Device
from tfprof.profiles.model.executions import ACCELERATOR, HOST, Executions
from tfprof.views.result import ViewTree
from tfprof.views.spans import differs_from_last, expand_spans, spans_of
from tfprof.views.write.trace_json import blocks, classic_process_event, escaped
from tfprof.views.write.view_timeline.classic_memory import MemoryPlot, plot_memory
from tfprof.views.write.view_timeline.lanes import first_fit_lanes


@dataclass(frozen=True, slots=True)
class ClassicTimeline:
    """What the file of one step holds.

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
    """What is drawn, in the order of the file: by process, lane and start.

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
