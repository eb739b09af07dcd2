"""Results of older profilers: values taken from the files by hand, and damage."""

import gzip
import json

import pytest

from tests.captures.tools.oracle import folder
from tfprof.captures.precomputed import open_legacy, plain_text
from tfprof.core.wire import messages as pb
from tfprof.errors import InputError, MalformedProfileError, UnknownFormatError
from tfprof.files.precomputed_names import LegacyName, legacy_name

DEMO = folder("legacy-demo")


def packed(message):
    url = f"type.googleapis.com/{message.DESCRIPTOR.full_name}"
    return pb.PackedMessage(type_url=url, value=message.SerializeToString())


def gviz(ids, rows, **properties):
    cols = [{"id": name, "label": name, "type": kind} for name, kind in ids.items()]
    cells = [{"c": [{"v": value} for value in row]} for row in rows]
    return {"cols": cols, "rows": cells, "p": properties}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("localhost.overview_page.pb", LegacyName("overview_page", "localhost", False)),
        ("a/10.0.0.2.pod_viewer.json", LegacyName("pod_viewer", "10.0.0.2", True)),
        ("input_pipeline.json", LegacyName("input_pipeline", "", True)),
        ("h.input_pipeline_analyzer.json", LegacyName("input_pipeline", "h", True)),
        ("h.memory_profile.json.gz", LegacyName("memory_profile", "h", True)),
        ("h.trace.json.gz", LegacyName("trace", "h", True)),
        ("h.trace", LegacyName("trace", "h", False)),
        ("trace", LegacyName("trace", "", False)),
    ],
)
def test_names_tell_what_a_file_is(path, expected):
    assert legacy_name(path) == expected


@pytest.mark.parametrize("path", ["h.xplane.pb", "my_overview_page.pb", "trace.txt", "op.json"])
def test_other_names_tell_nothing(path):
    assert legacy_name(path) is None


def test_a_name_without_a_tool_is_refused(tmp_path):
    with pytest.raises(UnknownFormatError, match=r"not named like a result.*overview_page"):
        open_legacy(tmp_path / "answer.json")


def test_the_overview_of_a_message(tmp_path):
    step = pb.PerGenericStepDetails(
        step_number=7, step_time_ms=20, host_wait_input_ms=9, host_to_device_ms=1,
        device_compute_ms=6, host_prepare_ms=4,
    )  # fmt: skip
    page = pb.OverviewPage(
        input_analysis=pb.InputPipelineAnalysisResult(
            hardware_type="GPU",
            step_time_summary=pb.StepSummary(average=20, maximum=20, minimum=20),
            step_details=[packed(step)],
        ),
        analysis=pb.OverviewPageAnalysis(
            device_compute_16bit_percent=25,
            top_device_ops=[
                pb.OverviewTfOp(name="a/MatMul", category="MatMul", self_time_fraction=0.5)
            ],
        ),
        recommendation=pb.OverviewPageRecommendation(
            statement="<b>HIGHLY</b> input-bound",
            host_tips=[pb.OverviewPageTip(link='<a href="x">tf.data</a>')],
            recommendation=packed(pb.GenericRecommendation(kernel_launch_statement="Launches.")),
        ),
        run_environment=pb.OverviewPageRunEnvironment(device_core_count=2, device_type="GPU"),
        diagnostics=pb.Diagnostics(warnings=["Dropped."]),
    )
    path = tmp_path / "w0.overview_page.pb"
    path.write_bytes(page.SerializeToString())
    result = open_legacy(path)
    assert result.tool == "overview"
    assert result.verdict == ("HIGHLY input-bound", "Launches.")
    steps = result.table("steps").to_rows()
    assert steps == [
        {
            "step_number": 7, "step_time_ms": 20, "unknown_time_ms": 0, "output_ms": 0,
            "device_compute_ms": 6, "device_to_device_ms": 0, "host_compute_ms": 0,
            "host_prepare_ms": 4, "host_compile_ms": 0, "host_wait_input_ms": 9,
            "host_to_device_ms": 1, "device_collectives_ms": 0, "step_name": "",
        }
    ]  # fmt: skip
    columns = {column.id: column for column in result.table("steps").columns}
    waiting = columns["host_wait_input_ms"]
    assert (waiting.label, waiting.type, waiting.unit) == ("host wait input (ms)", "number", "ms")
    assert columns["step_name"].type == "string"
    assert result.table("top_ops").column("self_time_fraction") == [0.5]
    assert result.table("top_ops").columns[2].unit == "fraction"
    assert set(result.table("summary").rows) == {
        ("step time summary average", "20"), ("step time summary maximum", "20"),
        ("step time summary minimum", "20"), ("input analysis hardware type", "GPU"),
        ("analysis device compute 16bit percent", "25"),
        ("run environment device type", "GPU"), ("run environment device core count", "2"),
    }  # fmt: skip
    assert result.charts[0].series["host wait input"] == (9,)
    assert [advice.message for advice in result.advice] == ["tf.data"]
    assert [(note.severity, note.host) for note in result.notes] == [
        ("info", "w0"), ("warning", "")
    ]  # fmt: skip
    assert "computed when the profile was captured" in result.notes[0].message
    assert [table["cols"][0]["id"] for table in result.to_gviz()] == ["step_number", "name"]


