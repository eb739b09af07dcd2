"""Each practice: a capture with its advice, and one without."""

from dataclasses import replace

import pytest

from tests.captures.practices.advised import US, advice_of, on_tpu, op, the
from tests.captures.tools.recorded import recorded
from tfprof.captures.overview.overview_page import overview
from tfprof.captures.practices.practices import PRACTICES, advice
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, plane, xspace


def one_step(*events, lines=(), planes=(), **options):
    """A run with a step of 1 ms, and other events on its thread, other threads and devices."""
    step = event("train", 0, 1000 * US, step_num=7, _r=1)
    return opened(xspace(host(line(step, *events), *lines, **options), *planes))


def three_steps(*events, thread=()):
    """A run with three steps of 1 ms with the same events, also with events on another thread."""

    def at_step(each, number):
        return replace(each, start_ns=each.start_ns + number * 1000 * US)

    numbers = range(3)
    steps = [event("train", n * 1000 * US, 1000 * US, step_num=n, _r=1) for n in numbers]
    inside = [at_step(each, n) for n in numbers for each in events]
    others = [line(*(at_step(each, n) for n in numbers for each in thread), id=2)]
    return opened(xspace(host(line(*steps, *inside), *(others if thread else ()))))


COMPUTES = op("dense/MatMul:MatMul", 0, 1000)


def on_gpu(*kernels, ordinal=0, stats=None):
    """A step of 1 ms on a GPU: names, starts and durations of kernels, and their stats."""
    launches = [
        op("cuLaunchKernel", start, 1, correlation_id=number)
        for number, (_, start, _, _) in enumerate(kernels, 1)
    ]
    streams = line(
        *(
            op(name, start, duration, correlation_id=number, **more)
            for number, (name, start, duration, more) in enumerate(kernels, 1)
        ),
        id=14,
        name="Stream #14",
    )
    return one_step(*launches, planes=[gpu(streams, ordinal=ordinal, stats=stats or {})])


def kernel(name, start, duration, op_name="model/dense/MatMul:MatMul", **more):
    details = "regs:32 shm:0 grid:1,1,1 block:32,1,1 occ_pct:50"
    return name, start, duration, {"kernel_details": details, "tf_op": op_name, **more}


def iterators(wait_us, call_us, *, top="Prefetch"):
    """Steps that wait for input, and a pipeline with a slow Map."""
    waits = op("IteratorGetNext:IteratorGetNext", 0, wait_us)
    computes = op("dense/MatMul:MatMul", wait_us, 1000 - wait_us)
    root = f"Iterator::{top}"
    pipeline = (
        op(root, 0, call_us, id=1),
        op(f"{root}::Map", 5, call_us - 5, id=2, parent_id=1),
        op(f"{root}::Map::TFRecord", 10, 10, id=3, parent_id=2),
    )
    return three_steps(waits, computes, thread=pipeline)


def map_that_waits(*inside, computes_us=400):
    """Steps that wait 600 µs for a pipeline whose Map is slow, with other events inside the Map."""
    pipeline = (
        op("Iterator::Batch", 0, 200, id=1),
        op("Iterator::Batch::Map", 5, 195, id=2, parent_id=1),
        *inside,
    )
    waits = op("IteratorGetNext:IteratorGetNext", 0, 600)
    return three_steps(waits, op("dense/MatMul:MatMul", 600, computes_us), thread=pipeline)


PYTHON = op("PyFunc:PyFunc", 10, 180)


def test_a_map_that_calls_python():
    """Calls at once are not promised to help: Python runs one thread at a time."""
    found = the(map_that_waits(PYTHON), "input-pipeline/bound")
    assert "its function calls Python (py_function, numpy_function)" in found.message
    assert found.gain_fraction is None and found.share == pytest.approx(0.6)
    without = the(map_that_waits(), "input-pipeline/bound")
    assert "it calls its function for one element at a time" in without.message
    assert without.gain_fraction == pytest.approx(0.6)


