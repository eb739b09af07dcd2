"""MFU and HFU of small captures, worked out by hand."""

import math

import pytest

import tfprof
from tests.captures.tools.gpu_products import (
    BF16,
    N_STEPS,
    PERIOD_NS,
    PRODUCT,
    K,
    M,
    N,
    compiled,
    compiled_twice,
    on_gpus,
)
from tests.captures.tools.small_captures import with_gpu, with_tpu
from tests.hlo_programs import capture as programs
from tests.hlo_programs import op
from tfprof import tools
from tfprof.captures.facts.utilization import utilization_of
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.utilization_tables import scope_of_path
from tfprof.errors import UsageError
from tfprof.files.measured_peaks import FOLDER, MeasuredPeaks, read_peaks, write_peaks
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

TPU_PEAK = 100e12


@pytest.fixture(autouse=True)
def nothing_measured(monkeypatch):
    monkeypatch.setenv(FOLDER, "")


def only_row(found):
    [row] = found.to_rows("mfu")
    return row


def test_by_hand_on_two_gpus():
    row = only_row(tools.utilization(on_gpus(compiled())))
    period_s = (2 * PERIOD_NS + 9000) / 3 / 1e9  # the last period ends with its step
    assert row["model_flops"] == row["executed_flops"] == 2 * PRODUCT
    assert row["devices"] == 2
    assert row["peak"] == pytest.approx(BF16 / 1e9)
    assert (row["precision"], row["operands"]) == ("bf16", "bf16 100%")
    assert row["period_ms"] == pytest.approx(period_s * 1e3)
    assert row["mfu"] == pytest.approx(2 * PRODUCT / (period_s * BF16 * 2))
    assert row["hfu"] == pytest.approx(row["mfu"])
    assert row["bound"] == "exact"


def test_what_is_computed_a_second_time_counts_only_as_executed():
    found = utilization_of(compiled_twice())
    assert found.model_flops.tolist() == [2 * PRODUCT] * 3
    assert found.executed_flops.tolist() == [4 * PRODUCT] * 3
    assert found.hfu == pytest.approx(2 * found.mfu)
    assert (found.n_steps, found.n_devices, found.n_device_steps) == (3, 2, 6)
    assert [(one.op.name, one.runs, one.self_ps, one.model_flops) for one in found.ops] == [
        ("gemm", 6, 6 * 3000_000, PRODUCT), ("gemm.remat", 6, 6 * 1000_000, 0),
    ]  # fmt: skip
    assert found.types == [("bf16", 1.0)]
    one, other, shorter = found.shares(found.model_flops)
    assert one == other < found.mfu < shorter
    assert utilization_of(compiled_twice(), step=1).n_steps == 1


def test_without_steps_or_ops_nothing_is_known():
    nothing = utilization_of(opened(xspace(host(line(event("a:MatMul", 0, 5))))))
    assert (nothing.period_s, nothing.n_device_steps, nothing.mfu) == (0.0, 1, None)
    assert nothing.reason == "no step was captured, so there is no period"
    marks = [event("train", 10 * n, 10, step_num=n, _r=1) for n in range(3)]
    idle = utilization_of(opened(xspace(host(line(*marks)))))
    assert idle.reason.startswith("no op was recorded in any step")
    given = utilization_of(compiled_twice(), flops_per_step=6.0)
    assert given.model_flops.tolist() == [6.0] * 3
    assert given.hfu > given.mfu


@pytest.mark.parametrize(
    ("element_type", "peak", "precision"),
    [("f32", BF16 / 2, "tf32"), ("f16", BF16, "f16"), ("s8", 2 * BF16, "int8")],
)
def test_the_peak_rate_is_that_of_the_operands(element_type, peak, precision):
    row = only_row(tools.utilization(on_gpus(compiled(element_type))))
    assert (row["peak"], row["precision"]) == (pytest.approx(peak / 1e9), precision)
    assert row["peak_source"].startswith("NVIDIA's tables")


