"""Share of the time in which TPU chips work (``duty_cycle_tracker.cc``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.step_times import union_lengths
from tfprof.captures.events.steps.tpu_groups import MODULE_LINES
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.events.tpu.categories import OFF_DUTY
from tfprof.captures.events.tpu.cores import Core, tpu_cores
from tfprof.captures.events.tpu.steps import OP_LINES
from tfprof.core.columns.columns import BoolArray, Int64Array


class DutyCycle(NamedTuple):
    """Time of chips, ps.

    Attributes:
        busy_ps: Time in which a core of the chip runs an instruction that is not off duty.
        idle_ps: The rest, from the first program or instruction of the chip to the last.
    """

    busy_ps: int = 0
    idle_ps: int = 0

    @property
    def share(self) -> float:
        """Share of the time in which chips are busy; 0 without any time."""
        total = self.busy_ps + self.idle_ps
        return self.busy_ps / total if total else 0.0

    def plus(self, other: DutyCycle) -> DutyCycle:
        """Sum of both, for more chips."""
        return DutyCycle(self.busy_ps + other.busy_ps, self.idle_ps + other.idle_ps)


def duty_cycle(timeline: Timeline) -> DutyCycle:
    """The duty cycle of all chips of a host, by the host's clock: runs have no other times."""
    chips: dict[int, list[Core]] = {}
    for core in tpu_cores(timeline):
        chips.setdefault(core.chip, []).append(core)
    duty = DutyCycle()
    for cores in chips.values():
        duty = duty.plus(_of_chip(timeline, cores))
    return duty


def _of_chip(timeline: Timeline, cores: list[Core]) -> DutyCycle:
    planes = {core.plane for core in cores}
    ops = timeline.of_lines(lambda line: line.plane in planes and line.name in OP_LINES)
    runs = timeline.of_lines(lambda line: line.plane in planes and line.name in MODULE_LINES)
    whole = np.flatnonzero(ops | runs)
    if not len(whole):
        return DutyCycle()
    starts, ends = timeline.starts_ps[whole], timeline.ends_of(whole)
    working = ops[whole] & ~_off_duty(timeline, whole)
    span = np.array([[starts.min(), ends.max()]], np.int64)
    row = np.zeros(int(working.sum()), np.int64)
    busy = int(union_lengths(row, starts[working], ends[working], span)[0])
    return DutyCycle(busy, int(span[0, 1] - span[0, 0]) - busy)


def _off_duty(timeline: Timeline, events: Int64Array) -> BoolArray:
    stat = timeline.stat("hlo_category")
    off = np.array([*(text in OFF_DUTY for text in stat.texts), False], np.bool_)
    is_off: BoolArray = off[stat.texts_at(events)]
    return is_off