def test_steps_of_an_unknown_type_are_missed_aloud(tmp_path):
    steps = [
        pb.PackedMessage(type_url="x/tensorflow.profiler.PerTpuStepDetails", value=b"\x08")
    ] * 2
    path = tmp_path / "input_pipeline.pb"
    path.write_bytes(pb.InputPipelineAnalysisResult(step_details=steps).SerializeToString())
    result = open_legacy(path)
    assert not result.tables
    assert [(note.severity, note.message) for note in result.notes[1:]] == [
        (
            "warning",
            "messages of the type tensorflow.profiler.PerTpuStepDetails cannot be read, and are "
            "not shown",
        )
    ]


def test_the_input_pipeline_of_a_message(tmp_path):
    result = pb.InputPipelineAnalysisResult(
        input_op_details=[
            pb.InputOpDetails(
                op_name="Iterator::Map", count=3, time_in_ms=5, time_in_percent=80,
                self_time_in_ms=4, self_time_in_percent=40, category="Preprocessing",
            )
        ],
        input_time_breakdown=pb.InputTimeBreakdown(preprocessing_us=4000),
        recommendation=pb.InputPipelineAnalysisRecommendation(
            details=["Batch &amp; prefetch"], summary_next_step="Read on."
        ),
    )  # fmt: skip
    path = tmp_path / "input_pipeline.pb"
    path.write_bytes(result.SerializeToString())
    found = open_legacy(path)
    assert found.to_rows("input_ops") == [
        {
            "op_name": "Iterator::Map", "count": 3, "time_in_ms": 5, "time_in_percent": 80,
            "self_time_in_ms": 4, "self_time_in_percent": 40, "category": "Preprocessing",
        }
    ]  # fmt: skip
    assert found.verdict == ("Read on.",)
    assert [advice.message for advice in found.advice] == ["Batch & prefetch"]
    units = [column.unit for column in found.table("input_ops").columns]
    assert units == ["", "", "ms", "percent", "ms", "percent", ""]
    assert found.table("summary").rows == [("input time breakdown preprocessing us", "4000")]


def test_kernels_of_a_message(tmp_path):
    reports = [
        pb.KernelReport(
            name="gemm", registers_per_thread=32, static_shmem_bytes=100, dynamic_shmem_bytes=28,
            block_dim=[256, 1, 1], grid_dim=[4, 2, 1], total_duration_ns=3000,
            min_duration_ns=900, max_duration_ns=1100, occurrences=3, op_name="a/MatMul",
            is_op_tensor_core_eligible=True,
        )
    ]  # fmt: skip
    path = tmp_path / "h.kernel_stats.pb"
    path.write_bytes(pb.KernelStatsDb(reports=reports).SerializeToString())
    result = open_legacy(path)
    assert result.to_rows() == [
        {
            "name": "gemm", "registers_per_thread": 32, "static_shmem_bytes": 100,
            "dynamic_shmem_bytes": 28, "block_dim": "256, 1, 1", "grid_dim": "4, 2, 1",
            "total_duration_ns": 3000, "min_duration_ns": 900, "max_duration_ns": 1100,
            "is_kernel_using_tensor_core": False, "is_op_tensor_core_eligible": True,
            "op_name": "a/MatMul", "occurrences": 3,
        }
    ]  # fmt: skip
    types = {column.id: (column.type, column.unit) for column in result.table().columns}
    assert types["is_kernel_using_tensor_core"] == ("boolean", "")
    assert types["static_shmem_bytes"] == ("number", "bytes")
    assert types["total_duration_ns"] == ("number", "ns")


