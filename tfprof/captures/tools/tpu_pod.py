"""The data of Cloud TPU's pod viewer: parts of steps on each core, channels between cores,
all-reduce ops, and the places of the cores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.captures.events.tpu.breakdown import all_reduce_parts
from tfprof.captures.events.tpu.categories import HIGH_FLOPS, OUTFEED, RECEIVE, SEND, SPARSE_OUTFEED
from tfprof.captures.events.tpu.cores import tpu_cores
from tfprof.captures.events.tpu.steps import CoreSteps
from tfprof.captures.events.tpu.transfers import (
    Channel,
    Collective,
    CoreTransfers,
    channels,
    collectives,
    core_transfers,
)
from tfprof.captures.facts.steps import HostSteps, RunSteps
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.tools.op_statistics import gib_per_s

_PS_PER_US = 1e6

CHANNELS = timed_by(
    "device",
    shared.STEP,
    text("channelId", "Channel", "number of the channel"),
    count("srcCoreId", "From core", "core that sends"),
    count("dstCoreId", "To core", "core that receives"),
    amount("dataSize", "Size", "bytes", "bytes sent"),
    amount("durationUs", "Latency", "us",
           "from the start of sending to the end of receiving, of one transfer"),
    amount("bandwidth", "Bandwidth", "gib_per_s", "bytes per time"),
    amount("sendDelayUs", "Send delay", "us",
           "how long the receiver had waited before sending began"),
    shared.OCCURRENCES,
    text("hloNames", "HLO ops", "instructions that send and receive"),
)  # fmt: skip
ALL_REDUCES = timed_by(
    "device",
    shared.STEP,
    text("name", "All-reduce op", "name of the instruction"),
    amount("dataSize", "Size", "bytes", "bytes of its data"),
    amount("durationUs", "Duration", "us", "how long it took"),
    amount("startUs", "Begin in the capture", "us",
           "start, from that of the first of these ops in the capture"),
    amount("endUs", "End in the capture", "us", "end, from there"),
    shared.OCCURRENCES,
    text("replicaGroups", "Replica groups", "which replicas take part together"),
    text("description", "HLO text", "text of the instruction"),
)  # fmt: skip
_TOPOLOGY = (
    shared.CORE,
    shared.HOST,
    count("device_ordinal", "Device of the host", "number of the device on its host"),
    count("chip_id", "Chip", "number of the chip"),
    count("node_id", "Core of the chip", "number of the core on its chip"),
    count("replica", "Replica", "replica of the program that it runs, if known"),
    text("kind", "Kind", "TensorCore or SparseCore"),
)
_CORES = timed_by(
    "device",
    shared.STEP,
    shared.CORE,
    shared.STEP_TIME_US,
    amount("high_flops_compute_us", "High-flops compute", "us",
           "matrix products, convolutions and what they are fused with"),
    amount("low_flops_compute_us", "Low-flops compute", "us",
           "the rest of the step: other computation"),
    amount("infeed_us", "Infeed", "us", "waiting for input"),
    amount("outfeed_us", "Outfeed", "us", "output"),
    amount("all_reduce_compute_us", "All-reduce compute", "us",
           "all-reduce, without waiting for other cores"),
    amount("all_reduce_sync_us", "All-reduce sync", "us", "waiting for other cores in all-reduce"),
    amount("send_us", "Send", "us", "sending to other cores"),
    amount("receive_us", "Receive", "us", "receiving from other cores"),
    amount("sparse_infeed_transform_us", "SparseCore infeed transform", "us",
           "SparseCore: transforming input"),
    amount("sparse_infeed_wait_us", "SparseCore infeed wait", "us",
           "SparseCore: waiting for input"),
    amount("sparse_outfeed_us", "SparseCore outfeed", "us", "SparseCore: output"),
    amount("idle_us", "Idle", "us", "nothing ran"),
)  # fmt: skip
"""Parts of a core's step; the rest is low-flops computation."""


