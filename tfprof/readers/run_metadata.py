"""RunMetadata → ``RunColumns``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from tfprof._wire import messages as pb
from tfprof._wire.lockstep import IrregularError, Messages, Occurrences, read_fields
from tfprof._wire.parsing import parse
from tfprof.model.columns import BoolArray, Int64Array
from tfprof.model.runs import (
    AllocationColumns,
    AllocatorColumns,
    KnownNames,
    OutputColumns,
    RunColumns,
)
from tfprof.model.strings import StringTable
from tfprof.readers.open import open_bytes
from tfprof.readers.sniff import Format

if TYPE_CHECKING:
    from tfprof.readers.open import Source

# Field numbers, by message.
_NODE_NAME, _START_MICROS, _END_REL_MICROS = 1, 2, 4  # NodeExecStats
_MEMORY, _OUTPUT, _LABEL, _MEMORY_STATS = 6, 7, 8, 12  # NodeExecStats
_START_NANOS, _END_REL_NANOS = 13, 15  # NodeExecStats
_STAT_FIELDS = (
    *(_NODE_NAME, _START_MICROS, _END_REL_MICROS, _START_NANOS, _END_REL_NANOS),
    *(_MEMORY, _OUTPUT, _LABEL, _MEMORY_STATS),
)
_ALLOCATOR_NAME, _TOTAL_BYTES, _PEAK_BYTES, _LIVE_BYTES = 1, 2, 3, 4  # AllocatorMemoryUsed
_BYTES_IN_USE, _ALLOCATION_RECORDS = 5, 6  # AllocatorMemoryUsed
_ALLOC_MICROS, _ALLOC_BYTES = 1, 2  # AllocationRecord
_TEMPORARY, _PERSISTENT = 1, 3  # MemoryStats
_SLOT, _TENSOR_DESCRIPTION = 1, 3  # NodeOutput
_ALLOCATION_DESCRIPTION = 4  # TensorDescription
_REQUESTED_BYTES, _ALLOCATED_BYTES, _ADDRESS = 1, 2, 6  # AllocationDescription

_FED = re.compile(r"_arg_(?P<name>.+)_(?P<output>\d{1,9})_\d+")
"""Name of the op that takes what is fed for an output of another (``graph_execution_state.cc``)."""

_BATCH = 8192
"""Node stats read together: many for NumPy, few enough for the processor's cache."""


def read_run_metadata(source: Source, names: KnownNames) -> RunColumns | None:
    """Read the node stats of one run; everything else in the message is passed over.

    Args:
        source: A RunMetadata as message, bytes or file (binary or text, also compressed).
        names: What is known of the ops so far.

    Returns:
        The stats, or None if the message has no ``step_stats`` (the run was not traced).

    Raises:
        UnknownFormatError: It is something else.
        MalformedProfileError: It is broken.
    """
    data, label = open_bytes(source, Format.RUN_METADATA, argument="run_meta")
    run = parse(pb.RunMetadataSlices, data, source=label)
    if not run.HasField("step_stats"):
        return None
    blocks = run.step_stats.dev_stats
    stats = [stat for block in blocks for stat in block.node_stats[:]]
    allocators = StringTable()
    try:
        columns = RunColumns.concatenate(
            [
                _read_together(stats[first : first + _BATCH], names, allocators)
                for first in range(0, len(stats), _BATCH)
            ]
        )
        columns.allocators = allocators.values
    except IrregularError:
        message = parse(pb.RunMetadata, data, source=label)
        columns = _read_one_by_one(message, names)
    columns.devices = [(block.device, len(block.node_stats)) for block in blocks]
    columns.fed_shapes = _fed_shapes(columns.unknown, stats)
    return columns


def _fed_shapes(
    unknown: Sequence[tuple[int, str, str]], stats: Sequence[bytes]
) -> dict[tuple[str, int], tuple[int, ...]]:
    """Shapes of what a session was fed: it runs ``_arg_x_0_2`` in place of ``x``."""
    shapes: dict[tuple[str, int], tuple[int, ...]] = {}
    for place, name, _ in unknown:
        found = _FED.fullmatch(name)
        if found is None:
            continue
        try:
            stat = pb.NodeExecStats.FromString(stats[place])
        except DecodeError:  # its numbers could be read, so they count
            continue
        seen = list(_run_time_shapes(stat))
        if seen and seen[0] is not None:
            shapes[found["name"], int(found["output"])] = seen[0]
    return shapes


