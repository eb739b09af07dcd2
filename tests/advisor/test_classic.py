"""The reports of classic mode by hand; tests/oracle compares them with TensorFlow's."""

import pytest

import tfprof
from tfprof.advisor.classic import CLASSIC_CHECKERS
from tfprof.testing.builders import CPU, graph, op, run, run_on, stat


def reports(checker, nodes, *steps):
    profiler = tfprof.Profiler(graph(*nodes), classic=True)
    for number, run_meta in enumerate(steps):
        profiler.add_step(number, run_meta)
    return CLASSIC_CHECKERS[checker](profiler._session.profile, profiler._session.views)


def gpu_step(start, scheduled, computed):
    return run_on(
        {
            "/device:GPU:0": {"a": stat(scheduled, start=start)},
            "/device:GPU:0/stream:all": {"a": stat(computed, start=start)},
        }
    )


def test_utilization_looks_at_the_last_step_of_each_op():
    steps = [gpu_step(1000, 10, 10), gpu_step(5000, 10, 2)]
    assert reports("AcceleratorUtilizationChecker", [op("a")], *steps) == [
        "device: /device:gpu:0 low utilization: 0.20"
    ]
    assert reports("AcceleratorUtilizationChecker", [op("a")], *steps[::-1]) == [
        "device: /device:gpu:0 utilization: 1.00"
    ]


def test_a_gpu_without_a_window_and_a_cpu_are_passed_over():
    assert reports("AcceleratorUtilizationChecker", [op("a")], gpu_step(0, 10, 10)) == []
    assert reports("AcceleratorUtilizationChecker", [op("a")], run({"a": 5}, device=CPU)) == []


@pytest.mark.parametrize(("fused", "n"), [("FusedBatchNorm", 0), ("FusedBatchNormV3", 1)])
def test_only_the_first_fused_batch_norm_is_fused(fused, n):
    expected = ["Maybe use faster FusedBatchNorm instead of BatchNorm"] * n
    assert reports("OperationChecker", [op("net/BatchNorm/fused", fused)]) == expected


def test_nhwc_on_a_gpu():
    nodes = [op("a", "Conv2D", data_format="NHWC")]
    assert reports("OperationChecker", nodes, gpu_step(1000, 5, 5)) == [
        "Found operation using NHWC data_format on GPU. Maybe NCHW is faster."
    ]
    assert reports("OperationChecker", nodes, run({"a": 5})) == []


def test_a_scope_is_blamed_with_its_own_time():
    run_meta = run({"net/a": 2000, "net/b": 3000})
    types, nodes = reports(
        "ExpensiveOperationChecker", [op("net/a", "A"), op("net/b", "B")], run_meta
    )
    assert types.splitlines()[0] == (
        "top 1 operation type: B, cpu: 3.00ms, accelerator: 0us, total: 3.00ms (60.00%)"
    )
    assert nodes == "top 1 graph node: net, cpu: 0us, accelerator: 0us, total: 0us"
