"""The roofline model."""

import re

import pytest

from tests.captures.events.made import space_of, thunk
from tests.captures.tools.oracle import CAPTURES, answer, differences, run_of
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.hlo_statistics import hlo_stats
from tfprof.captures.tools.op_profile_tree import op_profile
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.captures.tools.roofline_model import roofline
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, plane, xspace

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

PEAKS = {
    "device_type_string": "TPU v9",
    "peak_teraflops_per_second": 1.0,
    "peak_hbm_bw_gigabytes_per_second": 100.0,
}
METADATA = {
    "dot": {"program_id": 3, "symbol_id": 1, "hlo_category": "convolution", "flops": 8_000,
            "bytes_accessed": 400, "source": "a.py:7"},
    "copy": {"program_id": 3, "symbol_id": 2, "hlo_category": "copy", "bytes_accessed": 1_000},
    "in": {"program_id": 3, "symbol_id": 3, "hlo_category": "infeed"},
}  # fmt: skip


def tpu(*ops, steps=()):
    return plane(
        "/device:TPU:0", line(*steps, id=1, name="Steps"), line(*ops, id=2, name="XLA Ops"),
        metadata=METADATA, stats=PEAKS,
    )  # fmt: skip


def rows(result, table="ops"):
    return {row["operation"]: row for row in result.to_rows(table)}


OPS = [event("dot", 0, 20), event("copy", 30, 40), event("in", 80, 10)]


def test_rates_and_limits_of_ops():
    """8000 FLOP in 20 ns are 400 of 1000 GFLOP/s; 1000 bytes in 40 ns are 25 of 100 GB/s."""
    found = rows(roofline(opened(xspace(tpu(*OPS)))))
    dot, copy = found["dot"], found["copy"]
    assert (dot["measured_flop_rate"], dot["operational_intensity"]) == (400.0, 20.0)
    assert (dot["bound_by"], dot["roofline_efficiency"]) == ("Compute", 0.4)
    assert dot["optimal_flop_rate"] == 1000.0
    assert dot["source_info"] == "a.py:7"
    assert (copy["bound_by"], copy["roofline_efficiency"]) == ("HBM", pytest.approx(0.25))
    assert copy["hbm_bw"] == pytest.approx(25e9 / 2**30)
    assert [row["rank"] for row in found.values()] == [1, 2, 3]
    assert copy["total_self_time_percent"] == pytest.approx(40 / 70), "of the time of all ops"
    assert dot["cumulative_total_self_time_percent"] == pytest.approx(60 / 70)


def test_shares_are_of_the_time_of_all_ops_in_every_tool_and_say_so():
    """The reference's shares are of the capture, or in op profile of the ops."""
    run = opened(xspace(tpu(*OPS)))
    reported = roofline(run)
    assert rows(reported)["copy"]["total_time_in_percentage"] == pytest.approx(40 / 70)
    assert "70.0 ns: 77.8% of the time of the devices" in reported.notes[-1].message
    instructions = hlo_stats(run).to_rows()
    assert instructions[0]["hlo_op_name"] == "copy"
    assert instructions[0]["total_self_time_percent"] == pytest.approx(100 * 40 / 70)
    assert instructions[-1]["cumulative_total_self_time_percent"] == pytest.approx(100)
    assert hlo_stats(run).verdict[0].startswith("copy (copy) took the most time: 57.1% of the time")
    (profiled,) = [row for row in op_profile(run).to_rows() if row["name"] == "copy"][1:]
    assert profiled["time_share"] == pytest.approx(40 / 70)
    (op,) = [row for row in op_stats(run).to_rows() if row["operation"].endswith("copy")]
    assert op["device_total_self_time_percent"] == pytest.approx(40 / 70)
    classic = roofline(run, classic=True)
    assert rows(classic)["copy"]["total_self_time_percent"] == pytest.approx(40 / 90)
    assert hlo_stats(run, classic=True).to_rows()[0]["total_self_time_percent"] == pytest.approx(
        100 * 40 / 90
    )


def test_all_ops_together_with_and_without_infeeds():
    whole, without = roofline(opened(xspace(tpu(*OPS)))).to_rows("programs")
    assert [row["include_infeed_outfeed"] for row in (whole, without)] == [True, False]
    assert (whole["total_time"], without["total_time"]) == (0.07, 0.06)
    assert whole["measured_flop_rate"] == pytest.approx(8000 / 70)
    assert without["measured_flop_rate"] == pytest.approx(8000 / 60)
    own = [name for name in whole if "self_time" in name]
    assert [whole[name] for name in own] == [None] * 4, "of single ops, not of all together"
    classic = roofline(opened(xspace(tpu(*OPS))), classic=True).to_rows("programs")
    assert classic[0]["total_self_time"] == 0, "as in the reference"
    assert classic[0]["total_time"] == 0.09


def test_steps_of_tpus():
    steps = [event("5", 0, 100), event("6", 100, 80)]
    run = opened(xspace(tpu(*OPS, event("dot", 120, 20), steps=steps)))
    found = [row for row in roofline(run).to_rows("programs") if row["include_infeed_outfeed"]]
    times = [(row["total_time"], row["measured_flop_rate"]) for row in found]
    assert [row["step"] for row in found][:2] == ["Total", "Average"]
    assert times[1:] == [(0.09, pytest.approx(16_000 / 180)), (0.1, 80.0), (0.08, 100.0)]
    label = found[2]["step"]
    chosen = roofline(run, step=int(label)).to_rows("programs")
    assert [row["step"] for row in chosen] == ["Total", "Average", label] * 2