def _read_together(stats: list[bytes], names: KnownNames, allocators: StringTable) -> RunColumns:
    """Columns of node stats, without the devices.

    Sums go over allocators and outputs; temporary and persistent memory go on top
    (``tfprof_node.cc``, ``ExecStep::AddMemoryStats``): requested and peak bytes hold both, what
    is left after the op holds the persistent part.

    Raises:
        IrregularError: ``lockstep`` can not read the stats.
    """
    messages = Messages.from_bytes(stats)
    fields = read_fields(messages, *_STAT_FIELDS)
    texts = _Texts(fields)
    find = names.ids.get
    ids = np.array([find(name, -1) for name in texts.names()], np.int64)

    temporary, persistent = _memory_stats(fields, len(stats))
    used = _read_allocators(fields, allocators)
    outputs, has_output = _read_outputs(fields)
    wanted = names.shapes_wanted[ids] & has_output
    return RunColumns(
        name_ids=ids,
        unknown=[
            (place, texts.name(place), texts.label(place))
            for place in np.flatnonzero(~names.is_op[ids]).tolist()
        ],
        start_micros=fields.last_int(_START_MICROS),
        duration_micros=fields.last_int(_END_REL_MICROS),
        start_nanos=fields.last_int(_START_NANOS),
        duration_nanos=fields.last_int(_END_REL_NANOS),
        requested_bytes=used.total_bytes + temporary + persistent,
        peak_bytes=used.peak_bytes + temporary + persistent,
        residual_bytes=used.live_bytes + persistent,
        output_bytes=_summed(outputs.stats, outputs.sizes, len(stats)),
        temporary_bytes=temporary,
        persistent_bytes=persistent,
        outputs=outputs,
        allocator_levels=used.levels,
        allocations=used.allocations,
        output_shapes=_shapes_of_wanted(ids, wanted, stats),
    )


class _Texts:
    """Node names and timeline labels, decoded when asked for."""

    def __init__(self, fields: Occurrences) -> None:
        self._data = fields.messages.data
        self._names = fields.last_payload(_NODE_NAME)
        self._labels = fields.last_payload(_LABEL)

    def names(self) -> Iterator[str]:
        data = self._data
        starts, ends = self._names
        try:
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                yield data[start:end].decode()
        except UnicodeDecodeError:
            raise IrregularError from None

    def name(self, place: int) -> str:
        return self._text(self._names, place)

    def label(self, place: int) -> str:
        return self._text(self._labels, place)

    def _text(self, bounds: tuple[Int64Array, Int64Array], place: int) -> str:
        try:
            return self._data[int(bounds[0][place]) : int(bounds[1][place])].decode()
        except UnicodeDecodeError:
            raise IrregularError from None


def _memory_stats(fields: Occurrences, n_stats: int) -> tuple[Int64Array, Int64Array]:
    """Temporary and persistent bytes of each stat."""
    owner, nested = fields.nested(_MEMORY_STATS)
    memory = read_fields(nested, _TEMPORARY, _PERSISTENT)
    temporary = np.zeros(n_stats, np.int64)
    persistent = np.zeros(n_stats, np.int64)
    temporary[owner] = memory.last_int(_TEMPORARY)
    persistent[owner] = memory.last_int(_PERSISTENT)
    if _has_repeats(owner):  # protobuf would merge them
        raise IrregularError
    return temporary, persistent


class _Allocators(NamedTuple):
    """Sums per stat, shape (n stats,), and what single allocators did."""

    total_bytes: Int64Array
    peak_bytes: Int64Array
    live_bytes: Int64Array
    levels: AllocatorColumns
    allocations: AllocationColumns


