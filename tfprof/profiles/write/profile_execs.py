"""Executions of saved nodes: the records of each step to ``ExecProfile`` messages.

These hold times per op in whole microseconds, and have no place for nanoseconds, single streams,
copies, the order of ops and allocators of CPUs: such details are in fields that tfprof adds to
``ProfileProto``, and that TensorFlow ignores.
"""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.wire import messages as pb
from tfprof.core.wire.varints import encode_int64_fields, encode_varint, length_delimited
from tfprof.profiles.model.executions import (
    ACCELERATOR,
    HOST,
    MEMORY_FIELDS,
    Allocations,
    AllocatorLevels,
    Executions,
    MemoryUses,
    OutputBuffers,
)
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import StepRecords, StepTable
from tfprof.profiles.write.wire_encoding import encode_packed


def encode_details(profile: Profile) -> bytes:
    """The fields to add to a ProfileProto; nothing for a profile without executions."""
    own = pb.ProfileProtoOwn()
    strings = profile.steps.strings
    used: dict[int, int] = {}  # new ids in order of use, so that equal profiles give equal bytes

    def renamed(ids: Int64Array) -> Int64Array:
        distinct, first, places = np.unique(ids, return_index=True, return_inverse=True)
        for old in distinct[np.argsort(first)].tolist():
            if old >= 0:
                used.setdefault(old, len(used))
        return np.array([used.get(old, -1) for old in distinct.tolist()], np.int64)[places]

    for step in profile.steps.steps:
        detail = profile.steps.details[step]
        if not len(detail.executions):
            continue
        saved = own.step_details.add(step=step)
        runs, allocations, levels = detail.executions, detail.allocations, detail.levels
        device_ids, name_ids = renamed(runs.device_ids), renamed(runs.name_ids)
        _fill(saved.executions, replace(runs, device_ids=device_ids, name_ids=name_ids))
        allocator_ids = renamed(allocations.allocator_ids)
        _fill(saved.allocations, replace(allocations, allocator_ids=allocator_ids))
        device_ids, allocator_ids = renamed(levels.device_ids), renamed(levels.allocator_ids)
        named = replace(levels, device_ids=device_ids, allocator_ids=allocator_ids)
        _fill(saved.allocator_levels, named)
    own.detail_strings.extend(strings[old] for old in used)
    encoded: bytes = own.SerializeToString(deterministic=True)
    return encoded


def _fill(columns: pb.IntColumns, table: Executions | Allocations | AllocatorLevels) -> None:
    for column in fields(table):
        columns.columns.add(values=getattr(table, column.name).tolist())


# Tags of length-delimited fields.
_KEY, _VALUE = b"\x0a", b"\x12"  # map entries with text as key
_EXECS = b"\x62"  # ProfileNode
_TIMES = b"\x0a"  # ExecTime
_DEVICES, _MEMORY_EXECS, _ALLOCATIONS = b"\x32", b"\x3a", b"\x5a"  # ExecProfile
_EXECS_OF_KIND = ((ACCELERATOR, b"\x22"), (HOST, b"\x2a"))  # ExecProfile
_OUTPUT_MEMORY = b"\x5a"  # ExecMemory

_INT_KEY = b"\x08"


def execution_fields(steps: StepTable, n_ops: int) -> list[bytes]:
    """The field ``execs`` of each row, steps in ascending order."""
    strings = _Strings(steps.strings.values)
    entries: list[list[bytes]] = [[] for _ in range(n_ops)]
    for step in steps.steps:
        records = steps.records[step]
        if not len(records.rows):
            continue
        key = _INT_KEY + encode_varint(step & 0xFFFF_FFFF_FFFF_FFFF)
        for row, record in zip(
            records.rows.tolist(), _step_records(steps, step, strings), strict=True
        ):
            entries[row].append(length_delimited(_EXECS, key + length_delimited(_VALUE, record)))
    return [b"".join(of_row) for of_row in entries]


class _Strings:
    """Device and allocator names.

    Attributes:
        as_key: The names as keys of a map.
        as_device: The names as elements of the field ``devices``.
        rank: Place of each name in byte order.
        on_gpu: Whether the original takes an allocator of this name as a GPU's.
    """

    def __init__(self, texts: list[str]) -> None:
        encoded = [text.encode() for text in texts]
        self.as_key = [length_delimited(_KEY, text) for text in encoded]
        self.as_device = [length_delimited(_DEVICES, text) for text in encoded]
        self.rank = np.zeros(len(texts), np.int64)
        self.rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        self.on_gpu: BoolArray = np.array(["GPU" in text for text in texts], np.bool_)