def test_the_verdict_names_the_limits():
    result = roofline(opened(xspace(tpu(*OPS))))
    assert "57.1%" in result.verdict[1]  # copy: 40 of 70 ns
    assert "HBM" in result.verdict[1]
    assert result.verdict[2].startswith("copy takes the most time, 57.1%; it is bound by HBM")
    assert result.data["roofs"] == {"Compute": 1000.0, "HBM": pytest.approx(100e9 / 2**30)}


def test_charts_hold_ops_and_roofs():
    ops, roofs = roofline(opened(xspace(tpu(*OPS)))).charts
    assert (ops.x, ops.series["ops"]) == ((20.0,), (400.0,))
    at = dict(zip(roofs.x, roofs.series["HBM"], strict=True))
    assert at[1.0] == pytest.approx(100.0)
    assert at[10.0] == pytest.approx(1000.0)  # the ridge
    assert at[100.0] == 1000.0


def test_ops_above_their_roof_are_explained():
    result = roofline(opened(xspace(tpu(event("copy", 0, 1)))))
    assert result.to_rows()[0]["roofline_efficiency"] == pytest.approx(10.0)
    assert any("above their roof" in note.message for note in result.notes)


def test_threads_have_rates_but_no_limits():
    result = roofline(opened(space_of(line(thunk("dot.1", 0, 16)))))
    (dot,) = result.to_rows()
    assert (dot["measured_flop_rate"], dot["bound_by"]) == (3.0, "Unknown")
    assert (dot["roofline_efficiency"], dot["compute_efficiency"]) == (None, None)
    assert "not known" in result.verdict[0]
    assert any("host threads" in note.message for note in result.notes)
    assert [chart.name for chart in result.charts] == ["ops"]


def test_every_tool_of_ops_has_threads_but_in_classic_mode():
    run = opened(space_of(line(thunk("dot.1", 0, 16))))
    for tool in (roofline, hlo_stats, op_profile):
        assert any("host threads" in note.message for note in tool(run).notes)
        (note,) = tool(run, classic=True).notes
        assert note.message.startswith("no device ops in this capture")
    assert hlo_stats(run).to_rows()[0]["hlo_op_name"] == "dot.1"
    assert [row["name"] for row in op_profile(run).to_rows()] == [
        "by_program", "test(1)", "dot", "dot.1",
    ]  # fmt: skip
    assert op_profile(run).verdict == ("dot.1 takes the most time, 100.0%.",)
    assert hlo_stats(run, classic=True).to_rows() == []


def test_ops_without_a_known_cost_have_a_note():
    kernel = event("k", 0, 10, tf_op="a:MatMul")
    result = roofline(opened(xspace(gpu(line(kernel, id=14, name="Stream #14")))))
    assert result.verdict[0].startswith("There is nothing to compare")
    assert any("cost of 1 ops (100.0%" in note.message for note in result.notes)


def test_an_empty_capture_has_a_note():
    result = roofline(opened(xspace(host(line(event("a", 0, 1))))))
    assert result.verdict == ("There are no device ops.",)
    assert [note.severity for note in result.notes] == ["warning"]
    assert result.to_rows() == result.to_rows("programs") == []


def test_one_host_has_its_own_cores():
    run = opened(xspace(tpu(*OPS)), xspace(tpu(*OPS)))
    for options, time, per_core in (({}, 0.14, 0.07), ({"host": "host 1"}, 0.07, 0.07)):
        whole, _ = roofline(run, **options).to_rows("programs")
        assert (whole["total_time"], whole["total_time_per_core"]) == (time, per_core)


def test_unknown_hosts_are_refused():
    with pytest.raises(UsageError, match="no host 'x'"):
        roofline(opened(xspace(host())), host="x")


def is_prose(path):
    return re.fullmatch(r"\[1\]/rows\[\d+\]/c\[1\]/v", path) is not None


@pytest.mark.parametrize("capture", CAPTURES)
def test_rooflines_are_those_of_the_reference(capture):
    ours = roofline(run_of(capture), classic=True).to_gviz()
    assert list(differences(ours, answer(capture, "roofline_model.json"), is_prose)) == []


def test_threads_of_a_capture():
    """Four runs of each op on each of two threads, and eight of the copy on the caller's thread."""
    run = run_of("cpu-xla")
    found = rows(roofline(run))
    assert found["MatMul_1.2"]["occurrences"] == 8
    assert found["copy.1"]["occurrences"] == 8
    assert sum(row["total_self_time_percent"] for row in found.values()) == pytest.approx(1.0)
    assert all(row["measured_memory_bw"] > 0 for row in found.values())


@pytest.mark.tensorflow
def test_a_compiled_function_that_tensorflow_ran(tmp_path):
    """Each of 3 steps multiplies 64 x 128 by 128 x 128 matrices 4 times."""
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def compiled(x, w):
        for _ in tf.range(4):
            x = tf.nn.relu(tf.matmul(x, w))
        return x

    x, w = tf.ones([64, 128]), tf.ones([128, 128])
    compiled(x, w)
    with tf.profiler.experimental.Profile(str(tmp_path)):
        for _ in range(3):
            compiled(x, w)
    run = open_run(tmp_path)
    found = rows(roofline(run))
    (loop,) = [row for row in found.values() if row["category"] == "while"]
    assert loop["occurrences"] == 3
    assert loop["total_self_time"] <= loop["total_time"]
    (program,) = roofline(run).to_rows("programs")
    flops = program["model_flop_rate"] * program["total_time"] * 1e3
    assert flops >= 3 * 4 * 2 * 64 * 128 * 128
    assert flops < 1.1 * 3 * 4 * 2 * 64 * 128 * 128