def test_a_trace_message_becomes_chrome_events(tmp_path):
    trace = pb.Trace(
        devices={3: pb.Device(name="/host:CPU", resources={5: pb.Resource(name="main")})},
        trace_events=[
            pb.TraceEvent(
                device_id=3, resource_id=5, name="MatMul", timestamp_ps=2_000_000,
                duration_ps=500_000, args={"b": "2", "a": "1"},
            ),
            pb.TraceEvent(device_id=3, resource_id=5, name="mark", timestamp_ps=9_000_000),
        ],
    )  # fmt: skip
    path = tmp_path / "h.trace"
    path.write_bytes(trace.SerializeToString())
    result = open_legacy(path)
    events = result.to_gviz()["traceEvents"]
    assert events[0] == {
        "ph": "M", "pid": 3, "name": "process_name", "args": {"name": "/host:CPU"},
    }  # fmt: skip
    assert events[1] == {
        "ph": "M", "pid": 3, "tid": 5, "name": "thread_name", "args": {"name": "main"},
    }  # fmt: skip
    assert events[2:] == [
        {
            "ph": "X", "pid": 3, "tid": 5, "name": "MatMul", "ts": 2.0, "dur": 0.5,
            "args": {"a": "1", "b": "2"},
        },
        {"ph": "X", "pid": 3, "tid": 5, "name": "mark", "ts": 9.0, "dur": 0.0, "args": {}},
    ]  # fmt: skip
    assert result.table().rows == [("/host:CPU", "main", 2)]


def test_a_chrome_trace_stays_as_it_is(tmp_path):
    events = [
        {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "t"}},
        {"ph": "X", "pid": 1, "tid": 2, "name": "op", "ts": 1, "dur": 3},
        {},
    ]
    path = tmp_path / "h.trace.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": events}).encode()))
    result = open_legacy(path)
    assert result.to_gviz() == {"traceEvents": events}
    assert result.table().rows == [("process 1", "t", 1)]


def test_pods_of_cloud_tpus_and_later_ones(tmp_path):
    core = {
        "hostName": "h", "chipId": 1, "nodeId": 0, "totalDurationUs": 100,
        "highFlopsComputeUs": 60, "hostInfeedDurationUs": 10, "sendDurationUs": 5,
        "bottleneck": "Infeed",
    }  # fmt: skip
    step = {
        "stepNum": 4, "podStatsPerCore": {"10": core, "9": core},
        "channelDb": [{"channelId": "1", "dataSize": "2048", "durationUs": 3, "hloNames": ["s"]}],
    }  # fmt: skip
    path = tmp_path / "h.pod_viewer.json"
    data = {
        "podStatsSequence": {"podStatsMap": [step]}, "runEnvironment": {"tpuType": "TPU v2"},
    }  # fmt: skip
    path.write_text(json.dumps(data))
    result = open_legacy(path)
    assert result.table().to_rows() == [
        {"stepNum": 4, "core": 10, **core},
        {"stepNum": 4, "core": 9, **core},
    ]
    units = {column.id: column.unit for column in result.table().columns}
    assert (units["totalDurationUs"], units["bottleneck"]) == ("us", "")
    assert result.table("channels").to_rows() == [
        {"stepNum": 4, "channelId": 1, "dataSize": 2048, "durationUs": 3, "hloNames": "s"}
    ]
    assert result.table("summary").rows == [("tpu type", "TPU v2")]

    core = {"totalDurationUs": 10, "stepBreakdownUs": {"1": 7, "9": 3}, "bottleneck": "All others"}
    data = {
        "stepBreakdownEvents": [
            {"id": 1, "name": "Device compute"},
            {"id": 9, "name": "All others"},
        ],
        "podStatsSequence": {"podStatsMap": [{"stepNum": 0, "podStatsPerCore": {"1": core}}]},
    }
    path.write_text(json.dumps(data))
    result = open_legacy(path)
    assert result.to_rows() == [
        {
            "stepNum": 0, "core": 1, "totalDurationUs": 10, "stepBreakdownUs.1": 7,
            "stepBreakdownUs.9": 3, "bottleneck": "All others",
        }
    ]  # fmt: skip
    assert [column.unit for column in result.table().columns] == ["", "", "us", "us", "us", ""]
    assert result.table("parts").rows == [(1, "Device compute"), (9, "All others")]


