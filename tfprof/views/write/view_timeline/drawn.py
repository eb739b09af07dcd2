"""The content of a lossless graph timeline: executions of the shown ops, by lane, and memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice, pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.text.trace_json import blocks
from tfprof.options.spec import OPTIONS
from tfprof.profiles.model.executions import NO_OP, Device, Executions, StepDetail
from tfprof.views.result import ViewTree
from tfprof.views.spans import differs_from_last, spans_of

_MOST = 1000
"""Every lane costs a name, which is more than a slice."""


def first_fit_lanes(starts: Int64Array, ends: Int64Array) -> Int64Array:
    """The lowest lane that is free, for each slice.

    That is also what ``Timeline::AllocateLanes`` of ``tfprof_timeline.cc`` comes to, though it
    looks at more than the last slice of a lane.

    Args:
        starts: Starts, ascending, shape (n,).
        ends: Ends, shape (n,). A lane is free again at the end, which may be before the start
            (negative durations in classic mode).

    Returns:
        Lanes from 0, shape (n,): what overlaps with ``_MOST`` others shares the last. O(n log n).
    """
    lanes = np.empty(len(starts), np.int64)
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    for block in blocks(len(starts)):  # lists of all slices would take more than the columns
        chosen = []
        for start, end in zip(starts[block].tolist(), ends[block].tolist(), strict=True):
            while busy and busy[0][0] <= start:
                heappush(free, heappop(busy)[1])
            new = len(busy) if len(busy) < _MOST else _MOST - 1
            lane = heappop(free) if free else new
            heappush(busy, (end, lane))
            chosen.append(lane)
        lanes[block] = chosen
    return lanes


_PART_OF_DEVICE = re.compile(r"(?s:(.+?)[/:])?((?:stream:|memcpy)(?s:.*))")
_DIGITS = re.compile(r"0*(\d+)")


@dataclass(frozen=True, slots=True)
class Track:
    """The track for executions of one device name.

    Attributes:
        process: Name of the device, also for its streams.
        thread: Content of the track: ``ops``, ``kernel launches``, ``stream:7``, ``memcpy``.
    """

    process: str
    thread: str


def tracks_of(names: Sequence[str]) -> list[Track]:
    """The track of each device name, lower case as in ``StepTable.strings``.

    A stream's name often lacks the job that the name of its device begins with; it is drawn
    with the device all the same, unless several devices could be meant.
    """
    devices = [name for name in names if Device.from_name(name).is_canonical]
    return [_track(name, devices) for name in names]


def track_order(track: Track) -> tuple[object, ...]:
    """Sort key: CPUs first, devices and streams by number, launches above streams."""
    return (
        "cpu" not in track.process,
        _natural(track.process),
        track.thread.startswith(("stream", "memcpy")),
        _natural(track.thread),
        track.process,
        track.thread,
    )


def _track(name: str, devices: Sequence[str]) -> Track:
    match = _PART_OF_DEVICE.fullmatch(name)
    if match is None:
        return Track(name, "kernel launches" if "gpu" in name else "ops")
    base = match[1] or ""
    owners = [device for device in devices if base and device.endswith(base)]
    return Track(owners[0] if len(owners) == 1 else base or name, match[2])


def _natural(text: str) -> list[tuple[int, str]]:
    """Text and numbers in turn, so that ``stream:9`` comes before ``stream:10``."""
    parts = _DIGITS.split(text)
    # By length, then by digits: that is by value, and no number is too long for it.
    return [(len(part) if place % 2 else 0, part) for place, part in enumerate(parts)]


Column = npt.NDArray[Any]
"""Numbers of 32 or 64 bits."""

LAST_MICROS = (2**63 - 1) // 1000
"""Times beyond this (the year 294,247) are drawn there: nanoseconds have 64 bits."""


@dataclass(frozen=True, slots=True)
class Thread:
    """One row of the trace.

    Attributes:
        track: What it shows.
        lane: 0, or more where executions overlap.
    """

    track: Track
    lane: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """The executions of a file, by thread and start.

    Attributes:
        rows: Op row, or ``NO_OP``, shape (n,).
        name_ids: Id of the name where there is no op, shape (n,).
        kinds: ``OTHER``, ``HOST`` or ``ACCELERATOR``, shape (n,).
        steps: Place in the list of steps, shape (n,).
        starts: Start in ns, shape (n,).
        ends: End in ns, after the start, shape (n,).
        uses: Place of the memory that the execution used in ``memory``, or -1, shape (n,).
        threads: Thread, a place in ``thread_table``, shape (n,).
        thread_table: The threads, in the order of the trace.
        memory: Rows of ``MEMORY_FIELDS``, of all steps.
        spans: First start and last end of each step in ns, drawn or not, shape (steps, 2).
    """

    rows: Column
    name_ids: Column
    kinds: Column
    steps: Column
    starts: Column
    ends: Column
    uses: Column
    threads: Column
    thread_table: list[Thread]
    memory: Int64Array
    spans: Int64Array

    def __len__(self) -> int:
        return len(self.rows)


def draw(tree: ViewTree, steps: Sequence[int]) -> Drawn:
    """Choose and place the executions of some steps.

    Ops are drawn if the view shows them. Executions without an op, such as copies between host
    and device, are drawn if no option leaves anything out.
    """
    details = [tree.profile.steps.details[step] for step in steps]
    shown = np.zeros(len(tree.profile.ops) + 1, np.bool_)
    shown[tree.op_rows[1:]] = True
    shown[NO_OP] = shows_everything(tree)
    names = tree.profile.steps.strings.values
    own_device = np.array([Device.from_name(name).is_canonical or not name for name in names])
    memory = [detail.memory.values for detail in details]
    first_uses = np.cumsum([0, *(values.shape[1] for values in memory)]).tolist()
    parts = [
        _of_step(detail, shown, _memory_uses(detail, own_device, first_use))
        for detail, first_use in zip(details, first_uses, strict=False)
    ]
    numbers = np.repeat(np.arange(len(steps), dtype=np.int32), [len(part[0]) for part in parts])
    rows, name_ids, kinds, devices, uses, starts, ends = map(_joined, zip(*parts, strict=True))
    order, threads, thread_table = _place(names, devices, starts, ends)
    return Drawn(
        rows[order],
        name_ids[order],
        kinds[order],
        numbers[order],
        starts[order],
        ends[order],
        uses[order],
        threads,
        thread_table,
        _joined(memory),
        np.array([_span(detail.executions) for detail in details]).reshape(-1, 2),
    )


def _joined(parts: Sequence[Column]) -> Column:
    """All parts one after the other; no copy of one alone."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


