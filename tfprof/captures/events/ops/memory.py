"""Allocations and deallocations of allocators in order of time, and the memory in use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.timeline.op_names import parse_op_name
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.rules import OURS, Rules
from tfprof.core.columns.columns import BoolArray, Int64Array, IntArray
from tfprof.core.columns.distinct import distinct_rows

ALLOCATION, DEALLOCATION = "MemoryAllocation", "MemoryDeallocation"

MOST_SAMPLES = 1000

MOST_ALLOCATORS = 500
"""Limit for a host; programs have a dozen, and each costs some kilobytes."""

_MOST_BYTES = 1 << 60

_DTYPES = (
    "INVALID", "float", "double", "int32", "uint8", "int16", "int8", "string", "complex64",
    "int64", "bool", "qint8", "quint8", "qint32", "bfloat16", "qint16", "quint16", "uint16",
    "complex128", "half", "resource", "variant", "uint32", "uint64", "float8_e5m2",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "int4", "uint4",
)  # fmt: skip
"""Names by ``DataType`` number (``types.proto``); numbers of references are higher by 100."""


def dtype_name(number: int) -> str:
    """Name of a ``DataType``."""
    base, suffix = (number - 100, "_ref") if number > 100 else (number, "")
    return _DTYPES[base] + suffix if 0 <= base < len(_DTYPES) else "INVALID"


@dataclass(frozen=True, eq=False)
class MemoryEvents:
    """Events of one allocator, in order of time.

    Attributes:
        place: Place in the order of the file, shape (n,).
        time_ps: Time.
        is_allocation: Whether it is an allocation, not a deallocation.
        address: Address.
        requested_bytes: Requested size.
        allocated_bytes: Size of the allocated memory.
        heap_bytes: Bytes in use after it.
        stack_bytes: Reserved bytes.
        free_bytes: Free bytes.
        peak_bytes: Most bytes in use since the creation of the allocator.
        fragmentation: Share of the free memory outside of the largest free chunk, NaN if it was not
            recorded; by the reference's rules the recorder's value, which is not a number if
            nothing is free.
        step: Group, -1 without one.
        text: Places in ``texts`` of op, region and shape, shape (n, 3).
        dtype: ``DataType`` number.
        texts: The texts.
    """

    place: Int64Array
    time_ps: Int64Array
    is_allocation: BoolArray
    address: Int64Array
    requested_bytes: Int64Array
    allocated_bytes: Int64Array
    heap_bytes: Int64Array
    stack_bytes: Int64Array
    free_bytes: Int64Array
    peak_bytes: Int64Array
    fragmentation: npt.NDArray[np.float64]
    step: Int64Array
    text: IntArray
    dtype: Int64Array
    texts: list[str]

    def __len__(self) -> int:
        return len(self.place)

    def take(self, rows: Int64Array | BoolArray) -> MemoryEvents:
        """Some of the events."""
        columns = {
            name: getattr(self, name)[rows] for name in self.__dataclass_fields__ if name != "texts"
        }
        return MemoryEvents(texts=self.texts, **columns)

    @property
    def used_bytes(self) -> Int64Array:
        """Sum of stack and heap."""
        return self.stack_bytes + self.heap_bytes


class Peak(NamedTuple):
    """The moment at which an allocator held the most memory.

    Attributes:
        place: The event: a place in order of time; -1 without events.
        lifetime_bytes: Most bytes in use since the creation of the allocator, as it reports.
        capacity_bytes: Sum of stack, heap and free memory.
    """

    place: int
    lifetime_bytes: int
    capacity_bytes: int


def memory_events(
    timeline: Timeline, groups: Groups, *, rules: Rules = OURS
) -> dict[str, MemoryEvents]:
    """The events of the allocators of a host by name, in order of the names.

    At most ``MOST_ALLOCATORS``: those with the most events.

    Args:
        timeline: The events.
        groups: The steps.
        rules: The origin of times, and whether values that are not numbers are kept.
    """
    chosen = timeline.on_host & timeline.named((ALLOCATION, DEALLOCATION).__contains__)
    events = np.flatnonzero(chosen)
    if not len(events):
        return {}
    columns = _Columns(timeline, events)
    allocator, names = columns.allocators()
    text, texts = columns.texts("tf_op", "region_type", "shape")
    shown = set(with_most_events(allocator).tolist())
    in_order = sorted(name for name, number in names.items() if number in shown)
    place_of = np.full(max(names.values(), default=-1) + 2, -1, np.int64)  # last: no allocator
    place_of[[names[name] for name in in_order]] = np.arange(len(in_order))
    place = place_of[allocator]
    from_thread = rules.counts_from_thread
    time_ps = timeline.offsets_ps(events) if from_thread else timeline.starts_ps[events]
    order = np.lexsort((time_ps, place))
    # One column at a time: together they are large.
    whole: dict[str, Any] = {
        "place": order,
        "time_ps": time_ps[order],
        "is_allocation": timeline.named(ALLOCATION.__eq__)[events[order]],
        "address": columns.integers("addr")[order],
        "requested_bytes": columns.sizes("requested_bytes")[order],
        "allocated_bytes": columns.sizes("allocation_bytes")[order],
        "heap_bytes": columns.sizes("bytes_allocated")[order],
        "stack_bytes": columns.sizes("bytes_reserved")[order],
        "free_bytes": columns.sizes("bytes_available")[order],
        "peak_bytes": columns.sizes("peak_bytes_in_use")[order],
        "fragmentation": columns.floats(
            "fragmentation", as_written=rules.keeps_unknown_fragmentation
        )[order],
        "step": groups.of_event[events[order]],
        "text": text[order],
        "dtype": columns.dtypes()[order],
    }
    whole = {name: timeline.space.room.kept(column) for name, column in whole.items()}
    ends = np.searchsorted(place[order], np.arange(-1, len(in_order)), side="right").tolist()
    by_allocator = {}
    for name, first, end in zip(in_order, ends, ends[1:], strict=False):
        own = {key: column[first:end] for key, column in whole.items()}
        by_allocator[name] = _named_as_allocated(_with_steps(MemoryEvents(texts=texts, **own)))
    return by_allocator


def fullest_share(timeline: Timeline) -> float:
    """Upper bound of the part of its capacity that any allocator holds at its peak; 0 without.

    It needs neither the order of the events nor what was allocated, unlike ``memory_events``.
    """
    events = np.flatnonzero(
        timeline.on_host & timeline.named((ALLOCATION, DEALLOCATION).__contains__)
    )
    columns = _Columns(timeline, events)
    allocator, names = columns.allocators()
    used = columns.sizes("bytes_allocated") + columns.sizes("bytes_reserved")
    most = np.full(max(names.values(), default=-1) + 2, -(1 << 62))  # last: no allocator
    np.maximum.at(most, allocator, used)
    at_peak = np.flatnonzero((allocator >= 0) & (used == most[allocator]))
    capacity = used[at_peak] + columns.sizes("bytes_available")[at_peak]
    shares = used[at_peak][capacity != 0] / capacity[capacity != 0]
    return float(shares.max(initial=0.0))


def with_most_events(allocators: Int64Array) -> Int64Array:
    """The allocators to show, ascending: at most ``MOST_ALLOCATORS``.

    Args:
        allocators: The number of the allocator of each event, below 0 without one, shape (n,).
    """
    numbers, n_events = np.unique(allocators[allocators >= 0], return_counts=True)
    return np.sort(numbers[np.argsort(-n_events, kind="stable")[:MOST_ALLOCATORS]])


class _Columns:
    """Stats of the events of allocators."""

    def __init__(self, timeline: Timeline, events: Int64Array) -> None:
        self._timeline, self._events = timeline, events

    def _held(self, name: str) -> tuple[Int64Array, SparseStat]:
        """Rows of the events that have a stat, and the stat of only these."""
        stat = self._timeline.stat(name, keep=False)  # most of them have no other user
        return np.flatnonzero(stat.has(self._events)), stat.among(self._events)

    def integers(self, name: str) -> Int64Array:
        return self._timeline.stat(name, keep=False).at(self._events)

    def sizes(self, name: str) -> Int64Array:
        """Bytes, clipped so that sums of a few stay below 64 bits."""
        return np.clip(self.integers(name), -_MOST_BYTES, _MOST_BYTES)

    def floats(self, name: str, *, as_written: bool) -> npt.NDArray[np.float64]:
        rows, stat = self._held(name)
        numbers, is_text = stat.floats(), stat.is_text()
        if as_written:
            values = np.zeros(len(self._events))
            values[rows] = np.where(is_text, 0.0, numbers)
        else:
            values = np.full(len(self._events), np.nan)
            # The recorder divides by what is free: of nothing, no part is outside.
            values[rows] = np.where(is_text, np.nan, np.nan_to_num(numbers, posinf=0, neginf=0))
        return values

    def texts(self, *names: str) -> tuple[IntArray, list[str]]:
        numbers = {"": 0}
        columns = np.zeros((len(self._events), len(names)), np.int32)
        for column, name in enumerate(names):
            rows, stat = self._held(name)
            if not len(rows):
                continue
            of_text = np.array(
                [numbers.setdefault(_shown(name, text), len(numbers)) for text in stat.texts] or [0]
            )
            is_text = stat.is_text()
            columns[rows[is_text], column] = of_text[stat.values[is_text]]
        return columns, list(numbers)

    def dtypes(self) -> Int64Array:
        """``DataType`` numbers; some recorders write names instead."""
        values = self.integers("data_type")
        rows, stat = self._held("data_type")
        if len(stat.texts):
            by_name = {name: number for number, name in enumerate(_DTYPES)}
            of_text = np.array([by_name.get(text, 0) for text in stat.texts])
            is_text = stat.is_text()
            values[rows[is_text]] = of_text[stat.values[is_text]]
        return values

    def allocators(self) -> tuple[Int64Array, dict[str, int]]:
        """Number of each event's allocator, -1 without one; numbers by name or device number."""
        numbers: dict[str, int] = {}
        allocator_of = np.full(len(self._events), -1, np.int64)
        for name in ("device_ordinal", "index_on_host", "allocator_name"):
            rows, stat = self._held(name)
            found = distinct_rows([stat.values, stat.is_text()])
            texts = [
                stat.texts[at] if is_text else str(at) for at, is_text in found.values.tolist()
            ]
            of_text = [numbers.setdefault(text, len(numbers)) for text in texts]
            allocator_of[rows] = np.array(of_text, np.int64)[found.place]
        used = set(np.unique(allocator_of).tolist())
        return allocator_of, {name: number for name, number in numbers.items() if number in used}


