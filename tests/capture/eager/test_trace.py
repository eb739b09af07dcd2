"""``tfprof.trace`` around real programs: what ran, under which names, at which costs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.capture.eager.trace import trace
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.testing.builders import options

pytestmark = pytest.mark.tensorflow
tf: Any = None


@pytest.fixture(scope="module", autouse=True)
def _tensorflow() -> None:
    """Import TensorFlow when the first test runs, not when tests are collected."""
    global tf
    tf = pytest.importorskip("tensorflow")


@pytest.fixture(autouse=True)
def _nothing_stays_enabled() -> Iterator[None]:
    yield
    from tensorflow.python.eager import context, execute

    assert context.context().op_callbacks == []
    assert execute.execute is execute.quick_execute
    with pytest.raises(tf.errors.UnavailableError):
        tf.profiler.experimental.stop(save=False)


def rows(profiler: tfprof.Profiler, cmd: str = "scope", **changes: Any) -> dict[str, Any]:
    """The shown rows of a view, by name."""
    tree = profiler.view(cmd, options(max_depth=1000, **changes))
    found: dict[str, Any] = {}
    waiting = list(tree.children)
    while waiting:
        node = waiting.pop()
        found[node.name] = node
        waiting.extend(node.children)
    return found


def square(size: int) -> Any:
    return tf.ones([size, size])


def test_a_function_is_a_scope_and_what_it_calls_stands_below_the_call() -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return tf.matmul(x, x, name="product")

    @tf.function
    def outer(x: Any) -> Any:
        with tf.name_scope("first"):
            x = inner(x)
        with tf.name_scope("second"):
            return inner(x)

    x = square(8)
    with trace() as t:
        outer(x)
    found = rows(t.profiler)
    for scope in ("first", "second"):
        node = found[f"outer/{scope}/PartitionedCall/product"]
        assert node.float_ops == 2 * 8 * 8 * 8
        assert node.run_count == 1
        assert node.exec_micros > 0


def test_loops_and_branches_count_what_ran() -> None:
    @tf.function
    def program(x: Any) -> Any:
        _, x = tf.while_loop(
            lambda i, _: i < 3, lambda i, y: (i + 1, tf.matmul(y, x, name="turn")), [0, x]
        )
        x = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.matmul(x, x, name="yes"), lambda: 2 * x)
        return tf.switch_case(tf.size(x) - 16, [lambda: tf.matmul(x, x, name="zero"), lambda: -x])

    x = square(4)
    with trace() as t:
        program(x)
        program(x)
    found = rows(t.profiler)
    product = 2 * 4 * 4 * 4
    turn = found["program/while/body/while/turn"]
    assert (turn.run_count, turn.float_ops) == (6, 6 * product)
    yes = found["program/cond/then/cond/yes"]
    assert (yes.run_count, yes.float_ops) == (2, 2 * product)
    zero = found["program/switch_case/indexed_case/branch0/switch_case/indexed_case/zero"]
    assert (zero.run_count, zero.float_ops) == (2, 2 * product)
    assert found["program/cond/else/cond/mul"].run_count == 0


def test_functions_of_one_name_stay_apart() -> None:
    def make(factor: float) -> Any:
        @tf.function
        def step(x: Any) -> Any:
            return tf.matmul(x, factor * x)

        return step

    one, two = make(1.0), make(2.0)
    x = square(4)
    with trace() as t:
        one(x)
        two(x)
        two(x)
    found = rows(t.profiler)
    assert found["step/MatMul"].run_count == 1
    assert found["step_1/MatMul"].run_count == 2


def test_the_code_view_shows_the_lines_of_functions_and_of_eager_code() -> None:
    @tf.function
    def traced(x: Any) -> Any:
        return tf.matmul(x, x)

    x = square(16)
    with trace() as t:
        tf.linalg.matmul(traced(x), x)
    code = rows(t.profiler, "code")
    ours = {name: node for name, node in code.items() if name.startswith("test_trace.py:")}
    functions = {name.rpartition(":")[2] for name in ours}
    assert "traced" in functions
    assert "test_the_code_vie..." in functions
    (inside,) = [node for name, node in ours.items() if name.endswith(":traced")]
    assert inside.total_float_ops == 2 * 16**3
    calls = [node for name, node in ours.items() if name.endswith(":test_the_code_vie...")]
    assert max(node.total_float_ops for node in calls) >= 2 * 16**3
    assert not any("/tfprof/" in name or name.startswith("recorder.py") for name in code)


def test_eager_ops_have_scopes_flops_bytes_and_edges() -> None:
    x = tf.ones([4, 8])
    y = tf.ones([16, 8])
    with trace() as t, tf.name_scope("layer"):
        product = tf.matmul(x, y, transpose_b=True)
        tf.nn.bias_add(product, tf.ones([16]))
    found = rows(t.profiler)
    product = found["layer/MatMul"]
    assert product.float_ops == 2 * 8 * 4 * 16
    assert product.output_bytes == 4 * 16 * 4
    assert product.exec_micros > 0
    graph = rows(t.profiler, "graph")
    assert "layer/MatMul" in [child.name for child in graph["layer/BiasAdd"].children]


def test_each_call_of_step_begins_a_step() -> None:
    variable = tf.Variable(tf.ones([8, 8]), name="weights")

    @tf.function
    def train_step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(x, variable))
        variable.assign_sub(0.01 * tape.gradient(loss, variable))
        return loss

    x = tf.ones([2, 8])
    train_step(x)
    with trace(train_step, step=5) as t:
        for _ in range(3):
            train_step(x)
            t.step()
    assert t.steps == t.profiler.steps == [5, 6, 7]
    for step in t.steps:
        found = rows(t.profiler, step=step)
        assert found["train_step/MatMul"].run_count == 1
        assert found["train_step/MatMul"].float_ops == 2 * 8 * 2 * 8
        gradients = [node for name, node in found.items() if "gradient_tape" in name]
        assert sum(node.float_ops for node in gradients) >= 2 * 2 * 8 * 8
    assert t.run_meta.step_stats.dev_stats[0].device.endswith("/device:CPU:0")
    trainable = options(
        **tfprof.ProfileOptionBuilder.trainable_variables_parameter() | {"output": "none"}
    )
    assert t.profiler.view("scope", trainable).total_parameters == 64


def test_gradients_of_a_function_called_under_a_tape_have_a_scope_of_their_own() -> None:
    @tf.function
    def model(x: Any) -> Any:
        return tf.reduce_sum(tf.matmul(x, x))

    x = square(4)
    with trace() as t:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = model(x)
        tape.gradient(loss, x)
    scopes = {name.partition("/")[0] for name in rows(t.profiler)}
    assert {"model", "model_backward"} <= scopes


def test_a_compiled_function_is_one_op() -> None:
    @tf.function(jit_compile=True)
    def compiled(x: Any) -> Any:
        return tf.matmul(x, x) + 1

    x = square(4)
    compiled(x)
    with trace() as t:
        compiled(x)
    found = rows(t.profiler)
    assert found["compiled"].run_count == 1
    assert found["compiled"].exec_micros > 0


def test_a_fused_kernel_counts_as_its_product() -> None:
    weights = tf.Variable(tf.ones([8, 4]))
    bias = tf.Variable(tf.ones([4]))

    @tf.function
    def dense(x: Any) -> Any:
        return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights), bias))

    x = tf.ones([2, 8])
    with trace() as t:
        dense(x)
    ops = rows(t.profiler, "op")
    assert ops["MatMul"].float_ops == 2 * 8 * 2 * 4
    assert ops["MatMul"].run_count == 1


def test_times_add_up_to_less_than_the_time_that_passed() -> None:
    @tf.function
    def work(x: Any) -> Any:
        for _ in range(4):
            x = tf.matmul(x, x) / 300
        return x

    x = square(300)
    work(x)
    with trace() as t:
        work(x)
    total = t.profiler.view("scope", options()).total_exec_micros
    stats = [stat for block in t.run_meta.step_stats.dev_stats for stat in block.node_stats]
    start = min(stat.all_start_nanos for stat in stats)
    end = max(stat.all_start_nanos + stat.op_end_rel_nanos for stat in stats)
    threads = len({stat.thread_id for stat in stats})
    assert 0 < total <= threads * (end - start) / 1000 + len(stats)


def test_what_other_threads_run_is_recorded() -> None:
    @tf.function
    def work(x: Any) -> Any:
        return tf.matmul(x, x)

    x = square(8)
    work(x)
    with trace() as t:
        threads = [threading.Thread(target=lambda: tf.square(work(x))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = rows(t.profiler)
    assert found["work/MatMul"].run_count == 3
    assert found["Square"].run_count == 3


def test_an_exception_goes_on_and_what_ran_before_is_kept() -> None:
    x = square(4)
    t = trace()
    with pytest.raises(ZeroDivisionError), t:
        tf.matmul(x, x)
        raise ZeroDivisionError
    assert rows(t.profiler)["MatMul"].run_count == 1


def test_one_recording_at_a_time() -> None:
    x = square(4)
    with trace() as outer:
        with pytest.raises(UsageError, match="recorded already"), trace():
            pass
        tf.matmul(x, x)
    assert rows(outer.profiler)["MatMul"].run_count == 1
    with pytest.raises(UsageError, match="once"), outer:
        pass


def test_a_program_that_records_by_itself_is_left_alone(tmp_path: Path) -> None:
    tf.profiler.experimental.start(str(tmp_path))
    try:
        with pytest.raises(UsageError, match="recorded already"), trace():
            pass
    finally:
        tf.profiler.experimental.stop()
    assert list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))


def test_the_profile_is_there_when_the_block_is_over() -> None:
    t = trace()
    with pytest.raises(UsageError, match="inside the with block"):
        t.step()
    with t, pytest.raises(UsageError, match="after the with block"):
        _ = t.profiler
    assert t.steps == []
    with pytest.raises(EmptyProfileError):
        _ = t.run_meta


def test_targets_must_be_something_that_runs() -> None:
    with pytest.raises(UsageError, match=r"'model\.h5'"):
        trace("model.h5")
    with pytest.raises(UsageError, match="step='one'"):
        trace(step="one")  # type: ignore[arg-type]


def test_dataset_functions_have_a_scope_of_their_own() -> None:
    data = tf.data.Dataset.range(4).map(lambda n: tf.cast(n, tf.float32) * 2).batch(2)

    @tf.function(autograph=False)  # which does not support every release of Python
    def total() -> Any:
        return data.reduce(tf.constant(0.0), lambda sofar, batch: sofar + tf.reduce_sum(batch))

    with trace() as t:
        total()
    products = [
        node
        for name, node in rows(t.profiler).items()
        if name.startswith("tf.data/") and name.endswith("/mul")
    ]
    assert sum(node.run_count for node in products) == 4


def test_a_profile_can_be_saved(tmp_path: Path) -> None:
    x = square(4)
    with trace() as t:
        tf.matmul(x, x)
    t.profiler.save(tmp_path / "profile_0")
    assert tfprof.Profiler.load(tmp_path / "profile_0").steps == [0]