def test_what_the_verdict_names_comes_first_whatever_it_gains():
    rules = [one.rule for one in advice(map_that_waits(PYTHON, computes_us=100))]
    assert rules[0] == "input-pipeline/bound" and len(rules) > 1


def test_waiting_for_input_names_the_iterator():
    found = the(iterators(300, 200), "input-pipeline/bound")
    assert found.gain_fraction == pytest.approx(0.3)
    assert found.evidence == {
        "wait_share": pytest.approx(0.3), "step_ms": 1.0, "host": "host 0", "pipeline": "Host:0",
        "op": "Iterator::Prefetch::Map", "op_self_ms": pytest.approx(0.185), "call_ms": 0.2,
        "iterator_type": "Map", "self_share": 0.925, "analysed_count": 3,
    }  # fmt: skip
    assert "30.0% of the step time is spent waiting for input" in found.message
    assert (
        "Map (Iterator::Prefetch::Map): 92.5% of the time of its 3 slow calls, 0.200 ms each"
        in found.message
    )
    assert "num_parallel_calls" in found.message


def test_input_without_slow_iterators():
    assert (
        "No iterator of tf.data on these hosts is slow"
        in the(iterators(300, 40), "input-pipeline/bound").message
    )
    no_data = three_steps(op("IteratorGetNext:IteratorGetNext", 0, 500), op("a:MatMul", 500, 500))
    assert "build the input with tf.data" in the(no_data, "input-pipeline/bound").message


def test_behind_a_prefetch_is_what_is_slow():
    found = the(recorded("input-bound"), "input-pipeline/bound")
    slow = "Iterator::Root::Prefetch::BatchV2::ShuffleAndRepeat::ParallelMapV2"
    assert (found.evidence["op"], found.evidence["behind"]) == ("Iterator::Root::Prefetch", slow)
    assert f"Below it, {slow} takes the most time of its own. There, it makes" in found.message


def test_little_waiting_is_none():
    assert advice_of(iterators(49, 200), "input-pipeline/bound") == []
    assert advice_of(iterators(50, 200), "input-pipeline/bound") != []


def test_prefetch_is_missing():
    missing = the(iterators(300, 200, top="Batch"), "input-pipeline/prefetch")
    assert missing.gain_fraction == pytest.approx(0.3)
    assert "prefetch(tf.data.AUTOTUNE)" in missing.message
    assert advice_of(iterators(300, 200), "input-pipeline/prefetch") == []
    assert advice_of(iterators(30, 200, top="Batch"), "input-pipeline/prefetch") == []


@pytest.mark.parametrize("top", ["MapAndBatchV2", "ParallelMapV2", "ParallelBatch", "PrefetchV2"])
def test_iterators_that_run_ahead_need_no_prefetch(top):
    assert advice_of(iterators(300, 200, top=top), "input-pipeline/prefetch") == []


def test_prefetch_saves_at_most_what_runs_meanwhile():
    found = the(iterators(900, 900, top="Batch"), "input-pipeline/prefetch")
    assert found.gain_fraction == pytest.approx(0.1)
    assert advice_of(iterators(960, 960, top="Batch"), "input-pipeline/prefetch") == []


def test_one_step_gives_no_advice_about_input():
    waits = op("IteratorGetNext:IteratorGetNext", 0, 900)
    assert advice_of(one_step(waits), "input-pipeline/bound") == []


def unknown_input(call_us, busy_us=500):
    """Steps without visible input that compute half of the time, with a pipeline beside them."""
    pipeline = op("Iterator::Map", 0, call_us, id=1), op("Iterator::Map::Range", 5, 1, parent_id=1)
    return three_steps(op("dense/MatMul:MatMul", 0, busy_us), thread=pipeline)


def test_slow_iterators_that_steps_may_wait_for():
    found = the(unknown_input(200), "input-pipeline/slow-iterator")
    assert found.gain_fraction is None
    assert found.share == pytest.approx(0.2)
    assert found.evidence["op"] == "Iterator::Map"
    assert found.evidence["slow_call_share"] == 1.0
    assert advice_of(unknown_input(50), "input-pipeline/slow-iterator") == []
    assert advice_of(unknown_input(200, busy_us=990), "input-pipeline/slow-iterator") == []
    assert advice_of(iterators(0, 200), "input-pipeline/slow-iterator") == []
    assert advice_of(iterators(300, 200), "input-pipeline/slow-iterator") == []


