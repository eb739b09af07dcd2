"""RunMetadata → ``RunColumns``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from tfprof._wire import messages as pb
from tfprof._wire.parsing import parse, scan_or_explain
from tfprof._wire.plan import Entries, Plan, number, present, rows, text
from tfprof._wire.scan import Columns, Texts, scan
from tfprof._wire.text_index import TextIndex
from tfprof.model.columns import BoolArray, Int64Array
from tfprof.model.runs import (
    AllocationColumns,
    AllocatorColumns,
    KnownNames,
    OutputColumns,
    RunColumns,
)
from tfprof.readers.open import as_binary, open_unchecked
from tfprof.readers.sniff import Format

if TYPE_CHECKING:
    from tfprof.readers.open import Source

_STATS = 2
"""Place of the table of stats in the plan."""
_LOOKED_AT = 100

_ALLOCATION = "tensor_description.allocation_description"

_FED = re.compile(r"_arg_(?P<name>.+)_(?P<output>\d{1,9})_\d+")
"""Name of the op that takes what is fed for an output of another (``graph_execution_state.cc``)."""


@functools.cache
def run_plan() -> Plan:
    """What is read of RunMetadata."""
    memory: Entries = [
        text("allocator_name"),
        number("total_bytes"),
        number("peak_bytes"),
        number("live_bytes"),
        number("allocator_bytes_in_use"),
        rows("allocation_records", [number("alloc_micros"), number("alloc_bytes")]),
    ]
    output = [
        number("slot"),
        present("tensor_description"),
        text("tensor_description.shape"),
        present(_ALLOCATION),
        number(f"{_ALLOCATION}.requested_bytes"),
        number(f"{_ALLOCATION}.allocated_bytes"),
        number(f"{_ALLOCATION}.ptr"),
    ]
    stat: Entries = [
        text("node_name"),
        text("timeline_label"),
        number("all_start_micros"),
        number("op_end_rel_micros"),
        number("all_start_nanos"),
        number("op_end_rel_nanos"),
        number("memory_stats.temp_memory_size"),
        number("memory_stats.persistent_memory_size"),
        rows("memory", memory),
        rows("output", output),
    ]
    device: Entries = [text("device"), rows("node_stats", stat)]
    return Plan(
        "tensorflow.RunMetadata", [present("step_stats"), rows("step_stats.dev_stats", device)]
    )


def read_run_metadata(source: Source, names: KnownNames) -> RunColumns | None:
    """Read the node stats of one run; everything else in the message is passed over.

    Sums go over allocators and outputs; temporary and persistent memory go on top
    (``tfprof_node.cc``, ``ExecStep::AddMemoryStats``): requested and peak bytes hold both, what
    is left after the op holds the persistent part.

    Args:
        source: A RunMetadata as message, bytes or file (binary or text, also compressed).
        names: What is known of the ops so far.

    Returns:
        The stats, or None if the message has no ``step_stats`` (the run was not traced).

    Raises:
        UnknownFormatError: It is something else.
        MalformedProfileError: It is broken.
    """
    data, label = open_unchecked(source, Format.RUN_METADATA, argument="run_meta")
    tables = _believable(data, names)
    if not tables:
        data = as_binary(data, Format.RUN_METADATA, label)
        tables = scan_or_explain(run_plan(), pb.RunMetadata, data, source=label)
    run, devices, stats, memory, records, outputs = tables
    if not run.number("step_stats")[0]:
        return None
    n_stats = len(stats)
    ids = names.find(stats.text("node_name"))
    try:
        unknown = _unknown(stats, np.flatnonzero(~names.is_op[ids]))
        device_names = [name.decode() for name in devices.text("device")]
        used = _read_allocators(memory, records, n_stats)
    except UnicodeDecodeError:
        parse(pb.RunMetadata, data, source=label)  # says where
        raise
    temporary = stats.number("memory_stats.temp_memory_size")
    persistent = stats.number("memory_stats.persistent_memory_size")
    buffers = _read_outputs(outputs)
    return RunColumns(
        devices=list(zip(device_names, _counts(stats.parent, len(devices)), strict=True)),
        name_ids=ids,
        unknown=unknown,
        start_micros=stats.number("all_start_micros"),
        duration_micros=stats.number("op_end_rel_micros"),
        start_nanos=stats.number("all_start_nanos"),
        duration_nanos=stats.number("op_end_rel_nanos"),
        requested_bytes=used.total_bytes + temporary + persistent,
        peak_bytes=used.peak_bytes + temporary + persistent,
        residual_bytes=used.live_bytes + persistent,
        output_bytes=_summed(buffers.stats, buffers.sizes, n_stats),
        temporary_bytes=temporary,
        persistent_bytes=persistent,
        allocators=used.names,
        outputs=buffers,
        allocator_levels=used.levels,
        allocations=used.allocations,
        output_shapes=_wanted_shapes(ids, names.shapes_wanted, outputs, n_stats),
        fed_shapes=_fed_shapes(unknown, outputs),
    )


def _believable(data: bytes, names: KnownNames) -> list[Columns]:
    """The tables, if some op that ran is known: then nobody has to look what the data are."""
    try:
        tables = scan(run_plan(), data)
    except (DecodeError, RuntimeWarning):
        return []
    stats = tables[_STATS]
    some = stats.text("node_name")
    first = Texts(some.data, some.start[:_LOOKED_AT], some.length[:_LOOKED_AT])
    return tables if names.is_op[names.find(first)].any() else []


def _unknown(stats: Columns, places: Int64Array) -> list[tuple[int, str, str]]:
    """Place, name and label of the stats of which no op is known."""
    texts, labels = stats.text("node_name"), stats.text("timeline_label")
    return [(place, texts[place].decode(), labels[place].decode()) for place in places.tolist()]


class _Allocators(NamedTuple):
    """Sums per stat, shape (n stats,), and what single allocators did."""

    names: list[str]
    total_bytes: Int64Array
    peak_bytes: Int64Array
    live_bytes: Int64Array
    levels: AllocatorColumns
    allocations: AllocationColumns


def _read_allocators(memory: Columns, records: Columns, n_stats: int) -> _Allocators:
    """Memory by allocator; those that tell neither their level nor allocations get no name."""
    owner, maker = memory.parent, records.parent
    in_use = memory.number("allocator_bytes_in_use")
    telling = in_use != 0
    telling[maker] = True
    tellers = np.flatnonzero(telling)
    texts = memory.text("allocator_name")
    index = TextIndex()
    name_ids = np.zeros(len(memory), np.int64)
    name_ids[tellers] = index.intern(Texts(texts.data, texts.start[tellers], texts.length[tellers]))
    has_level = tellers[in_use[tellers] != 0]
    return _Allocators(
        [index[number].decode() for number in range(len(index))],
        _summed(owner, memory.number("total_bytes"), n_stats),
        _summed(owner, memory.number("peak_bytes"), n_stats),
        _summed(owner, memory.number("live_bytes"), n_stats),
        AllocatorColumns(owner[has_level], name_ids[has_level], in_use[has_level]),
        AllocationColumns(
            owner[maker],
            name_ids[maker],
            records.number("alloc_micros"),
            records.number("alloc_bytes"),
        ),
    )


def _read_outputs(outputs: Columns) -> OutputColumns:
    """Every output with an allocation description."""
    place = np.flatnonzero(outputs.number(_ALLOCATION))
    allocated = outputs.number(f"{_ALLOCATION}.allocated_bytes")
    requested = outputs.number(f"{_ALLOCATION}.requested_bytes")
    return OutputColumns(
        outputs.parent[place],
        outputs.number("slot")[place],
        np.maximum(allocated, requested)[place],
        outputs.number(f"{_ALLOCATION}.ptr")[place],
    )


def _counts(owner: Int64Array, size: int) -> list[int]:
    return np.bincount(owner, minlength=size).tolist()  # type: ignore[no-any-return]


def _summed(owner: Int64Array, values: Int64Array, n_stats: int) -> Int64Array:
    """Sums by owner; the owners ascend."""
    sums = np.zeros(n_stats, np.int64)
    if len(owner):
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        sums[owner[first]] = np.add.reduceat(values, first)
    return sums


def _wanted_shapes(
    ids: Int64Array, wanted: BoolArray, outputs: Columns, n_stats: int
) -> dict[int, list[tuple[int, ...] | None]]:
    """Run-time shapes by name id. These are few, and known after the first step."""
    has_output = np.zeros(n_stats, np.bool_)
    has_output[outputs.parent] = True
    places = np.flatnonzero(wanted[ids] & has_output)
    return {int(ids[place]): list(_shapes(outputs, place)) for place in places.tolist()}


def _fed_shapes(
    unknown: Sequence[tuple[int, str, str]], outputs: Columns
) -> dict[tuple[str, int], tuple[int, ...]]:
    """Shapes of what a session was fed: it runs ``_arg_x_0_2`` in place of ``x``."""
    shapes: dict[tuple[str, int], tuple[int, ...]] = {}
    for place, name, _ in unknown:
        found = _FED.fullmatch(name)
        first = None if found is None else next(_shapes(outputs, place), None)
        if found is not None and first is not None:
            shapes[found["name"], int(found["output"])] = first
    return shapes


def _shapes(outputs: Columns, stat: int) -> Iterator[tuple[int, ...] | None]:
    """The shape of each output of a stat; None of an output without a description."""
    first, last = np.searchsorted(outputs.parent, [stat, stat + 1]).tolist()
    is_described, shapes = (
        outputs.number("tensor_description"),
        outputs.text("tensor_description.shape"),
    )
    for place in range(first, last):
        if not is_described[place]:
            yield None
            continue
        shape = pb.TensorShapeProto.FromString(shapes[place])
        yield tuple([dim.size for dim in shape.dim])