class TpuPod:
    """Steps, channels and collectives of the TPU cores of a run.

    Attributes:
        steps: Steps of the cores.
        replicas: The replica of the program that each core runs, where known.
        channels: Channels by the place of their step.
        collectives: Collectives by the place of their step.
    """

    def __init__(self, run: Run, steps: RunSteps) -> None:
        self.steps = steps
        self._cores = [(one, one.core) for one in steps.hosts if one.core is not None]
        self._transfers = run.memo.once("tpu_transfers", lambda: list(map(_transfers, self._cores)))
        self.replicas = {
            one.core_id: replica
            for one, core in self._cores
            if (replica := _replicas(one.host).get(core.core.plane)) is not None
        }
        self.channels: dict[int, list[Channel]] = {}
        for channel in channels(self._transfers):
            self.channels.setdefault(channel.step, []).append(channel)
        self.collectives: dict[int, list[Collective]] = {}
        for collective in collectives(self._transfers):
            self.collectives.setdefault(collective.step, []).append(collective)

    def tables(self, places: Sequence[int]) -> dict[str, Table]:
        """Make the tables of some steps by name, without empty ones."""
        every = (
            self._core_table(places),
            Table("channels", CHANNELS,
                  [self._channel_row(one) for at in places for one in self.channels.get(at, ())],
                  title="Channels of send and receive"),
            Table("all_reduces", ALL_REDUCES, self._all_reduce_rows(places),
                  title="All-reduce and other collective ops"),
            self._topology(),
        )  # fmt: skip
        return {table.name: table for table in every if len(table)}

    def _core_table(self, places: Sequence[int]) -> Table:
        parts = self._parts_us()
        rows: list[tuple[Cell, ...]] = [
            (one.names[place], one.core_id, *amounts[place])
            for place in places
            for (one, _), amounts in zip(self._cores, parts, strict=True)
        ]
        return Table("cores", _CORES, rows, title="Parts of steps on TPU cores")

    def _parts_us(self) -> list[list[list[float]]]:
        """For each core and step: its length, then its parts in the order of the columns."""
        tensor = [core for _, core in self._cores if not core.core.is_sparse]
        compute, sync = all_reduce_parts(tensor)
        parts = []
        for _, core in self._cores:
            nothing = np.zeros(len(core.span_ps))
            place = tensor.index(core) if not core.core.is_sparse else -1
            known = [
                core.of(HIGH_FLOPS),
                core.infeed_ps,
                core.of(OUTFEED),
                compute[place] if place >= 0 else nothing,
                sync[place] if place >= 0 else nothing,
                core.of(SEND),
                core.of(RECEIVE),
                core.sparse_transform_ps,
                core.sparse_wait_ps,
                core.of((SPARSE_OUTFEED,)),
                core.idle_ps,
            ]
            left = np.maximum(core.span_ps - np.sum(known, axis=0), 0)
            columns = [core.span_ps, known[0], left, *known[1:]]
            parts.append((np.stack(columns, axis=1) / _PS_PER_US).tolist())
        return parts

    def _channel_row(self, one: Channel) -> tuple[Cell, ...]:
        bandwidth = gib_per_s(one.n_bytes, one.latency_ps)
        return (
            self.steps.names[one.step], str(one.channel), one.source, one.target, one.n_bytes,
            one.latency_ps / _PS_PER_US, bandwidth, one.send_delay_ps / _PS_PER_US,
            one.occurrences, ", ".join(one.names),
        )  # fmt: skip

    def _all_reduce_rows(self, places: Sequence[int]) -> list[tuple[Cell, ...]]:
        everything = [one for group in self.collectives.values() for one in group]
        begin = min((one.start_ps for one in everything), default=0)
        return [
            self._all_reduce_row(one, begin)
            for place in places
            for one in self.collectives.get(place, ())
        ]

    def _all_reduce_row(self, one: Collective, begin_ps: int) -> tuple[Cell, ...]:
        known = one.instruction
        return (
            self.steps.names[one.step], known.name, known.n_bytes, one.duration_ps / _PS_PER_US,
            (one.start_ps - begin_ps) / _PS_PER_US, (one.end_ps - begin_ps) / _PS_PER_US,
            one.occurrences, known.replica_groups, known.text,
        )  # fmt: skip

    def _topology(self) -> Table:
        rows: list[tuple[Cell, ...]] = [
            (
                one.core_id,
                one.host.name,
                core.core.ordinal,
                core.core.chip,
                core.core.core,
                self.replicas.get(one.core_id),
                "SparseCore" if core.core.is_sparse else "TensorCore",
            )
            for one, core in self._cores
        ]
        return Table("topology", _TOPOLOGY, rows, title="Where the cores are")


@fact
def _communication(host: Host) -> dict[int, CoreTransfers]:
    """Communication of each core, by its plane."""
    timeline, groups = host.timeline, host.groups()
    return {core.plane: core_transfers(timeline, groups, core) for core in tpu_cores(timeline)}


def _transfers(pair: tuple[HostSteps, CoreSteps]) -> CoreTransfers:
    one, core = pair
    own = _communication(one.host)[core.core.plane]
    return own.in_steps(one.times.groups, one.core_id)


@fact
def _replicas(host: Host) -> dict[int, int]:
    """Replica that each core runs, by its plane, where known."""
    timeline = host.timeline
    stat = timeline.stat("replica_id")
    known = {}
    for core in tpu_cores(timeline):
        on_core = timeline.of_lines(lambda line, plane=core.plane: line.plane == plane)  # type: ignore[misc]
        replicas = stat.only(stat.is_integer() & on_core[stat.events])
        if len(replicas):
            known[core.plane] = int(replicas.values[0])
    return known
