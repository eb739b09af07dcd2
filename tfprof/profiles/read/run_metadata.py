"""RunMetadata → ``RunColumns``.

Of output shapes only new ones are decoded: those that the op has not had in any earlier run. Ops
whose shapes never become complete, because only one of their outputs is ever used (as of a
``Switch``) or because the graph contradicts them, cost almost nothing in later runs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.compact import CompactColumn
from tfprof.core.columns.numerals import whole_number
from tfprof.core.columns.shapes import OutputShapes, Shape
from tfprof.core.wire import messages as pb
from tfprof.core.wire.parsing import parse
from tfprof.core.wire.plan import Entries, Plan, number, present, rows, text
from tfprof.core.wire.refusals import REFUSALS
from tfprof.core.wire.scan import Columns, Texts, scan_or_explain
from tfprof.core.wire.scan_parts import SplitPlan, scan_in_parts, split
from tfprof.core.wire.text_index import TextIndex
from tfprof.files.open import as_binary, open_unchecked
from tfprof.files.sniff import Format
from tfprof.files.threads import number_of_threads
from tfprof.profiles.model.runs import (
    AllocationColumns,
    AllocatorColumns,
    KnownNames,
    OutputColumns,
    RunColumns,
    StatColumns,
)

if TYPE_CHECKING:
    from tfprof.files.open import Source


_SHAPE = "tensor_description.shape"

_FED = re.compile(r"_arg_(?P<name>.+)_(?P<output>\d{1,9})_\d+")
"""Name of the op that gives the value fed for an output (``graph_execution_state.cc``)."""


class SeenShapes:
    """Which shapes the outputs of ops have had, in all runs of a profile."""

    def __init__(self) -> None:
        self._shapes = TextIndex()
        self._seen = TextIndex()  # an op, an output, whether it is described and a shape, as bytes

    def take_new(
        self, name_ids: Int64Array, outputs: Columns, wanted: BoolArray
    ) -> list[tuple[int, OutputShapes]]:
        """The outputs of a run with shapes that no earlier run has shown.

        Args:
            name_ids: Name id of each stat's op, -1 for one that is not known, shape (n stats,).
            outputs: The outputs of the stats.
            wanted: Whether the shapes of an op are wanted, by name id.

        Returns:
            Name id and outputs of each stat with a new shape, in the order of the run; equal
            entries once.

        Raises:
            DecodeError: A shape is damaged. Nothing is taken.
        """
        is_wanted = wanted[name_ids]
        if not is_wanted.any():
            return []
        places = np.flatnonzero(is_wanted[outputs.parent])
        owners = outputs.parent[places]
        texts = outputs.text(_SHAPE).take(places)
        facts = (
            name_ids[owners],
            outputs.number("slot")[places],
            outputs.number("tensor_description")[places],
            self._shapes.intern(texts),
        )
        rows = _texts_of_rows(np.stack(facts, axis=1))
        is_new = self._seen.find(rows) < 0
        if not is_new.any():
            return []
        decode = _decoder()
        described = facts[2].tolist()
        slots = facts[1].tolist()
        new_shapes: dict[tuple[int, OutputShapes], None] = {}
        stats = np.unique(owners[is_new])
        bounds = zip(
            name_ids[stats].tolist(),
            np.searchsorted(owners, stats).tolist(),
            np.searchsorted(owners, stats, "right").tolist(),
            strict=True,
        )
        for name_id, start, stop in bounds:
            shown = [
                (slots[each], decode(texts[each]) if described[each] else None)
                for each in range(start, stop)
            ]
            new_shapes[name_id, tuple(shown)] = None
        self._seen.intern(rows)
        return list(new_shapes)


def fed_shapes(
    unknown: Sequence[tuple[int, str, str]], outputs: Columns
) -> dict[tuple[str, int], tuple[int, ...]]:
    """Shapes of the tensors fed to a session, which runs ``_arg_x_0_2`` in place of ``x``.

    Args:
        unknown: Place, name and label of stats.
        outputs: The outputs of all stats.

    Raises:
        DecodeError: A shape is damaged.
    """
    decode = _decoder()
    is_described, texts = outputs.number("tensor_description"), outputs.text(_SHAPE)
    shapes: dict[tuple[str, int], tuple[int, ...]] = {}
    for stat, name, _ in unknown:
        match = _FED.fullmatch(name)
        if match is None:
            continue
        first, stop = np.searchsorted(outputs.parent, [stat, stat + 1]).tolist()
        shape = decode(texts[first]) if first < stop and is_described[first] else None
        if shape is not None:
            shapes[match["name"], whole_number(match["output"])] = shape
    return shapes


def _decoder() -> Callable[[bytes], Shape]:
    """A decoder that decodes each distinct shape once: most of a run's shapes are equal."""
    known: dict[bytes, Shape] = {}

    def decode(text: bytes) -> Shape:
        if text not in known:
            shape = pb.TensorShapeProto.FromString(text)
            known[text] = None if shape.unknown_rank else tuple([dim.size for dim in shape.dim])
        return known[text]

    return decode


