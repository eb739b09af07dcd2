"""Tables of the tools for captures small enough for a count by hand."""

import pytest

from tests.captures.events.made import NOW, change, get_next
from tests.captures.tools.small_captures import capture
from tfprof.captures.events.ops.device_ops import Traffic
from tfprof.captures.events.timeline.device_peaks import Peaks
from tfprof.captures.facts.bound_by import bound_by
from tfprof.captures.facts.environment import device_type, environment
from tfprof.captures.facts.statistics import Summary, one_digit, percent, summary
from tfprof.captures.model.described_plane import describe
from tfprof.captures.overview.overview_page import overview
from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.gpu_kernels import kernel_stats
from tfprof.captures.tools.hlo_statistics import hlo_stats
from tfprof.captures.tools.input_pipeline_analyzer import input_pipeline
from tfprof.captures.tools.iterator_advice import suggestion
from tfprof.captures.tools.memory_profile import memory
from tfprof.captures.tools.op_profile_tree import op_profile
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.captures.tools.pod_viewer import pod
from tfprof.captures.tools.roofline_model import roofline
from tfprof.captures.tools.tf_data_bottleneck import tf_data
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, plane, xspace

MS = 1_000_000


def waiting_steps(n_steps=2):
    """Steps of 10 ms: 4 ms of waiting for input, 5 of computation, 1 unexplained."""
    marks = []
    for n in range(n_steps):
        start = n * 10 * MS
        marks += [
            event("train", start, 10 * MS, step_num=n, _r=1),
            event("IteratorGetNext", start, 4 * MS),
            event("a:MatMul", start + 4 * MS, 5 * MS),
        ]
    pipeline = line(
        get_next("Root", 0, 3 * MS, 1), get_next("Root::TFRecordV2", 1 * MS, MS, 2, 1), id=2
    )
    return xspace(host(line(*marks), pipeline))


def test_statistics():
    assert summary([]) == Summary(0, 0, 0, 0)
    assert summary([5.0]) == Summary(5, 0, 5, 5)
    assert summary([1.0, 3.0]) == Summary(2, 2**0.5, 1, 3)
    assert (one_digit(0.05), one_digit(2.25), percent(0.0126)) == ("0.1", "2.2", "1.3%")


def test_equal_numbers_have_no_deviation():
    assert summary([0.09, 0.09, 0.09]) == Summary(0.09, 0.0, 0.09, 0.09)


def test_input_pipeline():
    found = input_pipeline(opened(waiting_steps(3)))
    assert "HIGHLY input-bound: 40.0%" in found.verdict[0]
    [first, second, _] = found.to_rows("steps")
    assert (first["stepnum"], first["infeedTimeMs"], first["hostComputeTimeMs"]) == (
        "train 0",
        4,
        5,
    )
    assert (second["otherTimeMs"], second["stepTimeMs"]) == (1, 10)
    properties = found.table("steps").properties
    assert properties["steptime_ms_average"] == "10.0"
    assert properties["steptime_ms_standard_deviation"] == "0.0"
    assert properties["infeed_time_ms_avg"] == "4.0"
    assert properties["all_other_bottleneck"] == "moderate"
    assert properties["kernel_launch_bottleneck"] == "no"
    reads, root = sorted(found.to_rows("input_ops"), key=lambda row: row["selfTimeInMs"])
    assert (reads["opName"], reads["selfTimeInMs"], reads["category"]) == (
        "Iterator::Root::TFRecordV2", 1, "Demanded file read",
    )  # fmt: skip
    assert (root["timeInMs"], root["selfTimeInMs"], root["timeInPercent"]) == (3, 2, 1)
    assert found.table("input_ops").properties["preprocessing_us"] == "2000.000"
    assert [advice.rule for advice in found.advice] == [
        "input-pipeline/preprocessing", "input-pipeline/demanded-read",
    ]  # fmt: skip


def test_all_hosts_are_in_the_step_table_but_in_the_references():
    run = opened(waiting_steps(), waiting_steps())
    names = [row["stepnum"] for row in input_pipeline(run).to_rows("steps")]
    assert names == [
        "train 0 (host 0)", "train 0 (host 1)", "train 1 (host 0)", "train 1 (host 1)",
    ]  # fmt: skip
    assert len(input_pipeline(run, classic=True).to_rows("steps")) == 2


def test_all_steps_are_kept_but_in_the_reference():
    run = opened(waiting_steps(7))
    assert len(input_pipeline(run).table("steps")) == 7
    assert len(input_pipeline(run, classic=True).table("steps")) == 5
    assert len(pod(run, classic=True).table()) == 7


