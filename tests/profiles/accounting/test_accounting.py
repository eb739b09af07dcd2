import numpy as np
import pytest

import tfprof
from tfprof.options.regex import NameMatcher
from tfprof.profiles.accounting.accounting import METRIC_ROW, op_metrics, parameter_count
from tfprof.profiles.accounting.op_facts import OpFacts
from tfprof.profiles.model.profile import Profile
from tfprof.testing.builders import GPU_STREAMS, graph, logged, op, op_log, run, run_on, stat


def profile_of(*nodes, log=None, **runs):
    """The profile inside a profiler that was fed with the runs."""
    profiler = tfprof.Profiler(graph(*nodes), log)
    for name, run_meta in runs.items():
        profiler.add_step(int(name.removeprefix("step")), run_meta)
    return profiler._session.profile


def column(profile, metric, step=-1, classic=False):
    return op_metrics(profile, step, classic=classic)[METRIC_ROW[metric]].tolist()


@pytest.mark.parametrize(
    ("shape", "count"),
    [((10, 20), 200), ((), 1), (None, 0), ((2, -1), 0), ((0, 5), 0), ((2**40, 2**40), 2**80)],
)
def test_parameter_count(shape, count):
    assert parameter_count(shape) == count


def test_any_op_with_a_shape_attribute_counts_as_parameters():
    profile = profile_of(
        op("v", "VariableV2", shape=[10, 20]),
        op("p", "Placeholder", shape=[3]),
        op("s", "VarHandleOp", shape=[]),
        op("u", "Placeholder", shape="?"),
        op("d", "Placeholder", shape=[-1, 4]),
        op("n"),
    )
    assert column(profile, "parameters") == [200, 3, 1, 0, 0, 0]


def test_exec_micros_is_accelerator_and_cpu_time_together():
    profile = profile_of(op("a"), step0=run_on({"/gpu:0": {"a": 4}, GPU_STREAMS: {"a": 30}}))
    assert column(profile, "exec_micros") == [34]
    assert column(profile, "accelerator_exec_micros") == [30]
    assert column(profile, "cpu_exec_micros") == [4]
    assert column(profile, "run_count") == [1]


@pytest.mark.parametrize(("classic", "never"), [(False, 0), (True, 100)])
def test_float_ops_are_times_the_runs_and_in_classic_mode_static_without_any_record(classic, never):
    log = op_log(*(logged(name, float_ops=100) for name in ("never", "twice", "listed")))
    profile = profile_of(
        op("never"), op("twice"), op("listed"),
        log=log,
        step0=run([("twice", 1), ("twice", 1), ("listed", stat(1, start=0))]),
        step1=run({"twice": 1}),
    )  # fmt: skip
    found = [column(profile, "float_ops", step=step, classic=classic) for step in (0, 1, -1)]
    # The average of 2 and 1 runs is 1.
    assert found == [[never, 200, 0], [never, 100, 0], [never, 100, 0]]


def test_an_op_that_was_idle_in_the_step_has_no_float_ops():
    log = op_log(logged("a", float_ops=100))
    profile = profile_of(op("a"), op("b"), log=log, step0=run({"a": 1}), step1=run({"b": 1}))
    assert column(profile, "float_ops", step=1) == [0, 0]


def matches(profile, *patterns):
    facts = OpFacts.from_profile(profile, classic=False)
    return facts.match_counts([NameMatcher([p]) for p in patterns]).tolist()


def test_types_are_op_type_device_and_what_op_logs_added():
    profile = profile_of(
        op("a", "MatMul"), op("b", "Relu"), op("c", "MatMul"),
        log=op_log(logged("b", types=["_trainable_variables", "MatMul"])),
        step0=run({"c": 1}, device="/cpu:0"),
    )  # fmt: skip
    facts = OpFacts.from_profile(profile, classic=False)
    assert facts.types(0) == {"MatMul"}
    assert facts.types(1) == {"Relu", "_trainable_variables", "MatMul"}
    assert facts.types(2) == {"MatMul", "/cpu:0"}
    assert matches(profile, "MatMul") == [1, 1, 1]
    assert matches(profile, "Relu") == [0, 1, 0]
    assert matches(profile, "/cpu.*") == [0, 0, 1]
    assert matches(profile, "_trainable.*") == [0, 1, 0]


def test_each_pattern_counts():
    profile = profile_of(op("a", "MatMul"), op("b", "Relu"))
    assert matches(profile) == [0, 0]
    assert matches(profile, "Mat.*", ".*Mul", "Relu") == [2, 1]
    assert matches(profile, ".*", "MatMul") == [2, 1]


def test_patterns_match_in_full():
    profile = profile_of(op("a", "MatMul"))
    assert matches(profile, "Mat", "atMul", "matmul") == [0]


def test_an_op_without_a_device_does_not_match_a_pattern_of_nothing():
    assert matches(profile_of(op("a", "MatMul")), "") == [0]


def test_metrics_of_an_empty_profile():
    assert op_metrics(Profile(), -1, classic=False).shape == (10, 0)
    assert np.array_equal(op_metrics(Profile(), -1, classic=True), np.zeros((10, 0)))
