"""RunMetadata → ``RunColumns``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from google.protobuf.message import DecodeError

from tfprof._wire import messages as pb
from tfprof._wire.lockstep import IrregularError, Messages, Occurrences, read_fields
from tfprof._wire.parsing import parse
from tfprof.model.columns import BoolArray, Int64Array
from tfprof.model.steps import KnownNames, RunColumns
from tfprof.readers.open import open_bytes
from tfprof.readers.sniff import Format

if TYPE_CHECKING:
    from tfprof.readers.open import Source

# Field numbers, by message.
_NODE_NAME, _START_MICROS, _END_REL_MICROS = 1, 2, 4  # NodeExecStats
_MEMORY, _OUTPUT, _LABEL, _MEMORY_STATS = 6, 7, 8, 12  # NodeExecStats
_STAT_FIELDS = (
    *(_NODE_NAME, _START_MICROS, _END_REL_MICROS),
    *(_MEMORY, _OUTPUT, _LABEL, _MEMORY_STATS),
)
_TOTAL_BYTES, _PEAK_BYTES, _LIVE_BYTES = 2, 3, 4  # AllocatorMemoryUsed
_TEMPORARY, _PERSISTENT = 1, 3  # MemoryStats
_TENSOR_DESCRIPTION = 3  # NodeOutput
_ALLOCATION_DESCRIPTION = 4  # TensorDescription
_REQUESTED_BYTES, _ALLOCATED_BYTES = 1, 2  # AllocationDescription

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
    try:
        columns = RunColumns.concatenate(
            [
                _read_together(stats[first : first + _BATCH], names)
                for first in range(0, len(stats), _BATCH)
            ]
        )
    except IrregularError:
        message = parse(pb.RunMetadata, data, source=label)
        columns = _read_one_by_one(message, names)
    columns.devices = [(block.device, len(block.node_stats)) for block in blocks]
    return columns


def _read_together(stats: list[bytes], names: KnownNames) -> RunColumns:
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
    owner, allocators = fields.nested(_MEMORY)
    used = read_fields(allocators, _TOTAL_BYTES, _PEAK_BYTES, _LIVE_BYTES)
    total, peak, live = (
        _summed(owner, used.last_int(number), len(stats))
        for number in (_TOTAL_BYTES, _PEAK_BYTES, _LIVE_BYTES)
    )
    owner, sizes, has_output = _output_sizes(fields)
    wanted = names.shapes_wanted[ids] & has_output
    return RunColumns(
        name_ids=ids,
        unknown=[
            (place, texts.name(place), texts.label(place))
            for place in np.flatnonzero(~names.is_op[ids]).tolist()
        ],
        start_micros=fields.last_int(_START_MICROS),
        duration_micros=fields.last_int(_END_REL_MICROS),
        requested_bytes=total + temporary + persistent,
        peak_bytes=peak + temporary + persistent,
        residual_bytes=live + persistent,
        output_bytes=_summed(owner, sizes, len(stats)),
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


def _output_sizes(fields: Occurrences) -> tuple[Int64Array, Int64Array, BoolArray]:
    """Stat and size of every output with an allocation description; stats with any output."""
    owner, outputs = fields.nested(_OUTPUT)
    described, tensors = read_fields(outputs, _TENSOR_DESCRIPTION).nested(_TENSOR_DESCRIPTION)
    allocated, allocations = read_fields(tensors, _ALLOCATION_DESCRIPTION).nested(
        _ALLOCATION_DESCRIPTION
    )
    if _has_repeats(described) or _has_repeats(allocated):
        raise IrregularError  # protobuf would merge them
    sizes = read_fields(allocations, _REQUESTED_BYTES, _ALLOCATED_BYTES)
    larger = np.maximum(sizes.last_int(_ALLOCATED_BYTES), sizes.last_int(_REQUESTED_BYTES))
    has_output = np.zeros(len(fields.messages), np.bool_)
    has_output[owner] = True
    return owner[described[allocated]], larger, has_output


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
    columns = RunColumns(
        name_ids=ids,
        unknown=[
            (place, stats[place].node_name, stats[place].timeline_label)
            for place in np.flatnonzero(~names.is_op[ids]).tolist()
        ],
        start_micros=np.array([stat.all_start_micros for stat in stats], np.int64),
        duration_micros=np.array([stat.op_end_rel_micros for stat in stats], np.int64),
        output_shapes={
            int(ids[place]): list(_run_time_shapes(stats[place]))
            for place in np.flatnonzero(wanted).tolist()
            if stats[place].output
        },
    )
    rows = np.array([_memory_of(stat) for stat in stats], np.int64).reshape(-1, 4).T
    (
        columns.requested_bytes,
        columns.peak_bytes,
        columns.residual_bytes,
        columns.output_bytes,
    ) = rows
    return columns


def _memory_of(stat: pb.NodeExecStats) -> tuple[int, int, int, int]:
    """Requested, peak, residual and output bytes."""
    temporary = stat.memory_stats.temp_memory_size
    persistent = stat.memory_stats.persistent_memory_size
    allocations = [out.tensor_description.allocation_description for out in stat.output]
    return (
        sum(used.total_bytes for used in stat.memory) + temporary + persistent,
        sum(used.peak_bytes for used in stat.memory) + temporary + persistent,
        sum(used.live_bytes for used in stat.memory) + persistent,
        sum(max(a.allocated_bytes, a.requested_bytes) for a in allocations),
    )


def _run_time_shapes(stat: pb.NodeExecStats) -> Iterator[tuple[int, ...] | None]:
    for output in stat.output:
        if not output.HasField("tensor_description"):
            yield None
            continue
        yield tuple([dim.size for dim in output.tensor_description.shape.dim])
