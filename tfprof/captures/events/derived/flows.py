"""Numbers of arrows: events that one arrow connects have the same number.

A number is packed as in the reference (``xflow.h``): two bits of direction, 56 of an id, six of
the category. The reference's ids differ in each process; these depend on the stats only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tfprof.captures.events.timeline.names import EXECUTOR, TENSOR_CORE
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array

INTO, OUT_OF = 1, 2
_ID_BITS = 56
_EXECUTOR, _LAUNCH, _TPU_STREAM, _TPU_LAUNCH = 2, 9, 11, 12
"""Categories of arrows whose events do not name one: context types, and GPU launches."""

_RUN_ID_BITS = 27

UInt64Array = npt.NDArray[np.uint64]


def flow_numbers(timeline: Timeline) -> UInt64Array:
    """The number of the arrow at each event, 0 without one, shape (n,).

    If an event has several arrows, that of a launch counts first, then the consumed id, then the
    produced one.
    """
    numbers = np.zeros(len(timeline), np.uint64)
    for kinds, ids, direction in (("_pt", "_p", OUT_OF), ("_ct", "_c", INTO)):
        _put_stated(timeline, numbers, (kinds, ids), direction)
    correlation = timeline.stat("correlation_id")
    whole = correlation.only(correlation.is_integer())
    for chosen, direction in ((timeline.on_host, OUT_OF), (timeline.on_device, INTO)):
        own = whole.only(chosen[whole.events])
        numbers[own.events] = _packed(_mixed([own.values]), _LAUNCH, direction)
    _put_legacy(timeline, numbers)
    return numbers


def _put_stated(
    timeline: Timeline, numbers: UInt64Array, names: tuple[str, str], direction: int
) -> None:
    """Arrows of events whose stats name produced or consumed ids."""
    kinds, ids = (timeline.stat(name) for name in names)
    has_kind = kinds.only(kinds.is_integer()).mask(len(timeline))
    own = ids.only(ids.is_integer() & has_kind[ids.events])
    category = kinds.dense(len(timeline))[own.events]
    number = _mixed([category, own.values])
    numbers[own.events] = _packed(number, category, direction)


def _put_legacy(timeline: Timeline, numbers: UInt64Array) -> None:
    """Arrows between events of TPU runtimes, which use other stats."""
    names = set(timeline.names)
    if "TpuExecuteOp" in names or EXECUTOR in names:
        stats = [timeline.stat(name) for name in ("id", "iter_num")]
        _put(timeline, numbers, (stats, EXECUTOR, _EXECUTOR), OUT_OF)
        _put(timeline, numbers, (stats, "TpuExecuteOp", _EXECUTOR), INTO)
    if "EnqueueRequestLocked" in names:
        stats = [timeline.stat(name) for name in ("request_id", "queue_addr")]
        _put(timeline, numbers, (stats, "EnqueueRequestLocked", _TPU_STREAM), OUT_OF)
    _put_programs(timeline, numbers)


def _put_programs(timeline: Timeline, numbers: UInt64Array) -> None:
    """Arrows from the host's requests to run programs to the runs on TPUs."""
    is_order = timeline.named("DoEnqueueProgram".__eq__)
    is_run = timeline.of_lines(lambda line: line.is_device and line.name == "XLA Modules")
    runs = timeline.stat("run_id")
    chosen = (is_order | is_run)[runs.events] & (numbers[runs.events] == 0)
    whole = runs.only(runs.is_integer() & chosen)
    device, queue, core = (
        timeline.stat(name).dense(len(timeline))[whole.events]
        for name in ("device_ordinal", "queue_id", "core_type")
    )
    ordinals = [_ordinal(timeline.space.planes[line.plane].name) for line in timeline.lines]
    on_device = np.array(ordinals, np.int64)[timeline.line_of[whole.events]]
    device = np.where(is_run[whole.events], on_device, device)
    run = whole.values & (1 << _RUN_ID_BITS) - 1
    number = _mixed([device, queue, run, core])
    direction = np.where(is_run[whole.events], INTO, OUT_OF)
    numbers[whole.events] = _packed(number, _TPU_LAUNCH, direction)


def _ordinal(plane_name: str) -> int:
    matched = TENSOR_CORE.fullmatch(plane_name)
    return int(plane_name.rpartition(":")[2]) if matched else -1


def _put(
    timeline: Timeline,
    numbers: UInt64Array,
    what: tuple[Sequence[SparseStat], str, int],
    direction: int,
) -> None:
    """Arrows of events of this name that have all these stats and no arrow yet."""
    stats, name, category = what
    chosen: BoolArray = timeline.named(name.__eq__) & (numbers == 0)
    for stat in stats:
        chosen &= stat.only(stat.is_integer()).mask(len(timeline))
    number = _mixed([stat.dense(len(timeline))[chosen] for stat in stats])
    numbers[chosen] = _packed(number, category, direction)


def _mixed(columns: Sequence[Int64Array]) -> UInt64Array:
    """One hash of several numbers: equal for equal ones, and almost certainly only for those."""
    hashes = np.ones(len(columns[0]), np.uint64)
    for column in columns:
        hashes = (hashes + column.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
        hashes *= np.uint64(0xBF58476D1CE4E5B9)
        hashes ^= hashes >> np.uint64(32)
    return hashes


def _packed(
    number: UInt64Array, category: Int64Array | int, direction: Int64Array | int
) -> UInt64Array:
    ways = np.asarray(direction, np.int64).astype(np.uint64)
    ids = number & np.uint64((1 << _ID_BITS) - 1)
    kind = np.asarray(category, np.int64).astype(np.uint64) & np.uint64(63)
    packed: UInt64Array = ids << np.uint64(2) | ways | kind << np.uint64(58)
    return packed
