"""What becomes faster by a name, a type or a word, and how much earlier steps end, by hand."""

import numpy as np
import pytest

import tfprof
from tests.captures.tools.tpus import op as tpu_op
from tests.captures.tools.tpus import tpu
from tests.insight.whatif.hand_made import N_STEPS, at, captured, mean_after, step_after, two_ops
from tests.insight.whatif.waits_of_runs import gives, of_threads, takes
from tfprof.errors import UsageError
from tfprof.insight.whatif.chosen import Work, factors_of
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace


@pytest.mark.parametrize(
    ("faster", "after_ms"),
    [
        ({"MatMul": 2}, 8.0),  # by type
        ({"layer/MatMul": 4}, 7.0),  # by name
        ({"layer/.*": 4}, 7.0),
        ({"layer/MatMul:MatMul": 4}, 7.0),  # the event
        ({"loss/Sum|layer/MatMul": 2}, 6.5),
        ({"MatMul": 1}, 10.0),
        # All inside a function becomes faster with it; but what has a factor of its own keeps it.
        ({"FunctionRun": 5}, 6.0),
        ({"FunctionRun": 5, "Sum": 1}, 8.4),
        ({"Sum": 1, "FunctionRun": 5}, 8.4),
        # Of several patterns for one op, the last one counts.
        ({"MatMul": 2, "layer/.*": 4}, 7.0),
        ({"layer/.*": 4, "MatMul": 2}, 8.0),
    ],
)
def test_names_and_types(faster, after_ms):
    assert mean_after(captured(two_ops), faster=faster) == pytest.approx(after_ms)


def test_what_is_free_takes_no_time():
    run = captured(two_ops)
    assert mean_after(run, free="Sum") == pytest.approx(7)
    assert mean_after(run, free=["Sum", "layer/MatMul"]) == pytest.approx(3)
    assert mean_after(run, free="FunctionRun", faster={"MatMul": 2}) == pytest.approx(3)


def test_rows_of_an_answer():
    """Each step goes from 10 ms to 7 ms."""
    answer = tfprof.whatif(captured(two_ops), faster={"MatMul": 4})
    rows = answer.to_rows("step")
    assert [row["step"] for row in rows][:3] == ["mean", "standard deviation", "train 0"]
    assert len(rows) == 2 + N_STEPS
    assert rows[0]["difference_ms"] == pytest.approx(-3)
    assert rows[1]["after_ms"] == pytest.approx(0, abs=1e-9)
    assert {round(row["after_ms"], 9) for row in rows[2:]} == {7.0}
    assert "7.00 ms instead of 10.0 ms" in answer.verdict[0]
    assert "30.0% less" in answer.verdict[0]


def test_the_critical_path_by_kind_and_op():
    """4 + 3 ms of ops, 2 ms of the runtime around one of them, and 1 ms of the mark alone."""
    answer = tfprof.whatif(captured(two_ops))
    shares = {row["kind"]: row["share"] for row in answer.to_rows("path")}
    assert sum(shares.values()) == pytest.approx(1)
    assert shares == pytest.approx({"host ops": 0.7, "program and runtime": 0.3})
    ops = {row["op"]: row["time_ms"] for row in answer.to_rows("path_ops")}
    assert ops["layer/MatMul:MatMul"] == pytest.approx(4)
    assert ops["loss/Sum:Sum"] == pytest.approx(3)
    assert (ops["FunctionRun"], ops["train"]) == pytest.approx((2, 1))


def launches(begin, step):
    """A copy to the device, a kernel behind it, and the wait for both."""
    yield at("MemcpyLaunch", begin + 100, 10, correlation_id=2 * step + 1)
    yield at("cuLaunchKernel", begin + 200, 10, correlation_id=2 * step + 2)
    yield at("cuStreamSynchronize", begin + 300, 9_650)


def stream(copy_ms=3, kernel_ms=6):
    details = {"kernel_details": "regs:32 shm:0 grid:1,1,1 block:32,1,1 occ_pct:50"}
    made = []
    for step in range(N_STEPS):
        begin, copied = 10_000 * step + 500, 10_000 * step + 500 + 1000 * copy_ms
        made += [
            at("MemcpyH2D", begin, 1000 * copy_ms, correlation_id=2 * step + 1),
            at("sgemm", copied, 1000 * kernel_ms, correlation_id=2 * step + 2,
               tf_op="layer/MatMul:MatMul", **details),
        ]  # fmt: skip
    return gpu(line(*made, id=14, name="Stream #14(Compute,MemcpyH2D)"))


def test_a_stream_that_the_thread_waits_for():
    """The copy ends 3 ms earlier, and so do the kernel, the wait for it and the step."""
    run = captured(launches, planes=[stream()])
    assert step_after(run)["before_ms"] == pytest.approx(10)
    assert mean_after(run, free="copies") == pytest.approx(7, rel=0.02)
    assert mean_after(run, faster={"sgemm": 3}) == pytest.approx(6, rel=0.02)
    assert mean_after(run, faster={"MatMul": 3}) == pytest.approx(6, rel=0.02)
    both = mean_after(run, faster={"MatMul": 3}, free="copies")
    assert both == pytest.approx(3, rel=0.04)


@pytest.mark.parametrize("name", ["ncclDevKernel_AllReduce_Sum_f32", "all-reduce.7"])
def test_collectives_that_take_no_time(name):
    """3 ms of a step in which the thread waits for the stream."""
    details = {"kernel_details": "regs:32 shm:0 grid:1,1,1 block:32,1,1 occ_pct:50"}
    made = []
    for step in range(N_STEPS):
        begin = 10_000 * step + 500
        made += [
            at(name, begin, 3000, correlation_id=2 * step + 1, **details),
            at("sgemm", begin + 3000, 6000, correlation_id=2 * step + 2, **details),
        ]
    run = captured(launches, planes=[gpu(line(*made, id=14, name="Stream #14(Compute)"))])
    assert mean_after(run, free="collectives") == pytest.approx(7, rel=0.02)
    shares = {row["kind"]: row["share"] for row in tfprof.whatif(run).to_rows("path")}
    assert shares["collectives"] == pytest.approx(0.3)
    assert shares["device"] == pytest.approx(0.6)