def test_a_gpu_without_enqueues_does_not_hide_what_the_input_does():
    copies = gpu(line(event("MemcpyH2D", 100, 50, correlation_id=1),
                      event("k", 200, 50, correlation_id=1)))  # fmt: skip
    threads = host(
        line(event("train", 0, 1000, step_num=1, _r=1), event("go", 1, 1, correlation_id=1)),
        line(event("Iterator::Root::Map", 5, 400, id=1), id=2),
    )
    run = opened(xspace(threads, copies))
    properties = input_pipeline(run).table("input_ops").properties
    assert properties["preprocessing_us"] == "0.400"
    assert input_pipeline(run).to_rows("steps")[0]["infeedTimeMs"] == 50 / MS


def test_pod():
    found = pod(opened(waiting_steps(), capture(2, length=10 * MS)))
    assert found.verdict[0] == "All workers take about as long."
    slow = pod(opened(waiting_steps(), capture(2, length=5 * MS)))
    assert slow.verdict[0].startswith("host 0 is the slowest worker")
    rows = found.to_rows()
    assert [(row["host"], row["core"], row["bottleneck"]) for row in rows[:2]] == [
        ("host 0", 1, "Host compute"), ("host 1", 1001, "Host compute"),
    ]  # fmt: skip
    assert rows[0]["infeed_us"] == 4000
    assert len(pod(opened(waiting_steps(), capture(2)), host="host 1").to_rows()) == 2


def test_the_verdict_names_the_slowest_of_many_workers():
    spaces = [capture(2, length=1000 + 100 * number) for number in range(20)]
    first, *lines = pod(opened(*spaces)).verdict
    assert first.startswith("host 19 is the slowest worker")
    assert [line.partition(":")[0] for line in lines[:8]] == [
        f"host {n}" for n in range(19, 11, -1)
    ]
    assert lines[8:] == ["12 more workers are not slower than these."]


def test_op_stats():
    found = op_stats(opened(waiting_steps(), waiting_steps()))
    rows = found.to_rows()
    assert [(row["operation"], row["occurrences"]) for row in rows[:2]] == [
        ("a", 4), ("Iterator::Root", 2),
    ]  # fmt: skip
    assert rows[0]["total_time"] == 20_000
    assert sum(row["host_total_self_time_percent"] for row in rows) == pytest.approx(1)
    with_idle = found.to_rows("ops_with_idle")
    assert "IDLE" in [row["operation"] for row in with_idle]
    assert sum(row["host_total_self_time_percent"] for row in with_idle) == pytest.approx(1)


def test_unknown_costs_are_not_zeros():
    names = ("measured_flop_rate", "model_flop_rate", "measured_memory_bw", "operational_intensity")
    run = opened(capture(1))
    assert [[row[name] for name in names] for row in op_stats(run).to_rows()] == [[None] * 4]
    rows = op_stats(run, classic=True).to_rows()
    assert [[row[name] for name in names] for row in rows] == [[0.0] * 4]
    kernel = event("sgemm", 10, 50, correlation_id=1, tf_op="a/b:MatMul")
    run = opened(xspace(host(), gpu(line(kernel))))
    [top] = overview(run).to_rows("top_ops")
    assert (top["operation"], top["flopRate"]) == ("a/b", None)
    of_costs = {"model_flop_rate", "measured_memory_bw", "hbm_bw", "operational_intensity"}
    of_limits = {"roofline_efficiency", "compute_efficiency", "optimal_flop_rate"}
    not_told = {"dma_stall_percent", "vdd_energy"}
    for tool, unknown in ((hlo_stats, of_costs | not_told), (roofline, of_costs | of_limits)):
        for classic, expected in ((False, None), (True, 0.0)):
            row = tool(run, classic=classic).to_rows()[0]
            assert {name: row[name] for name in unknown} == dict.fromkeys(unknown, expected)


def test_more_than_500_ops_are_kept_but_in_the_reference():
    ops = [event(f"op{n}:Op", n * 10, 5) for n in range(600)]
    run = opened(xspace(host(line(*ops))))
    assert len(op_stats(run).table("ops_with_idle")) == 601
    assert len(op_stats(run, classic=True).table("ops_with_idle")) == 500


def kernel_capture():
    return xspace(
        host(), gpu(line(event("k", 0, 1500, kernel_details=NOW, tf_op="a/MatMul:MatMul")))
    )