def _read_allocators(fields: Occurrences, names: StringTable) -> _Allocators:
    """Memory by allocator; those that tell neither their level nor allocations get no name."""
    n_stats = len(fields.messages)
    owner, messages = fields.nested(_MEMORY)
    used = read_fields(
        messages,
        *(_ALLOCATOR_NAME, _TOTAL_BYTES, _PEAK_BYTES, _LIVE_BYTES),
        *(_BYTES_IN_USE, _ALLOCATION_RECORDS),
    )
    maker, messages = used.nested(_ALLOCATION_RECORDS)
    records = read_fields(messages, _ALLOC_MICROS, _ALLOC_BYTES)
    in_use = used.last_int(_BYTES_IN_USE)
    telling = in_use != 0
    telling[maker] = True
    in_order = np.argsort(owner, kind="stable")
    tellers = in_order[telling[in_order]]
    name_ids = np.zeros(len(used.messages), np.int64)
    name_ids[tellers] = _name_ids(used, tellers, names)
    has_level = tellers[in_use[tellers] != 0]
    made = np.lexsort((maker, owner[maker]))
    maker = maker[made]
    return _Allocators(
        _summed(owner, used.last_int(_TOTAL_BYTES), n_stats),
        _summed(owner, used.last_int(_PEAK_BYTES), n_stats),
        _summed(owner, used.last_int(_LIVE_BYTES), n_stats),
        AllocatorColumns(owner[has_level], name_ids[has_level], in_use[has_level]),
        AllocationColumns(
            owner[maker],
            name_ids[maker],
            records.last_int(_ALLOC_MICROS)[made],
            records.last_int(_ALLOC_BYTES)[made],
        ),
    )


def _name_ids(used: Occurrences, places: Int64Array, names: StringTable) -> list[int]:
    """Allocators by name; there are few, so each text is decoded once."""
    data = used.messages.data
    starts, ends = used.last_payload(_ALLOCATOR_NAME)
    known: dict[bytes, int] = {}
    ids = []
    for start, end in zip(starts[places].tolist(), ends[places].tolist(), strict=True):
        text = data[start:end]
        found = known.get(text)
        if found is None:
            try:
                found = known[text] = names.intern(text.decode())
            except UnicodeDecodeError:
                raise IrregularError from None
        ids.append(found)
    return ids


def _read_outputs(fields: Occurrences) -> tuple[OutputColumns, BoolArray]:
    """Every output with an allocation description; stats with any output."""
    owner, messages = fields.nested(_OUTPUT)
    outputs = read_fields(messages, _SLOT, _TENSOR_DESCRIPTION)
    described, tensors = outputs.nested(_TENSOR_DESCRIPTION)
    allocated, allocations = read_fields(tensors, _ALLOCATION_DESCRIPTION).nested(
        _ALLOCATION_DESCRIPTION
    )
    if _has_repeats(described) or _has_repeats(allocated):
        raise IrregularError  # protobuf would merge them
    sizes = read_fields(allocations, _REQUESTED_BYTES, _ALLOCATED_BYTES, _ADDRESS)
    has_output = np.zeros(len(fields.messages), np.bool_)
    has_output[owner] = True
    place = described[allocated]
    in_order = np.lexsort((place, owner[place]))
    place = place[in_order]
    larger = np.maximum(sizes.last_int(_ALLOCATED_BYTES), sizes.last_int(_REQUESTED_BYTES))
    columns = OutputColumns(
        owner[place],
        outputs.last_int(_SLOT)[place].astype(np.int32).astype(np.int64),
        larger[in_order],
        sizes.last_int(_ADDRESS)[in_order],
    )
    return columns, has_output


def _has_repeats(owner: Int64Array) -> bool:
    return bool((np.bincount(owner) > 1).any())


def _summed(owner: Int64Array, values: Int64Array, n_stats: int) -> Int64Array:
    sums = np.zeros(n_stats, np.int64)
    np.add.at(sums, owner, values)
    return sums


def _shapes_of_wanted(
    ids: Int64Array, wanted: BoolArray, stats: list[bytes]
) -> dict[int, list[tuple[int, ...] | None]]:
    """Run-time shapes by name id. These are few, and known after the first step."""
    shapes: dict[int, list[tuple[int, ...] | None]] = {}
    for place in np.flatnonzero(wanted).tolist():
        try:
            stat = pb.NodeExecStats.FromString(stats[place])
        except DecodeError:
            raise IrregularError from None
        shapes[int(ids[place])] = list(_run_time_shapes(stat))
    return shapes


