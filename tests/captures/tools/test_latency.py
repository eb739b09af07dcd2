"""Latency of requests, annotated blocks and calls: cases worked out by hand."""

import pytest

from tests.captures.tools.oracle import run_of
from tfprof.captures.tools.latency import latency, percentile
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace

MS = 1_000_000


def block(name, start, took, **stats):
    return event(name, start * MS, took * MS, **stats)


def python(*events, id=1):
    return line(*events, id=id, name="python")


def answered(*lines, request=None, more=()):
    return latency(opened(xspace(host(*lines), *more)), request=request)


def kinds(result):
    return {(row["what"], row["name"]): row for row in result.tables["kinds"].to_rows()}


@pytest.mark.parametrize(
    "n, p50, p90, p99",
    [(1, None, None, None), (2, 1, None, None), (9, 5, None, None), (10, 5, 9, None),
     (99, 50, 90, None), (100, 50, 90, 99), (1000, 500, 900, 990)],
)  # fmt: skip
def test_a_percentile_is_the_nearest_rank_or_unknown(n, p50, p90, p99):
    ascending = [float(number) for number in range(1, n + 1)]
    assert [percentile(ascending, percent) for percent in (50, 90, 99)] == [p50, p90, p99]


def test_blocks_whose_names_differ_in_numbers_are_one_kind():
    result = answered(python(*(block(f"decode {n}", 10 * n, n + 1) for n in range(4))))
    [row] = result.tables["kinds"].to_rows()
    assert (row["name"], row["count"], row["p50_ms"], row["p90_ms"]) == ("decode", 4, 2.0, None)
    assert (row["max_ms"], row["mean_ms"], row["block_ms"]) == (4.0, 2.5, 2.5)
    assert row["device_ms"] is None  # no op was recorded at all
    assert "p99 of decode is unknown: it takes at least 100, and the capture has 4" in str(
        result.notes
    )


def test_a_name_with_a_number_that_is_always_the_same_keeps_it():
    result = answered(python(block("resnet50", 0, 5), block("resnet50", 10, 5)))
    assert [row["name"] for row in result.tables["kinds"].to_rows()] == ["resnet50"]


def test_events_of_the_runtime_are_not_annotations():
    inside = python(
        block("EagerExecute", 0, 9), block("Setup", 1, 2), block("mine", 10, 5), block("dce", 20, 1)
    )
    pool = line(block("Task", 0, 9), id=2, name="tf_Compute/7")
    assert list(kinds(answered(inside, pool))) == [("annotation", "mine"), ("annotation", "dce")]


def test_time_in_ops_on_other_threads_is_that_of_the_block_that_led_to_them():
    result = answered(
        python(block("serve", 0, 10), block("hand over", 1, 1, _p=5, _pt=2), block("idle", 20, 5)),
        line(block("work", 3, 6, _c=5, _ct=2), block("a/MatMul:MatMul", 4, 3), id=2,
             name="tf_Compute/1"),
    )  # fmt: skip
    found = kinds(result)
    serve, idle = found["annotation", "serve"], found["annotation", "idle"]
    assert (serve["device_ms"], serve["host_ms"], serve["waiting_ms"]) == (3.0, 7.0, 0.0)
    assert (idle["device_ms"], idle["host_ms"]) == (0.0, 5.0)


def test_a_block_lasts_until_its_kernels_are_done():
    kernels = gpu(line(block("gemm", 8, 4, correlation_id=1), id=14, name="Stream #14"))
    launch = block("cuLaunchKernel", 2, 1, correlation_id=1)
    result = answered(python(block("step", 0, 4), launch), more=(kernels,))
    row = kinds(result)["annotation", "step"]
    assert (row["max_ms"], row["block_ms"]) == (12.0, 4.0)
    assert (row["device_ms"], row["waiting_ms"], row["host_ms"]) == (4.0, 4.0, 4.0)
    assert "1 of 1 blocks step ended before the work that they launched" in str(result.notes)


