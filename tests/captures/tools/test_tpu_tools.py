"""The tools on steps of TPUs, by hand; times are microseconds unless stated otherwise."""

import pytest

from tests.captures.tools.oracle import folder
from tests.captures.tools.tpus import at, details, op, tpu
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.tpu_bottleneck import find_tpu_bottleneck
from tfprof.captures.facts.tpu_steps import tpu_run_steps
from tfprof.captures.overview.overview_page import overview
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.hlo_statistics import hlo_stats
from tfprof.captures.tools.input_pipeline_analyzer import input_pipeline
from tfprof.captures.tools.monitor_report import monitor
from tfprof.captures.tools.op_profile_tree import op_profile
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.captures.tools.pod_viewer import pod
from tfprof.captures.tools.roofline_model import roofline
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

CONV, INFEED, REDUCED = "%c", "%i", "all-reduce"
REDUCE = "%all-reduce.9 = f32[4]{0} all-reduce(f32[4] %g), replica_groups={}"
SEND = "%send.1 = (f32[8], u32[], token[]) send(f32[8] %x), channel_id=3"
RECEIVED = "%recv-done.2 = (f32[8], token[]) recv-done(token[] %t), channel_id=3"


def core(number, *ops, steps=(7,), chip=None):
    """A core with equal steps of 100."""
    chip = number if chip is None else chip
    begin = {step: 200 * place for place, step in enumerate(steps)}
    return tpu(
        number,
        steps=[at(str(step), begin[step], 100) for step in steps],
        modules=[at("jit_f(1)", begin[step], 100) for step in steps],
        ops=[
            op(name, category, begin[step] + start, length)
            for step in steps
            for name, category, start, length in ops
        ],
        stats={"core_details": details(number, 0, chip), "device_type_string": "TPU v9"},
    )


def run_of(*planes, hostname="worker"):
    return opened(xspace(*planes, hostname=hostname))


def bottleneck(*ops, **options):
    run = run_of(core(0, *ops, **options))
    found = tpu_run_steps(run, run_steps(run))
    return find_tpu_bottleneck(found)


@pytest.mark.parametrize(
    ("waiting", "kind"), [(20, "host"), (19, "both"), (5, "both"), (4, "device")]
)
def test_waiting_for_input_decides_the_verdict(waiting, kind):
    found = bottleneck(("%infeed", "infeed", 0, waiting), ("%c", "convolution", waiting, 50))
    assert found.kind == kind
    assert found.input_percent == pytest.approx(waiting)


def test_without_time_nothing_is_known():
    run = run_of(tpu(0, ops=[op("%c", "convolution", 0, 50)]))
    found = tpu_run_steps(run, run_steps(run))
    assert find_tpu_bottleneck(found).kind == "unknown"


@pytest.mark.parametrize(("computing", "level"), [(97, "moderate"), (98, "no")])
def test_idle_time_suggests_a_loop_on_the_host(computing, level):
    found = bottleneck(("%c", "convolution", 0, computing))
    assert found.all_other[0] == level
    assert ("tf.function" in found.all_other.text) is (level == "moderate")


@pytest.mark.parametrize(("reducing", "level"), [(6, "moderate"), (5, "no")])
def test_all_reduce_counts_from_six_percent_on(reducing, level):
    found = bottleneck((REDUCE, "all-reduce", 0, reducing))
    assert found.device_collectives[0] == level


@pytest.mark.parametrize(("output", "level"), [(20, "high"), (5, "moderate"), (4, "no")])
def test_output_has_a_level(output, level):
    assert bottleneck(("%o", "outfeed", 0, output)).output[0] == level


@pytest.mark.parametrize(("transformed", "level"), [(10, "high"), (1, "moderate"), (0, "no")])
def test_work_of_old_sparse_cores_has_a_level(transformed, level):
    ops = [("%i", "sparsecorev0 infeed", 0, 20), ("%o", "sparsecorev0 outfeed", 30, transformed)]
    assert bottleneck(*ops).sparse_core[0] == level