def test_kernel_stats():
    run = opened(kernel_capture(), kernel_capture())
    [row] = kernel_stats(run).to_rows()
    assert (row["kernel_name"], row["occurrences"], row["total_duration_us"]) == ("k", 2, 3)
    assert (row["block_dim"], row["grid_dim"], row["shmem_bytes"]) == ("256,2,1", "8,4,2", 112)
    assert (row["avg_duration_us"], row["occupancy_pct"]) == (1.5, 37.5)
    assert row["total_duration_share"] == 1
    assert "total_duration_share" not in kernel_stats(run, classic=True).to_rows()[0]
    assert len(kernel_stats(run, classic=True).to_rows()) == 2
    assert len(kernel_stats(run, host="host 1").to_rows()) == 1


def test_more_than_a_thousand_kernels_are_kept_but_in_the_reference():
    many = [event(f"k{n}", n * 10, 5, kernel_details=NOW) for n in range(1200)]
    run = opened(xspace(gpu(line(*many))))
    assert len(kernel_stats(run).table()) == 1200
    assert len(kernel_stats(run, classic=True).table()) == 1000


def memory_capture():
    return xspace(
        host(
            line(
                change("+", 0, 1, 100, 300, tf_op="a:X"), change("+", 5, 2, 100, 400, tf_op="a:X"),
                change("-", 9, 1, 100, 300),
            )
        )
    )  # fmt: skip


def test_memory():
    run = opened(memory_capture(), memory_capture())
    found = memory(run)
    first = found.to_rows("summary")[0]
    assert (first["allocations"], first["deallocations"], first["peak_bytes"]) == (2, 1, 400)
    assert (first["capacity_bytes"], first["peak_time_ms"]) == (1000, 5e-6)
    rows = [row for row in found.to_rows("peak") if row["host"] == "host 0"]
    assert [(row["op"], row["allocation_bytes"], row["occurrences"]) for row in rows] == [
        ("(allocated before the capture began)", 200, 1), ("a", 100, 2),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="of one host; choose one of host 0, host 1"):
        found.to_gviz()
    assert memory(run, host="host 1").to_gviz()["memoryIds"] == ["gpu"]


def test_tf_data():
    found = tf_data(opened(waiting_steps()))
    [row] = found.to_rows()
    assert (row["input_pipeline"], row["max_latency"]) == ("Host:0", 3000)
    assert row["bottleneck"] == "Root (Iterator::Root), 66.7% of the slow calls"
    [classic] = tf_data(opened(waiting_steps()), classic=True).to_rows()
    assert classic["bottleneck"].startswith("Root (Iterator::Root), 2,000 µs")
    assert found.table().properties["is_input_bound"] == "true"
    assert found.to_rows("pipelines")[0]["num_slow_calls"] == 1


def test_a_first_call_that_is_the_slowest_has_a_note_but_in_the_reference():
    calls = [(0, 900_000), (1_000_000, 60_000), (2_000_000, 70_000)]
    run = opened(xspace(host(line(*[get_next("Root", *call, 1) for call in calls]))))
    reported = "Host:0 on host 0: 3 of 3 calls took longer than 50 µs, the slowest 900 µs."
    found = tf_data(run)
    assert found.verdict[1:] == (
        f"{reported} That was the first, when buffers may have been empty; the slowest of the "
        "others took 70 µs. Root took 100.0% of the time of these 2 calls.",
    )
    assert found.to_rows("pipelines")[0]["num_calls"] == 3  # the first call counts
    assert tf_data(run, classic=True).verdict[1:] == (reported,)
    # The first call is the only one, is not the slowest, or not by far.
    for others in ([], [(1_000_000, 900_001)], [(1_000_000, 450_000)]):
        lines = line(*[get_next("Root", *call, 1) for call in (*calls[:1], *others)])
        [sentence] = tf_data(opened(xspace(host(lines)))).verdict[1:]
        assert "the first" not in sentence


@pytest.mark.parametrize("length, is_bound", [(50_000, "false"), (50_001, "true")])
def test_fifty_micros_are_fast_enough(length, is_bound):
    run = opened(xspace(host(line(get_next("Root", 0, length, 1)))))
    found = tf_data(run)
    assert found.table().properties["is_input_bound"] == is_bound
    assert len(found.to_rows()) == (is_bound == "true")
    assert len(tf_data(run, classic=True).to_rows()) == 1


@pytest.mark.parametrize(
    "iterator, rule",
    [
        ("TFRecordV2", "slow-source"),
        ("TensorSlice", "slow-source"),
        ("Generator", "python-source"),
        ("DataService", "data-service"),
        ("ReverbDataset", "remote"),
        ("MapV2", "sequential-function"),
        ("Interleave[0]", "sequential-function"),
        ("ParallelMapV2", "parallel-function"),
        ("ParallelInterleaveV4[0]", "parallel-function"),
        ("Prefetch", "prefetch"),
        ("ShuffleAndRepeat", "shuffle-buffer"),
        ("BatchV2", "sequential"),
        ("FlatMap[0]", "sequential"),
        ("Something", "other"),
        ("", "other"),
    ],
)
def test_advice_by_type_of_iterator(iterator, rule):
    assert suggestion(iterator)[0] == rule
    assert suggestion(iterator)[1]


