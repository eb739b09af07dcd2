"""Records as tracks and step stats: hand-made ones, laws, and what tools say of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tests.capture.cupti.sessions import BEGIN, captured, recorded
from tests.capture.cupti.stand_in import (
    Cupti,
    CuptiError,
    call,
    copy,
    device,
    fill,
    kernel,
    overhead,
)
from tfprof import tools
from tfprof.capture.cupti.adapter import GpuSession
from tfprof.capture.cupti.attribution import attributed
from tfprof.capture.cupti.host_ops import HostOps, host_ops
from tfprof.capture.cupti.records import Records
from tfprof.capture.cupti.step_stats import step_stats
from tfprof.capture.cupti.tracks import add_tracks
from tfprof.capture.gpu_part import GpuPart, notes_on, with_gpus
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import event, host, line, xspace


def unit_ns():
    """Nanoseconds of a unit of the builders' time."""
    made = xspace(host(line(event("x", 0, 1))))
    return made.planes[0].lines[0].events[0].duration_ps / 1000


@pytest.fixture
def records():
    unit = unit_ns()

    def when(moment):
        return BEGIN + round(1000 * moment * unit)

    return recorded(
        Cupti(
            [
                device(),
                call(when(12), when(13), 1, thread=5), kernel(when(15), when(25), 1, name="gemm"),
                call(when(45), when(46), 2, thread=5), kernel(when(50), when(55), 2, name="relu"),
                call(when(80), when(81), 3, thread=5), copy(when(82), when(84), 3),
                fill(when(85), when(86), 4), overhead(when(1), when(2)),
            ]
        )
    )  # fmt: skip


def test_tools_read_the_tracks_as_those_of_tensorflow(records):
    space = captured()
    run = tools.open_run(with_gpus(space.SerializeToString(), records))
    kernels = {row["kernel_name"]: row for row in tools.kernel_stats(run).to_rows()}
    assert set(kernels) == {"gemm", "relu"}
    assert kernels["gemm"]["op_name"] == "a/MatMul"
    assert kernels["relu"]["op_name"] == "b/Relu"
    assert kernels["gemm"]["registers_per_thread"] == 64
    assert kernels["gemm"]["shmem_bytes"] == 1536
    assert kernels["gemm"]["grid_dim"] == "80,2,1"
    assert kernels["gemm"]["total_duration_us"] == pytest.approx(10 * unit_ns())
    ops = {row["operation"] for row in tools.op_stats(run).to_rows()}
    assert {"a/MatMul", "b/Relu"} <= ops
    names = {plane.name for plane in run.hosts[0].space.planes}
    assert names == {"/device:GPU:0", "/host:CPU"}


def test_step_stats_are_read_by_the_profiler(records):
    [one_host] = tools.open_run(captured().SerializeToString()).hosts
    metadata = step_stats(records, host_ops(one_host))
    devices = [one.device for one in metadata.step_stats.dev_stats]
    assert devices == [
        "/device:GPU:0/memcpy", "/device:GPU:0/stream:", "/device:GPU:0/stream:7",
        "/device:GPU:0/stream:8<MemcpyH2D>", "/device:GPU:0/stream:all",
    ]  # fmt: skip
    nodes = metadata.step_stats.dev_stats[-1].node_stats
    assert [node.node_name for node in nodes] == ["a/MatMul:MatMul", "b/Relu:Relu"]
    graph = pb.GraphDef()
    graph.node.add(name="a/MatMul", op="MatMul")
    graph.node.add(name="b/Relu", op="Relu")
    profiler = tfprof.Profiler(graph)
    profiler.add_step(0, metadata)
    rows = {row["name"]: row for row in profiler.view("graph").to_rows()}
    assert rows["a/MatMul"]["accelerator_exec_micros"] == nodes[0].op_end_rel_micros > 0


