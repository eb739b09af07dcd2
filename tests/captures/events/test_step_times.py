"""The time of steps by kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.events.steps.account import Account
from tfprof.captures.events.steps.step_events import Markers, Spent, StepEvents
from tfprof.captures.events.steps.step_times import (
    SPENT,
    StepTimes,
    computing,
    longest_markers,
    marked_spans,
    spans_array,
    step_times,
    union_lengths,
)
from tfprof.captures.facts.run_steps import host_steps
from tfprof.captures.rules import OURS, REFERENCE
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace


def columns(rows, width):
    found = [np.array(column, np.int64) for column in zip(*rows, strict=True)]
    return found or [np.zeros(0, np.int64)] * width


def times_of(events, markers, *, has_device, classic=False):
    """Times of steps that are as long as their markers."""
    spans = marked_spans(markers, has_device=has_device)
    groups = np.array(sorted(spans), np.int64)
    if has_device or classic:
        groups = groups[computing(events, groups, has_device=has_device)]
    return step_times(events, Account.of_spans(groups, spans_array(spans, groups)))


def spent(events, markers, *, has_device=False, classic=False):
    """(start, duration, {kind: time}) by group; events are (group, kind, start, end)."""
    group, start, end, is_device = columns(markers, 4)
    found = times_of(
        StepEvents(*columns(events, 4)),
        Markers(group, start, end, is_device.astype(bool)),
        has_device=has_device,
        classic=classic,
    )
    kinds = sorted(Spent)
    return {
        number: (
            int(found.start_ps[row]),
            int(found.duration_ps[row]),
            {
                kinds[c].name: int(ps)
                for c, ps in enumerate(found.spent_ps[row].tolist()) if ps
            },
        )
        for row, number in enumerate(found.groups.tolist())
    }  # fmt: skip


COMPUTE, WAIT, LAUNCH = Spent.HOST_COMPUTE, Spent.HOST_WAIT_INPUT, Spent.HOST_PREPARE
WIDE, NARROW = Spent.DEVICE_COMPUTE_32, Spent.DEVICE_COMPUTE_16


def test_the_larger_kind_wins_where_events_overlap():
    found = spent([(0, COMPUTE, 10, 60), (0, WAIT, 40, 70), (0, COMPUTE, 50, 55)], [(0, 0, 100, 0)])
    assert found == {0: (0, 100, {"HOST_COMPUTE": 30, "HOST_WAIT_INPUT": 30, "UNKNOWN": 40})}


def test_what_reaches_out_of_the_step_is_cut():
    found = spent([(0, COMPUTE, -50, 20), (0, COMPUTE, 90, 200)], [(0, 0, 100, 0)])
    assert found == {0: (0, 100, {"HOST_COMPUTE": 30, "UNKNOWN": 70})}


def test_a_step_without_computation_is_none_in_the_reference():
    waits = [(0, WAIT, 10, 20)], [(0, 0, 100, 0)]
    assert spent(*waits, classic=True) == {}
    # Marked steps are steps anyway.
    assert spent(*waits) == {0: (0, 100, {"HOST_WAIT_INPUT": 10, "UNKNOWN": 90})}
    assert spent([(0, COMPUTE, 10, 20)], [(0, 0, 100, 1)], has_device=True) == {}


def test_computation_outside_its_span_makes_a_step():
    found = spent([(0, COMPUTE, 300, 400)], [(0, 0, 100, 0)])
    assert found == {0: (0, 100, {"UNKNOWN": 100})}


def test_events_of_groups_without_a_marker_count_nowhere():
    found = spent([(0, COMPUTE, 0, 10), (1, COMPUTE, 10, 20)], [(0, 0, 50, 0)])
    assert found == {0: (0, 50, {"HOST_COMPUTE": 10, "UNKNOWN": 40})}


def test_the_longest_marker_gives_the_span():
    found = spent([(0, COMPUTE, 0, 10)], [(0, 0, 20, 0), (0, 5, 100, 0), (0, 0, 95, 0)])
    assert found == {0: (5, 95, {"HOST_COMPUTE": 5, "UNKNOWN": 90})}


@pytest.mark.parametrize(
    "host_marker, span", [((0, 0, 100, 0), (0, 100)), ((0, 30, 100, 0), (20, 60))]
)
def test_with_a_device_its_marker_counts_unless_the_hosts_contains_it(host_marker, span):
    found = spent([(0, WIDE, 20, 60)], [host_marker, (0, 20, 80, 1)], has_device=True)
    assert found[0][:2] == span


def test_a_step_of_the_host_alone_is_none_with_a_device():
    events = [(0, WIDE, 0, 10), (1, WIDE, 100, 110)]
    found = spent(events, [(0, 0, 50, 1), (1, 100, 150, 0)], has_device=True)
    assert list(found) == [0]


def test_computation_of_all_steps_counts_outside_of_their_spans_too():
    found = times_of(
        StepEvents(*columns([(0, WIDE, 0, 40), (0, NARROW, 30, 60), (0, NARROW, 90, 95)], 4)),
        Markers(*columns([(0, 0, 50)], 3), np.array([True])),
        has_device=True,
    )
    assert found.compute_ps == (30, 35)


def test_large_numbers_of_groups():
    huge = 2**62
    found = spent([(huge, COMPUTE, 0, 10), (3, COMPUTE, 0, 5)], [(huge, 0, 20, 0)])
    assert found == {huge: (0, 20, {"HOST_COMPUTE": 10, "UNKNOWN": 10})}


def test_no_steps():
    assert spent([], []) == {}
    assert spent([(2**40, COMPUTE, 0, 10)], []) == {}


intervals = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 20), st.integers(0, 20)), max_size=12
)


@given(intervals)
def test_union_lengths_are_those_of_counting(rows):
    spans = np.array([[0, 20], [0, 20], [0, 20]])
    rows = [(row, min(a, b), max(a, b)) for row, a, b in rows]
    found = union_lengths(*columns(rows, 3), spans)
    expected = [
        len({moment for row, a, b in rows if row == own for moment in range(a, b)})
        for own in range(3)
    ]
    assert found.tolist() == expected


kinds = st.sampled_from([COMPUTE, WAIT, LAUNCH, Spent.HOST_TO_HOST])


@given(st.lists(st.tuples(st.integers(0, 2), kinds, st.integers(-5, 30), st.integers(0, 15))))
def test_times_are_those_of_asking_at_each_moment(rows):
    events = [(group, kind, start, start + length) for group, kind, start, length in rows]
    found = spent(events, [(group, 0, 25, 0) for group in range(3)])
    for group, (_, duration, of_kind) in found.items():
        expected = {}
        for moment in range(25):
            kind = max(
                [k for g, k, a, b in events if g == group and a <= moment < b],
                default=Spent.UNKNOWN,
            )
            expected[kind.name] = expected.get(kind.name, 0) + 1
        assert (duration, of_kind) == (25, expected)
        assert sum(of_kind.values()) == duration


def steps(*planes, classic=False):
    """Steps of a host from microseconds by category, here in ns."""
    one = opened(xspace(*planes)).hosts[0]
    found = host_steps(one.by(REFERENCE if classic else OURS), 1)
    by_kind = sorted(Spent)
    return [
        (name, {by_kind[c].name: ps // 1000 for c, ps in enumerate(row.tolist()) if ps})
        for name, row in zip(found.names, found.times.spent_ps, strict=True)
    ]


def test_kinds_of_host_events():
    found = steps(
        host(
            line(
                event("train", 0, 100, step_num=1, _r=1),
                event("FunctionRun", 0, 99), event("EagerExecute", 0, 98),
                event("a:MatMul", 10, 10), event("MemcpyHToH", 20, 10),
                event("IteratorGetNext", 30, 10), event("q:InfeedEnqueueTuple", 40, 10),
                event("MemcpyHToD", 50, 10), event("ExecutorState::Process", 60, 5),
                event("train/op:MatMul", 70, 5),
            )
        )
    )  # fmt: skip
    assert found == [
        ("train 1", {
            "UNKNOWN": 40, "HOST_RUNTIME": 5, "HOST_COMPUTE": 15, "HOST_TO_HOST": 10,
            "HOST_TO_DEVICE": 20, "HOST_WAIT_INPUT": 10,
        })
    ]  # fmt: skip


GPU_STEP = (
    host(
        line(
            event("train", 0, 200, step_num=4, _r=1),
            event("IteratorGetNext", 0, 30),
            event("cuLaunchKernel", 30, 10, correlation_id=1),
            event("ExecutorState::Process", 40, 10),
            event("a:MatMul", 50, 5, correlation_id=2),
            event("host:Op", 180, 10),
        )
    ),
    gpu(
        line(
            event("sgemm", 60, 20, correlation_id=1),
            event("MemcpyH2D", 80, 10, correlation_id=2),
            event("MemcpyD2H", 90, 10, correlation_id=2),
            event("MemcpyD2D", 100, 10, correlation_id=2),
            event("ncclAllReduce_half", 110, 10, correlation_id=2),
            event("rcclAllReduce", 120, 10, correlation_id=2),
            event("gemm_bf16", 130, 10, correlation_id=2),
            event("gemm_half", 140, 10, correlation_id=2),
            event("no_launch", 150, 10),
            id=14, name="Stream #14",
        )
    ),
)  # fmt: skip


def test_ops_that_python_runs_one_by_one_are_work():
    found = steps(
        host(
            line(
                event("train", 0, 100, step_num=0, _r=1),
                event("EagerExecute", 10, 40), event("EagerLocalExecute: MatMul", 20, 30),
                event("KernelAndDeviceFunc::Run", 25, 20),
                event("EagerLocalExecute: EagerPyFunc", 60, 10),
                event("EagerLocalExecute: __inference_f_3", 80, 10),
            )
        )
    )  # fmt: skip
    spent = {"HOST_COMPUTE": 30, "HOST_CALLBACK": 10, "UNKNOWN": 60}
    assert found == [("train 0", spent)]


def test_making_an_iterator_is_waiting_for_input():
    found = steps(
        host(
            line(
                event("train", 0, 100, step_num=0, _r=1),
                event("EagerLocalExecute: MakeIterator", 10, 50),
                event("MakeIterator::RootDataset", 15, 40), event("ParallelMapConsume", 70, 5),
                event("a:MatMul", 80, 10),
            )
        )
    )  # fmt: skip
    spent = {"HOST_COMPUTE": 20, "HOST_WAIT_INPUT": 40, "HOST_RUNTIME": 5, "UNKNOWN": 35}
    assert found == [("train 0", spent)]


def test_with_a_gpu_host_and_device_count_together():
    assert steps(*GPU_STEP) == [
        ("train 4", {
            "UNKNOWN": 45, "HOST_WAIT_INPUT": 30, "HOST_PREPARE": 25, "HOST_COMPUTE": 10,
            "DEVICE_COMPUTE_32": 20, "HOST_TO_DEVICE": 10, "DEVICE_TO_HOST": 10,
            "DEVICE_TO_DEVICE": 10, "DEVICE_COLLECTIVES": 20, "DEVICE_COMPUTE_16": 20,
        })
    ]  # fmt: skip


def test_the_reference_leaves_the_host_out_and_does_not_know_the_names_of_copies():
    assert steps(*GPU_STEP, classic=True) == [
        ("0", {
            "DEVICE_COMPUTE_32": 70, "DEVICE_COLLECTIVES": 10, "DEVICE_COMPUTE_16": 10,
            "UNKNOWN": 10,
        })
    ]  # fmt: skip


def test_shapes_tell_the_width_of_kernels():
    def width(**stats):
        return steps(
            host(line(event("train", 0, 50, _r=1), event("go", 1, 1, correlation_id=1))),
            gpu(line(event("k_fp16", 10, 5, correlation_id=1, **stats))),
            classic=True,
        )[0][1]

    assert width() == {"DEVICE_COMPUTE_16": 5}
    assert width(shape="(float32[4])") == {"DEVICE_COMPUTE_32": 5}
    assert width(shape="(half[4])") == {"DEVICE_COMPUTE_16": 5}


def test_root_stages_of_instrumented_pipelines_wait_for_input():
    found = steps(
        host(
            line(
                event("train", 0, 100, _r=1),
                event("stage", 10, 30, _ipl_stage_name="root"),
                event("inner", 15, 10, _ipl_stage_name="inner"),
                event("give", 50, 5, _pt=1, _p=3),
            ),
            line(event("taken", 50, 10, _ipl_stage_name="x", _ct=1, _c=3), id=2),
        )
    )
    # The inner stage is the runtime's, but the outer one covers it, and also the work handed over.
    assert found == [("train 0", {"HOST_WAIT_INPUT": 30, "HOST_RUNTIME": 10, "UNKNOWN": 60})]


def test_calls_of_functions_are_steps_where_none_is_marked():
    planes = host(
        line(
            event("FunctionRun", 0, 50, _r=1), event("a:MatMul", 5, 10),
            event("FunctionRun", 60, 50, _r=1), event("a:MatMul", 70, 20),
        )
    )  # fmt: skip
    assert steps(planes, classic=True) == []
    assert steps(planes) == [
        ("0", {"HOST_COMPUTE": 10, "UNKNOWN": 50}), ("1", {"HOST_COMPUTE": 20, "UNKNOWN": 30}),
    ]  # fmt: skip


def test_gpus_of_which_nothing_was_recorded_do_not_hide_the_steps_of_the_host():
    planes = (host(line(event("train", 0, 50, _r=1), event("a:MatMul", 5, 10))), gpu())
    assert steps(*planes, classic=True) == []
    assert steps(*planes) == [("train 0", {"HOST_COMPUTE": 10, "UNKNOWN": 40})]


def test_what_a_region_that_the_end_has_cut_encloses_counts():
    threads = host(
        line(event("train", 0, 100, step_num=0, _r=1), event("Give", 1, 1, _pt=15, _p=3)),
        line(
            event("ThreadpoolListener::StartRegion", 5, 0, _ct=15, _c=3),
            event("while.5", 10, 80, hlo_op="while.5"),
            id=2, name="tf_XLAPjRtCpuClient/7",
        ),
        line(
            event("ThreadpoolListener::StartRegion", 0, 0, _ct=15, _c=9),
            event("ThreadpoolListener::StopRegion", 2, 0), id=3,
        ),
    )  # fmt: skip
    one = host_steps(opened(xspace(threads)).hosts[0], 1)
    assert one.times.of(Spent.HOST_COMPUTE).tolist() == [80_000]


def test_a_step_spans_its_longest_marker():
    """Of two that are as long, the first one counts; on a device, unless it is in the host's."""

    def markers(*rows):
        group, start, end, is_device = columns(rows, 4)
        return Markers(group, start, end, is_device.astype(bool))

    host_rows = [(1, 100, 110, 0), (1, 0, 30, 0), (1, 50, 80, 0), (2, 90, 95, 0)]
    assert longest_markers(markers(*host_rows)) == ({1: (0, 30), 2: (90, 95)}, {})
    assert marked_spans(markers(*host_rows), has_device=False) == {1: (0, 30), 2: (90, 95)}
    for device, span in (((0, 30), (0, 30)), ((5, 30), (0, 30)), ((5, 31), (5, 31)),
                         ((0, 29), (0, 30))):  # fmt: skip
        found = markers(*host_rows, (1, *device, 1))
        assert marked_spans(found, has_device=True) == {1: span}
    assert marked_spans(markers((3, 7, 9, 1)), has_device=True) == {3: (7, 9)}


