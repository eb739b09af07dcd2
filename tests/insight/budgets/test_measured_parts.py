"""What is measured and of what it consists, and where limits begin to hold: numbers by hand."""

import pytest

import tfprof
from tests.captures.tools.gpu_products import (
    BF16,
    PERIOD_NS,
    PRODUCT,
    compiled,
    compiled_twice,
    on_gpus,
)
from tests.hlo_programs import op as hlo_op
from tests.insight.budgets.captured_runs import at, call, marks, measured, one_host, worker
from tests.insight.budgets.judged import STEPS, limit, verdict
from tests.insight.budgets.small_net import NET, profile
from tfprof.errors import UsageError
from tfprof.inputs.open_paths import open_paths
from tfprof.insight.budgets.budget import budget_of
from tfprof.insight.budgets.check import check, outcome_of
from tfprof.insight.budgets.first_budget import _with_room, first_budget, limit_text
from tfprof.insight.budgets.measure import measure
from tfprof.insight.budgets.measurement import Contributor, Measured, Missing
from tfprof.insight.budgets.metrics import METRICS
from tfprof.insight.budgets.quantities import BYTES, COUNT, TIME, UTILIZATION, bound_of
from tfprof.insight.budgets.subject import Subject, subject_of
from tfprof.testing.builders import CPU, GPU, graph, op, run_on, stat
from tfprof.testing.builders import run as run_metadata
from tfprof.testing.xspace_builders import opened

EMPTY_HOST = one_host([at("a:MatMul", 0, 10)])


def test_retraces_are_the_sum_on_one_host_and_a_host_without_functions_has_none():
    both = one_host([call(0, 2), call(20, 2, "evaluate"), call(40, 3, "evaluate")])
    found = measured("retraces", both, EMPTY_HOST)
    assert found.values == (3.0,)
    assert found.contributors == (Contributor("evaluate", 2.0), Contributor("train_step", 1.0))
    other = one_host([call(0, 5, "predict")])
    assert measured("traces", other, worker(3), pattern="train").values == (3.0,)


def test_the_step_time_of_a_capture():
    """Of five steps, the one of 2 ms is left out."""
    starts, steps = marks(100, 110, 2000, 120, 100)
    ops = [at("a:MatMul", start, 60) for start in starts]
    run = opened(one_host([*steps, *ops]))
    subject = Subject("run", lambda: tfprof.Profiler.from_xspace(run), run)
    found = measure(subject, limit("1 ms"))
    assert found.values == (100.0, 110.0, 120.0, 100.0)
    assert found.remark == "1 step left out: cut, or far longer than others"
    assert found.contributors[0].amount == 60.0
    of_ops = measure(subject, budget_of(b"[op_time]\nMatMul = '1 ms'").limits[0])
    assert (of_ops.values, of_ops.remark) == ((60.0,) * 4, found.remark)


def test_equal_allocations_add_up():
    def allocation(start, used, name):
        return at(
            "MemoryAllocation", start, 0, allocator_name="gpu_bfc", bytes_reserved=0,
            bytes_allocated=used, bytes_available=1000 - used, peak_bytes_in_use=used,
            requested_bytes=100, allocation_bytes=100, addr=4096 + start, data_type=1,
            fragmentation=0.0, tf_op=f"{name}:MatMul", shape="[4]", region_type="output",
        )  # fmt: skip

    events = [allocation(1, 100, "a"), allocation(2, 200, "b"), allocation(3, 300, "b")]
    found = measured("peak_memory", one_host(events))
    assert found.contributors == (Contributor("b", 200.0), Contributor("a", 100.0))


def test_utilization_of_the_model_and_of_what_is_executed():
    """The compiler's copy computes the same product a second time."""
    run = compiled_twice()
    subject = Subject("run", lambda: tfprof.Profiler.from_xspace(run), run)
    of_model, of_all = (measure(subject, limit(">= 1 %", metric)) for metric in ("mfu", "hfu"))
    period_s = (2 * PERIOD_NS + 9000) / 3 / 1e9
    assert of_model.value == pytest.approx(2 * PRODUCT / (period_s * BF16 * 2))
    assert of_all.value == pytest.approx(2 * of_model.value)
    assert (of_model.is_timed, len(of_model.values), of_model.at_least) == (True, 3, False)


