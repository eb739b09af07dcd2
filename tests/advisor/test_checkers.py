"""What the default mode does better than the original, and the edges of ``advise``."""

import pytest

import tfprof
from tfprof.testing.builders import graph, op, run, run_on, stat

ALL = ["AcceleratorUtilizationChecker", "ExpensiveOperationChecker", "OperationChecker"]


def reports(profiler, checker):
    return list(profiler.advise([checker]).checkers[checker].reports)


def advice(nodes, *steps, classic=False):
    profiler = tfprof.Profiler(graph(*nodes), classic=classic)
    for number, run_meta in enumerate(steps):
        profiler.add_step(number, run_meta)
    return profiler


def test_all_checkers_run_by_default_in_a_fixed_order(capsys):
    result = tfprof.advise(graph(op("a")))
    assert sorted(result.checkers) == ALL
    assert capsys.readouterr().out == "".join(f"\n{name}:\n" for name in ALL)


@pytest.mark.parametrize("classic", [False, True])
def test_a_later_fused_batch_norm_is_fused(classic):
    profiler = advice([op("net/BatchNorm/fused", "FusedBatchNormV3")], classic=classic)
    expected = ["Maybe use faster FusedBatchNorm instead of BatchNorm"] if classic else []
    assert reports(profiler, "OperationChecker") == expected


def test_a_batch_norm_made_of_small_ops_is_blamed():
    profiler = advice([op("net/BatchNorm/mul", "Mul")])
    assert reports(profiler, "OperationChecker") == [
        "Maybe use faster FusedBatchNorm instead of BatchNorm"
    ]


@pytest.mark.parametrize(
    ("classic", "time"),
    [(False, "total: 5.00ms"), (True, "total: 0us")],
    ids=["default", "classic"],
)
def test_a_scope_is_blamed_with_all_its_time(classic, time):
    profiler = advice([op("net/a", "A"), op("net/b", "B")], run({"net/a": 2000, "net/b": 3000}),
                      classic=classic)  # fmt: skip
    (types, nodes) = reports(profiler, "ExpensiveOperationChecker")
    assert types.splitlines()[0].startswith("top 1 operation type: B, cpu: 3.00ms")
    assert nodes.startswith("top 1 graph node: net, ")
    assert nodes.endswith(time)


def gpu_step(start, scheduled, computed):
    return run_on(
        {
            "/device:GPU:0": {"a": stat(scheduled, start=start)},
            "/device:GPU:0/stream:all": {"a": stat(computed, start=start)},
        }
    )


def test_utilization_is_over_all_steps():
    # 10 of 10 µs busy in the first step, 2 of 10 in the second: 12 of 20.
    steps = [gpu_step(1000, 10, 10), gpu_step(5000, 10, 2)]
    assert reports(advice([op("a")], *steps), "AcceleratorUtilizationChecker") == [
        "device: /device:gpu:0 utilization: 0.60"
    ]
    assert reports(advice([op("a")], *steps, classic=True), "AcceleratorUtilizationChecker") == [
        "device: /device:gpu:0 low utilization: 0.20"
    ]


def test_an_unknown_checker_is_named():
    profiler = advice([op("a")])
    with pytest.raises(tfprof.UsageError, match=r"'Nonsense'\. Allowed: Accelerator"):
        profiler.advise({"Nonsense": {}})
    with pytest.warns(tfprof.TfprofWarning, match="Nonsense"):
        assert not advice([op("a")], classic=True).advise(["Nonsense"]).checkers


def test_the_job_checker_is_taken_and_has_nothing_to_say():
    assert not advice([op("a")]).advise({"JobChecker": {}}).checkers


def test_compat_reads_its_options_as_tensorflow_does():
    from tfprof.compat import v1

    assert sorted(v1.advise(graph(op("a"))).checkers) == ALL
    assert not v1.advise(graph(op("a")), options={}).checkers
    assert not v1.advise(graph(op("a")), options=None).checkers
    assert list(v1.advise(graph(op("a")), options={"OperationChecker": {}}).checkers) == [
        "OperationChecker"
    ]


def test_a_number_is_no_list_of_checkers():
    assert sorted(tfprof.advise(graph(op("a")), checkers=0).checkers) == ALL  # TensorFlow's default
    with pytest.raises(tfprof.UsageError, match="checkers=7 must be"):
        tfprof.advise(graph(op("a")), checkers=7)