def test_an_op_profile_in_preorder(tmp_path):
    leaf = {"name": "dot", "metrics": {"rawTime": 25, "flops": 0.125}, "xla": {"category": "dot"}}
    root = {"name": "root", "metrics": {"rawTime": "100"}, "children": [leaf]}
    path = tmp_path / "h.op_profile.json"
    data = {"byProgram": root, "byProgramExcludeIdle": root, "deviceType": "TPU"}
    path.write_text(json.dumps(data))
    result = open_legacy(path)
    assert list(result.tables) == ["by_program", "by_program_exclude_idle"]
    assert result.to_rows() == [
        {
            "level": 0, "name": "root", "metrics.rawTime": 100, "metrics.flops": None,
            "xla.category": None,
        },
        {
            "level": 1, "name": "dot", "metrics.rawTime": 25, "metrics.flops": 0.125,
            "xla.category": "dot",
        },
    ]  # fmt: skip


def test_memory_at_the_peak(tmp_path):
    stats = {"heapAllocatedBytes": "90", "stackReservedBytes": "10", "peakBytesInUse": "100"}
    activity = {"tfOpName": "a", "allocationBytes": "64", "requestedBytes": "60"}
    snapshot = {"timeOffsetPs": "2000000000", "aggregationStats": stats}
    profile = {
        "profileSummary": {"peakStats": stats, "peakStatsTimePs": "2000000000"},
        "memoryProfileSnapshots": [snapshot | {"activityMetadata": activity}],
        "sampledTimelineSnapshots": [snapshot],
        "activeAllocations": [
            {"snapshotIndex": "0", "numOccurrences": "2"},
            {"snapshotIndex": "-1", "specialIndex": "0", "numOccurrences": "1"},
        ],
        "specialAllocations": [{"tfOpName": "stack", "allocationBytes": "10"}],
    }
    path = tmp_path / "h.memory_profile.json"
    path.write_text(json.dumps({"memoryProfilePerAllocator": {"GPU_0_bfc": profile}}))
    result = open_legacy(path)
    assert result.table("allocators").to_rows() == [
        {
            "allocator": "GPU_0_bfc", "peakStats.heapAllocatedBytes": 90,
            "peakStats.stackReservedBytes": 10, "peakStats.peakBytesInUse": 100,
            "peakStatsTimePs": 2_000_000_000,
        }
    ]  # fmt: skip
    units = [column.unit for column in result.table("allocators").columns]
    assert units == ["", "bytes", "bytes", "bytes", "ps"]
    assert result.table("peak").column("tfOpName") == ["a", "stack"]
    assert result.table("peak").column("numOccurrences") == [2, 1]
    assert result.table("timeline").column("aggregationStats.heapAllocatedBytes") == [90]


def test_tables_may_lack_everything(tmp_path):
    path = tmp_path / "overview_page.json"
    path.write_text("[{}, {}]")
    result = open_legacy(path)
    assert (result.tables, result.charts, result.verdict) == ({}, (), ())
    path.write_text(json.dumps([gviz({"stepnum": "string"}, [["1"]], steptime_ms_average="0.0")]))
    assert list(open_legacy(path).tables) == ["steps"]


