import gzip
import lzma

import pytest
from google.protobuf import text_format

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.profiles.read.run_metadata import SMALL
from tfprof.testing.builders import CPU, GPU, graph, op, options, run, run_on, stat


def rows(run_meta, **changes):
    """The numbers of each op other than 0, in a profiler of only this run."""
    profiler = tfprof.Profiler(b"")
    profiler.add_step(0, run_meta)
    shown = profiler.view("scope", options(**changes)).to_rows()[1:]
    skipped = ("name", "depth")
    return {
        row["name"]: {
            key: value
            for key, value in row.items()
            if value and key not in skipped and not key.startswith("total_")
        }
        for row in shown
    }


def one(execution):
    return rows(run({"a": execution}))["a"]


def test_stats_of_several_devices():
    assert rows(
        run_on({CPU: [("a", 5), ("b:x", 0), ("a", 2)], GPU: {}, "/gpu:1": {"c": stat(9, start=0)}})
    ) == {
        "a": {"run_count": 2, "exec_micros": 7, "cpu_exec_micros": 7},
        "b": {"run_count": 1, "exec_micros": 1, "cpu_exec_micros": 1},
        "c": {},
    }


@pytest.mark.parametrize("threads", ["1", "3"])
def test_large_runs_are_read_by_threads(monkeypatch, threads):
    monkeypatch.setenv("TFPROF_THREADS", threads)
    long = "x" * 1_000_000
    devices = {CPU: [("a", 5), ("b", 1)], GPU: {"a": 7}, "/gpu:1": {"c": stat(9, outputs=[3])}}
    message = run_on(devices)
    for device in message.step_stats.dev_stats:
        for each in device.node_stats:
            each.timeline_label = long
    message.step_stats.dev_stats[0].node_stats.add(node_name=long)
    assert len(message.SerializeToString()) > SMALL
    found = rows(message)
    del found[long]
    assert found == rows(run_on(devices))


def test_only_the_end_of_the_op_counts():
    message = run({"a": 5})
    made = message.step_stats.dev_stats[0].node_stats[0]
    made.op_start_rel_micros = 2
    made.all_end_rel_micros = 99
    made.all_start_nanos = 1_000_000
    made.op_end_rel_nanos = 4_444
    assert rows(message)["a"]["exec_micros"] == 5


def test_memory_of_several_allocators_and_kept_memory():
    execution = stat(1, memory=(100, 60, 40), temporary=7, persistent=3)
    execution.memory.add(allocator_name="GPU_0_bfc", total_bytes=10, peak_bytes=5, live_bytes=1)
    numbers = one(execution)
    assert numbers["requested_bytes"] == 100 + 10 + 7 + 3
    assert numbers["peak_bytes"] == 60 + 5 + 7 + 3
    assert numbers["residual_bytes"] == 40 + 1 + 3


def test_an_output_has_the_larger_of_its_two_sizes():
    execution = stat(1, outputs=[10, 20])
    first, second = (out.tensor_description.allocation_description for out in execution.output)
    first.requested_bytes = 15
    second.requested_bytes = 5
    execution.output.add(slot=2)  # not described
    assert one(execution)["output_bytes"] == 15 + 20


def test_stats_without_memory_between_others():
    found = rows(run([("a", stat(1, memory=(1, 2, 3))), ("b", 1), ("c", stat(1, outputs=[9]))]))
    sizes = {
        name: {key: value for key, value in numbers.items() if key.endswith("bytes")}
        for name, numbers in found.items()
    }
    assert sizes == {
        "a": {"requested_bytes": 1, "peak_bytes": 2, "residual_bytes": 3},
        "b": {},
        "c": {"output_bytes": 9},
    }


def test_not_traced_is_not_the_same_as_nothing_run():
    for nothing in (pb.RunMetadata(), b""):
        with pytest.raises(tfprof.EmptyProfileError):
            rows(nothing)
    assert rows(pb.RunMetadata(step_stats=pb.StepStats())) == {}


def test_everything_but_step_stats_is_passed_over():
    message = run({"a": 5})
    message.partition_graphs.append(graph(op("other")))
    assert list(rows(message)) == ["a"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["plain", "gz", "xz"])
@pytest.mark.parametrize("as_text", [False, True], ids=["binary", "text"])
def test_every_way_to_write_it(tmp_path, pack, as_text):
    message = run({"a": 5})
    data = message.SerializeToString()
    if as_text:
        data = text_format.MessageToString(message).encode()
    path = tmp_path / "run"
    path.write_bytes(pack(data))
    for source in (path, str(path), pack(data)):
        assert rows(source)["a"]["exec_micros"] == 5


def test_sums_wrap_instead_of_failing():
    huge = 2**63 - 1
    stats = {"a": stat(1, memory=(huge, huge, huge), temporary=1, persistent=1)}
    numbers = rows(
        run(stats), min_bytes=-huge - 1, min_peak_bytes=-huge - 1, min_residual_bytes=-huge - 1
    )["a"]
    assert numbers["requested_bytes"] == -(2**63) + 1
    assert numbers["residual_bytes"] == -(2**63)


def test_more_stats_than_are_read_at_a_time():
    stats = [(f"n{i % 7}", stat(1, memory=(i, 0, 0))) for i in range(20_000)]
    found = rows(run(stats))
    assert found["n3"]["requested_bytes"] == sum(range(3, 20_000, 7))
    assert sum(numbers["run_count"] for numbers in found.values()) == 20_000


def test_outputs_of_any_size_beside_one_that_is_not_described():
    execution = stat(1, outputs=[1, 1 << 40, 3])
    for address, out in zip((1 << 45, 5, 1 << 50), execution.output, strict=True):
        out.tensor_description.allocation_description.ptr = address
    execution.output.add(slot=3)
    assert one(execution)["output_bytes"] == (1 << 40) + 4
