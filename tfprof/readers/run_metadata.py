"""RunMetadata → ``RunColumns``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from tfprof._wire import messages as pb
from tfprof.model.columns import Int64Array
from tfprof.model.steps import RunColumns
from tfprof.readers.open import open_message
from tfprof.readers.sniff import Format

if TYPE_CHECKING:
    from tfprof.readers.open import Source


def read_run_metadata(
    source: Source,
    *,
    known_names: Container[str] = frozenset(),
    shapes_wanted: Callable[[], Container[str]] = frozenset,
) -> RunColumns | None:
    """Read the node stats of one run; everything else in the message is passed over.

    Args:
        source: A RunMetadata as message, bytes or file (binary or text, also compressed).
        known_names: Nodes whose timeline label is of no interest.
        shapes_wanted: Gives the names of the nodes whose run-time output shapes are wanted.

    Returns:
        The stats, or None if the message has no ``step_stats`` (the run was not traced).

    Raises:
        UnknownFormatError: It is something else.
        MalformedProfileError: It is broken.
    """
    run = open_message(source, (Format.RUN_METADATA,), argument="run_meta").message
    if not run.HasField("step_stats"):
        return None
    blocks = run.step_stats.dev_stats
    stats = list(chain.from_iterable(block.node_stats for block in blocks))
    names = [stat.node_name for stat in stats]
    columns = RunColumns(
        devices=[(block.device, len(block.node_stats)) for block in blocks],
        names=names,
        labels={
            name: stat.timeline_label
            for name, stat in zip(names, stats, strict=True)
            if name not in known_names
        },
        start_micros=np.array([stat.all_start_micros for stat in stats], np.int64),
        duration_micros=np.array([stat.op_end_rel_micros for stat in stats], np.int64),
    )
    _add_memory(columns, stats)
    wanted = shapes_wanted()
    columns.output_shapes = {
        name: list(_run_time_shapes(stat))
        for name, stat in zip(names, stats, strict=True)
        if name in wanted and stat.output
    }
    return columns


def _add_memory(columns: RunColumns, stats: list[pb.NodeExecStats]) -> None:
    """Sums over allocators and outputs; temporary and persistent memory go on top.

    ``tfprof_node.cc``, ``ExecStep::AddMemoryStats``: requested and peak bytes hold both, what
    is left after the op holds the persistent part. Repeated fields are sliced because that is
    twice as fast as iterating over them.
    """
    kept = [stat.memory_stats for stat in stats]
    temporary = np.array([memory.temp_memory_size for memory in kept], np.int64)
    persistent = np.array([memory.persistent_memory_size for memory in kept], np.int64)

    repeated = [stat.memory for stat in stats]
    used = [memory for field in repeated if field for memory in field[:]]
    total, peak, live = _sums(
        [
            [memory.total_bytes for memory in used],
            [memory.peak_bytes for memory in used],
            [memory.live_bytes for memory in used],
        ],
        [len(field) for field in repeated],
    )
    columns.requested_bytes = total + temporary + persistent
    columns.peak_bytes = peak + temporary + persistent
    columns.residual_bytes = live + persistent

    repeated = [stat.output for stat in stats]
    # An output without a description has a default one, with sizes of 0.
    described = [
        output.tensor_description.allocation_description
        for field in repeated
        if field
        for output in field[:]
    ]
    sizes = np.maximum(
        np.array([description.allocated_bytes for description in described], np.int64),
        np.array([description.requested_bytes for description in described], np.int64),
    )
    (columns.output_bytes,) = _sums([sizes], [len(field) for field in repeated])


def _sums(rows: Sequence[Sequence[int] | Int64Array], counts: list[int]) -> Int64Array:
    """Sums of consecutive runs of each row.

    Args:
        rows: Rows of numbers, run after run.
        counts: Length of each run.

    Returns:
        Shape (number of rows, number of runs).
    """
    running = np.zeros((len(rows), sum(counts) + 1), np.int64)
    np.cumsum(np.array(rows, np.int64), axis=1, out=running[:, 1:])
    lengths = np.array(counts, np.int64)
    ends = np.cumsum(lengths, dtype=np.int64)
    sums: Int64Array = running[:, ends] - running[:, ends - lengths]
    return sums


def _run_time_shapes(stat: pb.NodeExecStats) -> Iterator[tuple[int, ...] | None]:
    for output in stat.output:
        if not output.HasField("tensor_description"):
            yield None
            continue
        yield tuple([dim.size for dim in output.tensor_description.shape.dim])