def test_collectives_on_the_threads_of_a_host():
    """Their types tell it, whatever their names are."""

    def thread(begin, step):
        yield at("a/MatMul:MatMul", begin, 4000)
        yield at("nccl/of_a:Sum", begin + 4000, 2000)
        yield at("b/reduce:CollectiveReduceV2", begin + 6000, 4000)

    assert mean_after(captured(thread), free="collectives") == pytest.approx(6)


def test_work_that_an_op_gives_to_another_thread_has_its_factor():
    """Thread 1 has no step: its op is the first event of all."""
    threads = [
        [at("x:MatMul", 10, 50), gives(7, 20), at("own", 30, 5)],
        [*takes(7, 25, 60), at("inner", 30, 5)],
        [at("train", 0, 100, step_num=0, _r=1)],
    ]
    work = Work(of_threads(*threads).hosts[0])
    [found] = factors_of([work], {"MatMul": 2}, [])
    timeline = work.timeline
    slower = {timeline.name(n) for n in np.flatnonzero(found.parts == 0.5).tolist()}
    assert slower == {
        "x:MatMul", "own", "inner", "ThreadpoolListener::Record", "ThreadpoolListener::Region",
        "ThreadpoolListener::StartRegion", "ThreadpoolListener::StopRegion",
    }  # fmt: skip
    assert set(found.deciding.tolist()) == {0, -1}


def test_words_for_what_was_not_recorded():
    run = captured(launches, planes=[stream()])
    for word in ("collectives", "input"):
        with pytest.raises(UsageError, match=f"there are no {word} in this run that could be free"):
            tfprof.whatif(run, free=word)


def test_names_near_a_pattern_that_nothing_has():
    with pytest.raises(UsageError, match=r"'matmul'; near it are 'MatMul', 'layer/MatMul'"):
        tfprof.whatif(captured(two_ops), faster={"matmul": 2})
    frames = captured(lambda begin, step: [at("$matmul.py:3 matmul", begin, 4000)])
    with pytest.raises(UsageError, match=r"'matmul'\. A pattern is"):
        tfprof.whatif(frames, faster={"matmul": 2})
    with pytest.raises(UsageError, match=r"'xyzzy'\. A pattern is a regular expression of the"):
        tfprof.whatif(captured(two_ops), free="xyzzy")


@pytest.mark.parametrize("factor", [0, 0.99, -2, float("inf"), float("nan"), "2", None])
def test_factors_that_make_nothing_faster(factor):
    with pytest.raises(UsageError, match="a number from 1 on; for no time at all, free"):
        tfprof.whatif(captured(two_ops), faster={"MatMul": factor})


def test_runs_without_steps_or_with_steps_of_tpus():
    bare = opened(xspace(host(line(at("a:MatMul", 0, 10)))))
    with pytest.raises(UsageError, match="has no steps, so there is no step time to work out"):
        tfprof.whatif(bare)
    cores = tpu(
        0, steps=[event(str(n), n * 100, 90) for n in range(3)],
        ops=[tpu_op("fusion.1", "convolution fusion", n * 100, 60) for n in range(3)],
    )  # fmt: skip
    with pytest.raises(UsageError, match="has steps of TPUs; whatif replays threads and streams"):
        tfprof.whatif(opened(xspace(cores)))
    with pytest.raises(UsageError, match="int is not a captured run; give a path or what open_run"):
        tfprof.whatif(3)


def test_the_slowest_host_decides():
    """One host takes 4 ms of a product and 6 ms of others, the other 9 ms of it and 1 ms."""

    def worker(name, product):
        def steps(begin):
            yield at("layer/MatMul:MatMul", begin, product)
            yield at("loss/Sum:Sum", begin + product, 10_000 - product)

        marks = [at("train", 10_000 * n, 10_000, step_num=n, _r=1) for n in range(N_STEPS)]
        own = [made for n in range(N_STEPS) for made in steps(10_000 * n)]
        return xspace(host(line(*marks, *own)), hostname=name)

    run = opened(worker("a", 4000), worker("b", 9000))
    assert mean_after(run, faster={"MatMul": 2}) == pytest.approx(8)  # 2 + 6, and 4.5 + 1
    assert mean_after(run, faster={"Sum": 2}) == pytest.approx(9.5)  # 4 + 3, and 9 + 0.5


def test_long_steps_are_left_out_with_a_note():
    """The fourth of 6 steps takes ten times as long."""
    starts = [0, 10_000, 20_000, 30_000, 130_000, 140_000]
    lengths = [10_000, 10_000, 10_000, 100_000, 10_000, 10_000]
    both = list(zip(starts, lengths, strict=True))
    marks = [at("train", start, length, step_num=n, _r=1) for n, (start, length) in enumerate(both)]
    ops = [at("layer/MatMul:MatMul", start, length // 2) for start, length in both]
    answer = tfprof.whatif(opened(xspace(host(line(*marks, *ops)))), faster={"MatMul": 2})
    rows = answer.to_rows("step")
    assert "train 3" not in [row["step"] for row in rows]
    assert rows[0]["after_ms"] == pytest.approx(7.5)
    notes = [note.message for note in answer.notes]
    assert (
        sum(note.startswith("1 of 6 steps are left out: the capture cut them") for note in notes)
        == 1
    )