def test_idle_cores_may_wait_for_hosts_that_are_not_in_the_capture():
    found = bottleneck(("%c", "convolution", 0, 50), chip=3)
    assert found.kind == "both"
    assert "3 chips" in found.statement
    assert bottleneck(("%c", "convolution", 0, 99), chip=3).kind == "device"


def test_steps_of_all_cores_are_one_row():
    run = run_of(
        core(
            0, ("%c", "convolution", 0, 60), ("%i", "infeed", 60, 10), (REDUCE, "all-reduce", 70, 5)
        ),
        core(
            1, ("%c", "convolution", 0, 50), ("%i", "infeed", 60, 30), (REDUCE, "all-reduce", 90, 9)
        ),
    )
    (row,) = input_pipeline(run).to_rows("steps")
    assert row["stepnum"] == "7"
    assert row["tcComputeTimeMs"] == pytest.approx(0.050)
    assert row["tcInfeedTimeMs"] == pytest.approx(0.030)
    assert row["allReduceComputeTimeMs"] == pytest.approx(0.005)
    assert row["allReduceSyncTimeMs"] == pytest.approx(0.004)
    assert row["tcIdleTimeMs"] == pytest.approx(0.011)
    assert [row[f"infeedPercent{which}"] for which in ("Average", "Min", "Max")] == [20, 10, 30]
    (waits,) = input_pipeline(run).to_rows("waiting_cores")
    assert waits == {"step": "7", "core": "host 0:1", "infeed_ms": pytest.approx(0.030)}


def test_in_classic_mode_steps_have_no_column_for_all_reduce():
    run = run_of(core(0, (REDUCE, "all-reduce", 0, 5), ("%c", "convolution", 5, 50)))
    (row,) = input_pipeline(run, classic=True).to_rows("steps")
    assert row["tcComputeTimeMs"] == pytest.approx(0.055)
    assert "allReduceSyncTimeMs" not in row
    waiting, *_ = input_pipeline(run, classic=True).to_gviz()
    assert [cell["v"] for cell in waiting["rows"][1]["c"]] == ["Core name", "worker:0"]


def test_one_step_can_be_chosen():
    run = run_of(core(0, ("%c", "convolution", 0, 60), steps=(7, 8)))
    assert [row["stepnum"] for row in input_pipeline(run, step=8).to_rows("steps")] == ["8"]
    assert [row["step"] for row in pod(run, step=8).to_rows("cores")] == ["8"]


def test_the_overview_recommends_something_on_tpus():
    run = run_of(core(0, ("%i", "infeed", 0, 40), ("%c", "convolution", 40, 40)))
    properties = overview(run).to_gviz()[3]["p"]
    assert properties["bottleneck"] == "host"
    assert "HIGHLY input-bound" in properties["statement"]
    assert properties["all_other_statement"]
    assert overview(run, classic=True).to_gviz()[3]["p"]["statement"] == ""
    assert overview(run, classic=True).to_gviz()[3]["p"]["bottleneck"] == ""


def test_the_overview_shows_how_busy_tpus_are():
    run = run_of(core(0, ("%i", "infeed", 0, 25), ("%c", "convolution", 25, 50)))
    properties = overview(run, classic=True).to_gviz()[0]["p"]
    assert properties["device_duty_cycle_percent"] == "50.0%"
    assert properties["idle_time_high_confidence_ps"] == "5e+07"
    assert properties["tc_active_ms_average"] == "0.05"
    assert {"what": "Duty cycle of chips", "value": "50.0%"} in overview(run).to_rows("environment")


