"""Cost of the ops of TensorCores in each step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof.captures.events.ops.device_ops import DeviceOp, OpKey, Traffic
from tfprof.captures.events.ops.op_roofline import PROGRAM, WITH_INNER_OPS, is_transfer
from tfprof.captures.events.ops.tpu_ops import (
    OPS,
    STEPS,
    OpMetadata,
    device_spans,
    first_kind,
    tensor_cores,
    time_scale,
)
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array, sums_by


class StepCost(NamedTuple):
    """Ops of all cores in one step.

    Attributes:
        group: Number of the step.
        total_ps: Time of the slowest core, times the number of cores.
        useful: Sums over the ops that do not wait for the host.
        transfers: Sums over the ops that wait for the host: infeeds and outfeeds.
    """

    group: int
    total_ps: int
    useful: DeviceOp
    transfers: DeviceOp


def tpu_step_costs(timeline: Timeline, groups: npt.NDArray[np.integer]) -> list[StepCost]:
    """Costs of steps, in order; empty if no core records steps.

    Args:
        timeline: The events of a host.
        groups: Number of each event's step, -1 without one, shape (n events,).
    """
    cores = tensor_cores(timeline)
    longest: dict[int, int] = {}
    for core in cores:
        spans = device_spans(timeline, core, STEPS)
        durations = (spans.end_ps - spans.start_ps).tolist()
        for group, duration in zip(groups[spans.events].tolist(), durations, strict=True):
            if group >= 0:
                longest[group] = max(longest.get(group, 0), duration)
    steps = sorted(longest)
    useful, transfers = ([_NOTHING] * len(steps) for _ in range(2))
    for core in cores if steps else ():
        costs = _CoreCosts(timeline, core)
        step = np.searchsorted(steps, groups[costs.events])
        is_in_step = np.array(steps)[np.minimum(step, len(steps) - 1)] == groups[costs.events]
        for parts, chosen in ((useful, ~costs.is_transfer), (transfers, costs.is_transfer)):
            for place, op in costs.by_step(step, chosen & is_in_step, len(steps)):
                parts[place] = parts[place].plus(op)
    return [
        StepCost(group, longest[group] * len(cores), useful[place], transfers[place])
        for place, group in enumerate(steps)
    ]


_NOTHING = DeviceOp(OpKey(None, PROGRAM), PROGRAM)


class _CoreCosts:
    """Costs of the single runs of ops of a core.

    Attributes:
        events: Runs of ops without inner ops, as places in the timeline, shape (n,).
        is_transfer: Whether each waits for the host.
    """

    def __init__(self, timeline: Timeline, core: int) -> None:
        spans = device_spans(timeline, core, OPS)
        metadata, before = OpMetadata(timeline.space.planes[core]), first_kind(timeline, core)
        kinds, place = np.unique(timeline.kinds[spans.events], return_inverse=True)
        ops = [metadata.op(kind - before - 1) for kind in kinds.tolist()]
        is_leaf = np.array([op is not None and op.category not in WITH_INNER_OPS for op in ops])
        waits = np.array([op is not None and is_transfer(op.category) for op in ops])
        kept = is_leaf[place] if ops else np.zeros(0, np.bool_)
        self.events, self._place = spans.events[kept], place[kept]
        self.is_transfer: BoolArray = waits[self._place] if ops else kept
        self._ops = ops
        duration = (spans.end_ps - spans.start_ps)[kept]
        scaled = np.rint(duration * time_scale(timeline, self.events)).astype(np.int64)
        flops, model, moved = (
            timeline.stat(name).dense(len(timeline))[self.events]
            for name in ("flops", "model_flops", "bytes_accessed")
        )
        self._values = (duration, scaled, flops, np.where(model > 0, model, flops), moved)

    def by_step(
        self, step: Int64Array, chosen: BoolArray, n_steps: int
    ) -> list[tuple[int, DeviceOp]]:
        """Sums over the chosen runs of each step."""
        time, scaled, flops, model, moved = (
            sums_by(step[chosen], column[chosen], n_steps).tolist() for column in self._values
        )
        traffic = self._by_memory(step, chosen, n_steps)
        return [
            (
                place,
                DeviceOp(
                    OpKey(None, PROGRAM), PROGRAM, time_ps=time[place], normalized_ps=scaled[place],
                    flops=flops[place], model_flops=model[place],
                    traffic=Traffic(moved[place]) + traffic[place],
                ),
            )
            for place in range(n_steps)
        ]  # fmt: skip

    def _by_memory(self, step: Int64Array, chosen: BoolArray, n_steps: int) -> list[Traffic]:
        """Bytes of each memory in each step; ops without such data count as 0."""
        spaces = sorted({s for op in self._ops if op for s, _, _ in op.traffic.by_space})
        costs = np.zeros((len(self._ops), 1 + 2 * len(spaces)), np.int64)
        for row, op in enumerate(self._ops):
            if op is not None:
                costs[row, 0] = op.traffic.main_bytes
                for space, read, written in op.traffic.by_space:
                    column = 1 + 2 * spaces.index(space)
                    costs[row, column : column + 2] = read, written
        sums = np.zeros((n_steps, costs.shape[1]), np.int64)
        np.add.at(sums, step[chosen], costs[self._place[chosen]])
        return [
            Traffic(
                0, main, tuple(zip(spaces, moved[::2], moved[1::2], strict=True))
            )
            for main, *moved in sums.tolist()
        ]  # fmt: skip