def test_without_a_rate_of_that_type_utilization_is_unknown_and_says_why():
    found = tools.utilization(on_gpus(compiled("f64")))
    row = only_row(found)
    assert (row["mfu"], row["hfu"], row["peak"]) == (None, None, None)
    assert row["model_flops"] == 2 * PRODUCT
    assert "peak rate for f64 is not known" in found.verdict[0]
    given = only_row(tools.utilization(on_gpus(compiled("f64")), device="19.5e12,1.5e12"))
    assert given["peak"] == pytest.approx(19500)


def test_a_device_of_the_table_is_named_with_its_source():
    found = tools.utilization(on_gpus(compiled()), device="h100")
    row = only_row(found)
    assert (row["peak"], row["precision"]) == (pytest.approx(989_400), "bf16")
    assert "architecture whitepaper" in row["peak_source"]
    with pytest.raises(UsageError, match="unknown"):
        tools.utilization(on_gpus(compiled()), device="abacus")


KERNEL = op("flash", "custom-call", f"bf16[{M},{N}]", "gemm", custom_call_target="my_kernel")


def test_a_call_of_unknown_cost_makes_a_lower_bound():
    run = on_gpus(compiled("bf16", KERNEL), ("gemm", "gemm", "flash"))
    found = tools.utilization(run)
    row = only_row(found)
    assert row["bound"] == "at least"
    assert row["uncounted"] == pytest.approx(1000 / 4000)
    assert found.verdict[0].startswith("MFU is at least ")
    [call] = [one for one in found.to_rows("calls") if one["call"] == "my_kernel"]
    assert (call["flops"], call["source"]) == (None, None)
    assert call["unknown"] == "it calls code outside of the program"
    assert any("25.0% of the self time" in note.message for note in found.notes)


@pytest.mark.parametrize("call", ["my_kernel", "flash", "my_*"])
def test_users_state_the_cost_of_calls(call):
    run = on_gpus(compiled("bf16", KERNEL), ("gemm", "gemm", "flash"))
    costs = tfprof.register_cost(call, flops=5e6, bytes=1e3)
    row = only_row(tools.utilization(run, costs=costs))
    assert row["model_flops"] == 2 * (PRODUCT + 5_000_000)
    assert row["bound"] == "exact"
    as_text = tools.utilization(run, costs=costs.to_json())
    assert only_row(as_text) == row
    assert only_row(tools.utilization(run))["bound"] == "at least"  # nothing is kept


def test_a_kernel_outside_of_programs_is_not_counted_as_nothing():
    found = tools.utilization(open_run(with_gpu()))
    row = only_row(found)
    assert (row["mfu"], row["model_flops"], row["uncounted"]) == (None, None, 1.0)
    assert "outside of compiled programs" in found.verdict[0]
    given = only_row(tools.utilization(open_run(with_gpu()), device="1e12,1e12",
                                       flops_per_step="100"))  # fmt: skip
    assert (given["model_flops"], given["model_flops_source"]) == (100, "the user")
    assert given["hfu"] is None
    assert given["mfu"] == pytest.approx(100 / (given["period_ms"] / 1e3 * 1e12))


def test_a_tpu_states_costs_and_its_peak_rate_itself():
    space = with_tpu()
    [plane] = [each for each in space.planes if each.name.startswith("/device:TPU")]
    [number] = [key for key, each in plane.stat_metadata.items() if each.name == "hlo_category"]
    [fusion] = [each for each in plane.event_metadata.values() if each.name == "fusion.1"]
    fusion.stats.add(metadata_id=number, str_value="convolution fusion")
    row = only_row(tools.utilization(open_run(space)))
    assert row["model_flops"] == 1000
    assert (row["peak"], row["precision"]) == (pytest.approx(TPU_PEAK / 1e9), "bf16")
    assert row["peak_source"] == "the device's own statement in the capture"
    assert row["mfu"] == pytest.approx(1000 / (90e-6 * TPU_PEAK))