def test_the_pod_viewer_shows_channels_reductions_and_places():
    run = run_of(
        core(0, (SEND, "send", 10, 2), (REDUCE, "all-reduce", 40, 5)),
        core(1, (RECEIVED, "recv-done", 4, 26), (REDUCE, "all-reduce", 40, 7)),
    )
    found = pod(run)
    (channel,) = found.to_rows("channels")
    assert (channel["srcCoreId"], channel["dstCoreId"], channel["dataSize"]) == (0, 1, 32)
    assert (channel["durationUs"], channel["sendDelayUs"]) == (20.0, 6.0)
    assert channel["bandwidth"] == pytest.approx(32 / 2**30 / 20e-6)
    (reduced,) = found.to_rows("all_reduces")
    assert (reduced["durationUs"], reduced["occurrences"], reduced["dataSize"]) == (6.0, 2, 16)
    assert [row["chip_id"] for row in found.to_rows("topology")] == [0, 1]
    parts = found.to_rows("cores")[1]
    assert (parts["receive_us"], parts["all_reduce_compute_us"]) == (26.0, 5.0)
    assert (parts["all_reduce_sync_us"], parts["idle_us"]) == (2.0, 67.0)
    (step,) = found.to_gviz()["podStatsSequence"]["podStatsMap"]
    assert step["channelDb"][0]["hloNames"] == ["send.1", "recv-done.2"]
    assert step["podStatsPerCore"]["1"]["chipId"] == 1


def test_replicas_are_shown_where_runs_of_programs_have_them():
    first = tpu(0, steps=[at("7", 0, 9)], modules=[at("jit_f(1)", 0, 9, replica_id=3)])
    second = tpu(1, steps=[at("7", 0, 9)], modules=[at("jit_f(1)", 0, 9)])
    found = pod(run_of(first, second))
    assert [row["replica"] for row in found.to_rows("topology")] == [3, None]
    (step,) = found.to_gviz()["podStatsSequence"]["podStatsMap"]
    assert step["coreIdToReplicaIdMap"] == {"0": 3}


@pytest.mark.parametrize("classic", [True, False])
@pytest.mark.parametrize("parts", [(), ("steps",), ("modules",), ("ops",), ("steps", "ops")])
def test_what_a_core_lacks_is_not_an_error(parts, classic):
    lines = {
        "steps": [at("7", 0, 9)],
        "modules": [at("jit_f(1)", 0, 9)],
        "ops": [op("%c", "convolution", 0, 5)],
    }
    run = run_of(tpu(0, **{part: lines[part] for part in parts}), tpu(1))
    for tool in (input_pipeline, overview, pod, monitor):
        found = tool(run, classic=classic)
        assert found.verdict
    n_steps = 1 if "steps" in parts or (parts == ("modules",) and not classic) else 0
    assert run_steps(run.in_mode(classic=classic)).n_steps == n_steps


def test_in_classic_mode_the_pod_viewer_has_none_of_this():
    run = run_of(core(0, (REDUCE, "all-reduce", 40, 5), chip=1))
    found = pod(run, classic=True)
    assert list(found.tables) == ["workers"]
    (step,) = found.to_gviz()["podStatsSequence"]["podStatsMap"]
    assert step["allReduceOpDb"] == [] and step["podStatsPerCore"]["0"]["chipId"] == 0


def test_fields_of_channels_are_those_of_cloud_tpu():
    expected = {
        "channelId", "dataSize", "srcCoreId", "dstCoreId", "durationUs", "sendDelayUs",
        "occurrences", "hloNames",
    }  # fmt: skip
    run = run_of(core(0, (SEND, "send", 10, 2)), core(1, (RECEIVED, "recv-done", 4, 26)))
    (step,) = pod(run).to_gviz()["podStatsSequence"]["podStatsMap"]
    assert set(step["channelDb"][0]) == expected


def test_steps_of_hosts_are_aligned_by_the_numbers_that_devices_tell():
    first = xspace(core(0, ("%c", "convolution", 0, 60), steps=(7, 8)), hostname="a")
    second = xspace(core(0, ("%c", "convolution", 0, 60), steps=(8, 9)), hostname="b")
    run = opened(first, second)
    found = run_steps(run)
    assert found.n_steps == 1
    assert [(one.core_id, list(one.names)) for one in found.hosts] == [(0, ["8"]), (1000, ["8"])]


def test_a_host_without_tpus_is_a_coordinator():
    threads = host(line(event("train", 0, 100, step_num=1, _r=1)))
    run = opened(xspace(threads), xspace(core(0, ("%c", "convolution", 0, 60))))
    found = run_steps(run)
    assert [one.core_id for one in found.hosts] == [1000]
    assert any("has no device" in note.message for note in found.notes)


