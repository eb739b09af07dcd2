"""Metrics of small captures, by hand: functions, compilations, shares of steps, memory."""

import pytest

import tfprof
from tests.insight.budgets.captured_runs import at, marks, measured, one_host, worker
from tfprof.insight.budgets.measurement import Contributor, Measured, Missing
from tfprof.testing.builders import graph, op, op_log, traced
from tfprof.testing.xspace_builders import gpu, line


def test_traces_are_the_most_of_one_function_on_any_host():
    found = measured("traces", worker(3, 4), worker(6))
    assert found.values == (6.0,)
    assert found.contributors == (Contributor("train_step", 6.0), Contributor("evaluate", 1.0))


def test_retraces_of_a_host_add_up_and_first_traces_are_none():
    found = measured("retraces", worker(1, 2, 3), worker(5))
    assert found.values == (2.0,)
    assert found.contributors == (Contributor("train_step", 2.0),)
    assert measured("retraces", worker(1)) == Measured((0.0,))


def test_functions_are_chosen_by_a_part_of_their_names():
    assert measured("traces", worker(3), pattern="eval").values == (1.0,)
    found = measured("traces", worker(3), pattern="predict")
    assert found == Missing("no function matches 'predict'")
    assert "no call" in measured("traces", one_host([at("a:MatMul", 0, 10)])).reason


def test_the_line_of_a_function_is_in_it_rather_than_where_it_is_called():
    ops = ("train_step_1/y", "train_step_1/z", "trainer/y", "evaluate/y", "y")
    profiler = tfprof.Profiler(
        graph(*(op(name, "Relu") for name in ops)),
        op_log(
            traced("train_step_1/y", "loop.py:9:fit"),
            traced("train_step_1/z", "model.py:7:train_step"),
            traced("trainer/y", "other.py:1:train_step"),
            traced("evaluate/y", "loop.py:30:fit"),
        ),
    )
    found = measured("traces", worker(3), profiler=profiler)
    lines = [(one.frame.file, one.frame.line_number) for one in found.contributors]
    assert lines == [("model.py", 7), ("loop.py", 30)]


def test_compilations_are_those_of_the_host_that_compiled_the_most():
    def compiles(*starts, name="f"):
        around = [at(f"PjitFunction({name})", start, 50) for start in starts]
        return one_host([*around, *(at("backend_compile", start + 10, 20) for start in starts)])

    found = measured("compilations", compiles(0, 100), compiles(0, 100, 200, name="g"))
    assert found == Measured((3.0,), contributors=(Contributor("g", 3.0),))


def test_without_a_device_time_without_ops_is_idle():
    """Ops take 60 or 90 of 100 µs in turn."""
    starts, steps = marks(*[100] * 8)
    ops = [at("a:MatMul", start, 60 + 30 * (n % 2)) for n, start in enumerate(starts)]
    found = measured("idle_share", one_host([*steps, *ops]))
    assert found.is_timed
    assert found.value == pytest.approx(0.25)
    assert sorted({round(value, 9) for value in found.values}) == [0.1, 0.4]


def test_with_devices_what_none_of_them_computes_is_idle():
    """A kernel of 70 µs and a copy to the device of 20 µs in each 100 µs: 30 µs are idle."""
    starts, steps = marks(*[100] * 8)
    launches = [at("cuLaunchKernel", start + 1, 2, correlation_id=n + 1)
                for n, start in enumerate(starts)]  # fmt: skip
    details = {"kernel_details": "regs:32 shm:0 grid:1,1,1 block:32,1,1 occ_pct:50"}
    kernels = [at("sgemm", start + 5, 70, correlation_id=n + 1, **details)
               for n, start in enumerate(starts)]  # fmt: skip
    copies = [at("MemcpyH2D", start + 76, 20, correlation_id=n + 1)
              for n, start in enumerate(starts)]  # fmt: skip
    stream = line(*kernels, *copies, id=14, name="Stream #14(Compute,MemcpyH2D)")
    found = measured("idle_share", one_host([*steps, *launches], planes=[gpu(stream)]))
    assert found.value == pytest.approx(0.3)


def test_the_idle_share_of_steps_without_ops_is_unknown():
    _, steps = marks(*[100] * 8)
    found = measured("idle_share", one_host(steps))
    assert found.reason.startswith("no op was recorded in any step")
    assert measured("idle_share", one_host([at("a:MatMul", 0, 9)])).reason == "no step was captured"


def test_the_mean_of_shares_is_the_share_of_all_steps():
    """40 of 100 µs and 20 of 200 µs are 60 of 300 µs: 20 %, not the mean of 40 % and 10 %."""
    starts, steps = marks(*[100, 200] * 4)
    ops = [at("a:MatMul", start, 60 if n % 2 == 0 else 180) for n, start in enumerate(starts)]
    found = measured("idle_share", one_host([*steps, *ops]))
    assert found.value == pytest.approx(60 / 300)
    # Each differs from the share of all by its surplus, in mean steps of 150 µs.
    low, high = 0.2 + (20 - 0.2 * 200) / 150, 0.2 + (40 - 0.2 * 100) / 150
    assert sorted({round(value, 9) for value in found.values}) == pytest.approx([low, high])


def test_the_input_share_is_unknown_where_the_verdict_leaves_it_open():
    _, steps = marks(100, 100)
    starts = [10, 110]
    found = measured("input_share", one_host([*steps, *(at("a:MatMul", s, 80) for s in starts)]))
    assert isinstance(found, Missing)
    assert found.reason.startswith("2 whole steps in this capture, and at least 3 are needed.")


def test_the_input_share_is_that_of_the_period():
    """The iterator holds the step for 30 of 120 µs, of which the mark covers 100 µs."""
    steps, own = [], []
    for n in range(8):
        start = 120 * n
        steps.append(at("train", start, 100, step_num=n, _r=1))
        own += [at("IteratorGetNext:IteratorGetNext", start, 30), at("a:MatMul", start + 30, 70)]
    found = measured("input_share", one_host([*steps, *own]))
    assert found.value == pytest.approx(0.25, rel=0.02)


def test_peak_memory_is_that_of_the_fullest_allocator():
    def allocation(start, used, size, name, allocator="gpu_bfc"):
        return at(
            "MemoryAllocation", start, 0, allocator_name=allocator, bytes_reserved=0,
            bytes_allocated=used, bytes_available=1000 - used, peak_bytes_in_use=used,
            requested_bytes=size, allocation_bytes=size, addr=4096 + start, data_type=1,
            fragmentation=0.0, tf_op=f"{name}:MatMul", shape="[4]", region_type="output",
        )  # fmt: skip

    events = [
        allocation(1, 100, 100, "a"), allocation(2, 300, 200, "b"), allocation(3, 500, 200, "c"),
        allocation(4, 400, 400, "d", "cpu_bfc"),
    ]  # fmt: skip
    found = measured("peak_memory", one_host(events))
    assert found.values == (500.0,)
    assert not found.is_timed
    held = [(one.name, one.amount) for one in found.contributors]
    assert held == [("b", 200.0), ("c", 200.0), ("a", 100.0)]
    assert "no allocations were captured" in measured("peak_memory", one_host([])).reason