def _step_records(steps: StepTable, step: int, strings: _Strings) -> list[bytes]:
    """An ``ExecProfile`` for each record of a step."""
    records, detail = steps.records[step], steps.details[step]
    sums = np.stack([records.values[0], records.window[0], records.window[1]])
    parts = [[head] for head in encode_int64_fields((1, 2, 3), sums)]
    for kind, tag in _EXECS_OF_KIND:
        _add_times(parts, records, detail.executions, kind, tag, strings)
    _add_devices(parts, records, detail.executions, strings)
    _add_memory(parts, records, detail.memory, detail.outputs)
    _add_allocations(parts, records, detail.allocations, strings)
    return [b"".join(of_record) for of_record in parts]


def _add_times(
    parts: list[list[bytes]],
    records: StepRecords,
    executions: Executions,
    kind: int,
    tag: bytes,
    strings: _Strings,
) -> None:
    """Times of one kind by device, those of a device in order of arrival."""
    chosen = np.flatnonzero(
        (executions.rows >= 0) & (executions.kinds == kind) & (executions.start_micros > 0)
    )
    rows, devices = executions.rows[chosen], executions.device_ids[chosen]
    order = np.lexsort((strings.rank[devices], rows))
    chosen, rows, devices = chosen[order], rows[order], devices[order]
    spans = np.stack([executions.start_micros[chosen], executions.duration_micros[chosen]])
    times = [length_delimited(_TIMES, span) for span in encode_packed(1, spans)]
    bounds = _group_bounds(rows, devices)
    firsts = bounds[:-1]
    for place, device, (first, end) in zip(
        np.searchsorted(records.rows, rows[firsts]).tolist(),
        devices[firsts].tolist(),
        pairwise(bounds.tolist()),
        strict=True,
    ):
        of_device = times[first] if end == first + 1 else b"".join(times[first:end])
        entry = strings.as_key[device] + length_delimited(_VALUE, of_device)
        parts[place].append(length_delimited(tag, entry))


def _add_devices(
    parts: list[list[bytes]], records: StepRecords, executions: Executions, strings: _Strings
) -> None:
    """All devices of a record, in byte order."""
    of_op = executions.rows >= 0
    rows, devices = executions.rows[of_op], executions.device_ids[of_op]
    order = np.lexsort((strings.rank[devices], rows))
    rows, devices = rows[order], devices[order]
    firsts = _group_bounds(rows, devices)[:-1]
    for place, device in zip(
        np.searchsorted(records.rows, rows[firsts]).tolist(), devices[firsts].tolist(), strict=True
    ):
        parts[place].append(strings.as_device[device])


def _add_memory(
    parts: list[list[bytes]], records: StepRecords, memory: MemoryUses, outputs: OutputBuffers
) -> None:
    uses = encode_int64_fields(range(1, len(MEMORY_FIELDS) + 1), memory.values)
    # Of several buffers for one output the last one counts, as in the original.
    order = np.lexsort((outputs.slots, outputs.uses))
    last = _group_bounds(outputs.uses[order], outputs.slots[order])[1:] - 1
    order = order[last]
    buffers = encode_int64_fields((1, 2), np.stack([outputs.sizes, outputs.addresses])[:, order])
    slots = outputs.slots[order].tolist()
    keys = {slot: _INT_KEY + encode_varint(slot & 0xFFFF_FFFF_FFFF_FFFF) for slot in set(slots)}
    for use, slot, buffer in zip(outputs.uses[order].tolist(), slots, buffers, strict=True):
        entry = keys[slot] + length_delimited(_VALUE, buffer)
        uses[use] += length_delimited(_OUTPUT_MEMORY, entry)
    for place, use_of_row in zip(
        np.searchsorted(records.rows, memory.rows).tolist(), uses, strict=True
    ):
        parts[place].append(length_delimited(_MEMORY_EXECS, use_of_row))


def _add_allocations(
    parts: list[list[bytes]], records: StepRecords, allocations: Allocations, strings: _Strings
) -> None:
    """Allocations on GPUs; the format has no place for an allocator's name."""
    on_gpu = strings.on_gpu[allocations.allocator_ids]
    values = np.stack([allocations.micros, allocations.sizes])[:, on_gpu]
    for place, allocation in zip(
        np.searchsorted(records.rows, allocations.rows[on_gpu]).tolist(),
        encode_int64_fields((1, 2), values),
        strict=True,
    ):
        parts[place].append(length_delimited(_ALLOCATIONS, allocation))


def _group_bounds(first: Int64Array, second: Int64Array) -> Int64Array:
    """Where runs of equal pairs begin, and the number of pairs."""
    changes = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    inner = np.flatnonzero(changes) + 1
    ends = [len(first)] if len(first) else []
    return np.concatenate([np.zeros(1, np.int64), inner, np.array(ends, np.int64)])