def with_copy(name, duration):
    return on_gpu(kernel("sgemm", 0, 500), (name, 500, duration, {}), kernel("sgemm", 900, 100))


def test_copies():
    found = the(with_copy("MemcpyH2D", 100), "copies/to-device")
    assert found.gain_fraction == pytest.approx(0.099)  # the launch takes 1 µs
    found = the(with_copy("MemcpyD2H", 100), "copies/to-host")
    assert found.gain_fraction == pytest.approx(0.1)
    assert advice_of(with_copy("MemcpyH2D", 40), "copies/to-device") == []
    assert advice_of(with_copy("MemcpyD2H", 40), "copies/to-host") == []
    assert advice_of(with_copy("MemcpyD2H", 100), "copies/to-device") == []


def test_kernel_launch():
    found = the(recorded("two-gpus"), "kernel-launch/share")
    assert found.gain_fraction == pytest.approx(0.0538, abs=1e-4)
    assert found.evidence["kernel_count"] == 41
    assert "41 kernels run in a step, 65.2 µs each" in found.message
    assert "TF_GPU_THREAD_MODE=gpu_private" in found.message
    busy = on_gpu(kernel("sgemm", 0, 1000))
    assert advice_of(busy, "kernel-launch/share") == []


def test_time_that_nothing_explains():
    found = the(three_steps(op("a:MatMul", 0, 800)), "python/unexplained")
    assert found.share == pytest.approx(0.2)
    assert found.gain_fraction is None  # its kind is unknown
    assert "Capture with the Python tracer" in found.message
    assert advice_of(three_steps(op("a:MatMul", 0, 900)), "python/unexplained") == []


def test_python_that_takes_the_time_is_named():
    step = op("$train.py:12 step", 100, 850), op("$augment.py:7 flip", 200, 700)
    found = the(three_steps(op("a:MatMul", 0, 100), *step), "python/unexplained")
    assert found.evidence == {
        "python_share": pytest.approx(0.9), "step_ms": 1.0, "python": "augment.py:7 flip",
        "python_self_ms": pytest.approx(2.1), "caller": "train.py:12 step",
        "code_share": pytest.approx(0.7), "run_ms": pytest.approx(0.7),
    }  # fmt: skip
    assert (
        "augment.py:7 flip, called from train.py:12 step: 70.0% of the step time, 0.700 ms"
        in found.message
    )
    short = op("$train.py:12 step", 900, 100)
    assert advice_of(three_steps(op("a:MatMul", 0, 900), short), "python/unexplained") == []


def test_an_annotation_that_takes_the_time_is_named():
    loads = op("load_batch", 0, 600), op("$time sleep", 1, 500)
    found = the(three_steps(*loads, op("a:MatMul", 600, 400)), "python/unexplained")
    assert found.evidence["python"] == "load_batch"
    assert "load_batch (an annotation of the program): 60.0% of the step time" in found.message


def test_python_that_waits_for_other_threads_takes_no_time():
    waits = op("$api.py:2490 try_to_block", 0, 1000)
    gives = op("Give", 0, 1, _pt=1, _p=3)
    works = op("dot:MatMul", 10, 980, _ct=1, _c=3)
    step = event("train", 0, 1000 * US, step_num=0, _r=1)
    one = opened(xspace(host(line(step, waits, gives), line(works, id=2))))
    assert overview(one).to_rows("performance")[9]["share"] == pytest.approx(0.02)


def test_compiling_in_every_step():
    compiles = op("backend_compile_and_load", 0, 600)
    found = the(three_steps(compiles, op("a:MatMul", 600, 400)), "compilation/share")
    assert found.gain_fraction == pytest.approx(0.6)
    assert "in 3 of 3 steps" in found.message
    assert advice_of(three_steps(COMPUTES), "compilation/share") == []