def test_ways_of_finding_an_op():
    ops = HostOps(np.array([10, 12, 50]), np.array([40, 20, 60]), ["outer:A", "inner:B", "late:C"])
    made = recorded(
        Cupti([call(13, 14, 1), kernel(20, 21, 1), call(30, 31, 2), kernel(32, 33, 2),
               call(45, 46, 3), kernel(47, 48, 3), kernel(70, 71, 99)])
    )  # fmt: skip
    found = attributed(made, made.timed(), {42: ops})
    assert [(one.op, one.way) for one in found] == [
        ("inner:B", "thread"), ("outer:A", "thread"), ("", "none"), ("", "none"),
    ]  # fmt: skip
    elsewhere = attributed(made, made.timed(), {7: ops})  # 2 of 3 of its launches lie in ops
    assert [one.way for one in elsewhere] == ["time", "time", "none", "none"]
    made.calls.pop()
    del made.activities[2:]
    assert {one.way for one in attributed(made, made.timed(), {7: ops})} == {"likely thread"}
    twice = {7: ops, 8: ops._replace(names=["outer:A", "other:B", "late:C"])}
    assert [one.way for one in attributed(made, made.timed(), twice)] == ["none", "time"]


spans = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20), st.integers(0, 3)), max_size=12)


@given(spans, st.randoms())
def test_tracks_do_not_depend_on_the_order_of_buffers(given_spans, random):
    made = [
        kernel(begin, begin + length, number, stream=stream)
        for number, (begin, length, stream) in enumerate(given_spans)
    ]
    made += [call(begin, begin + 1, n) for n, (begin, *_) in enumerate(given_spans)]
    mixed = list(made)
    random.shuffle(mixed)
    there, back = pb.XSpace(), pb.XSpace()
    add_tracks(there, recorded(Cupti(made)))
    add_tracks(back, recorded(Cupti(mixed)))
    assert there.SerializeToString(deterministic=True) == back.SerializeToString(deterministic=True)
    n_timed = sum(1 for begin, *_ in given_spans if begin > 0)
    on_streams = [p for p in there.planes if p.name.startswith("/device")]
    assert sum(len(one.events) for p in on_streams for one in p.lines) == n_timed


@given(spans, st.integers(0, 80))
def test_the_innermost_op_is_found(given_spans, moment):
    ordered = sorted((begin, begin + length) for begin, length, _ in given_spans)
    ops = HostOps(
        np.array([begin for begin, _ in ordered], np.int64),
        np.array([end for _, end in ordered], np.int64),
        [str(number) for number in range(len(ordered))],
    )
    [found] = ops.around(np.array([moment])).tolist()
    around = [place for place, (begin, end) in enumerate(ordered) if begin <= moment <= end]
    assert found == (around[-1] if around else -1)


def test_a_capture_goes_on_without_a_gpu(tmp_path):
    part = GpuPart(GpuSession(lambda: Cupti(fails={"subscribe_v2": CuptiError(39)})))
    part.start()
    part.stop()
    [note] = part.add_to(tmp_path)
    assert "another profiler records the GPU" in note.message


def test_the_part_is_added_to_the_file_of_the_host(tmp_path, records):
    folder = tmp_path / "plugins" / "profile" / "run"
    folder.mkdir(parents=True)
    path = folder / "host.xplane.pb"
    path.write_bytes(captured().SerializeToString())
    part = GpuPart()
    part._records = records
    notes = part.add_to(tmp_path)
    assert [note.severity for note in notes] == ["info"]
    run = tfprof.open_run(path)
    assert tools.kernel_stats(run).to_rows()


def test_notes():
    assert "ran nothing" in notes_on(Records())[0].message
    lost = Records(n_dropped=2, n_unread=1, problem="why")
    assert len(notes_on(lost)) == 3


@pytest.mark.tensorflow
def test_a_real_capture_of_the_host_without_a_gpu(tmp_path):
    import tensorflow as tf

    options = tfprof.capture.CaptureOptions(gpu_tracer="cupti")
    with tfprof.capture(tmp_path, options) as captured_run, tfprof.capture.step(1):
        tf.matmul(tf.ones((8, 8)), tf.ones((8, 8))).numpy()
    said = " ".join(note.message for note in captured_run.notes)
    assert "GPU activity cannot be recorded" in said or "GPU" not in said
    assert tools.op_stats(captured_run.run).to_rows()