def test_rates_and_other_numbers_of_the_user():
    found = tools.utilization(on_gpus(compiled()), tokens_per_step=1000, examples_per_step="10")
    row = only_row(found)
    assert row["tokens_per_s"] == pytest.approx(1000 / (row["period_ms"] / 1e3))
    assert row["tokens_per_s_device"] == pytest.approx(row["tokens_per_s"] / 2)
    assert row["examples_per_s"] == pytest.approx(row["tokens_per_s"] / 100)
    for wrong in ("many", "-1", "0", "nan", math.inf, 1e308):
        with pytest.raises(UsageError, match="tokens-per-step"):
            tools.utilization(on_gpus(compiled()), tokens_per_step=wrong)


def test_scopes_stand_beside_the_speed_of_light():
    found = tools.utilization(on_gpus(compiled()))
    [scope] = found.to_rows("scopes")
    n_bytes = 2 * (M * K + K * N + M * N) + 2 * 2 * M * N
    roofline_s = (2 * (M * K + K * N + M * N) + 2 * 2 * M * N) / 1.555e12  # memory limits both
    assert scope["scope"] == "mlp"
    assert scope["self_ms"] == pytest.approx(4e-3)
    assert scope["roofline_ms"] == pytest.approx(roofline_s * 1e3)
    assert scope["gap_ms"] == pytest.approx(4e-3 - roofline_s * 1e3)
    assert (scope["bound_by"], scope["bytes"]) == ("Memory", n_bytes)


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("jit(f)/mlp/dot_general", "mlp"), ("dot_general", "(no scope)"), ("", "(no scope)"),
        ("jit(f)/while/body/closed_call/checkpoint/a/b/tanh", "a/b"),
        ("jit(f)/attention/bshd,bthd->bhst/dot_general", "attention"),
    ],
)  # fmt: skip
def test_scopes_are_without_what_jax_adds(path, scope):
    assert scope_of_path(path) == scope


def on_cpu(machine):
    steps = [
        one
        for n in range(N_STEPS)
        for one in (
            event("train", n * 1000, 900, step_num=n, _r=1),
            event("gemm", n * 1000 + 100, 500, hlo_op="gemm", hlo_module="test", program_id=1),
        )
    ]
    space = xspace(host(line(*steps)), hostname=machine)
    space.planes.extend(programs(compiled("f32")).planes)
    return space


MEASURED = MeasuredPeaks("worker", "Chip", 2, "2026-11-28", {"f32": 2e12}, 1e10, "NumPy")


def test_a_processor_has_the_rate_that_was_measured_on_it(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    assert only_row(tools.utilization(open_run(on_cpu("worker"))))["mfu"] is None
    write_peaks(MEASURED)
    found = tools.utilization(open_run(on_cpu("worker")))
    row = only_row(found)
    assert row["mfu"] == pytest.approx(PRODUCT / (2900 / 3 * 1e-9 * 2e12))
    assert row["peak_source"].startswith("measured on worker on 2026-11-28 by NumPy with 2")
    for other in ("other", "localhost", ""):
        assert only_row(tools.utilization(open_run(on_cpu(other))))["mfu"] is None


def test_processes_of_one_machine_share_its_processor(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    write_peaks(MEASURED)
    both = only_row(tools.utilization(opened(on_cpu("worker"), on_cpu("worker"))))
    assert (both["devices"], both["model_flops"]) == (1, 2 * PRODUCT)


def test_damaged_measurements_are_none(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    path = write_peaks(MEASURED)
    assert read_peaks("worker") == MEASURED
    for text in ("", "[]", "{}", path.read_text().replace("2000000000000.0", "-1")):
        path.write_text(text)
        assert read_peaks("worker") is None


def test_steps_that_overlap_have_no_period():
    marks = [event("train", n * 100, 900, step_num=n, _r=1) for n in range(3)]
    threads = [line(mark, id=number) for number, mark in enumerate(marks, 1)]
    work = line(
        *(event("gemm", n * 100 + 10, 50, hlo_op="gemm", hlo_module="test", program_id=1)
          for n in range(3)), id=9,
    )  # fmt: skip
    space = xspace(host(*threads, work), hostname="worker")
    space.planes.extend(programs(compiled("f32")).planes)
    found = tools.utilization(open_run(space), device="1e12,1e12")
    assert "steps overlap" in found.verdict[0]
