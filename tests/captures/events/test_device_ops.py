"""Ops of GPUs, by instruction or by the framework's op."""

import pytest

from tfprof.captures.events.ops.device_ops import DeviceOp, DeviceOps, OpKey, Traffic, merged
from tfprof.captures.events.ops.framework_ops import framework_ops
from tfprof.captures.events.ops.gpu_ops import gpu_ops
from tfprof.captures.events.steps.eager import ran_eagerly
from tfprof.captures.rules import OURS, REFERENCE
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace


def described(key):
    name = key.name
    if key.program_id != 5 or not name.startswith("fusion"):
        return None
    return DeviceOp(
        OpKey(5, name), "loop fusion", "a/b:Add", flops=10, model_flops=8,
        traffic=Traffic(100, 60), is_known=True,
    )  # fmt: skip


def ops(*planes, classic=False, launches=()):
    one = opened(xspace(host(line(*launches)), *planes)).hosts[0]
    forest = one.forest(classic=classic)
    return gpu_ops(forest, ran_eagerly(forest), described, rules=REFERENCE if classic else OURS)


def table(found):
    """Runs, total and self time in ns, and float operations, by name."""
    return {
        op.key.name: (op.occurrences, op.time_ps // 1000, op.self_ps // 1000, op.flops)
        for op in found.ops
    }


KERNELS = gpu(
    line(
        event("k1", 0, 10, hlo_op="fusion.1", program_id=5, hlo_module="jit"),
        event("k2", 10, 20, hlo_op="fusion.1", program_id=5, hlo_module="jit"),
        event("k1", 100, 10, hlo_op="while.1::fusion.1", program_id=5, hlo_module="jit"),
    )
)


def test_an_instruction_ran_as_often_as_the_kernel_of_it_that_ran_most():
    found = ops(KERNELS)
    assert table(found) == {"fusion.1": (2, 40, 40, 20)}
    assert found.ops[0].traffic == Traffic(200, 120)
    assert (found.total_ps, found.idle_ps, found.busy_ps) == (110_000, 70_000, 40_000)


def test_in_the_reference_each_kernel_is_a_run():
    assert table(ops(KERNELS, classic=True)) == {"fusion.1": (3, 40, 40, 30)}


def test_what_no_program_explains_counts_for_the_frameworks_op():
    found = ops(
        gpu(
            line(
                event("k1", 0, 10, hlo_op="unknown.1", program_id=5, tf_op="x/y:Mul"),
                event("k1", 20, 10, tf_op="x/y:Mul"), event("k2", 40, 10, tf_op="x/y:Mul"),
                event("MemcpyH2D", 60, 10), event("k3", 80, 10, tf_op=""),
            )
        )
    )  # fmt: skip
    assert table(found) == {"x/y/k1": (2, 20, 20, 0), "x/y/k2": (1, 10, 10, 0)}
    assert [op.provenance for op in found.ops] == ["x/y:Mul"] * 2
    assert found.total_ps == 90_000


def test_streams_side_by_side_are_busy_longer_than_the_plane():
    found = ops(
        gpu(
            line(event("k1", 0, 10, tf_op="a:X"), id=1), line(event("k2", 0, 10, tf_op="b:X"), id=2)
        )
    )
    assert (found.total_ps, found.idle_ps) == (20_000, 0)


def test_eager_launches():
    found = ops(
        gpu(line(event("k", 60, 10, tf_op="a:X", correlation_id=3))),
        launches=[event("EagerExecute", 0, 50, is_func=0), event("go", 5, 5, correlation_id=3)],
    )
    assert found.ops[0].is_eager


def test_gpus_add_up_in_any_order():
    one = ops(gpu(line(event("k", 0, 10, tf_op="a:X"), event("j", 20, 10, tf_op="b:X"))))
    other = ops(gpu(line(event("k", 0, 5, tf_op="a:X")), ordinal=1))
    found = merged([one, other])
    assert table(found) == {"a/k": (2, 15, 15, 0), "b/j": (1, 10, 10, 0)}
    swapped = merged([other, one])
    assert (table(swapped), swapped.total_ps, swapped.idle_ps) == (
        table(found), found.total_ps, found.idle_ps,
    )  # fmt: skip


def test_no_gpu():
    assert ops() == DeviceOps()
    assert ops(gpu()) == DeviceOps()


def test_framework_ops_run_as_often_as_their_part_that_ran_most():
    found = framework_ops(
        [
            DeviceOp(OpKey(5, "f.1"), provenance="a/b:Add", occurrences=3, time_ps=30, self_ps=20,
                     flops=5, traffic=Traffic(10, 5)),
            DeviceOp(OpKey(5, "f.2"), provenance="a/b:Add", occurrences=4, time_ps=10, self_ps=10,
                     flops=6, traffic=Traffic(1, 1), is_eager=True),
            DeviceOp(OpKey(5, "copy.1"), occurrences=1, time_ps=7, self_ps=7),
        ]
    )  # fmt: skip
    assert [
        (op.name, op.type, op.occurrences, op.time_ps, op.self_ps, op.flops, op.is_eager)
        for op in found
    ] == [("a/b", "Add", 4, 40, 30, 11, True), ("program(5)/copy.1", "", 1, 7, 7, 0, False)]
    assert found[0].traffic == Traffic(11, 6)


def launched(*planned, text="x/y:Mul", around="x/y:Mul", found=True, classic=False):
    """Kernels that each run of an op launches: rows by kernel, and the op's runs."""
    on_host, on_gpu = [], []
    for at, kernels in enumerate(planned):
        on_host.append(event(around, 100 * at, 90))
        for number, kernel in enumerate(kernels, 10 * at):
            begin = 100 * at + 5 * (number - 10 * at)
            on_host.append(event("cuLaunchKernel", begin + 1, 2, correlation_id=number))
            known = {"correlation_id": number} if found else {}
            on_gpu.append(event(kernel, begin + 2, 3, tf_op=text, **known))
    found = ops(gpu(line(*on_gpu)), launches=on_host, classic=classic)
    [op] = framework_ops(found.ops, rules=REFERENCE if classic else OURS)
    return {name: row[0] for name, row in table(found).items()}, op.occurrences


def test_kernels_of_one_run_of_an_op_are_one_run_but_in_the_reference():
    twice = [["k", "k", "j"]] * 3
    assert launched(*twice) == ({"x/y/k": 3, "x/y/j": 3}, 3)
    assert launched(*twice, classic=True) == ({"x/y/k": 6, "x/y/j": 3}, 6)


def test_an_op_runs_also_where_it_takes_another_kernel():
    assert launched(["k"], ["j"], ["j"]) == ({"x/y/k": 1, "x/y/j": 2}, 3)
    assert launched(["k"], ["j"], ["j"], classic=True) == ({"x/y/k": 1, "x/y/j": 2}, 2)


@pytest.mark.parametrize(
    ("around", "runs"),
    [("EagerLocalExecute: Mul", 2), ("EagerLocalExecute: Add", 4), ("x/z:Mul", 4), ("f", 4)],
)
def test_runs_are_events_of_the_op(around, runs):
    assert launched(["k", "k"], ["k", "k"], around=around) == ({"x/y/k": runs}, runs)


def test_without_a_launch_the_kernel_that_ran_most_counts():
    assert launched(["k", "k", "j"], ["k"], found=False) == ({"x/y/k": 3, "x/y/j": 1}, 3)


def test_the_nearest_run_of_the_op_counts():
    """A function runs the op twice, and has the name of the op."""
    host_events = [
        event("x/y:Mul", 0, 90), event("a/b:Add", 1, 80), event("launch", 5, 2, correlation_id=1),
        event("x/y:Mul", 100, 90), event("x/y:Mul", 110, 10),
        event("launch", 112, 2, correlation_id=2),
        event("x/y:Mul", 130, 10), event("launch", 132, 2, correlation_id=3),
    ]  # fmt: skip
    kernels = [event("k", 200 * n, 10, correlation_id=n, tf_op="x/y:Mul") for n in (1, 2, 3)]
    assert table(ops(gpu(line(*kernels)), launches=host_events))["x/y/k"][0] == 3


def test_time_without_op_or_program_has_a_note_but_in_the_reference():
    kernels = gpu(
        line(
            event("k1", 0, 10, kernel_details="r:1"), event("k1", 20, 10, kernel_details="r:1"),
            event("k2", 40, 5, kernel_details="r:1", tf_op=""), event("MemcpyH2D", 60, 10),
            event("k3", 80, 7, hlo_op="f.1", hlo_module="jit_g", program_id=9,
                  tf_op="XlaModule:"),
        )
    )  # fmt: skip
    found = ops(kernels)
    assert table(found) == {"k1": (2, 20, 20, 0), "k2": (1, 5, 5, 0), "f.1": (1, 7, 7, 0)}
    assert [op.key.program for op in found.ops] == ["", "", "jit_g(9)"]
    assert [(op.name, op.occurrences, op.time_ps) for op in framework_ops(found.ops)] == [
        ("kernels_without_op", 3, 25_000), ("jit_g(9)/f.1", 1, 7_000),
    ]  # fmt: skip
    assert table(ops(kernels, classic=True)) == {"XlaModule/k3": (1, 7, 7, 0)}


def test_the_same_name_in_several_programs_is_several_ops_but_in_the_reference():
    same = [
        DeviceOp(OpKey(number, "f.1", "jit_f"), provenance=reported, occurrences=3, time_ps=30)
        for number in (1, 2)
        for reported in ("a:Add", "")
    ]
    assert [(op.name, op.program, op.occurrences) for op in framework_ops(same)] == [
        ("a", "jit_f(1)", 3), ("jit_f(1)/f.1", "jit_f(1)", 3),
        ("a", "jit_f(2)", 3), ("jit_f(2)/f.1", "jit_f(2)", 3),
    ]  # fmt: skip
    assert [(op.name, op.occurrences) for op in framework_ops(same, rules=REFERENCE)] == [
        ("a", 3), ("f.1", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "traffic, main",
    [(Traffic(10), 10), (Traffic(10, 4), 4), (Traffic(10, 0, ((1, 5, 5),)), 0)],
)
def test_bytes_of_the_main_memory(traffic, main):
    assert traffic.hbm_bytes == main


def test_bytes_add_up_by_space():
    one, other = Traffic(3, 1, ((2, 1, 1),)), Traffic(4, 2, ((1, 5, 6), (2, 3, 0)))
    assert one + other == other + one == Traffic(7, 3, ((1, 5, 6), (2, 4, 1)))