def test_collectives():
    found = the(recorded("two-gpus"), "collectives/share")
    assert found.evidence["op"] == "CollectiveReduce"
    assert found.evidence["device_count"] == 2
    # The exposed time of each GPU, on average, as in `collectives`.
    assert found.gain_fraction == pytest.approx(0.0766, abs=1e-4)
    alone = on_gpu(kernel("sgemm", 0, 980), ("ncclKernel_AllReduce", 980, 20, {}))
    assert advice_of(alone, "collectives/share") == []


def worker(name, input_us):
    """A step with 500 µs of computation, and with some waiting for input."""
    whole = (500 + input_us) * US
    return xspace(
        host(
            line(
                event("train", 0, whole, step_num=7, _r=1),
                op("IteratorGetNext:IteratorGetNext", 0, input_us),
                op("a:MatMul", input_us, 500),
            )
        ),
        hostname=name,
    )


def test_a_worker_that_others_wait_for():
    run = opened(worker("a", 100), worker("b", 300), worker("c", 100))
    found = the(run, "workers/straggler")
    assert found.evidence == {
        "host": "host 1", "own_ms": 0.8, "others_ms": pytest.approx(0.6), "host_count": 3,
        "cause": "input", "cause_ms": pytest.approx(0.2),
    }  # fmt: skip
    assert found.gain_fraction == pytest.approx(0.25)
    assert "the overview of this host alone" in found.message
    assert advice_of(opened(worker("a", 100), worker("b", 200)), "workers/straggler") == []
    assert advice_of(opened(worker("a", 100)), "workers/straggler") == []


def test_idle_devices():
    idle = on_gpu(kernel("sgemm", 0, 100), kernel("sgemm", 900, 100))
    found = the(idle, "devices/idle")
    assert found.evidence["idle_share"] == pytest.approx(0.8)
    assert advice_of(on_gpu(kernel("sgemm", 0, 1000)), "devices/idle") == []
    assert advice_of(one_step(op("a:MatMul", 0, 100)), "devices/idle") == []


def capable(major):
    return {"device_vendor": "Nvidia", "compute_cap_major": major, "compute_cap_minor": 0}


def test_mixed_precision():
    found = the(on_gpu(kernel("sgemm", 0, 800), stats=capable(8)), "precision/mixed")
    assert found.gain_fraction == pytest.approx(0.4)  # half of the 800 µs
    assert found.evidence["op"] == "model/dense/MatMul"
    half = on_gpu(kernel("hgemm_fp16", 0, 800), stats=capable(8))
    assert advice_of(half, "precision/mixed") == []
    old = on_gpu(kernel("sgemm", 0, 800), stats=capable(6))
    assert advice_of(old, "precision/mixed") == []
    assert advice_of(one_step(COMPUTES), "precision/mixed") == []


def test_unused_tensor_cores():
    run = on_gpu(
        kernel("sgemm", 0, 300), kernel("volta_h884gemm", 300, 100, "model/b/MatMul:MatMul")
    )
    found = the(run, "tensor-cores/unused")
    assert found.evidence["kernel_time_share"] == pytest.approx(0.75)
    assert (found.evidence["op"], found.evidence["kernel"]) == ("model/dense/MatMul", "sgemm")
    assert advice_of(on_gpu(kernel("volta_h884gemm", 0, 300)), "tensor-cores/unused") == []
    assert advice_of(on_gpu(kernel("add", 0, 300, "a/Add:Add")), "tensor-cores/unused") == []


def test_eager_ops():
    execute = op("EagerExecute", 0, 900, is_func=0)
    found = the(one_step(execute, op("a:MatMul", 0, 800)), "tf-function/eager")
    assert found.evidence == {
        "where": "host", "eager_share": 1.0, "op": "a", "op_type": "MatMul", "op_share": 1.0,
        "run_count": 1,
    }  # fmt: skip
    function = op("EagerExecute", 0, 900, is_func=1)
    assert advice_of(one_step(function, op("a:MatMul", 0, 800)), "tf-function/eager") == []