def test_the_generator_of_a_device_is_not_python():
    assert suggestion("Generator", "Iterator::Prefetch::Generator")[0] == "host-stage"
    assert suggestion("Generator", "Iterator::Root::FlatMap[0]::Generator")[0] == "python-source"


def test_overview():
    found = overview(opened(waiting_steps(3)))
    assert "HIGHLY input-bound" in found.verdict[0]
    performance = {row["category"]: row for row in found.to_rows("performance")}
    assert performance["Step time"]["average_ms"] == 10
    assert performance["Input"]["share"] == pytest.approx(0.4)
    assert sum(row["share"] for row in performance.values()) == pytest.approx(2)
    assert {row["what"]: row["value"] for row in found.to_rows("environment")}["Steps"] == "3"
    assert found.advice[0].rule == "input-pipeline/bound"


def test_overview_shows_what_else_makes_steps_slow():
    threads = host(
        line(
            event("train", 0, 1000, step_num=1, _r=1),
            event("EagerExecute", 0, 500, is_func=0), event("a:MatMul", 5, 400),
            event("step", 600, 300, tf_function_call="traced", tracing_count=3),
            event("go", 950, 5, correlation_id=1),
        )
    )  # fmt: skip
    device = gpu(line(event("sgemm", 960, 400, correlation_id=1, kernel_details=NOW)))
    rules = [advice.rule for advice in overview(opened(xspace(threads, device))).advice]
    assert rules[-2:] == ["precision/mixed", "tf-function/retracing"]


def test_environment():
    run = opened(
        xspace(host(line(event("a", 0))), gpu(), gpu(ordinal=1), hostname="m"),
        xspace(host(line(event("a", 0))), hostname="m"),
    )
    found = environment(run)
    assert (found.hardware, found.n_cores, found.n_machines, found.n_tasks) == ("GPU", 2, 1, 2)
    assert environment(opened(xspace(host(line(event("a", 0)))))).device_type == "CPU"


@pytest.mark.parametrize(
    "stats, name",
    [
        (("Nvidia", 10, 0), "Nvidia GPU (Blackwell)"), (("Nvidia", 9, 0), "Nvidia GPU (Hopper)"),
        (("Nvidia", 8, 9), "Nvidia GPU (Ada Lovelace)"), (("Nvidia", 8, 6), "Nvidia GPU (Ampere)"),
        (("Nvidia", 7, 5), "Nvidia GPU (Turing)"), (("Nvidia", 7, 2), "Nvidia GPU (Volta)"),
        (("Nvidia", 6, 1), "Nvidia GPU (Pascal)"), (("Nvidia", 5, 2), "Nvidia GPU (Maxwell)"),
        (("Nvidia", 3, 7), "Nvidia GPU (Kepler)"), (("Nvidia", 2, 1), "Nvidia GPU (Fermi)"),
        (("Nvidia", 1, 3), "Nvidia GPU"), (("Nvidia", 4, 0), "Nvidia GPU"),
        (("AMD", 9, 4), "AMD GPU - gfx942"), (("AMD", 9, 5), "AMD GPU - gfx950"),
        (("AMD", 9, 0), "AMD GPU - gfx-9XX series"), (("Else", 9, 0), "GPU"),
    ],
)  # fmt: skip
def test_names_of_devices(stats, name):
    keys = ("device_vendor", "compute_cap_major", "compute_cap_minor")
    space = xspace(gpu(stats=dict(zip(keys, stats, strict=True))))
    assert device_type(describe(read_xspace(space.SerializeToString()).planes[0])) == name


def test_names_of_other_devices():
    made = xspace(
        gpu(stats={"device_vendor": "AMD", "gpu_device_name": "AMD Instinct gfx90a:sramecc+"}),
        plane("/device:TPU:0", stats={"device_type_string": "TPU v5e"}), gpu(),
    )  # fmt: skip
    planes = read_xspace(made.SerializeToString()).planes
    assert [device_type(describe(one)) for one in planes] == ["AMD GPU - gfx90a", "TPU v5e", "GPU"]