def _read_one_by_one(run: pb.RunMetadata, names: KnownNames) -> RunColumns:
    """What ``_read_together`` does, by way of protobuf's objects."""
    stats = [stat for block in run.step_stats.dev_stats for stat in block.node_stats]
    ids = np.array([names.ids.get(stat.node_name, -1) for stat in stats], np.int64)
    wanted = names.shapes_wanted[ids]
    sums = np.array([_memory_of(stat) for stat in stats], np.int64).reshape(-1, 5).T
    total, peak, live, temporary, persistent = sums
    outputs = OutputColumns(*_columns(4, _outputs_of(stats)))
    allocators = StringTable()
    telling = _telling_allocators(stats, allocators)
    return RunColumns(
        name_ids=ids,
        unknown=[
            (place, stats[place].node_name, stats[place].timeline_label)
            for place in np.flatnonzero(~names.is_op[ids]).tolist()
        ],
        start_micros=np.array([stat.all_start_micros for stat in stats], np.int64),
        duration_micros=np.array([stat.op_end_rel_micros for stat in stats], np.int64),
        start_nanos=np.array([stat.all_start_nanos for stat in stats], np.int64),
        duration_nanos=np.array([stat.op_end_rel_nanos for stat in stats], np.int64),
        requested_bytes=total + temporary + persistent,
        peak_bytes=peak + temporary + persistent,
        residual_bytes=live + persistent,
        output_bytes=_summed(outputs.stats, outputs.sizes, len(stats)),
        temporary_bytes=temporary,
        persistent_bytes=persistent,
        outputs=outputs,
        allocator_levels=AllocatorColumns(
            *_columns(
                3,
                (
                    (place, name_id, used.allocator_bytes_in_use)
                    for place, name_id, used in telling
                    if used.allocator_bytes_in_use
                ),
            )
        ),
        allocations=AllocationColumns(
            *_columns(
                4,
                (
                    (place, name_id, record.alloc_micros, record.alloc_bytes)
                    for place, name_id, used in telling
                    for record in used.allocation_records
                ),
            )
        ),
        allocators=allocators.values,
        output_shapes={
            int(ids[place]): list(_run_time_shapes(stats[place]))
            for place in np.flatnonzero(wanted).tolist()
            if stats[place].output
        },
    )


def _columns(width: int, rows: Iterable[tuple[int, ...]]) -> Int64Array:
    columns: Int64Array = np.array(list(rows), np.int64).reshape(-1, width).T
    return columns


def _memory_of(stat: pb.NodeExecStats) -> tuple[int, int, int, int, int]:
    """Total, peak and live bytes of all allocators; temporary and persistent bytes."""
    return (
        sum(used.total_bytes for used in stat.memory),
        sum(used.peak_bytes for used in stat.memory),
        sum(used.live_bytes for used in stat.memory),
        stat.memory_stats.temp_memory_size,
        stat.memory_stats.persistent_memory_size,
    )


def _outputs_of(stats: list[pb.NodeExecStats]) -> Iterator[tuple[int, int, int, int]]:
    """Stat, slot, bytes and address of each output that was allocated."""
    for place, stat in enumerate(stats):
        for output in stat.output:
            tensor = output.tensor_description
            if tensor.HasField("allocation_description"):
                allocation = tensor.allocation_description
                size = max(allocation.allocated_bytes, allocation.requested_bytes)
                yield place, output.slot, size, (allocation.ptr + 2**63) % 2**64 - 2**63


def _telling_allocators(
    stats: list[pb.NodeExecStats], names: StringTable
) -> list[tuple[int, int, pb.AllocatorMemoryUsed]]:
    """Stat, name and message of the allocators that tell their level or allocations."""
    return [
        (place, names.intern(used.allocator_name), used)
        for place, stat in enumerate(stats)
        for used in stat.memory
        if used.allocator_bytes_in_use or used.allocation_records
    ]


def _run_time_shapes(stat: pb.NodeExecStats) -> Iterator[tuple[int, ...] | None]:
    for output in stat.output:
        if not output.HasField("tensor_description"):
            yield None
            continue
        yield tuple([dim.size for dim in output.tensor_description.shape.dim])