def _shown(name: str, text: str) -> str:
    return parse_op_name(text).name if name == "tf_op" else text


def _with_steps(events: MemoryEvents) -> MemoryEvents:
    """Give events without a step the number after that of the last step."""
    known = events.step >= 0
    last = np.maximum.accumulate(np.where(known, np.arange(len(events)), -1))
    following = np.where(last >= 0, events.step[last] + 1, 0)
    return replace(events, step=np.where(known, events.step, following))


def _named_as_allocated(events: MemoryEvents) -> MemoryEvents:
    """Give deallocations the op, region, shape and type of the allocation that they free.

    It is the first allocation at the address since the last deallocation there.
    """
    order = np.lexsort((np.arange(len(events)), events.address))
    address, is_allocation = events.address[order], events.is_allocation[order]
    # A run of events ends with a deallocation, or with the last event of the address.
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(address) != 0) | ~is_allocation[:-1]
    run = np.cumsum(is_first) - 1
    first = np.full(int(is_first.sum()), -1, np.int64)
    allocations = np.flatnonzero(is_allocation)[::-1]
    first[run[allocations]] = order[allocations]
    frees = np.flatnonzero(~is_allocation)
    source = first[run[frees]]
    known = source >= 0
    text, dtype = events.text.copy(), events.dtype.copy()
    text[order[frees[known]]] = events.text[source[known]]
    dtype[order[frees[known]]] = events.dtype[source[known]]
    return replace(events, text=text, dtype=dtype)


