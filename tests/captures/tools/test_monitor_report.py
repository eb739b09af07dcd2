"""The monitor's figures, by hand."""

import pytest

from tests.captures.tools.tpus import at, op, tpu
from tfprof.captures.tools.monitor_report import monitor
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace

CONVOLUTION = "%conv"


def tpu_run(threads=None):
    """A core with a peak rate of 1e12 operations per second, which ran 3e7 in two steps."""
    device = tpu(
        steps=[at("7", 0, 40), at("8", 50, 50)],
        modules=[at("jit_f(1)", 0, 40), at("jit_f(1)", 50, 50)],
        ops=[
            op("%infeed", "infeed", 0, 10),
            op(CONVOLUTION, "convolution", 10, 20),
            op(CONVOLUTION, "convolution", 60, 40),
        ],
        stats={"device_type_string": "TPU v9", "peak_teraflops_per_second": 1.0},
        metadata={CONVOLUTION: {"program_id": 1, "symbol_id": 2, "flops": 15_000_000}},
    )
    return opened(xspace(*([threads] if threads is not None else []), device))


def only_row(result):
    (row,) = result.to_rows("monitor")
    return row


def test_figures_of_a_tpu():
    found = monitor(tpu_run())
    row = only_row(found)
    assert (row["device_type"], row["cores"], row["steps"]) == ("TPU v9", 1, 2)
    # 100 us at 1e6 operations per us.
    assert row["matrix_unit_percent"] == pytest.approx(30.0)
    assert row["idle_percent"] == pytest.approx(40.0)
    assert row["step_ms_average"] == pytest.approx(0.045)
    assert (row["step_ms_minimum"], row["step_ms_maximum"]) == pytest.approx((0.040, 0.050))
    assert row["infeed_percent_average"] == pytest.approx(100 / 9)  # 10 of 90 us
    assert (row["infeed_percent_minimum"], row["infeed_percent_maximum"]) == (0.0, 25.0)
    assert any("no counters" in note.message for note in found.notes)
    assert "Devices idle (lower is better): 40.0%." in found.verdict


def test_counters_of_matrix_units_win_over_counted_operations():
    found = monitor(tpu_run(host(stats={"matrix_unit_utilization_percent": 37.5})))
    assert only_row(found)["matrix_unit_percent"] == 37.5
    assert not any("counters" in note.message for note in found.notes)


def test_figures_of_one_step():
    row = only_row(monitor(tpu_run(), step=8))
    assert (row["steps"], row["step_ms_average"]) == (1, pytest.approx(0.050))
    assert row["infeed_percent_maximum"] == 0.0


def test_a_gpu_idles_while_none_of_its_streams_works():
    run = opened(
        xspace(
            gpu(
                line(event("one", 0, 40), id=1, name="Stream #1"),
                line(event("two", 20, 40), event("last", 90, 10), id=2, name="Stream #2"),
            )
        )
    )
    row = only_row(monitor(run))
    assert row["idle_percent"] == pytest.approx(30.0)
    assert row["matrix_unit_percent"] is None
    assert row["step_ms_average"] is None


def test_a_cpu_has_steps_only():
    threads = host(
        line(
            event("train", 0, 100, step_num=7, _r=1),
            event("IteratorGetNext", 10, 20),
            event("dense/MatMul:MatMul", 40, 30),
        )
    )
    found = monitor(opened(xspace(threads)))
    row = only_row(found)
    assert (row["idle_percent"], row["matrix_unit_percent"]) == (None, None)
    assert (row["steps"], row["step_ms_average"]) == (1, pytest.approx(1e-4))
    assert row["infeed_percent_average"] == pytest.approx(20.0)


def test_without_steps_the_verdict_gives_the_reason():
    found = monitor(opened(xspace(host(line(event("alone", 0, 1))))))
    assert only_row(found)["steps"] == 0
    assert found.verdict[-1] == "No steps, so no step time."