def test_iterators_are_not_eager_ops():
    execute = op("EagerExecute", 0, 900, is_func=0)
    assert advice_of(one_step(execute, op("Iterator::Map", 0, 800)), "tf-function/eager") == []


def call(start, duration, kind, count):
    return op("train_step", start, duration, tf_function_call=kind, tracing_count=count)


def test_retracing():
    run = one_step(
        call(0, 300, "traced-nonXla", 2), call(300, 100, "traced-nonXla", 3),
        call(400, 100, "notTraced-nonXla", 3), COMPUTES,
    )  # fmt: skip
    found = the(run, "tf-function/retracing")
    assert found.evidence == {
        "function": "train_step", "tracing_share": pytest.approx(0.8), "trace_count": 3,
        "traced_count": 2, "call_count": 3,
    }  # fmt: skip
    assert found.gain_fraction == pytest.approx(0.4)
    assert "went to 2 of 3 calls, which traced it again" in found.message
    first = one_step(call(0, 300, "traced-nonXla", 1), COMPUTES)
    assert "If it was the first call" in the(first, "tf-function/retracing").message
    never = one_step(call(0, 300, "notTraced-nonXla", 1), COMPUTES)
    assert advice_of(never, "tf-function/retracing") == []


def test_functions_that_run_eagerly():
    run = one_step(call(0, 300, "eager", 0), call(300, 100, "notTraced-nonXla", 1), COMPUTES)
    found = the(run, "tf-function/run-eagerly")
    assert found.evidence == {
        "function": "train_step", "eager_share": pytest.approx(0.75), "run_count": 1,
        "call_count": 2,
    }  # fmt: skip
    assert "run_functions_eagerly" in found.message
    assert advice_of(run, "tf-function/retracing") == []
    traced = one_step(call(0, 300, "traced-nonXla", 1), COMPUTES)
    assert advice_of(traced, "tf-function/run-eagerly") == []


def outside(send_us):
    return on_tpu(
        ("fusion.1", "convolution fusion", 0, 100 - send_us, "model/dense/MatMul:MatMul"),
        ("send.1", "host send", 100 - send_us, send_us, "model/image_summary:XlaSendToHost"),
    )


def test_outside_compilation():
    found = the(outside(20), "xla/outside-compilation")
    assert found.evidence == {
        "outside_share": pytest.approx(0.2), "op": "model/image_summary",
        "op_share": pytest.approx(0.2), "run_count": 1,
    }  # fmt: skip
    assert found.gain_fraction == pytest.approx(0.2)
    assert found.message.startswith("20.0% of the time of ops on the devices goes to exchanging")
    assert advice_of(outside(4), "xla/outside-compilation") == []
    assert advice_of(outside(6), "xla/outside-compilation") != []


def test_statements_that_the_reference_leaves_out():
    def statements(run, **how):
        properties = overview(run, **how).to_gviz()[3]["p"]
        return {name: text for name, text in properties.items() if "outside" in name}

    assert statements(outside(20))["outside_compilation_statement"].startswith("20.0% of the time")
    assert statements(outside(4)) == {"outside_compilation_statement": ""}
    assert statements(outside(20), classic=True) == {}


def test_idle_tensor_cores():
    run = on_tpu(("fusion.1", "convolution fusion", 0, 80, "a:MatMul"))
    found = the(run, "devices/host-loop")
    assert found.gain_fraction == pytest.approx(0.2)
    assert found.evidence["idle_ms"] == pytest.approx(0.02)
    assert "run several steps in one call, with jax.lax.scan" in found.message
    assert advice_of(run, "python/unexplained") == []
    busy = on_tpu(("fusion.1", "convolution fusion", 0, 98, "a:MatMul"))
    assert advice_of(busy, "devices/host-loop") == []
    mostly_idle = on_tpu(
        ("fusion.1", "convolution fusion", 0, 10, "a:MatMul"),
        ("fusion.2", "convolution fusion", 90, 10, "a:MatMul"),
    )
    assert advice_of(mostly_idle, "devices/host-loop") == []
    assert advice_of(mostly_idle, "devices/idle") != []
    assert advice_of(one_step(COMPUTES), "devices/host-loop") == []


