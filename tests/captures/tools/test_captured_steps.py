"""Captures as steps of a profile."""

import re

import numpy as np
import pytest

import tfprof
from tests.captures.tools.oracle import folder, run_of
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.errors import UsageError
from tfprof.profiles.model.executions import ACCELERATOR, HOST, OTHER
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace

from tests.captures.events.made import memory  # isort: skip

KINDS = {ACCELERATOR: "accelerator", HOST: "host", OTHER: "other"}


def step(number, start, duration=1000):
    return event("train", start, duration, step_num=number, _r=1)


def runs(profiler, number):
    """Name, device, kind of time, start and duration in ns of the executions in a step."""
    profile = profiler._session.profile
    strings = profile.steps.strings
    found = profile.steps.details[number].executions
    return [
        (
            profile.ops.name(row) if row >= 0 else strings[name],
            strings[device].removeprefix("/job:localhost/replica:0/task:0"),
            KINDS[kind],
            duration,
        )
        for row, name, device, kind, duration in zip(
            found.rows.tolist(), found.name_ids.tolist(), found.device_ids.tolist(),
            found.kinds.tolist(), found.duration_nanos.tolist(), strict=True,
        )
    ]  # fmt: skip


def codes(profiler):
    return {notice.code: notice.count for notice in profiler.notices}


def test_ops_of_threads_run_on_the_cpu_step_by_step():
    events = line(
        step(7, 0), event("a/x:MatMul", 10, 300), step(9, 2000), event("a/x:MatMul", 2100, 500),
        event("b:Relu", 2700, 100),
    )  # fmt: skip
    profiler = tfprof.Profiler.from_xspace(opened(xspace(host(events))))
    assert profiler.steps == [7, 9]
    assert runs(profiler, 7) == [("a/x", "/device:cpu:0", "host", 300)]
    assert runs(profiler, 9) == [
        ("a/x", "/device:cpu:0", "host", 500), ("b", "/device:cpu:0", "host", 100),
    ]  # fmt: skip
    assert codes(profiler) == {}
    types = [row["name"] for row in profiler.view("op").to_rows()]
    assert sorted(types) == ["MatMul", "Relu", "_TFProfRoot"]


