"""Costs of ops of TensorCores in each step."""

import numpy as np

from tests.captures.events.made import core
from tests.hlo_programs import pb
from tfprof.captures.events.ops.tpu_step_costs import tpu_step_costs
from tfprof.captures.hlo.memory_breakdown import HBM
from tfprof.testing.xspace_builders import event, timeline_of, xspace


def costs(*cores):
    """Costs by step; a step has its number as its name, and its ops begin in it."""
    timeline = timeline_of(xspace(*cores))
    groups = np.full(len(timeline), -1, np.int64)
    for event_ in range(len(timeline)):
        name = timeline.name(event_)
        start = timeline.starts_ps[event_] // 100_000
        groups[event_] = int(name) if name.isdigit() else (start if start < 2 else -1)
    return tpu_step_costs(timeline, groups)


def test_ops_count_in_the_step_they_are_in():
    first, second = costs(
        core(0, [event("0", 0, 90), event("1", 100, 80)],
             [event("f", 0, 10), event("f", 20, 10), event("in", 40, 5), event("f", 110, 30),
              event("f", 250, 30), event("none", 50, 1)])
    )  # fmt: skip
    assert (first.group, first.total_ps, second.total_ps) == (0, 90_000, 80_000)
    assert (first.useful.flops, first.useful.time_ps) == (200, 20_000)
    assert first.useful.traffic.all_bytes == 80
    assert first.useful.traffic.main_bytes == 80
    assert first.useful.traffic.by_space == ((HBM, 80, 0),)
    assert (first.transfers.time_ps, first.transfers.traffic.all_bytes) == (5_000, 7)
    assert (second.useful.flops, second.transfers.time_ps) == (100, 0)


def test_every_core_takes_as_long_as_the_slowest():
    (found,) = costs(
        core(0, [event("0", 0, 90)], [event("f", 0, 10)]),
        core(1, [event("0", 0, 70)], [event("f", 0, 10)]),
    )
    assert found.total_ps == 2 * 90_000
    assert found.useful.flops == 200


def test_loops_do_not_count_beside_what_they_hold():
    (found,) = costs(core(0, [event("0", 0, 90)], [event("loop", 0, 50), event("f", 10, 10)]))
    assert (found.useful.flops, found.useful.time_ps) == (100, 10_000)


def test_custom_calls_tell_the_cost_of_each_run():
    (found,) = costs(
        core(0, [event("0", 0, 90)],
             [event("call", 0, 5, flops=30, bytes_accessed=8), event("call", 10, 5, flops=5)])
    )  # fmt: skip
    assert (found.useful.flops, found.useful.model_flops) == (35, 35)
    assert found.useful.traffic.all_bytes == 8


def test_clocks_are_taken_as_nominal():
    ops = [event("f", 0, 10, **{"Time Scale Multiplier": 0.5})]
    (found,) = costs(core(0, [event("0", 0, 90)], ops))
    assert (found.useful.time_ps, found.useful.normalized_ps) == (10_000, 5_000)


def test_without_steps_there_are_none():
    assert costs(core(0, [], [event("f", 0, 10)])) == []
    assert costs(pb.XPlane(name="/host:CPU")) == []