def test_ops_in_a_step_are_those_of_one_host():
    step = [op(f"a{number}:Add", 4 * number, 3) for number in range(200)]
    one = xspace(host(line(event("train", 0, 1000 * US, step_num=7, _r=1), *step)))
    assert the(opened(one, one), "ops/small").evidence["small_op_count"] == 200


def test_small_ops():
    ops = [op(f"a{number}:Add", 4 * number, 3) for number in range(200)]
    found = the(one_step(*ops), "ops/small")
    assert found.evidence["small_op_count"] == 200
    assert found.evidence["small_share"] == 1.0
    assert advice_of(one_step(*ops[1:]), "ops/small") == []
    large = [op("a:Add", 20 * number, 12) for number in range(40)]
    assert advice_of(one_step(*large), "ops/small") == []


def test_the_heaviest_op():
    found = the(one_step(op("a:MatMul", 0, 300), op("b:Add", 300, 100)), "ops/heaviest")
    assert found.evidence == {
        "op": "a", "op_type": "MatMul", "op_share": 0.75, "op_self_ms": 0.3, "run_count": 1
    }  # fmt: skip
    assert found.message.startswith(
        "a (MatMul) takes the most time of all ops on the host, iterators left out, 75.0%"
    )
    many = [op(f"a{number}:Add", 10 * number, 10) for number in range(50)]
    assert advice_of(one_step(*many), "ops/heaviest") == []


def memory(used, free, fragmentation=0.0):
    allocation = op(
        "MemoryAllocation", 10, 1, allocator_name="GPU_0_bfc", bytes_reserved=0,
        bytes_allocated=used, bytes_available=free, peak_bytes_in_use=used, addr=1,
        requested_bytes=used, allocation_bytes=used, fragmentation=fragmentation,
        tf_op="model/conv/Conv2D:Conv2D", data_type=1, shape="[64,32]",
    )  # fmt: skip
    return one_step(allocation, COMPUTES)


def test_memory_near_its_end():
    found = the(memory(900, 100), "memory/capacity")
    assert found.evidence == {
        "allocator": "GPU_0_bfc", "peak_bytes": 900, "capacity_bytes": 1000, "used_share": 0.9,
        "op": "model/conv/Conv2D", "op_bytes": 900, "dtype": "float", "shape": "[64,32]",
        "on_host": "host 0", "other_host_count": 0,
    }  # fmt: skip
    assert advice_of(memory(899, 101), "memory/capacity") == []


def test_memory_in_pieces():
    found = the(memory(700, 300, 0.3), "memory/fragmentation")
    assert found.evidence["fragmentation_share"] == 0.3
    assert "TF_GPU_ALLOCATOR=cuda_malloc_async" in found.message
    assert advice_of(memory(700, 300, 0.29), "memory/fragmentation") == []
    assert advice_of(memory(700, 300, "unknown"), "memory/fragmentation") == []
    assert advice_of(memory(699, 301, 0.3), "memory/fragmentation") == []


def test_the_largest_gain_comes_first():
    gains = [one.gain_fraction for one in advice(recorded("two-gpus"))]
    known = [gain for gain in gains if gain is not None]
    assert known == sorted(known, reverse=True)
    assert gains[: len(known)] == known
    assert len(known) >= 4


def test_advice_carries_the_name_of_its_practice():
    for capture in ("input-bound", "two-gpus", "two-workers", "xla"):
        run = recorded(capture)
        found = advice(run)
        assert found
        assert {one.rule for one in found} <= set(PRACTICES)


def test_nothing_to_say_of_nothing():
    assert advice(opened(xspace(plane("/host:CPU")))) == ()


def test_one_host():
    pipeline = line(op("Iterator::Map", 0, 500, id=1))
    run = opened(xspace(host(pipeline)), xspace(host(pipeline)))
    (one, _) = run.hosts
    found = advice_of(run, "input-pipeline/slow-iterator", host=one.name)
    assert [a.evidence["host"] for a in found] == [one.name]
    with pytest.raises(UsageError, match="no host 'x'"):
        advice(run, host="x")


