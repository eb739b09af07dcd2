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

_memory_bytes = attrgetter("total_bytes", "peak_bytes", "live_bytes")
_kept_bytes = attrgetter("temp_memory_size", "persistent_memory_size")
_output_bytes = attrgetter("allocated_bytes", "requested_bytes")


def read_run_metadata(
    source: Source, shapes_wanted: Callable[[], frozenset[str]] = frozenset
) -> RunColumns | None:
    """Read the node stats of one run; everything else in the message is passed over.

    Args:
        source: A RunMetadata as message, bytes or file (binary or text, also compressed).
        shapes_wanted: Names of the nodes whose run-time output shapes are wanted.

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
    columns = RunColumns(
        devices=[(block.device, len(block.node_stats)) for block in blocks],
        names=[stat.node_name for stat in stats],
        labels=[stat.timeline_label for stat in stats],
        start_micros=_column(stat.all_start_micros for stat in stats),
        duration_micros=_column(stat.op_end_rel_micros for stat in stats),
    )
    _add_memory(columns, stats)
    wanted = shapes_wanted()
    if wanted:
        columns.output_shapes = {
            stat.node_name: list(_run_time_shapes(stat))
            for stat in stats
            if stat.output and stat.node_name in wanted
        }
    return columns


def _column(values: Iterable[int]) -> Int64Array:
    return np.array(list(values), np.int64)


def _add_memory(columns: RunColumns, stats: list[pb.NodeExecStats]) -> None:
    """Sums over allocators and outputs; temporary and persistent memory go on top.

    ``tfprof_node.cc``, ``ExecStep::AddMemoryStats``: requested and peak bytes hold both, what
    is left after the op holds the persistent part.
    """
    allocators = [stat.memory for stat in stats]
    per_allocator = [_memory_bytes(used) for used in chain.from_iterable(allocators)]
    total, peak, live = _sums(per_allocator, 3, [len(used) for used in allocators])
    kept = [_kept_bytes(stat.memory_stats) for stat in stats]
    temporary, persistent = np.array(kept, np.int64).reshape(-1, 2).T
    columns.requested_bytes = total + temporary + persistent
    columns.peak_bytes = peak + temporary + persistent
    columns.residual_bytes = live + persistent
    outputs = [stat.output for stat in stats]
    # An output without a description has a default one, with sizes of 0.
    described = [
        _output_bytes(output.tensor_description.allocation_description)
        for output in chain.from_iterable(outputs)
    ]
    allocated = np.array(described, np.int64).reshape(-1, 2).max(axis=1, initial=-(1 << 63))
    columns.output_bytes = _sums(allocated, 1, [len(found) for found in outputs])[0]


def _sums(values: Any, width: int, counts: list[int]) -> Int64Array:
    """Sums of consecutive runs of rows.

    Args:
        values: Rows of ``width`` numbers, run after run.
        width: Numbers in a row.
        counts: Length of each run.

    Returns:
        Shape (width, number of runs).
    """
    running = np.zeros((width, sum(counts) + 1), np.int64)
    np.cumsum(np.array(values, np.int64).reshape(-1, width).T, axis=1, out=running[:, 1:])
    ends = np.cumsum(np.array(counts, np.int64), dtype=np.int64)
    sums: Int64Array = running[:, ends] - running[:, ends - np.array(counts, np.int64)]
    return sums


def _run_time_shapes(stat: pb.NodeExecStats) -> Iterator[tuple[int, ...] | None]:
    for output in stat.output:
        if not output.HasField("tensor_description"):
            yield None
            continue
        yield tuple([dim.size for dim in output.tensor_description.shape.dim])