def test_all_requests_of_a_batch_have_its_time_and_their_own_wait():
    result = answered(
        line(block("BatchingSessionRun", 0, 100), block("Schedule", 1, 2, _p=7, _pt=4), id=1),
        line(block("BatchingSessionRun", 10, 85), block("Schedule", 11, 2, _p=7, _pt=4), id=2),
        line(block("ProcessBatch", 20, 70, _c=7, _ct=4), block("a:MatMul", 30, 10), id=3,
             name="tf_batch/1"),
    )  # fmt: skip
    slow, fast = result.tables["slowest"].to_rows()
    for row, latency_ms, queue_ms in ((slow, 100.0, 19.0), (fast, 85.0, 9.0)):
        assert (row["what"], row["latency_ms"], row["queue_ms"]) == ("served", latency_ms, queue_ms)
        assert row["device_ms"] == 10.0


def requests_of(*numbers, wrapped=False, start=0):
    """Requests that wait 5 ms, and take 10 ms in two parts with a break of 2 ms."""
    clients, workers = [], []
    for number in numbers:
        begin = start + 100 * number
        took = 20 if wrapped else 1
        clients.append(block("handle", begin, took, request_id=number))
        workers += [
            block("prefill", begin + 6, 6, request_id=number),
            block("decode", begin + 14, 4, request_id=number),
        ]
    return python(*clients), python(*workers, id=2)


@pytest.mark.parametrize("wrapped, took, between", [(False, 18.0, 7.0), (True, 20.0, 10.0)])
def test_spans_with_the_number_of_a_request_are_its_parts(wrapped, took, between):
    result = answered(*requests_of(1, 2, 3, wrapped=wrapped), request="2")
    row = kinds(result)["request", "request"]
    assert (row["count"], row["max_ms"], row["between_ms"]) == (3, took, between)
    assert row["host_ms"] == took - between
    parts = result.tables["parts"].to_rows()
    assert [(one["part"], one["since_ms"]) for one in parts] == [
        ("request 2", 0.0), ("handle:2", 0.0), ("prefill:2", 6.0), ("decode:2", 14.0),
    ]  # fmt: skip


def test_a_request_that_lacks_a_usual_part_is_not_timed():
    client, worker = requests_of(1, 2, 3)
    cut = python(block("prefill", 1, 2, request_id=9), block("decode", 4, 1, request_id=9), id=3)
    result = answered(client, worker, cut)
    row = kinds(result)["request", "request"]
    assert (row["count"], row["timed"], row["max_ms"]) == (4, 3, 18.0)
    assert "1 of 4 requests are not timed" in str(result.notes)


def test_two_requests_with_one_number_are_not_taken_for_one():
    first, again = requests_of(1, 2, 3), requests_of(1, start=500)
    client = python(*first[0].events, *again[0].events)
    worker = python(*first[1].events, *again[1].events, id=2)
    row = kinds(answered(client, worker))["request", "request"]
    assert (row["count"], row["timed"], row["max_ms"]) == (3, 2, 18.0)


def test_numbers_of_one_kind_alone_make_no_request():
    threads = [python(block("generate request 1", 10 * n, 5), id=n) for n in (1, 2)]
    assert list(kinds(answered(*threads))) == [("annotation", "generate request 1")]


def test_calls_of_jax_without_known_work_are_not_timed():
    result = answered(python(block("PjitFunction(f)", 0, 2), block("PjitFunction(f)", 10, 2)))
    row = kinds(result)["call", "f"]
    assert (row["count"], row["timed"], row["max_ms"], row["block_ms"]) == (2, 0, None, 2.0)
    assert "No work of 2 calls is in the capture" in str(result.notes)
    assert [claim.value for claim in result.claims] == [None]


def test_a_request_is_chosen_by_number_label_or_name():
    lines = requests_of(1, 2, 3)
    for name, first in (("request 3", "request 3"), ("decode:2", "decode:2"),
                        ("prefill", "prefill:1"), (None, "request 1")):  # fmt: skip
        parts = answered(*lines, request=name).tables["parts"].to_rows()
        assert parts[0]["part"] == first
    with pytest.raises(UsageError, match="request='nosuch' is none of the capture"):
        answered(*lines, request="nosuch")


