"""Memory that ops allocate and free."""

from tests.captures.events.made import memory
from tfprof.captures.events.ops.op_memory import op_memory
from tfprof.captures.events.ops.op_runs import host_op_runs
from tfprof.testing.xspace_builders import event, host, line, opened, xspace


def found(*lines):
    (one,) = opened(xspace(host(*lines))).hosts
    return op_memory(one.forest(), host_op_runs(one.timeline).events)


def test_an_op_owns_what_it_allocates():
    memory_of_ops = found(line(
        event("a:MatMul", 0, 100), memory("Allocation", 10, 1, 64, 164),
        memory("Allocation", 20, 2, 32, 196), memory("Deallocation", 30, 2, 32, 164),
        event("b:Relu", 200, 50), memory("Allocation", 210, 2, 8, 172),
    ))  # fmt: skip
    assert memory_of_ops.runs.tolist() == [0, 0, 0, 1]
    assert memory_of_ops.sizes.tolist() == [64, 32, -32, 8]
    assert memory_of_ops.in_use_bytes.tolist() == [164, 196, 164, 172]
    assert [memory_of_ops.names[n] for n in memory_of_ops.allocators] == ["GPU_0_bfc"] * 4
    assert memory_of_ops.start_ps.tolist() == [10_000, 20_000, 30_000, 210_000]


def test_what_another_run_frees_stays_with_the_one_that_made_it():
    memory_of_ops = found(line(
        event("a:MatMul", 0, 100), memory("Allocation", 10, 1, 64),
        event("b:Relu", 200, 50), memory("Deallocation", 210, 1, 64),
    ))  # fmt: skip
    assert memory_of_ops.sizes.tolist() == [64]


def test_no_op_frees_what_was_made_before_the_capture():
    assert len(found(line(event("a:MatMul", 0, 100), memory("Deallocation", 10, 1, 64)))) == 0


def test_addresses_are_those_of_an_allocator():
    memory_of_ops = found(line(
        event("a:MatMul", 0, 100), memory("Allocation", 10, 1, 64),
        memory("Deallocation", 20, 1, 64, allocator="cpu"),
    ))  # fmt: skip
    assert memory_of_ops.sizes.tolist() == [64]


def test_allocations_outside_of_ops_are_counted():
    memory_of_ops = found(line(event("x", 0, 100), memory("Allocation", 10, 1, 64)))
    assert (memory_of_ops.n_outside, memory_of_ops.outside_bytes) == (1, 64)
    assert len(memory_of_ops) == 0


def test_no_memory():
    assert len(found(line(event("a:MatMul", 0, 100)))) == 0
