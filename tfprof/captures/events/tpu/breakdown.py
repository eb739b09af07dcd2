"""Parts of the time of a TPU system's steps, over all cores
(``op_stats_to_input_pipeline_analysis.cc``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfprof.captures.events.tpu.categories import HOST_TRANSFER, OUTFEED
from tfprof.captures.events.tpu.steps import CoreSteps
from tfprof.captures.rules import Rules
from tfprof.core.columns.columns import Int64Array

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TpuBreakdown:
    """Steps of all TensorCores together, each field of shape (n,); times in ps.

    Attributes:
        compute: Time of computation on the core that computes least.
        sparse_compute: Computation of the SparseCoreV0 that others wait for the longest.
        sparse_infeed: Time that others wait for it.
        infeed: Waiting for input, on the core that waits the longest.
        infeed_core: That core's place in the list of cores.
        outfeed: Time of output, on average.
        host_transfer: Sending to and receiving from hosts, on the core with the most of it.
        all_reduce_compute: All-reduce without waiting, on the core with the most all-reduce.
        all_reduce_sync: Waiting for other cores in all-reduce there.
        idle: The rest of the step.
        active: Time neither idle nor off duty, on average.
        infeed_share: Share of the step in which cores wait for input: average, least and most,
            shape (3, n).
    """

    compute: Float64Array
    sparse_compute: Float64Array
    sparse_infeed: Float64Array
    infeed: Float64Array
    infeed_core: Int64Array
    outfeed: Float64Array
    host_transfer: Float64Array
    all_reduce_compute: Float64Array
    all_reduce_sync: Float64Array
    idle: Float64Array
    active: Float64Array
    infeed_share: Float64Array

    @property
    def total(self) -> Float64Array:
        """Sum of all parts of each step."""
        return (
            self.compute + self.sparse_compute + self.sparse_infeed + self.infeed + self.outfeed
            + self.all_reduce_compute + self.all_reduce_sync + self.idle
        )  # fmt: skip

    @property
    def waiting(self) -> Float64Array:
        """Waiting for input, including that for SparseCores."""
        return self.infeed + self.sparse_infeed

    def __len__(self) -> int:
        return len(self.compute)


def break_down(
    cores: Sequence[CoreSteps], took_ps: Int64Array | None = None, *, rules: Rules
) -> TpuBreakdown:
    """Combine the steps of cores.

    Args:
        cores: TensorCores with the same steps; without cores the result has no steps.
        took_ps: Duration of each step, shape (n,); None for that of its shortest core.
        rules: Whether all-reduce counts as computation.
    """
    span = _stacked(core.span_ps for core in cores)
    infeed = _stacked(core.infeed_ps for core in cores)
    idle = _stacked(core.idle_ps for core in cores)
    outfeed = _stacked(core.of(OUTFEED) for core in cores)
    transfer = _stacked(core.of(HOST_TRANSFER) for core in cores)
    wait = _stacked(core.sparse_wait_ps for core in cores)
    steps = np.arange(span.shape[1])
    reducing = () if rules.counts_all_reduce_as_compute else cores
    reduce_compute, reduce_sync = all_reduce_parts(reducing, span.shape)
    longest = np.argmax(reduce_compute + reduce_sync, axis=0)
    all_reduce = reduce_compute + reduce_sync
    compute = (span - infeed - outfeed - transfer - idle - wait - all_reduce).min(axis=0)
    sparse = np.argmax(wait, axis=0)
    transform = _stacked(core.sparse_transform_ps for core in cores)[sparse, steps]
    parts = TpuBreakdown(
        compute=compute,
        sparse_compute=transform,
        sparse_infeed=wait[sparse, steps],
        infeed=infeed.max(axis=0),
        infeed_core=np.argmax(infeed, axis=0),
        outfeed=np.floor(outfeed.mean(axis=0)),  # whole picoseconds
        host_transfer=transfer.max(axis=0),
        all_reduce_compute=reduce_compute[longest, steps],
        all_reduce_sync=reduce_sync[longest, steps],
        idle=np.zeros(len(steps)),
        active=_stacked(core.active_ps for core in cores).mean(axis=0),
        infeed_share=_shares(infeed + wait, span),
    )
    whole = span.min(axis=0) if took_ps is None else took_ps
    parts.idle[:] = np.maximum(whole - parts.total, 0.0)
    return parts


def _stacked(columns: Iterable[Int64Array]) -> Float64Array:
    """Columns as rows of a matrix; without columns, one row without steps."""
    rows = list(columns) or [np.zeros(0, np.int64)]
    stacked: Float64Array = np.stack(rows).astype(np.float64)
    return stacked


def _shares(waiting: Float64Array, span: Float64Array) -> Float64Array:
    shares = np.divide(waiting, span, out=np.zeros_like(waiting), where=span > 0)
    return np.stack([shares.mean(axis=0), shares.min(axis=0), shares.max(axis=0)])


def all_reduce_parts(
    cores: Sequence[CoreSteps], shape: tuple[int, ...] = (0, 0)
) -> tuple[Float64Array, Float64Array]:
    """Computation and waiting in all-reduce, each of shape (n cores, n steps).

    The core that arrives last at an all-reduce takes the least time for it; the extra time of the
    others is waiting.

    Args:
        cores: The cores.
        shape: Shape of the zeros that it returns without cores.
    """
    if cores:
        shape = (len(cores), len(cores[0].span_ps))
    compute, sync = np.zeros(shape), np.zeros(shape)
    for name in sorted({name for core in cores for name in core.all_reduce_ps}):
        took = np.zeros(shape)
        for place, core in enumerate(cores):
            took[place] = core.all_reduce_ps.get(name, took[place])
        least = np.where(took > 0, took, np.inf).min(axis=0)
        least = np.where(np.isfinite(least), least, 0.0)
        compute += np.minimum(took, least)
        sync += np.maximum(took - least, 0.0)
    return compute, sync