def shows_everything(tree: ViewTree) -> bool:
    """Whether no option of a view leaves anything out."""
    options = tree.options
    return (
        options.account_everything
        and options.start.everything
        and options.show.everything
        and not options.values["trim_name_regexes"]
        and not options.values["hide_name_regexes"]
        and not any(options.values[o.name] > 0 for o in OPTIONS if o.name.startswith("min_"))
    )


def _of_step(detail: StepDetail, shown: BoolArray, uses: Int64Array) -> list[Column]:
    """Rows, names, kinds, devices, memory uses, starts and ends of what is drawn of a step."""
    executions = detail.executions
    kept = (executions.start_micros > 0) & shown[executions.rows]
    ids = (executions.rows, executions.name_ids, executions.kinds, executions.device_ids, uses)
    # There are no 2^31 ops, names or uses: 32 bits take half the memory.
    columns = [column[kept].astype(np.int32) for column in ids]
    return [*columns, *(times[kept] for times in drawn_times(executions))]


def _span(executions: Executions) -> tuple[int, int]:
    """When a step began and ended, in ns; zeros if it has no times."""
    timed = executions.start_micros > 0
    if not timed.any():
        return 0, 0
    starts, ends = drawn_times(executions)
    return int(starts[timed].min()), int(ends[timed].max())