def test_steps_of_a_recording_are_those_in_which_an_op_ran():
    _, steps = marks(100, 100, 100)
    ops = [at("a:MatMul", 10, 60), at("a:MatMul", 210, 60)]
    run = opened(one_host([*steps, *ops]))
    made = tfprof.Profiler(NET)
    for step in (0, 2):
        made.add_step(step, run_metadata({"layer/y": stat(5, start=1000)}))
    recorded = Subject("run", lambda: made, run, is_recording=True)
    assert recorded.steps.names == ["train 0", "train 2"]
    assert Subject("run", lambda: made, run).steps.names == ["train 0", "train 1", "train 2"]


def test_a_graph_is_counted_from_its_file(tmp_path):
    path = tmp_path / "net.pb"
    path.write_bytes(NET.SerializeToString())
    subject = subject_of(open_paths([path])[0], [path], batch=2)
    assert (str(subject.program), subject.counted, subject.run) == (
        str(path),
        subject.program,
        None,
    )
    assert subject.report.flops == 54


def test_the_cost_of_one_step_and_the_graph_beside_it():
    found = measure(Subject("x", lambda: profile((100, 20)), None), limit("1 s"))
    assert found.contributors[0].amount == 100.0
    many = graph(*(op(f"m{n}", "Mystery") for n in range(5)))
    counted = measure(Subject("x", lambda: tfprof.Profiler(many), None), limit("1", "ops"))
    assert counted.contributors == (Contributor("Mystery", 5.0),)


@pytest.mark.parametrize(
    ("metric", "amounts", "texts"),
    [
        ("float_operations", (1e12, 9.99e11, 1e9, 9.99e8, 1e6, 9.99e5, 7),
         "1.00 TFLOPs, 999 GFLOPs, 1.00 GFLOPs, 999 MFLOPs, 1.00 MFLOPs, 999000 FLOPs, 7 FLOPs"),
        ("peak_memory", (1e9, 9.99e8, 1e6, 9.99e5, 1e3, 999),
         "1.00 GB, 999 MB, 1.00 MB, 999 kB, 1.00 kB, 999 B"),
        ("step_time", (1e6, 9.99e5, 1e3, 999, 0.5), "1.00 s, 999 ms, 1.00 ms, 999 us, 0.500 us"),
        ("ops", (1e9, 9.99e8, 1e6, 9.99e5, 1e3, 999), "1.00 G, 999 M, 1.00 M, 999 k, 1.00 k, 999"),
        ("idle_share", (1.0, 0.12341, 0.0), "100 %, 12.4 %, 0 %"),
    ],
)  # fmt: skip
def test_limits_are_written_with_three_digits(metric, amounts, texts):
    written = [limit_text(float(amount), METRICS[metric]) for amount in amounts]
    assert written == [f"<= {text}" for text in texts.split(", ")]
    assert limit_text(0.12349, METRICS["mfu"]) == ">= 12.3 %"


def test_which_metrics_are_of_steps_and_which_are_of_chosen_ops():
    timed = {one.name for one in METRICS.values() if one.is_timed}
    of_ops = {one.name for one in METRICS.values() if one.needs_pattern}
    assert of_ops == {"op_time", "scope_time"}
    assert timed == {"step_time", "input_share", "idle_share", "mfu", "hfu", *of_ops}


def test_room_above_a_first_budget():
    assert _with_room(0.5, METRICS["mfu"]) == pytest.approx(0.4)
    assert _with_room(0.5, METRICS["idle_share"]) == pytest.approx(0.6)
    assert _with_room(100.0, METRICS["step_time"]) == pytest.approx(120)
    assert _with_room(100.0, METRICS["ops"]) == pytest.approx(105)
    assert _with_room(3.0, METRICS["traces"]) == 3.0
    two = first_budget(Subject("x", lambda: profile((100, 20), (100, 20)), None))
    assert 'step_time = "<= 144 us"  # was 120 µs' in two


def test_the_sentence_of_a_relative_limit():
    outcome = verdict(STEPS, "+5 %", STEPS)
    assert outcome.claim.text == (
        "step_time is too close to its limit: 10.0 ms (8.02 ms to 12.0 ms, 4 steps), limit "
        "<= +5 % (10.5 ms); the steps differ too much to tell; record more of them"
    )
    assert outcome.claim.scope == "4 steps"
    exact = verdict([105], "110", metric="ops")
    assert (exact.claim.scope, "(110" in exact.claim.text) == ("the whole run", False)


def test_limits_hold_up_to_the_last_bit():
    assert verdict([1_000.5] * 4, "1 ms").verdict == "exceeded"
    assert verdict([1_000.0] * 4, "1 ms").verdict == "met"
    assert verdict([0.4] * 4, ">= 40 %", metric="mfu").verdict == "met"
    assert verdict([0.399999] * 4, ">= 40 %", metric="mfu").verdict == "exceeded"