def test_times_are_those_of_the_capture():
    run = opened(xspace(host(line(step(0, 0, 5000), event("a:X", 10, 2600)))))
    executions = tfprof.Profiler.from_xspace(run)._session.profile.steps.details[0].executions
    base = run.hosts[0].space.base_ns
    assert executions.start_nanos.tolist() == [base + 10]
    assert executions.start_micros.tolist() == [base // 1000]
    assert executions.duration_micros.tolist() == [3]


def test_kernels_are_time_of_the_accelerator_and_launches_stand_with_the_device():
    threads = line(
        step(1, 0), event("a:MatMul", 10, 100), event("b:Relu", 200, 50),
        event("LaunchKernel", 20, 10, correlation_id=1),
        event("LaunchKernel", 40, 10, correlation_id=2),
        event("Copy", 60, 10, correlation_id=3),
    )  # fmt: skip
    streams = [
        line(event("sgemm", 300, 400, tf_op="a:MatMul", correlation_id=1),
             event("k", 800, 50, correlation_id=2), id=14),
        line(event("MemcpyH2D", 300, 70, correlation_id=3), id=20),
    ]  # fmt: skip
    profiler = tfprof.Profiler.from_xspace(opened(xspace(host(threads), gpu(*streams))))
    assert sorted(runs(profiler, 1)) == [
        ("MEMCPYHtoD", "/device:gpu:0/memcpy", "other", 70),
        ("MEMCPYHtoD", "/device:gpu:0/stream:20", "other", 70),
        ("a", "/device:gpu:0", "host", 100),
        ("a", "/device:gpu:0/stream:14", "other", 400),
        ("a", "/device:gpu:0/stream:all", "accelerator", 400),
        ("b", "/device:cpu:0", "host", 50),
        ("kernels_without_op/k", "/device:gpu:0/stream:14", "other", 50),
        ("kernels_without_op/k", "/device:gpu:0/stream:all", "accelerator", 50),
    ]
    assert codes(profiler) == {"kernels-without-op": 1}


def test_what_is_in_no_step_has_a_note():
    events = line(step(1, 0), event("a:X", 10, 300), event("a:X", 5000, 100))
    profiler = tfprof.Profiler.from_xspace(opened(xspace(host(events))))
    (notice,) = profiler.notices
    assert (notice.code, notice.count) == ("outside-of-steps", 1)
    assert "25.0%" in notice.text


@pytest.mark.parametrize("others", [(), (step(3, 5000),)])
def test_without_ops_in_steps_everything_is_step_0(others):
    events = line(event("a:X", 10, 300), *others)
    profiler = tfprof.Profiler.from_xspace(opened(xspace(host(events))))
    assert profiler.steps == [0]
    assert codes(profiler) == {"no-steps": 1}


def test_without_ops_there_is_nothing_but_a_notice():
    profiler = tfprof.Profiler.from_xspace(opened(xspace(host(line(event("x", 10, 300))))))
    assert profiler.steps == []
    assert codes(profiler) == {"no-ops": 1}


def test_memory_of_ops():
    """64 bytes stay in use, another 32 for a while."""
    events = line(
        step(1, 0), event("a:X", 10, 300), memory("Allocation", 20, 1, 64, 1064),
        memory("Allocation", 30, 2, 32, 1096), memory("Deallocation", 40, 2, 32, 1064),
        event("b:Y", 400, 100), memory("Allocation", 410, 2, 8, 1072),
        memory("Allocation", 900, 3, 500, 1572),
    )  # fmt: skip
    profiler = tfprof.Profiler.from_xspace(opened(xspace(host(events))))
    tree = profiler.view("scope", {**tfprof.ProfileOptionBuilder.time_and_memory(),
                                   "min_bytes": 0, "min_micros": 0})  # fmt: skip
    sizes = {
        row["name"]: (row["requested_bytes"], row["peak_bytes"], row["residual_bytes"])
        for row in tree.to_rows()
        if row["name"] in ("a", "b")
    }
    assert sizes == {"a": (96, 96, 64), "b": (8, 8, 8)}
    allocations = profiler._session.profile.steps.details[1].allocations
    assert allocations.sizes.tolist() == [64, 32, -32, 8]
    assert codes(profiler)["memory-outside-ops"] == 1


def test_memory_belongs_to_its_step():
    events = line(
        step(1, 0), event("a:X", 10, 300), memory("Allocation", 20, 1, 64, 64),
        step(2, 2000), event("a:X", 2010, 300), memory("Allocation", 2020, 2, 16, 80),
    )  # fmt: skip
    profiler = tfprof.Profiler.from_xspace(opened(xspace(host(events))))
    details = profiler._session.profile.steps.details
    assert [details[number].allocations.sizes.tolist() for number in (1, 2)] == [[64], [16]]
    levels = [details[number].levels.bytes_in_use.tolist() for number in (1, 2)]
    assert levels == [[64], [80]]


def test_calls_feed_the_code_view():
    events = line(
        event("$train.py:3 main", 0, 2000), step(1, 5), event("$train.py:20 step", 10, 900),
        event("a:X", 20, 300),
    )  # fmt: skip
    profiler = tfprof.Profiler.from_xspace(opened(xspace(host(events))))
    names = [row["name"] for row in profiler.view("code").to_rows()]
    assert names == ["_TFProfRoot", "train.py:3:main", "train.py:20:step"]


def graph_of(*nodes):
    graph = tfprof.core.wire.messages.GraphDef()
    for name, op, *inputs in nodes:
        graph.node.add(name=name, op=op, input=inputs)
    return graph


def test_ops_of_a_graph_are_found_by_name():
    graph = graph_of(("x", "Placeholder"), ("layer/y", "Relu", "x"))
    events = line(
        step(1, 0), event("layer/y:Relu", 10, 100),
        event("StatefulPartitionedCall/layer/y:Relu", 200, 50), event("new:Abs", 300, 10),
    )  # fmt: skip
    profiler = tfprof.Profiler.from_xspace(opened(xspace(host(events))), graph)
    assert [name for name, *_ in runs(profiler, 1)] == ["layer/y", "layer/y", "new"]
    assert len(profiler._session.profile.ops) == 3


def test_hosts_add_up():
    spaces = [xspace(host(line(step(1, 0), event("a:X", 10, size))), hostname=name)
              for name, size in (("w0", 300), ("w1", 500))]  # fmt: skip
    profiler = tfprof.Profiler.from_xspace(opened(*spaces))
    assert [(name, duration) for name, *_, duration in runs(profiler, 1)] == [
        ("a", 300), ("a", 500),
    ]  # fmt: skip
    one = tfprof.Profiler.from_xspace(opened(*spaces), host="host 1")
    assert [duration for *_, duration in runs(one, 1)] == [500]
    with pytest.raises(UsageError, match="no host 'x'"):
        tfprof.Profiler.from_xspace(opened(*spaces), host="x")


def test_what_open_run_takes_is_taken():
    space = xspace(host(line(step(1, 0), event("a:X", 10, 300))))
    assert tfprof.Profiler.from_xspace(space.SerializeToString()).steps == [1]


def sums(profiler, kind, device=""):
    """Time of each op in ns, over all steps, on devices of a name."""
    profile = profiler._session.profile
    names = profile.steps.strings.values
    wanted = [place for place, name in enumerate(names) if re.search(device, name)]
    found = np.zeros(len(profile.ops), np.int64)
    for detail in profile.steps.details.values():
        chosen = (detail.executions.kinds == kind) & (detail.executions.rows >= 0)
        chosen &= np.isin(detail.executions.device_ids, wanted)
        rows = detail.executions.rows[chosen]
        np.add.at(found, rows, detail.executions.duration_nanos[chosen])
    return {profile.ops.name(row): int(time) for row, time in enumerate(found) if time}


def test_times_of_a_capture_are_those_of_its_ops():
    """Threads and kernels of 8 GPUs in one step; kernel time does not include copies."""
    run = run_of("gpu-v100-bert-modernized")
    profiler = tfprof.Profiler.from_xspace(run)
    of_host, of_device = sums(profiler, HOST), sums(profiler, ACCELERATOR)
    kernels_and_copies = sums(profiler, OTHER, r"stream:\d")
    compared = 0
    for row in op_stats(run).to_rows():
        if row["type"] in ("Dataset", "IDLE") or row["type"].startswith("Memcpy"):
            continue
        on_host = row["host_or_device"] == "Host"
        ours = (of_host if on_host else kernels_and_copies).get(row["operation"], 0)
        assert ours == pytest.approx(row["total_time"] * 1000, abs=row["occurrences"])
        compared += 1
    assert compared > 5000
    assert of_device
    assert all(time <= kernels_and_copies[name] for name, time in of_device.items())


@pytest.mark.parametrize("capture", ["cpu-custom-loop-py", "gpu-synthetic", "tpu-v6e-jax"])
def test_every_output_works_on_captures(capture, tmp_path):
    profiler = tfprof.Profiler.from_xspace(folder(capture))
    options = tfprof.ProfileOptionBuilder(tfprof.ProfileOptionBuilder.time_and_memory())
    for view in ("scope", "graph"):
        built = options.with_timeline_output(str(tmp_path / view)).build()
        assert profiler.report(view, built)
        assert list(profiler.output_files(view, built))
    assert profiler.findings()
    assert tfprof.Profiler.load(profiler.serialize_to_string()).steps == profiler.steps


def test_the_python_tracer_feeds_the_code_view():
    profiler = tfprof.Profiler.from_xspace(folder("cpu-custom-loop-py"))
    limits = {"max_depth": 100, "min_micros": 0, "min_bytes": 0}
    options = {**tfprof.ProfileOptionBuilder.time_and_memory(), **limits}
    rows = profiler.view("code", options).to_rows()
    names = [row["name"] for row in rows]
    assert any(name.startswith("execute.py:") for name in names)
    whole = sum(sums(profiler, HOST).values()) / len(profiler.steps) / 1000
    assert rows[0]["total_exec_micros"] == pytest.approx(whole, rel=0.1)


def test_a_thread_that_the_end_of_the_capture_has_cut_counts_for_its_step():
    """The executor's event and the end of the region are missing.

    TensorFlow's threads had not left them when the capture ended.
    """
    run = xspace(
        host(
            line(
                event("train", 0, 900, step_num=12, _r=1),
                event("FunctionRun", 100, 700, _r=1, _pt=2, _p=21, id=5),
                id=1,
            ),
            line(
                event("ExecutorState::Process", 200, 90, _ct=2, _c=21, id=5, iter_num=0),
                event("ThreadpoolListener::Record", 220, 0, _pt=15, _p=71),
                id=2,
            ),
            line(
                event("ThreadpoolListener::StartRegion", 250, 0, _ct=15, _c=71),
                event("layer/MatMul:MatMul", 300, 200),
                event("layer/Sum:Sum", 500, 10),
                id=3,
            ),
        )
    )
    profiler = tfprof.Profiler.from_xspace(run.SerializeToString())
    assert profiler.steps == [12]
    names = [row["name"] for row in profiler.view("op").to_rows()]
    assert {"MatMul", "Sum"} <= set(names)


@pytest.mark.tensorflow
def test_a_function_that_tensorflow_ran(tmp_path):
    """With the graph, the product has 2 x 64 x 128 x 256 float operations."""
    import tensorflow as tf

    @tf.function
    def compute(x, w):
        with tf.name_scope("layer"):
            return tf.reduce_sum(tf.matmul(x, w))

    x, w = tf.ones([64, 128]), tf.ones([128, 256])
    compute(x, w)
    with tf.profiler.experimental.Profile(str(tmp_path)):
        for number in range(10, 13):
            with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                compute(x, w)
    graph = compute.get_concrete_function(x, w).graph
    for source in (graph, graph.as_graph_def(add_shapes=True)):
        profiler = tfprof.Profiler.from_xspace(tmp_path, source)
        assert profiler.steps == [10, 11, 12]
        (row,) = [row for row in profiler.view("op").to_rows() if row["name"] == "MatMul"]
        assert row["float_ops"] == 2 * 64 * 128 * 256
        assert row["run_count"] == 1


def test_averages_are_of_steps_of_one_kind():
    """Rows of training and of evaluation do not add up to a step."""
    events, begin = [], 0
    for kind, name, count in (*[("train", "a:MatMul", 9)] * 4, *[("eval", "b:Relu", 7)] * 2):
        number = begin // 1000
        events.append(event(kind, begin * 1000, 1_000_000, step_num=number, _r=1))
        events += [event(name, (begin + 100 * n) * 1000, 60_000) for n in range(count)]
        begin += 1000
    profiler = tfprof.Profiler.from_xspace(opened(xspace(host(line(*events)))))
    profile = profiler._session.profile
    of_train, of_eval = (profile.steps.measures(step, len(profile.ops)) for step in (-1, 5))
    assert sorted(of_train.values[0].tolist()) == [0, 9]
    assert sorted(of_train.exec_micros.tolist()) == [0, 540]
    assert sorted(of_eval.values[0].tolist()) == [0, 7]
    (notice,) = profiler.notices
    assert (notice.code, notice.count) == ("steps-of-other-kinds", 2)
    assert "kind (eval)" in notice.text
