"""Ops of XLA's programs on threads of the host."""

import numpy as np

from tests.captures.events.made import space_of, thunk
from tfprof.captures.events.ops.cpu_ops import cpu_ops
from tfprof.captures.events.ops.device_ops import DeviceOps
from tfprof.captures.facts.device_op_db import compiled_ops, device_ops
from tfprof.captures.rules import REFERENCE
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, timeline_of, xspace


def by_name(ops):
    return {found.key.name: found for found in ops.ops}


def unknown(*key):
    return None


def test_times_of_threads_add_up():
    timeline = timeline_of(
        xspace(host(
            line(thunk("a", 0, 10), thunk("b", 15, 5), id=1),
            line(thunk("a", 100, 30), event("other", 0, 500), id=2),
        ))
    )  # fmt: skip
    found = cpu_ops(timeline, np.zeros(len(timeline), np.bool_), unknown)
    ops = by_name(found)
    assert (ops["a"].occurrences, ops["a"].time_ps, ops["a"].self_ps) == (2, 40_000, 40_000)
    assert (ops["b"].occurrences, ops["b"].time_ps) == (1, 5_000)
    assert found.total_ps == 20_000 + 30_000
    assert found.idle_ps == 5_000
    assert (ops["a"].category, ops["a"].is_known) == ("unknown", False)


def test_loops_do_not_count_what_is_inside_as_their_own():
    timeline = timeline_of(
        xspace(host(
            line(thunk("while", 0, 100), thunk("body", 10, 20), thunk("inner", 12, 5),
                 thunk("body", 40, 20), id=1),
            line(thunk("body", 10, 20), id=2),
        ))
    )  # fmt: skip
    ops = by_name(cpu_ops(timeline, np.zeros(len(timeline), np.bool_), unknown))
    assert (ops["while"].time_ps, ops["while"].self_ps) == (100_000, 60_000)
    assert (ops["body"].occurrences, ops["body"].self_ps) == (3, 55_000)


def test_programs_with_the_same_instruction_are_apart():
    timeline = timeline_of(xspace(host(line(thunk("a", 0, 1, 7), thunk("a", 5, 2, -1)))))
    found = cpu_ops(timeline, np.zeros(len(timeline), np.bool_), unknown)
    assert [(op.key.program_id, op.time_ps) for op in found.ops] == [(2**64 - 1, 2000), (7, 1000)]


def test_the_cost_of_a_run_comes_from_its_program():
    run = opened(space_of(line(thunk("dot.1", 0, 10), thunk("dot.1", 20, 10))))
    (found,) = compiled_ops(run.hosts[0]).ops
    assert (found.occurrences, found.flops, found.model_flops) == (2, 96, 96)
    assert found.traffic.all_bytes == 2 * 4 * (6 + 12 + 8)
    assert found.is_known


def test_classic_mode_and_tools_of_devices_see_nothing():
    run = opened(space_of(line(thunk("dot.1", 0, 10))))
    assert compiled_ops(run.hosts[0].by(REFERENCE)) == DeviceOps()
    assert device_ops(run.hosts[0]) == DeviceOps()


def test_threads_are_not_a_device_where_there_is_one():
    run = opened(xspace(host(line(thunk("a", 0, 10))), gpu(line(event("k", 0, 5), id=14))))
    assert compiled_ops(run.hosts[0]).ops == ()


def test_without_thunks_there_are_no_ops():
    timeline = timeline_of(xspace(host(line(event("a", 0, 10)))))
    assert cpu_ops(timeline, np.zeros(len(timeline), np.bool_), unknown) == DeviceOps()