def test_idle_time_of_tpus_is_input_where_the_host_waits_for_it():
    threads = host(
        line(
            event("train", 0, 100_000, step_num=7, _r=1),
            event("IteratorGetNextOp::DoCompute", 1_000, 20_000),
            event("DoEnqueueProgram", 30_000, 5, device_ordinal=0, queue_id=0, run_id=5),
        )
    )
    device = tpu(
        steps=[at("7", 0, 100)],
        modules=[at("jit_f(1)", 0, 100, run_id=5, queue_id=0)],
        ops=[op("%c", "convolution", 0, 70)],
    )
    (row,) = input_pipeline(run_of(threads, device)).to_rows("steps")
    assert row["stepnum"] == "train 7"
    assert row["tcInfeedTimeMs"] == pytest.approx(0.020)
    assert row["tcIdleTimeMs"] == pytest.approx(0.010)


def test_runs_of_a_program_in_place_of_steps_have_a_note():
    run = run_of(tpu(modules=[at("jit_f(1)", 0, 10)], ops=[op("%c", "convolution", 0, 5)]))
    found = run_steps(run)
    assert found.n_steps == 1
    assert any("jit_f(1)" in note.message for note in found.notes)
    assert run_steps(run.in_mode(classic=True)).n_steps == 0


def test_what_runs_on_a_tpu_without_steps_has_an_answer():
    run = open_run(folder("tpu-v6e-jax"))
    found = input_pipeline(run)
    assert len(found.tables["steps"]) == 100
    assert "4 chips" in found.verdict[0]


def rates(tool, name, **options):
    """The limit and the cells with rates of one instruction."""
    key = "hlo_op_name" if tool is hlo_stats else "operation"
    result = tool(open_run(folder("tpu-v6e-jax")), **options)
    [row] = [row for row in result.to_rows() if row[key] == name]
    cells = [row[each] for each in row if each.endswith(("_bw", "_rate", "_efficiency"))]
    return row["bound_by"], cells


@pytest.mark.parametrize("tool", [hlo_stats, roofline])
def test_asynchronous_work_has_no_rates_and_no_limit(tool):
    for name in ("copy-start.4", "copy-done.4"):
        limit, cells = rates(tool, name)
        assert (limit, set(cells)) == ("Unknown", {None})
        assert rates(tool, name, classic=True)[0] == "HBM"
    limit, cells = rates(tool, "broadcast_add_fusion.1")
    assert limit == "HBM"
    assert None not in cells
    assert 833_333_333 < max(rates(tool, "copy-start.4", classic=True)[1]) < 833_333_334


def test_the_reason_is_beside_every_table_of_ops():
    run = open_run(folder("tpu-v6e-jax"))
    for tool in (hlo_stats, roofline, op_profile, op_stats):
        [note] = [each for each in tool(run).notes if "(copy-done, copy-start)" in each.message]
        assert note.message.startswith("12 ops (96.5% of the time of all) only start work")
        assert not any("copy-start" in each.message for each in tool(run, classic=True).notes)


def test_no_op_of_a_real_tpu_is_faster_than_its_device():
    result = roofline(open_run(folder("tpu-v6e-jax")))
    known = [row["roofline_efficiency"] for row in result.to_rows()]
    assert max(each for each in known if each is not None) < 1
    [limits] = [each for each in result.claims if each.metric == "self_time"]
    assert [(part.subject, round(part.value, 3)) for part in limits.parts] == [
        ("asynchronous work", 0.965), ("HBM", 0.035),
    ]  # fmt: skip


def test_a_group_of_asynchronous_ops_has_no_utilization_but_its_program_has():
    rows = op_profile(open_run(folder("tpu-v6e-jax"))).to_rows()
    used = {row["name"]: row["hbm_utilization"] for row in rows}
    assert used["copy-done"] is None and used["copy-start"] is None
    assert used["loop fusion"] == pytest.approx(0.818, abs=1e-3)
    assert used["jit_f(12190760917235803885)"] == pytest.approx(0.05, abs=1e-3)