def test_texts_of_tables_for_charts_are_sentences_tips_and_remarks(tmp_path):
    path = tmp_path / "overview_page.json"
    steps = gviz(
        {"stepnum": "string", "inputTimeMs": "number", "tooltip": "string"}, [["7", 2.5, "x"]]
    )
    tips = gviz(
        {"tip_type": "string", "link": "string"}, [["host", "Use &lt;map&gt;."]],
        statement="(1) Input-bound.", bottleneck="host",
    )  # fmt: skip
    remarks = gviz({"severity": "string", "message": "string"}, [["WARNING", "Dropped."]])
    for_staff = gviz({"dontcare": "string"}, [["x"]], cost_line_0="n/a")
    path.write_text(json.dumps([steps, tips, remarks, for_staff]))
    result = open_legacy(path)
    assert result.to_rows() == [{"stepnum": 7, "inputTimeMs": 2.5}]
    assert result.charts[0].series == {"input": (2.5,)}
    assert result.verdict == ("Input-bound.",)
    assert [(one.rule, one.message) for one in result.advice] == [("overview/host", "Use <map>.")]
    assert [(note.severity, note.message) for note in result.notes[1:]] == [("warning", "Dropped.")]
    assert result.table("summary").rows == [("bottleneck", "host")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("h.overview_page.json", b"[1, 2]"),
        ("h.overview_page.json", b'[{"cols": [{"id": "stepnum"}], "rows": 7}]'),
        ("h.input_pipeline.json", b"{"),
        ("h.input_pipeline.json", b"\xff\xfe"),
        ("h.op_profile.json", b'{"byProgram": {"name": "x", "children": [3]}}'),
        ("h.op_profile.json", b"[" * 100_000),
        ("h.pod_viewer.json", b"{}"),
        ("h.memory_profile.json", b'{"memoryProfilePerAllocator": {"a": {}}}'),
        ("h.trace.json", b'{"traceEvents": [4]}'),
        ("h.trace.json", b'{"traceEvents": 4}'),
        ("h.tensorflow_stats.json", b"{}"),
        ("h.overview_page.pb", b"\x12\x7f"),
        ("h.trace", b"\x0a\x7f"),
        ("h.trace.json.gz", gzip.compress(b"{}", mtime=0)[:-3]),
    ],
)
def test_damage_is_refused_by_name(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(
        MalformedProfileError, match=r"h\.(overview|input|op|pod|memory|trace|tensor)"
    ):
        open_legacy(path)


def test_a_tree_that_is_deeper_than_any_is_refused(tmp_path):
    path = tmp_path / "op_profile.json"
    tree = '{"name": "x", "children": ['
    path.write_text(f'{{"byProgram": {tree * 600}{"]}" * 600}}}')
    with pytest.raises(MalformedProfileError):
        open_legacy(path)


def test_other_forms_of_an_answer_are_refused(tmp_path):
    path = tmp_path / "h.pod_viewer.pb"
    path.write_bytes(b"")
    with pytest.raises(UnknownFormatError, match="no known profiler wrote pod_viewer as a message"):
        open_legacy(path)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        open_legacy(tmp_path / "h.overview_page.pb")


def test_html_becomes_text():
    assert plain_text("a <b>b</b><br/>c &lt; d") == "a b\nc < d"


def test_an_input_bound_gpu():
    result = open_legacy(DEMO / "GPU-input-bound.localhost.overview_page.pb")
    first = result.table("steps").to_rows()[0]
    assert first["host_wait_input_ms"] + first["host_to_device_ms"] == pytest.approx(898.117752)
    assert first["host_compute_ms"] == pytest.approx(3.472813)
    assert first["host_prepare_ms"] == pytest.approx(2.758558)
    assert first["step_time_ms"] == pytest.approx(1106.415941)
    assert len(result.table("steps")) == 11
    assert result.verdict[0].startswith("Your program is HIGHLY input-bound because 81.4%")
    assert ("run environment device core count", "8") in result.table("summary").rows
    same = open_legacy(DEMO / "GPU-input-bound.localhost.input_pipeline.pb")
    assert same.table("steps").rows == result.table("steps").rows
    assert len(same.table("input_ops")) == 90


def test_tables_of_a_cloud_tpu():
    overview = open_legacy(DEMO / "Cloud-TPU.10.240.1.50.overview_page.json")
    assert overview.table("steps").column("computeTimeMs")[0] == pytest.approx(313.493952857)
    assert overview.table("top_ops").to_rows()[1]["flopRate"] == pytest.approx(7626.5272989428395)
    assert ("host idle time percent", "87.7%") in overview.table("summary").rows
    assert overview.to_gviz() == json.loads(
        (DEMO / "Cloud-TPU.10.240.1.50.overview_page.json").read_text()
    )
    pod = open_legacy(DEMO / "Cloud-TPU.10.240.1.50.pod_viewer.json")
    assert len(pod.table("workers")) == 3 * 8
    assert pod.table("all_reduces").column("dataSize")[0] == 2_654_208
    assert ("tpu type", "TPU v2") in pod.table("summary").rows
    stats = open_legacy(DEMO / "Cloud-TPU.10.240.1.50.tensorflow_stats.pb")
    assert (len(stats.table("ops")), len(stats.table("ops_with_idle"))) == (729, 731)


@pytest.mark.parametrize("path", sorted(DEMO.glob("*")), ids=lambda path: path.name)
def test_every_sample_opens_and_is_plain_data(path):
    result = open_legacy(path)
    assert json.loads(json.dumps(result.to_dict())) == result.to_dict()
    assert bool(result.verdict) == (result.tool in ("overview", "input-pipeline"))
    assert any(map(len, result.tables.values()))


@pytest.mark.tensorflow
def test_traces_are_those_of_tensorflow():
    pytest.importorskip("tensorflow")
    from tensorflow.tsl.profiler.protobuf import trace_events_pb2

    for name in ("Trace", "Device", "Resource", "TraceEvent"):
        ours, theirs = getattr(pb, name).DESCRIPTOR, getattr(trace_events_pb2, name).DESCRIPTOR
        for field in ours.fields:
            other = theirs.fields_by_number[field.number]
            assert (field.name, field.type) == (other.name, other.type)