def test_why_a_lower_limit_is_open():
    part = Measured((0.40, 0.44, 0.36, 0.40), is_timed=True, at_least=True)
    whole = Measured(part.values, is_timed=True)
    assert outcome_of("run", limit("48 %", "mfu"), part).remark == "not all of it could be counted"
    met = outcome_of("run", limit("-30 %", "mfu"), whole, part)
    assert (met.verdict, met.remark) == ("undecided", "not all of it could be counted")
    assert "differ too much" in outcome_of("run", limit("40 %", "mfu"), whole).remark


def test_limits_as_people_write_them():
    assert bound_of("25 MS", TIME).amount == 25_000
    for power, prefix in enumerate(("", "k", "M", "G", "T", "P")):
        assert bound_of(f"3 {prefix}", COUNT).amount == 3 * 1000**power
    for power, prefix in enumerate(("Ki", "Mi", "Gi", "Ti"), 1):
        assert bound_of(f"3 {prefix}B", BYTES).amount == 3 * 1024**power
    with pytest.raises(UsageError, match=r"or '>= -5 %'"):
        bound_of("much", UTILIZATION)
    with pytest.raises(UsageError, match=r"or '<= \+5 %'"):
        bound_of("much", TIME)
    with pytest.raises(UsageError, match="is too large"):
        bound_of("1" + 400 * "0", COUNT)
    assert budget_of(b"ops = 1\n[settings]\nbatch = 1").batch == 1
    with pytest.raises(UsageError, match="batch = 0"):
        budget_of(b"ops = 1\n[settings]\nbatch = 0")
    assert measured("traces", EMPTY_HOST) == Missing("no call of a tf.function was captured")


def test_what_holds_the_memory_at_the_peak_of_the_fullest_device():
    """Both buffers of the processor are alive while the second op runs."""

    def in_use(execution, n_bytes):
        execution.memory.add(allocator_name="bfc", allocator_bytes_in_use=n_bytes)
        return execution

    made = tfprof.Profiler(NET)
    of_cpu = {"layer/y": stat(5, start=1000, outputs=[70]),
              "out/z": in_use(stat(5, start=1010, outputs=[20]), 100)}  # fmt: skip
    made.add_step(0, run_on({CPU: of_cpu, GPU: {"x": stat(5, start=1000, outputs=[60])}}))
    found = measure(Subject("x", lambda: made, None), limit("1 kB", "peak_memory"))
    assert found.value == 100.0
    assert found.contributors == (Contributor("layer/y", 70.0), Contributor("out/z", 20.0))


def test_remarks_on_what_is_not_counted():
    many = graph(*(op(f"m{n}", f"Mystery{n}") for n in range(5)))
    found = measure(
        Subject("x", lambda: tfprof.Profiler(many), None), limit("1", "float_operations")
    )
    assert found.remark == "not counted: Mystery0, Mystery1, Mystery2 and 2 more"
    kernel = hlo_op("flash", "custom-call", "bf16[64,128]", "gemm", custom_call_target="own")
    run = on_gpus(compiled("bf16", kernel), ("gemm", "gemm", "flash"))
    subject = Subject("run", lambda: tfprof.Profiler.from_xspace(run), run)
    least = measure(subject, limit(">= 1 %", "mfu"))
    assert least.remark.endswith("; 25.0% of the time of ops is not counted")
    assert least.at_least


def test_a_limit_in_numbers_has_no_baseline():
    subject = Subject("x", lambda: tfprof.Profiler(NET), None)
    report = check([subject], budget_of(b"ops = ['10', '+5 %']"), subject)
    assert [one.baseline for one in report.outcomes] == [None, 4.0]
    assert repr(report) == "<Report of 2 limits: exit code 0>"
    assert report.summary == "2 of 2 limits met"


def test_words_for_one_step_and_for_settings():
    assert "its limit: 99.0 ms (1 step), limit" in verdict([99_000], "1 ms").message
    with pytest.raises(UsageError, match=r"settings is a table: \[settings\]"):
        budget_of(b"ops = 1\nsettings = 3")
    text = first_budget(Subject("x", lambda: tfprof.Profiler(NET), None))
    assert "# 20% for times and 10 points for shares, above the interval of their mean." in text


def test_a_graph_beside_ops_that_only_ran_is_counted():
    made = tfprof.Profiler(NET)
    made.add_step(0, run_metadata({"layer/y": stat(5), "copied": stat(5)}))
    assert measure(Subject("x", lambda: made, None), limit("1", "parameters")).value == 12
