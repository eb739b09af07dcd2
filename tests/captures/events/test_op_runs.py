"""The op that each event ran."""

import pytest

from tests.captures.events.made import core
from tfprof.captures.events.ops.executions import op_of_instruction
from tfprof.captures.events.ops.op_runs import (
    NO_OP,
    NamedOp,
    copy_name,
    devices,
    first_runs,
    gpu_op_runs,
    host_op_runs,
    tpu_op_runs,
)
from tfprof.testing.xspace_builders import event, gpu, host, line, timeline_of, xspace


def named(runs):
    return [runs.names[op] if op != NO_OP else None for op in runs.ops.tolist()]


def no_program(*key):
    return None


def test_ops_of_threads_are_named_by_name_and_type():
    timeline = timeline_of(
        xspace(host(line(
            event("Iterator::Root::Map", 0, 1), event("a/b:MatMul", 1, 5), event("plain", 7, 1),
            event("MemcpyHToD", 9, 1),
        )))
    )  # fmt: skip
    runs = host_op_runs(timeline)
    assert named(runs) == [NamedOp("a/b", "MatMul")]
    assert runs.durations_ps.tolist() == [5000]


def test_kernels_are_runs_of_the_op_that_started_them():
    streams = gpu(
        line(event("k1", 0, 3, tf_op="a:MatMul"), event("k2", 5, 2, tf_op="b:Relu"), id=14),
        line(event("MemcpyH2D", 1, 2, tf_op="c:_Send"), event("MemcpyD2H", 4, 1),
             event("Memset", 6, 1), id=20),
    )  # fmt: skip
    timeline = timeline_of(xspace(streams))
    runs = gpu_op_runs(timeline, 0, no_program)
    assert named(runs) == [
        NamedOp("a", "MatMul"), NamedOp("b", "Relu"), NamedOp("c", "_Send"), None,
        NamedOp("kernels_without_op/Memset", ""),
    ]  # fmt: skip
    assert runs.is_copy.tolist() == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("void Eigen::internal::Meta<Eigen::Tensor<float> >(int)", "Eigen.internal.Meta"),
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"),
        ("(anonymous)", "unnamed"),
    ],
)
def test_kernels_without_an_op_stand_in_a_scope_of_their_own(kernel, name):
    runs = gpu_op_runs(timeline_of(xspace(gpu(line(event(kernel, 0, 3), id=1)))), 0, no_program)
    assert named(runs) == [NamedOp(f"kernels_without_op/{name}", "")]


@pytest.mark.parametrize(
    ("reported", "op"),
    [
        ("jit(f)/dot:", NamedOp("jit(f)/dot", "dot")),
        ("x:MatMul", NamedOp("x", "MatMul")),
        ("", NamedOp("m(7)/fusion.1", "")),
        (None, NamedOp("y", "Add")),
    ],
)
def test_programs_tell_the_op_of_an_instruction(reported, op):
    kernel = event("k", 0, 3, hlo_op="call::fusion.1", hlo_module="m", program_id=7, tf_op="y:Add")
    requested = []

    def op_of(key):
        requested.append(key)
        return None if reported is None else op_of_instruction(key, reported)

    runs = gpu_op_runs(timeline_of(xspace(gpu(line(kernel, id=1)))), 0, op_of)
    assert requested == [(7, "m", "fusion.1")]
    assert named(runs) == [op]


def test_an_instruction_of_a_program_that_is_not_there_is_none_of_a_module():
    kernel = event("k", 0, 3, hlo_op="fusion.1", hlo_module="m", program_id=7, tf_op="XlaModule:")
    runs = gpu_op_runs(timeline_of(xspace(gpu(line(kernel, id=1)))), 0, no_program)
    assert named(runs) == [NamedOp("m(7)/fusion.1", "")]


def test_instructions_of_tensor_cores_without_those_that_hold_others():
    space = xspace(core(0, [], [event("loop", 0, 50), event("f", 10, 10), event("none", 30, 5)]))
    timeline = timeline_of(space)
    runs = tpu_op_runs(timeline, 0)
    assert named(runs) == [NamedOp("program(3)/f", "")]
    named_program = tpu_op_runs(timeline, 0, {3: "jit_g"})
    assert named(named_program) == [NamedOp("jit_g(3)/f", "")]
    assert runs.durations_ps.tolist() == [10_000]
    assert devices(timeline) == [0]


def test_the_first_run_of_each_op():
    streams = gpu(line(event("k", 0, 1, tf_op="a:X"), event("k", 9, 1, tf_op="b:X"), id=1))
    earlier = line(event("a:X", 3, 1), id=2)  # of a thread that comes later in the file
    threads = host(line(event("a:X", 5, 1), event("a:X", 8, 1)), earlier)
    timeline = timeline_of(xspace(threads, streams))
    parts = [host_op_runs(timeline), gpu_op_runs(timeline, 1, no_program)]
    assert first_runs(parts, timeline.starts_ps) == {"a": 2, "b": 4}


@pytest.mark.parametrize(
    ("event_name", "name"),
    [("MemcpyH2D", "MEMCPYHtoD"), ("memcpyDtoH(x)", "MEMCPYDtoH"), ("Memset", ""), ("k", "")],
)
def test_copies_have_the_names_of_old(event_name, name):
    assert copy_name(event_name) == name
