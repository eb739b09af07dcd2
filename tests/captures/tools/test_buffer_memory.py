"""The memory viewer."""

import pytest

from tests.captures.hlo.small_programs import PARAMETER, TEMPORARY, TRACE, with_buffers
from tests.captures.tools.oracle import folder
from tests.hlo_programs import capture, op, program
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.buffer_memory import memory_viewer
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import event, host, line

SMALL = with_buffers(allocations=[PARAMETER])
LARGE = with_buffers(allocations=[TEMPORARY, PARAMETER], trace=TRACE)


def run_of(*protos):
    return open_run(capture(*protos))


def test_the_largest_program_is_shown():
    result = memory_viewer(run_of(SMALL, LARGE))
    assert [row["program_id"] for row in result.to_rows("programs")] == ["2", "1"]
    assert [row["peak_bytes"] for row in result.to_rows("programs")] == [3584, 2048]
    assert result.verdict[0] == "test(2) needs 3.58 kB at its peak, and reserves 6.14 kB."
    assert result.to_rows("summary") == [
        {"kind": "parameter", "allocations": 1, "size_bytes": 2048, "peak_bytes": 2048},
        {"kind": "temporary", "allocations": 1, "size_bytes": 4096, "peak_bytes": 1536},
    ]
    assert [row["instruction"] for row in result.to_rows("buffers")] == ["p", "a", "b"]
    (chart,) = result.charts
    assert chart.series["with padding"] == (2048, 3072, 3584, 2560, 3584, 3072, 2048)
    assert not result.notes  # such a capture may contain only programs


def test_programs_that_ran_come_before_those_that_need_more_memory():
    space = capture(SMALL, LARGE)
    ran = event("a", 10, 50, hlo_op="a", hlo_module="test", program_id=1)
    space.planes.append(host(line(ran)))
    rows = memory_viewer(open_run(space)).to_rows("programs")
    assert [(row["program_id"], row["self_us"]) for row in rows] == [("1", 0.05), ("2", 0.0)]
    unknown = memory_viewer(run_of(SMALL, LARGE)).to_rows("programs")
    assert [row["self_us"] for row in unknown] == [None, None]


@pytest.mark.parametrize("wanted", ["1", 1, "test(1)"])
def test_a_program_is_chosen_by_id_or_name(wanted):
    result = memory_viewer(run_of(SMALL, LARGE), program=wanted)
    assert result.verdict[0].startswith("test(1) needs 2.05 kB")


def test_what_is_not_there_is_named():
    with pytest.raises(UsageError, match=r"no program 'x'.*test\(1\)"):
        memory_viewer(run_of(SMALL), program="x")
    with pytest.raises(UsageError, match="no host 'y'"):
        memory_viewer(run_of(SMALL), host="y")


def test_no_programs_have_a_note():
    result = memory_viewer(open_run(pb.XSpace(hostnames=["a"])))
    assert "error" in [note.severity for note in result.notes]
    assert not result.tables
    with pytest.raises(UsageError):
        memory_viewer(open_run(pb.XSpace(hostnames=["a"])), program=3)


def test_programs_without_a_plan_have_a_note():
    result = memory_viewer(run_of(program(main=[op("a", "parameter", "f32[4]")])))
    assert "does not hold the compiler's plan of the memory" in result.notes[0].message
    assert result.verdict == ()
    result = memory_viewer(run_of(SMALL), memory_space=4)
    assert "it uses: 0" in result.notes[0].message
    result = memory_viewer(run_of(with_buffers(allocations=[TEMPORARY])))
    assert "the instructions that use them" in result.notes[0].message


def test_damaged_programs_have_a_note():
    space = capture(SMALL)
    space.planes[0].event_metadata[1].stats[0].bytes_value = b"\x0a\xff"
    result = memory_viewer(open_run(space))
    assert any("HLO of test(1)" in note.message for note in result.notes)


def test_sizes_of_programs_are_unknown_without_a_plan():
    plain = program(main=[op("a", "parameter", "f32[4]"), op("b", "parameter", "f32[2,3]")])
    rows = memory_viewer(run_of(plain, LARGE)).to_rows("programs")
    sizes = ("total_bytes", "peak_bytes", "argument_bytes", "output_bytes", "temporary_bytes")
    by_id = {row["program_id"]: row for row in rows}
    assert [by_id["1"][name] for name in sizes] == [None] * 5
    assert by_id["1"]["argument_elements"] == 10
    assert [by_id["2"][name] for name in sizes] == [6144, 3584, 2048, 0, 4096]


def test_the_references_numbers_of_a_real_program():
    (path,) = folder("gpu-rocm-jax-conv").glob("*.xplane.pb")
    result = memory_viewer(open_run(path), program="jit_forward_3d_conv(15)", classic=True)
    found = result.to_gviz()
    # The values are those of xprof 2.24.2.
    assert found["heapSizes"] == found["unpaddedHeapSizes"] == [
        552.24609375, 552.87109375, 558.96484375, 1104.4921875, 1103.8671875, 1097.7734375,
        552.24609375,
    ]  # fmt: skip
    assert found["bySizeToMaxHeap"] == [0, 5, 1, 4, 2, 3]
    assert found["maxHeapToBySize"] == [0, 2, 4, 5, 3, 1]
    assert found["logicalBufferSpans"] == {
        "11": {"start": 2, "limit": 5}, "9": {"start": 0, "limit": 3},
        "7": {"start": 1, "limit": 4},
    }  # fmt: skip
    assert found["maxHeap"][5] == {
        "numbered": 5,
        "label": "cudnn-conv.1: bf16[1,5120,34,31,53]{4,3,2,1,0} # "
        "jit(forward_3d_conv)/conv_general_dilated",
        "logicalBufferId": 11,
        "logicalBufferSizeMib": 545.52734375,
        "unpaddedShapeMib": 545.52734375,
        "instructionName": "cudnn-conv.1{0}",
        "shapeString": "bf16[1,5120,34,31,53]{4,3,2,1,0}",
        "tfOpName": "jit(forward_3d_conv)/conv_general_dilated",
        "groupName": "Temporary",
        "opCode": "custom-call",
        "sourceInfo": {
            "fileName": "/workspace/traces/generate_conv_trace.py",
            "lineNumber": 23,
            "stackFrame": "/workspace/traces/generate_conv_trace.py:23:11\n"
            "/workspace/traces/generate_conv_trace.py:79:13\n"
            "/workspace/traces/generate_conv_trace.py:103:4",
        },
    }
    numbers = {key: value for key, value in found.items() if isinstance(value, (int, float))}
    assert numbers == {
        "peakHeapMib": 1104.4921875, "peakUnpaddedHeapMib": 1104.4921875,
        "peakHeapSizePosition": 2, "entryComputationParametersMib": 6.71875,
        "nonReusableMib": 552.246337890625, "maybeLiveOutMib": 545.52734375,
        "totalBufferAllocationMib": 1104.492431640625,
        "indefiniteBufferAllocationMib": 552.24609375,
    }  # fmt: skip


@pytest.mark.parametrize("classic", [False, True])
@pytest.mark.parametrize("name", ["cpu-xla", "gpu-rocm-jax-attention", "tpu-v6e-jax"])
def test_shared_captures(name, classic):
    (path,) = folder(name).glob("*.xplane.pb")
    run = open_run(path)
    for row in memory_viewer(run, classic=classic).to_rows("programs"):
        result = memory_viewer(run, program=row["program_id"], classic=classic)
        assert result.table("buffers").rows
        assert 0 < row["peak_bytes"] <= row["total_bytes"]
        assert result.to_dict()["tables"]