def test_eager_ops_that_feed_steps_or_run_once_need_no_function():
    def eager(name, start, length):
        call = event("EagerExecute", start, length, is_func=0)
        return call, event(f"EagerLocalExecute: {name}", start + 1, length - 2)

    def rules(*per_step):
        events = [*eager("MakeIterator", 0, 5000)]
        for step in range(4):
            start = 10_000 * (step + 1)
            events.append(event("train", start, 9000, step_num=step, _r=1))
            for place, name in enumerate(("IteratorGetNext", *per_step)):
                events += eager(name, start + 100 + 1000 * place, 900)
            events.append(event("f/dense/MatMul:MatMul", start + 5000, 1000))
        return [one.rule for one in advice(opened(xspace(host(line(*events)))))]

    assert "tf-function/eager" not in rules()
    assert "tf-function/eager" in rules("MatMul", "Relu")


def test_few_eager_ops_beside_the_function_that_steps_call_gain_nothing_in_it():
    """Such as those of Keras' metrics beside train_on_batch."""

    def rules(n_eager):
        events = []
        for step in range(4):
            start = 100_000 * (step + 1)
            events.append(event("train", start, 90_000, step_num=step, _r=1))
            events.append(event("one_step", start + 100, 5000, tf_function_call="concrete"))
            events.append(event("f/dense/MatMul:MatMul", start + 1000, 1000))
            for place in range(n_eager):
                begin = start + 6000 + 1000 * place
                events.append(event("EagerExecute", begin, 900, is_func=0))
                events.append(event("EagerLocalExecute: AssignVariableOp", begin + 1, 898))
        return [one.rule for one in advice(opened(xspace(host(line(*events)))))]

    assert "tf-function/eager" not in rules(20)
    assert "tf-function/eager" in rules(60)


def test_iterators_that_are_made_again_and_again_are_what_steps_wait_for():
    """Steps wait for the first elements, for which the buffers of all stages fill."""

    def found(n_made):
        events = []
        for step in range(6):
            start = 1_000_000 * step
            events.append(event("train", start, 900_000, step_num=step, _r=1))
            is_new = step < n_made
            if is_new:
                events.append(event("EagerExecute", start + 1000, 200_000, is_func=0))
                events.append(event("EagerLocalExecute: MakeIterator", start + 1001, 199_998))
                events.append(event("MakeIterator::RootDataset", start + 1002, 199_996))
            length = 300_000 if is_new else 100
            events.append(event("EagerExecute", start + 210_000, length + 4, is_func=0))
            events += [
                event("EagerLocalExecute: IteratorGetNext", start + 210_001, length + 2),
                event("IteratorGetNextOp::DoCompute", start + 210_001, length + 1),
                event("Iterator::Root", start + 210_002, length, id=step + 1 if is_new else 1),
            ]
            events.append(event("f/dense/MatMul:MatMul", start + 600_000, 200_000))
        return " ".join(one.message for one in advice(opened(xspace(host(line(*events))))))

    assert "making iterators, 6 times, 0.500 ms each" in found(6)
    assert "making iterators" not in found(1)


def copies_on_tpu(copies, computes):
    return on_tpu(
        ("copy-done.3", "copy-done", 0, copies, ""),
        ("fusion.1", "loop fusion", copies, computes, "model/dense/MatMul:MatMul"),
        ("fusion.2", "loop fusion", 99, 1, "model/dense/MatMul:MatMul"),
    )


def test_copies_between_memories_come_before_idle_time():
    found = advice(copies_on_tpu(80, 10))
    assert [one.rule for one in found][:2] == ["copies/on-device", "devices/host-loop"]
    assert found[0].share == pytest.approx(0.8)
    assert "copy-done.3, 1 time." in found[0].message
    assert advice_of(copies_on_tpu(4, 90), "copies/on-device") == []