def drawn_times(executions: Executions) -> tuple[Int64Array, Int64Array]:
    """Starts and ends in ns; an end is at least 1 ns after its start, or nothing would be seen.

    Nanoseconds refine the microseconds of a run. If they contradict them, or were not recorded,
    the microseconds count.
    """
    micros = np.minimum(executions.start_micros, LAST_MICROS)
    finer = np.abs(executions.start_nanos // 1000 - micros) <= 1
    starts = np.where(finer, executions.start_nanos, micros * 1000)
    micros = np.clip(executions.duration_micros, 0, LAST_MICROS)
    finer = np.abs(executions.duration_nanos // 1000 - micros) <= 1
    finer &= executions.duration_nanos > 0
    durations = np.where(finer, executions.duration_nanos, micros * 1000)
    starts = np.minimum(starts, 2**63 - 2)
    return starts, starts + np.clip(durations, 1, 2**63 - 1 - starts)


def _memory_uses(detail: StepDetail, own_device: BoolArray, first_use: int) -> Int64Array:
    """Place of each execution's memory, counted from the step's first use; -1 without one.

    Uses do not name their executions, but the uses of an op come in the order of its executions
    on its own device (or, before it had one, on a device without a name).
    """
    executions, memory = detail.executions, detail.memory
    uses = np.full(len(executions), -1, np.int64)
    if not len(memory) or not len(executions):
        return uses
    n_rows = int(max(executions.rows.max(), memory.rows.max())) + 1
    of_op = (executions.rows >= 0) & (executions.start_micros > 0)
    may_use = np.flatnonzero(of_op & own_device[executions.device_ids])
    candidates, first = spans_of(executions.rows[may_use], n_rows)
    of_memory, first_of_row = spans_of(memory.rows, n_rows)
    rank = np.arange(len(memory)) - first_of_row[memory.rows[of_memory]]
    place = first[memory.rows[of_memory]] + rank
    # A damaged profile may hold more uses of an op than executions.
    has_run = place < first[memory.rows[of_memory] + 1]
    uses[may_use[candidates[place[has_run]]]] = of_memory[has_run] + first_use
    return uses


def _place(
    names: Sequence[str], devices: Column, starts: Int64Array, ends: Int64Array
) -> tuple[Int64Array, Column, list[Thread]]:
    """Order of the file, thread of each execution in it, and all threads."""
    tracks = tracks_of(names)
    present = [tracks[device] for device in np.unique(devices).tolist()]
    ordered = sorted(set(present), key=track_order)
    place = {track: number for number, track in enumerate(ordered)}
    track_of_device = np.array([place.get(track, -1) for track in tracks], np.int32)
    track_of = track_of_device[devices]
    order: Int64Array = np.lexsort((starts, track_of))
    bounds = np.searchsorted(track_of[order], np.arange(len(ordered) + 1)).tolist()
    threads = np.empty(len(order), np.int32)
    table: list[Thread] = []
    for track, first, stop in zip(ordered, bounds, bounds[1:], strict=False):
        chosen = order[first:stop]
        lanes = first_fit_lanes(starts[chosen], ends[chosen])
        by_lane = np.argsort(lanes, kind="stable")
        order[first:stop] = chosen[by_lane]
        threads[first:stop] = lanes[by_lane] + len(table)
        table += [Thread(track, lane) for lane in range(int(lanes.max()) + 1)]
    return order, threads, table


MOST_HOLDERS: Final = 10
"""Ops that are named at the peak of an allocator."""


@dataclass(frozen=True, slots=True)
class Level:
    """One allocator of one device; a fact of the device, whatever ops are shown.

    Attributes:
        process: Device.
        allocator: Name.
        nanos: Times of change, ascending, shape (n,).
        bytes_in_use: From then on, shape (n,).
        holders: Op rows that held most at the peak, and their bytes; largest first.
    """

    process: str
    allocator: str
    nanos: Int64Array
    bytes_in_use: Int64Array
    holders: list[tuple[int, int]]

    @property
    def peak(self) -> int:
        """Place of the first sample with the most bytes in use."""
        return int(self.bytes_in_use.argmax())


def device_levels(tree: ViewTree, steps: Sequence[int]) -> list[Level]:
    """All levels that some steps recorded, by device and allocator in order of their names."""
    table = tree.profile.steps
    strings = table.strings.values
    tracks = tracks_of(strings)
    parts = [table.details[step].levels for step in steps]
    devices, allocators, micros, sizes = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("device_ids", "allocator_ids", "micros", "bytes_in_use")
    )
    pairs = devices * len(strings) + allocators
    order = np.lexsort((micros, pairs))
    bounds = np.flatnonzero(np.diff(pairs[order], prepend=-1, append=-1)).tolist()
    levels = []
    for first, stop in pairwise(bounds):
        chosen = order[first:stop]
        device, allocator = divmod(int(pairs[chosen[0]]), len(strings))
        chosen = chosen[differs_from_last(sizes[chosen])]
        peak_micros = int(micros[chosen[sizes[chosen].argmax()]])
        levels.append(
            Level(
                tracks[device].process,
                strings[allocator],
                np.clip(micros[chosen], 0, LAST_MICROS) * 1000,
                sizes[chosen],
                _holders(tree, steps, (device, allocator), peak_micros),
            )
        )
    return sorted(levels, key=lambda level: (level.process, level.allocator))


def _holders(
    tree: ViewTree, steps: Sequence[int], of: tuple[int, int], until_micros: int
) -> list[tuple[int, int]]:
    """What ops had allocated and not given back by a time, the largest first.

    Args:
        tree: The view.
        steps: The steps to look at.
        of: Device and allocator, ids in ``StepTable.strings``.
        until_micros: The time.
    """
    table, facts = tree.profile.steps, tree.facts
    made = [table.details[step].allocations for step in steps]
    counted = [(part.allocator_ids == of[1]) & (part.micros <= until_micros) for part in made]
    rows, op = np.unique(
        np.concatenate([part.rows[kept] for part, kept in zip(made, counted, strict=True)]),
        return_inverse=True,
    )
    held = np.zeros(len(rows), np.int64)
    sizes = [part.sizes[kept] for part, kept in zip(made, counted, strict=True)]
    np.add.at(held, op, np.concatenate(sizes))
    order = np.argsort(-held, kind="stable")
    held_by = zip(rows[order].tolist(), held[order].tolist(), strict=True)
    device = table.strings[of[0]]
    positive = ((row, size) for row, size in held_by if size > 0 and facts.device(row) == device)
    return list(islice(positive, MOST_HOLDERS))