def test_steps_without_a_span():
    assert spans_array({4: (2, 3)}, np.array([1, 4])).tolist() == [[-1, -1], [2, 3]]


def test_the_rest_of_a_period_has_no_kind_of_its_own():
    """Of 10 ps, 4 are computation; unless the rest is only part of the remaining 6."""
    spent_ps = np.zeros((2, len(SPENT)), np.int64)
    spent_ps[:, SPENT.index(COMPUTE)] = 4
    spent_ps[:, SPENT.index(Spent.UNKNOWN)] = 6
    start, length = np.array([0, 10]), np.array([10, 10])
    found = StepTimes.of_columns(np.array([1, 2]), start, length, spent_ps, (0, 0))
    assert (found.kinds, found.of(Spent.UNKNOWN).tolist()) == ((COMPUTE,), [6, 6])
    spent_ps[1, SPENT.index(Spent.UNKNOWN)] = 5
    found = StepTimes.of_columns(np.array([1, 2]), start, length, spent_ps, (0, 0))
    assert set(found.kinds) == {COMPUTE, Spent.UNKNOWN}
    assert found.of(Spent.UNKNOWN).tolist() == [6, 5]
    assert found.take(np.array([1])).start_ps.tolist() == [10]
    assert found.take(np.array([1, 0])).start_ps.tolist() == [10, 0]
    assert found.take(np.array([], np.int64)).start_ps.tolist() == []