def peak_of(events: MemoryEvents, *, rules: Rules = OURS) -> Peak:
    """The moment at which an allocator held the most; of equal moments, the last.

    Args:
        events: The events of the allocator.
        rules: Which of equal moments counts.
    """
    if not len(events):
        return Peak(-1, 0, 0)
    used = events.used_bytes
    candidates = np.flatnonzero(used == used.max())
    place, lifetime = int(candidates[-1]), int(events.peak_bytes.max())
    if rules.takes_file_order:
        place = int(candidates[np.argmax(events.place[candidates])])
        lifetime = int(events.peak_bytes[np.argmax(events.place)])
    return Peak(place, lifetime, int(used[place] + events.free_bytes[place]))


def live_at(events: MemoryEvents, place: int, *, only_step: int | None = None) -> LiveMemory:
    """The memory in use at a moment.

    Args:
        events: The events of an allocator.
        place: The event that sets the moment; all events at its time count.
        only_step: The only step whose events count, as in the reference.
    """
    seen = events.time_ps <= events.time_ps[place]
    if only_step is not None:
        seen &= events.step == only_step
    rows = np.flatnonzero(seen)
    order = rows[np.lexsort((rows, events.address[rows]))]
    address, is_allocation = events.address[order], events.is_allocation[order]
    is_last = np.ones(len(order), np.bool_)
    is_last[:-1] = np.diff(address) != 0
    live = np.sort(order[is_last & is_allocation])
    if only_step is None:
        known = _sum(events.allocated_bytes[live])
        return LiveMemory(live, int(events.heap_bytes[place]) - known)
    allocated = _sum(events.allocated_bytes[order[is_allocation]])
    held = np.zeros(len(order), np.bool_)
    held[1:] = is_allocation[:-1] & ~is_last[:-1]
    size = events.allocated_bytes[order]
    freed = _sum(size[~is_allocation & held])
    return LiveMemory(live, int(events.heap_bytes[place]) - allocated + freed)


def _sum(sizes: Int64Array) -> int:
    """The sum, also if it has more than 64 bits."""
    return (int((sizes >> 30).sum()) << 30) + int((sizes & (1 << 30) - 1).sum())


class LiveMemory(NamedTuple):
    """Memory in use at a moment.

    Attributes:
        rows: Allocations: places in order of time, ascending.
        unknown_bytes: The rest of the heap, allocated before the capture began.
    """

    rows: Int64Array
    unknown_bytes: int


def sampled(values: Int64Array, most: int = MOST_SAMPLES) -> Int64Array:
    """Places of the largest value in each of ``most`` boxes, the first of equal ones.

    Widths of boxes differ by one, the narrow ones come first (``memory_profile`` of the
    reference). All places, if there are no more values than boxes.
    """
    n_values = len(values)
    if n_values <= most:
        return np.arange(n_values)
    width = n_values // most
    n_narrow = most * (width + 1) - n_values
    sizes = np.full(most, width + 1)
    sizes[:n_narrow] = width
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    highest = np.repeat(np.maximum.reduceat(values, starts), sizes)
    box = np.repeat(np.arange(most), sizes)
    places = np.flatnonzero(values == highest)
    first: Int64Array = places[np.unique(box[places], return_index=True)[1]]
    return first
