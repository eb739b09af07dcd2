"""Metrics of small profiles, and what a first budget writes of them, by hand."""

import pytest

import tfprof
from tests.insight.budgets.small_net import NET, profile
from tfprof.core.text import matching
from tfprof.errors import UsageError
from tfprof.insight.budgets.budget import budget_of
from tfprof.insight.budgets.first_budget import first_budget
from tfprof.insight.budgets.measure import measure
from tfprof.insight.budgets.measurement import Contributor, Measured, Missing
from tfprof.insight.budgets.subject import Subject
from tfprof.testing.builders import graph, op, run, stat
from tfprof.testing.xspace_builders import event, host, line, opened, xspace


def subject(profiler, of_run=None):
    return Subject("run", lambda: profiler, of_run)


def measured(profiler, text):
    return measure(subject(profiler), budget_of(text.encode()).limits[0])


def test_a_step_that_is_far_longer_is_left_out_with_a_remark():
    steps = [(100, 20), (110, 20), (100, 30), (110, 30), (5_000, 20)]
    found = measured(profile(*steps), "step_time = '1 ms'")
    assert found.values == (120.0, 130.0, 130.0, 140.0)
    assert found.remark == "1 step left out: cut, or far longer than others"
    [dearest, other] = found.contributors
    assert (dearest.name, dearest.amount) == ("layer/y", 105.0)
    assert (dearest.frame.file, dearest.frame.line_number) == ("model.py", 7)
    assert (other.name, other.amount, other.frame) == ("out/z", 25.0, None)


def test_times_of_ops_and_scopes_are_of_the_same_steps():
    steps = [(100, 20), (110, 20), (100, 30), (110, 30), (5_000, 20)]
    by_type = measured(profile(*steps), "[op_time]\nTanh = '1 ms'")
    by_name = measured(profile(*steps), "[op_time]\n'out/' = '1 ms'")
    of_scope = measured(profile(*steps), "[scope_time]\n'out/' = '1 ms'")
    assert by_type == by_name == of_scope
    assert by_type.values == (20.0, 20.0, 30.0, 30.0)
    assert by_type.contributors == (Contributor("out/z", 25.0),)


def test_a_scope_is_matched_from_its_beginning():
    found = measured(profile((1, 2)), "[scope_time]\nyer = '1 ms'")
    assert found == Missing("no scope matches 'yer'; tfprof scope lists them")
    assert measured(profile((1, 2)), "[op_time]\nyer = '1 ms'").values == (1.0,)


def test_executions_without_a_start_have_no_step_time():
    made = tfprof.Profiler(NET)
    made.add_step(0, run({"layer/y": stat(5, start=0)}))
    assert measured(made, "step_time = '1 ms'") == Missing("no execution has a start")
    assert measured(made, "[op_time]\nMatMul = '1 ms'").values == (0.0,)


def with_memory(*in_use):
    """Steps in which the allocator of the GPU has so many bytes in use after each op."""
    made = tfprof.Profiler(NET)
    for number, (one, other) in enumerate(in_use):
        both = {"layer/y": stat(5, start=1000), "out/z": stat(5, start=1010)}
        for each, n_bytes in zip(both.values(), (one, other), strict=True):
            each.memory.add(allocator_name="GPU_0_bfc", allocator_bytes_in_use=n_bytes)
        made.add_step(number, run(both, "/job:a/replica:0/task:0/device:GPU:0"))
    return made


def test_peak_memory_is_that_of_the_fullest_step():
    found = measured(with_memory((100, 300), (200, 700), (50, 60)), "peak_memory = '1 kB'")
    assert (found.values, found.is_timed) == ((700.0,), False)
    reason = measured(profile((1, 2)), "peak_memory = '1 kB'").reason
    assert reason.startswith("no execution recorded the memory of its allocator")
    assert measured(profile(), "peak_memory = '1 kB'") == Missing("no step was recorded")


def test_op_times_of_a_capture_are_those_of_the_steps_that_its_tools_use():
    """The fourth of five steps takes twenty times as long: no tool averages it."""
    lengths = [100_000, 100_000, 100_000, 2_000_000, 100_000]
    events, begin = [], 0
    for number, length in enumerate(lengths):
        events += [event("train", begin, length, step_num=number, _r=1),
                   event("a:MatMul", begin, length - 10_000)]  # fmt: skip
        begin += length
    captured = opened(xspace(host(line(*events))))
    one = subject(tfprof.Profiler.from_xspace(captured), captured)
    limit = budget_of(b"[op_time]\nMatMul = '1 ms'").limits[0]
    found = measure(one, limit)
    assert one.steps.typical.names == ["train 0", "train 1", "train 2", "train 4"]
    assert found.values == (90.0,) * 4
    assert found.remark == "1 step left out: cut, or far longer than others"