@pytest.mark.parametrize(
    "flops, traffic, name",
    [
        (900, Traffic(50), "Compute"), (100, Traffic(90), "HBM"), (0, Traffic(), "Unknown"),
        (10, Traffic(5, 0, ((3, 50, 0),)), "VMEM Read"), (500, Traffic(50), "Compute"),
    ],
)  # fmt: skip
def test_what_limits_an_op(flops, traffic, name):
    peaks = Peaks(gflops=1.0, hbm_gb=0.1, vmem_read_gb=0.1, vmem_write_gb=0.1)
    assert bound_by(flops, traffic, 1_000_000, peaks) == name
    assert bound_by(flops, traffic, 0, peaks) == "Unknown"
    assert bound_by(flops, traffic, 1_000_000, Peaks()) == "Unknown"


def test_an_op_profile_counts_runs_of_ops_only():
    thunks = line(
        event("dot.1", 0, 3 * MS, hlo_op="dot.1", hlo_module="jit_f"),
        event("dot.1", 4 * MS, 2 * MS, hlo_op="dot.1", hlo_module="jit_f"),
    )
    rows = op_profile(opened(xspace(host(thunks)))).to_rows()
    counted = {row["name"]: row["occurrences"] for row in rows}
    assert counted["by_program"] is None
    assert counted["dot.1"] == 2


def allocation(name, start, heap, **stats):
    reported = {
        "allocator_name": "bfc", "bytes_reserved": 0, "bytes_allocated": heap,
        "bytes_available": 50, "fragmentation": 0.5, "peak_bytes_in_use": 100,
        "requested_bytes": 20, "allocation_bytes": 20, "addr": 3,
    }  # fmt: skip
    return event(name, start, 0, **(reported | stats))


def test_what_was_there_before_is_of_the_last_of_equal_peaks_in_the_reference():
    """As in xprof 2.24, the peak is on the last line, and the step is the last one in time."""
    late = line(
        event("train", 200, 100, step_num=1, _r=1), allocation("MemoryAllocation", 205, 100),
        id=1,
    )  # fmt: skip
    early = line(
        event("train", 0, 100, step_num=0, _r=1), allocation("MemoryAllocation", 15, 100), id=2
    )
    found = memory(opened(xspace(host(late, early))), classic=True).to_gviz()
    allocator = found["memoryProfilePerAllocator"]["bfc"]
    assert allocator["profileSummary"]["peakStatsTimePs"] == "15000"
    assert [special["stepId"] for special in allocator["specialAllocations"]] == ["1"]


def test_fragmentation_of_nothing_is_not_a_number_only_in_the_reference():
    full = allocation("MemoryAllocation", 5, 100, bytes_available=0, fragmentation=float("nan"))
    run = opened(xspace(host(line(full))))
    for classic, stated in ((True, "NaN"), (False, 0.0)):
        found = memory(run, classic=classic).to_gviz()["memoryProfilePerAllocator"]["bfc"]
        assert found["profileSummary"]["peakStats"]["fragmentation"] == stated
    assert memory(run, classic=True).to_rows()[0]["fragmentation"] is None
    assert memory(run).to_rows()[0]["fragmentation"] == 0.0


def test_free_memory_is_drawn_by_its_pieces_where_they_are_known():
    events = [
        allocation("MemoryAllocation", 5, 100, bytes_available=80, fragmentation=0.25),
        allocation("MemoryAllocation", 10, 120, bytes_available=60, fragmentation="?"),
    ]
    run = opened(xspace(host(line(*events))))
    memory_chart, pieces = memory(run).charts
    assert memory_chart.series["free"] == (80, 60)
    assert pieces.series == {
        "largest free piece": (60, 0), "other free pieces": (20, 0),
        "free, in unknown pieces": (0, 60),
    }  # fmt: skip
    unknown = opened(xspace(host(line(events[1]))))
    assert len(memory(unknown).charts) == 1
    assert memory(unknown).to_rows()[0]["fragmentation"] is None


def test_machines_of_one_name_differ_by_the_addresses_of_their_files(tmp_path):
    for number, file in enumerate(("10.0.0.2_8466", "10.0.0.3_8466", "10.0.0.3_8467")):
        slow = line(get_next("Root", number, 90_000, 5))
        data = xspace(host(slow), hostname="vm").SerializeToString()
        (tmp_path / f"{file}.xplane.pb").write_bytes(data)
    run = open_run(sorted(map(str, tmp_path.iterdir())))
    assert environment(run).n_machines == 2
    assert environment(run.in_mode(classic=True)).n_machines == 1
    assert {row["host"] for row in tf_data(run).to_rows()} == {
        "10.0.0.2_8466", "10.0.0.3_8466", "10.0.0.3_8467",
    }  # fmt: skip
    assert {row["host"] for row in tf_data(run, classic=True).to_rows()} == {"vm"}
