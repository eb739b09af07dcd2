"""Ops of TensorCores: instructions with their cost from the programs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfprof.captures.events.ops.device_ops import (
    DeviceOp,
    DeviceOps,
    OpKey,
    Traffic,
    merged,
    of_runs,
)
from tfprof.captures.events.timeline.clocks import MOST_PS
from tfprof.captures.events.timeline.names import TENSOR_CORE
from tfprof.captures.events.timeline.nesting import Nesting, nest
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.hlo.memory_breakdown import HBM, memory_accesses
from tfprof.captures.model.xspace import Plane
from tfprof.captures.model.xspace_stats import StatValue
from tfprof.core.columns.columns import BoolArray, Int64Array, sums_by
from tfprof.core.columns.numerals import whole_number
from tfprof.core.wire.walk import WireError

OPS, STEPS, MODULES = "XLA Ops", "Steps", "XLA Modules"

_CUSTOM_CALL = "custom-call"

_ASYNCHRONOUS = re.compile(r".*-(start|update|done)|send|recv")
"""Categories of instructions that start work of another unit of the chip, or wait for it."""

_MOST_SCALE = 1e6
"""Clocks of devices differ by less: a larger value is not a measurement."""


@dataclass(frozen=True, slots=True)
class DeviceSpans:
    """Events of one line of a device with the times of the device's own clock.

    Attributes:
        events: Their places in the timeline, in order of these times, shape (n,).
        start_ps: Start of each.
        end_ps: End of each.
    """

    events: Int64Array
    start_ps: Int64Array
    end_ps: Int64Array

    def nesting(self) -> Nesting:
        """Nesting of the events."""
        return nest(np.array([0, len(self.events)]), self.start_ps, self.end_ps)


def device_spans(timeline: Timeline, plane: int, line_name: str) -> DeviceSpans:
    """Events of the line of a name, with the times of the device's clock if recorded.

    Times of both clocks count from the beginning of the capture.
    """
    chosen = timeline.of_lines(
        lambda line: line.plane == plane and line.name == line_name and not line.is_derived
    )
    events = np.flatnonzero(chosen)
    start = timeline.starts_ps[events]
    duration = timeline.durations_ps[events].copy()
    for name, column in (("device_offset_ps", start), ("device_duration_ps", duration)):
        stat = timeline.stat(name)
        is_possible = (stat.values >= 0) & (stat.values <= MOST_PS)
        own_times = stat.only(stat.is_integer() & is_possible & chosen[stat.events])
        column[np.searchsorted(events, own_times.events)] = own_times.values
    order = np.lexsort((-duration, start))
    return DeviceSpans(events[order], start[order], (start + duration)[order])


def tensor_cores(timeline: Timeline) -> list[int]:
    """Places of the planes of TensorCores."""
    planes = enumerate(timeline.space.planes)
    return [number for number, plane in planes if TENSOR_CORE.fullmatch(plane.name)]


def tpu_ops(timeline: Timeline) -> DeviceOps:
    """Ops of the TensorCores of a host (``xplane_to_op_metrics_db.cc``)."""
    return merged(_ops_of_core(timeline, number) for number in tensor_cores(timeline))


def _ops_of_core(timeline: Timeline, number: int) -> DeviceOps:
    spans = device_spans(timeline, number, OPS)
    if not len(spans.events):
        return DeviceOps()
    plane = timeline.space.planes[number]
    durations = spans.end_ps - spans.start_ps
    nesting = spans.nesting()
    own = durations - nesting.sums_of_children(durations)
    kinds = timeline.kinds[spans.events]
    distinct, place = np.unique(kinds, return_inverse=True)
    counts = np.bincount(place, minlength=len(distinct))
    times, own_times = (sums_by(place, values, len(distinct)) for values in (durations, own))
    scale = time_scale(timeline, spans.events)
    normalized = sums_by(place, np.rint(durations * scale).astype(np.int64), len(distinct))
    kinds_before = first_kind(timeline, number)
    described = OpMetadata(plane)
    by_key: dict[OpKey, DeviceOp] = {}
    for row, kind in enumerate(distinct.tolist()):
        op = described.op(kind - kinds_before - 1)
        if op is None:
            continue
        runs = int(counts[row])
        whole = of_runs(op, runs, int(times[row]), int(own_times[row]), is_eager=False)
        if op.category == _CUSTOM_CALL:
            whole = _with_own_cost(timeline, spans.events[place == row], whole)
        whole = replace(whole, normalized_ps=int(normalized[row]))
        by_key[op.key] = by_key[op.key].plus(whole) if op.key in by_key else whole
    total = _span(timeline, number, spans)
    busy = sum(op.self_ps for op in by_key.values())
    return DeviceOps(tuple(by_key.values()), total, max(0, total - busy))


def first_kind(timeline: Timeline, number: int) -> int:
    """Number of kinds of the planes before one: each has one more than metadata entries."""
    return sum(len(plane.event_metadata) + 1 for plane in timeline.space.planes[:number])


def time_scale(timeline: Timeline, events: Int64Array) -> Any:
    """Factor from the duration of each event to that at the nominal clock, shape (n,)."""
    stat = timeline.stat("Time Scale Multiplier")
    scale = np.ones(len(timeline))
    if len(stat):
        values = stat.floats()
        scale[stat.events] = np.where((values > 0) & (values < _MOST_SCALE), values, 1.0)
    return scale[events]


def _span(timeline: Timeline, number: int, spans: DeviceSpans) -> int:
    """Time from the first op or step to the last."""
    steps = device_spans(timeline, number, STEPS)
    starts = np.concatenate([spans.start_ps, steps.start_ps])
    ends = np.concatenate([spans.end_ps, steps.end_ps])
    return int(ends.max() - starts.min())


def _with_own_cost(timeline: Timeline, events: Int64Array, op: DeviceOp) -> DeviceOp:
    """Set the cost of a custom call: only its runs state it, if at all."""
    is_own: BoolArray = np.zeros(len(timeline), np.bool_)
    is_own[events] = True
    sums = {}
    for name in ("flops", "model_flops", "bytes_accessed"):
        stat = timeline.stat(name)
        numbers = stat.only(stat.is_integer() & is_own[stat.events])
        sums[name] = int(numbers.values.sum())
    if not any(sums.values()):
        return op
    traffic = Traffic(sums["bytes_accessed"], op.traffic.main_bytes, op.traffic.by_space)
    model = sums["model_flops"] or sums["flops"]
    return replace(op, flops=sums["flops"], model_flops=model, traffic=traffic)


class OpMetadata:
    """Describes instructions by the event metadata of a plane."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._rows: dict[int, int] = {
            key: row for row, key in enumerate(plane.event_metadata.keys.tolist())
        }

    def op(self, row: int) -> DeviceOp | None:
        """One run of an instruction; None if it is not an op of a program."""
        if row < 0:
            return None
        stats = self._stats(row)
        program, symbol = stats.get("program_id"), stats.get("symbol_id")
        if not isinstance(program, int) or not isinstance(symbol, int) or not symbol:
            return None
        rows = [self._rows.get(key, -1) for key in self._plane.event_metadata.children(row)]
        fused = [self._described(inner, 0, self._stats(inner)) for inner in rows if inner >= 0]
        children = tuple([replace(op, occurrences=1) for op in fused])
        return replace(self._described(row, program, stats), children=children)

    def _described(self, row: int, program: int, stats: dict[str, StatValue]) -> DeviceOp:
        entries = self._plane.event_metadata
        text = entries.names[row]
        flops = _whole(stats.get("flops"))
        file, _, line = str(stats.get("source") or "").rpartition(":")
        category = str(stats.get("hlo_category") or "")
        return DeviceOp(
            OpKey(program & (1 << 64) - 1, entries.display_names[row] or text),
            category,
            str(stats.get("tf_op") or ""),
            text,
            str(stats.get("deduplicated_name") or ""),
            (
                file,
                _whole(whole_number(line)),
                str(stats.get("source_stack") or ""),
            ),
            flops=flops,
            model_flops=_whole(stats.get("model_flops")) or flops,
            traffic=_traffic(stats),
            is_asynchronous=_ASYNCHRONOUS.fullmatch(category) is not None,
        )

    def _stats(self, row: int) -> dict[str, StatValue]:
        plane = self._plane
        return plane._stats(plane.event_metadata.stats, row)


def _whole(value: StatValue) -> int:
    return value if isinstance(value, int) else 0


def _traffic(stats: dict[str, StatValue]) -> Traffic:
    whole = _whole(stats.get("bytes_accessed"))
    breakdown = stats.get("memory_access_breakdown")
    if not isinstance(breakdown, bytes):
        return Traffic(whole)
    spaces: dict[int, list[int]] = {}
    try:
        accesses = memory_accesses(breakdown)
    except WireError:  # only the sum is known
        return Traffic(whole)
    for access in accesses:
        known = spaces.setdefault(access.memory_space, [0, 0])
        known[0] += access.n_bytes if access.is_read else 0
        known[1] += access.n_bytes if access.is_write else 0
    main = sum(spaces.get(HBM, (0, 0)))
    ordered = tuple((space, read, written) for space, (read, written) in sorted(spaces.items()))
    return Traffic(whole, main, ordered)