@pytest.mark.parametrize(
    ("program", "metric", "value", "remark"),
    [
        # 2 · 2 · 4 · 3 of the product, and 2 · 3 of the other.
        (NET, "float_operations", 48 + 6, ""),
        (graph(op("m", "Mystery"), op("n", "NoOp")), "float_operations", 0, "not counted: Mystery"),
        (NET, "parameters", 12, ""),
        (graph(op("v", "VariableV2", shape=[-1, 3])), "parameters", 0, "of unknown shape: v"),
        (NET, "ops", 4, ""),
    ],
)
def test_costs_that_a_graph_has(program, metric, value, remark):
    found = measured(tfprof.Profiler(program), f"{metric} = '1'")
    assert (found.value, found.at_least, found.remark) == (value, bool(remark), remark)


def test_the_largest_parts_of_costs():
    found = measured(profile(), "float_operations = '1'")
    assert [(one.name, one.amount) for one in found.contributors] == [("layer/y", 48), ("out/z", 6)]
    assert found.contributors[0].frame.line_number == 7
    assert measured(profile(), "parameters = '1'").contributors == (Contributor("layer/w", 12.0),)
    types = measured(profile(), "ops = '1'").contributors
    assert [one.name for one in types] == ["MatMul", "Placeholder", "Tanh"]  # alike, so by name


@pytest.mark.parametrize("metric", ["float_operations", "parameters", "ops"])
def test_names_of_ops_that_ran_are_not_a_graph(metric):
    made = tfprof.Profiler()
    made.add_step(0, run({"a": stat(5)}))
    assert measured(made, f"{metric} = '1'").reason.startswith("needs the graph, which this")


def test_a_first_budget_leaves_room_above_exact_numbers_and_none_above_events():
    calls = [event("f", 10 * n, 5, tf_function_call="traced-xla", tracing_count=n + 1)
             for n in range(3)]  # fmt: skip
    captured = opened(xspace(host(line(*calls))))
    text = first_budget(Subject("run", lambda: profile(), captured))
    limits = dict(one.split(" = ", 1) for one in text.splitlines() if one and one[0] != "#")
    assert limits["float_operations"] == '"<= 57 FLOPs"  # was 54 FLOPs'  # 56.7, rounded up
    assert limits["parameters"] == '"<= 13"  # was 12'
    assert limits["traces"] == '"<= 3"  # was 3'
    assert limits["retraces"] == '"<= 2"  # was 2'
    assert "\n# idle_share: no op was recorded in any step" in text
    assert "idle_share" not in limits


def test_a_share_has_ten_points_of_room_and_is_never_more_than_all():
    def budget_for(ops_us):
        events = []
        for number in range(8):
            begin = number * 100_000
            events += [event("train", begin, 100_000, step_num=number, _r=1),
                       event("a:MatMul", begin, ops_us * 1000)]  # fmt: skip
        captured = opened(xspace(host(line(*events))))
        text = first_budget(Subject("run", lambda: tfprof.Profiler.from_xspace(captured), captured))
        return next(one for one in text.splitlines() if one.startswith("idle_share"))

    assert budget_for(75) == 'idle_share = "<= 35.0 %"  # was 25.0 %'
    assert budget_for(5) == 'idle_share = "<= 100 %"  # was 95.0 %'


def test_measured_values_have_a_mean():
    assert Measured((1.0, 2.0, 6.0)).value == 3.0


def test_patterns_that_take_for_ever_on_a_name_are_refused(monkeypatch):
    monkeypatch.setattr(matching, "_SECONDS", 0.02)
    name = "a" * 40
    made = tfprof.Profiler(graph(op(f"{name}/x"), op(name)))
    made.add_step(0, run({f"{name}/x": stat(5), name: stat(5)}))
    for metric in ("op_time", "scope_time"):
        with pytest.raises(UsageError, match="takes longer than"):
            measured(made, f"[{metric}]\n'(a|a)*b' = '1 ms'")