def test_steps_are_named_by_their_numbers():
    result = answered(
        python(*(block("train", 10 * n, 5, step_num=n, _r=1) for n in (7, 8))), request="train 8"
    )
    assert [row["part"] for row in result.tables["parts"].to_rows()] == ["train 8"]
    assert [row["name"] for row in result.tables["kinds"].to_rows()] == ["train"]


def test_threads_with_names_of_their_own_have_annotations_too():
    named = line(block("handle", 0, 5), id=1, name="http-0")
    pool = line(block("MapDmaBuffer", 0, 5), id=2, name="pjrt-tpu-tasks/3117377")
    assert list(kinds(answered(named, pool))) == [("annotation", "handle")]


def test_the_number_of_a_request_makes_an_annotation_of_any_name():
    events = [block(name, start, 5, request_id=1) for start, name in ((0, "Wait"), (9, "llm::run"))]
    assert {name for _, name in kinds(answered(python(*events)))} == {"Wait", "llm::run", "request"}
    assert list(kinds(answered(python(block("Wait", 0, 5), block("llm::run", 9, 5))))) == []


def test_if_no_request_is_timed_the_next_kind_is_spoken_of():
    first, again = requests_of(1), requests_of(1, start=500)
    client = python(*first[0].events, *again[0].events)
    worker = python(*first[1].events, *again[1].events, id=2)
    claim = answered(client, worker).claims[0]
    assert (claim.subject, claim.value) == ("prefill", 6.0)


def test_an_op_that_takes_the_next_batch_waits():
    ops = (block("IteratorGetNext:IteratorGetNext", 1, 6), block("a:MatMul", 7, 2))
    row = kinds(answered(python(block("train", 0, 10), *ops)))["annotation", "train"]
    assert (row["waiting_ms"], row["device_ms"], row["host_ms"]) == (6.0, 2.0, 2.0)


def test_calls_of_several_functions_without_work_have_one_note():
    result = answered(python(block("PjitFunction(f)", 0, 2), block("PjitFunction(g)", 10, 2)))
    [note] = [note for note in result.notes if "No work of" in note.message]
    assert "No work of 2 calls" in note.message


def test_a_request_ends_with_its_blocks_if_the_work_of_a_call_is_unknown():
    client, worker = requests_of(1, 2)
    worker = python(*worker.events, block("PjitFunction(f)", 107, 1), id=2)
    found = kinds(answered(client, worker))
    row = found["request", "request"]
    assert (row["timed"], row["max_ms"], row["device_ms"]) == (2, 18.0, None)
    assert found["annotation", "prefill"]["timed"] == 2


@pytest.mark.parametrize(
    ("capture", "n_calls", "what", "p50_ms"),
    [
        ("gpu-rocm-jax-attention", 81, "matmul", 0.144),
        ("gpu-rocm-jax-conv", 5, "forward_3d_conv", 3.309),
        ("tpu-v6e-jax", 105, "f", 25_879.6),
    ],
)
def test_all_calls_of_recorded_accelerators_are_timed(capture, n_calls, what, p50_ms):
    result = latency(run_of(capture))
    rows = result.tables["kinds"].to_rows()
    assert sum(row["count"] for row in rows) == sum(row["timed"] for row in rows) == n_calls
    assert kinds(result)["call", what]["p50_ms"] == pytest.approx(p50_ms, rel=0.01)
    assert all(row["device_ms"] > 0 for row in rows)


@pytest.mark.parametrize("capture", ["gpu-v100-bert-tf23", "gpu-v100-bert-modernized"])
def test_captures_of_threads_without_calls_say_so(capture):
    [claim] = latency(run_of(capture)).claims
    assert claim.value is None
    assert "no call of a compiled function" in claim.unknown