def _texts_of_rows(rows: Int64Array) -> Texts:
    size = rows.shape[1] * rows.itemsize
    n_rows = len(rows)
    return Texts(rows.tobytes(), np.arange(n_rows) * size, np.full(n_rows, size, np.int64))


_STATS = 2
"""Place of the table of stats in the plan."""
_LOOKED_AT = 100

SMALL = 4 << 20
"""Up to so many bytes, threads cost more than they save."""

_ALLOCATION = "tensor_description.allocation_description"


@functools.cache
def run_plan() -> Plan:
    """Fields of RunMetadata to read."""
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


@functools.cache
def _split_plan() -> SplitPlan:
    """The fields for threads, each of which reads one device."""
    return split(run_plan(), "step_stats.dev_stats")


def read_run_metadata(source: Source, names: KnownNames) -> RunColumns | None:
    """Read the node stats of one run; the rest of the message is not read.

    Args:
        source: A RunMetadata as message, bytes or file (binary or text, also compressed).
        names: The ops so far.

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
    ids = names.find(stats.text("node_name"))
    try:
        unknown = _unknown(stats, np.flatnonzero(~names.is_op[ids]))
        fed = fed_shapes(unknown, outputs)
        shown = names.new_shapes(ids, outputs, names.shapes_wanted)
        n_stats = np.bincount(stats.parent, minlength=len(devices)).tolist()
        device_names = [name.decode() for name in devices.text("device")]
        allocators, allocator_names = _read_allocators(memory, records.parent)
    except REFUSALS:
        parse(pb.RunMetadata, data, source=label)  # says where
        raise
    return RunColumns(
        devices=list(zip(device_names, n_stats, strict=True)),
        name_ids=ids,
        unknown=unknown,
        stats=StatColumns(
            start_micros=CompactColumn.of(stats.number("all_start_micros")),
            duration_micros=CompactColumn.of(stats.number("op_end_rel_micros")),
            start_nanos=CompactColumn.of(stats.number("all_start_nanos")),
            duration_nanos=CompactColumn.of(stats.number("op_end_rel_nanos")),
            temporary_bytes=CompactColumn.of(stats.number("memory_stats.temp_memory_size")),
            persistent_bytes=CompactColumn.of(stats.number("memory_stats.persistent_memory_size")),
            outputs=_read_outputs(outputs),
            allocators=allocators,
            allocations=AllocationColumns(
                CompactColumn.of(records.parent),
                CompactColumn.of(records.number("alloc_micros")),
                CompactColumn.of(records.number("alloc_bytes")),
            ),
        ),
        allocator_names=allocator_names,
        output_shapes=shown,
        fed_shapes=fed,
    )


def _believable(data: bytes | memoryview, names: KnownNames) -> list[Columns]:
    """The tables, if some op that ran is known: the data then need no check of their format."""
    try:
        n_threads = number_of_threads(None) if len(data) > SMALL else 1
        tables = scan_in_parts(_split_plan(), data, n_threads)
    except REFUSALS:
        return []
    stats = tables[_STATS]
    some = stats.text("node_name")
    first = Texts(some.data, some.start[:_LOOKED_AT], some.length[:_LOOKED_AT])
    return tables if names.is_op[names.find(first)].any() else []


def _unknown(stats: Columns, places: Int64Array) -> list[tuple[int, str, str]]:
    texts, labels = stats.text("node_name"), stats.text("timeline_label")
    return [(place, texts[place].decode(), labels[place].decode()) for place in places.tolist()]


def _read_allocators(memory: Columns, makers: Int64Array) -> tuple[AllocatorColumns, list[str]]:
    """Memory by allocator, and the names of the allocators with a level or allocations.

    Args:
        memory: The allocators of the stats.
        makers: Row of the allocator of each allocation.
    """
    in_use = memory.number("allocator_bytes_in_use")
    named = in_use != 0
    named[makers] = True
    index = TextIndex()
    name_ids = np.zeros(len(memory), np.int64)
    name_ids[named] = index.intern(memory.text("allocator_name").take(np.flatnonzero(named)))
    sizes = [memory.number(name) for name in ("total_bytes", "peak_bytes", "live_bytes")]
    columns = map(CompactColumn.of, (memory.parent, name_ids, *sizes, in_use))
    return AllocatorColumns(*columns), [index[number].decode() for number in range(len(index))]


def _read_outputs(outputs: Columns) -> OutputColumns:
    allocated = outputs.number(f"{_ALLOCATION}.allocated_bytes")
    requested = outputs.number(f"{_ALLOCATION}.requested_bytes")
    columns = [
        outputs.parent,
        outputs.number("slot"),
        np.maximum(allocated, requested),
        outputs.number(f"{_ALLOCATION}.ptr"),
    ]
    is_allocated = outputs.number(_ALLOCATION)
    if not is_allocated.all():
        place = np.flatnonzero(is_allocated)
        room = np.empty(len(place), np.int64)  # the same for all: new memory costs more
        taken = (column.take(place, out=room, mode="clip") for column in columns)
        return OutputColumns(*[CompactColumn.of(column) for column in taken])
    return OutputColumns(*map(CompactColumn.of, columns))
