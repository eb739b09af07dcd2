"""Live graphs: the answers of TensorFlow's own Python layer, and nothing of the user's changed."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest

import tfprof
from tfprof.errors import UsageError
from tfprof.graphs.live.live_graph import default_graph, live_graph

pytestmark = pytest.mark.tensorflow
tf: Any = None
model_analyzer: Any = None

METHODS = {
    "scope": "profile_name_scope",
    "graph": "profile_graph",
    "op": "profile_operations",
    "code": "profile_python",
}
PRESETS = {
    "time": tfprof.ProfileOptionBuilder().build(),
    "flops": tfprof.ProfileOptionBuilder.float_operation(),
    "params": tfprof.ProfileOptionBuilder.trainable_variables_parameter(),
}


@pytest.fixture(scope="module", autouse=True)
def _tensorflow() -> None:
    """Import TensorFlow when the first test runs, not when tests are collected."""
    global tf, model_analyzer
    tf = pytest.importorskip("tensorflow")
    model_analyzer = pytest.importorskip("tensorflow.python.profiler.model_analyzer")


def build() -> Any:
    """A graph with unknown shapes, layouts and ops that the formulas treat in different ways."""
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        images = v1.placeholder(tf.float32, [None, 8, 8, 3], name="images")
        kernel = v1.get_variable("kernel", [3, 3, 3, 4])
        net = v1.nn.conv2d(images, kernel, [1, 1, 1, 1], "SAME")
        net = v1.nn.max_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        weights = v1.get_variable("weights", [64, 10], use_resource=True)
        net = tf.nn.softmax(tf.matmul(tf.reshape(net, [-1, 64]), weights))
        tf.matmul(tf.ones([2, 3, 4]), tf.ones([2, 3, 5]), transpose_a=True, name="batched")
        with tf.control_dependencies([net]):
            tf.add_n([tf.ones([2, 3])] * 4, name="sum")
        tf.nn.avg_pool2d(tf.ones([1, 3, 8, 8]), 2, 2, "SAME", data_format="NCHW", name="pool")
        tf.reduce_mean(tf.ones([3, 4]), 0)
        tf.nn.l2_loss(tf.zeros([0]), name="nothing")
        loss = tf.reduce_sum(tf.nn.relu(net))
        v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
    return graph


@pytest.fixture(scope="module")
def run_meta() -> Any:
    v1 = tf.compat.v1
    graph = build()
    metadata = v1.RunMetadata()
    with v1.Session(graph=graph) as session, graph.as_default():
        session.run(v1.global_variables_initializer())
        session.run(
            "train",
            {"images:0": [[[[1.0] * 3] * 8] * 8] * 4},
            options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE),
            run_metadata=metadata,
        )
    return metadata


def shapes_of(graph: Any) -> list[str]:
    return [str(tensor.shape) for op in graph.get_operations() for tensor in op.outputs]


def quietly(function: Any, *args: Any, **kwargs: Any) -> Any:
    with contextlib.redirect_stderr(io.StringIO()):
        return function(*args, **kwargs)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("cmd", METHODS)
@pytest.mark.parametrize("with_run", [False, True])
def test_one_shot_equals_tensorflow(run_meta: Any, cmd: str, preset: str, with_run: bool) -> None:
    options = {**PRESETS[preset], "output": "none"}
    run = run_meta if with_run else None
    graph = build()
    before = shapes_of(graph)
    ours = tfprof.profile(graph, run, cmd=cmd, options=options, classic=True)
    assert shapes_of(graph) == before
    theirs = quietly(model_analyzer.profile, graph, run, cmd=cmd, options=options)
    assert ours == type(ours).FromString(theirs.SerializeToString())


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("cmd", METHODS)
def test_profiler_equals_tensorflow(run_meta: Any, cmd: str, preset: str) -> None:
    options = {**PRESETS[preset], "output": "none"}
    graph = build()
    profiler = tfprof.Profiler(graph, classic=True)
    profiler.add_step(3, run_meta)
    ours = getattr(profiler, METHODS[cmd])(options)
    original = quietly(model_analyzer.Profiler, graph)
    original.add_step(3, run_meta)
    theirs = getattr(original, METHODS[cmd])(options)
    assert ours == type(ours).FromString(theirs.SerializeToString())
    assert profiler.coverage == pytest.approx(original._coverage, rel=1e-6)


def test_the_default_counts_what_the_original_gets_wrong() -> None:
    profiler = tfprof.Profiler(build())
    tree = profiler.view("scope", {**tfprof.ProfileOptionBuilder().build(), "max_depth": 1000})
    flops = dict(zip(tree.names, tree.columns["float_ops"].tolist(), strict=True))
    assert flops["batched"] == 2 * 3 * (2 * 4 * 5)  # adj_x: the depth is 3, not 4
    assert flops["sum"] == 6 * 3  # control inputs are not terms
    assert flops["pool"] == 4 * (1 * 3 * 4 * 4)  # NCHW
    assert flops["nothing"] == 0  # not -1
    (notice,) = [n for n in profiler.notices if n.code == "incomplete-shape"]
    assert notice.count > 0


def test_run_time_shapes_make_flops_countable(run_meta: Any) -> None:
    profiler = tfprof.Profiler(build())
    profiler.add_step(0, run_meta)
    tree = profiler.view("scope", {**tfprof.ProfileOptionBuilder().build(), "max_depth": 1000})
    flops = dict(zip(tree.names, tree.columns["float_ops"].tolist(), strict=True))
    assert flops["Conv2D"] == 2 * (4 * 8 * 8 * 4) * (3 * 3 * 3)
    assert flops["MatMul"] == 2 * 64 * (4 * 10)


def test_ops_that_the_graph_gains_later_are_picked_up() -> None:
    graph = build()
    profiler = tfprof.Profiler(graph)
    options = {**tfprof.ProfileOptionBuilder().build(), "output": "none"}
    before = profiler.profile_name_scope(options)
    with graph.as_default():
        tf.compat.v1.get_variable("late", [7, 3])
        tf.square(tf.ones([5]), name="squared")
    after = profiler.profile_name_scope(options)
    names = {child.name for child in after.children} - {child.name for child in before.children}
    assert {"late", "squared"} <= names
    trainable = profiler.profile_name_scope(
        {**tfprof.ProfileOptionBuilder.trainable_variables_parameter(), "output": "none"}
    )
    assert trainable.total_parameters == 3 * 3 * 3 * 4 + 64 * 10 + 21
    code = profiler.profile_python(options)
    members = [node.name for line in every_line(code) for node in line.graph_nodes]
    assert "squared" in members


def every_line(root: Any) -> list[Any]:
    lines = [root]
    for line in lines:
        lines.extend(line.children)
    return lines


def test_the_users_op_log_wins_and_stays_as_it_is(run_meta: Any) -> None:
    log = tfprof.OpLogProto()
    entry = log.log_entries.add(name="MatMul", float_ops=77, types=["mine"])
    trace = entry.code_def.traces.add(lineno=5, file_id=4, function_id=9)
    log.id_to_string[4] = "my.py"
    log.id_to_string[9] = "my_function"
    before = log.SerializeToString(deterministic=True)
    profiler = tfprof.Profiler(build(), log)
    profiler.add_step(0, run_meta)
    options = {
        **tfprof.ProfileOptionBuilder().build(),
        "account_type_regexes": ["mine"],
        "output": "none",
    }
    code = profiler.profile_python(options)
    assert code.children[0].name == "my.py:5:my_function"
    assert code.children[0].float_ops == 77
    assert log.SerializeToString(deterministic=True) == before
    assert trace.lineno == 5


def test_concrete_functions_and_func_graphs_are_graphs() -> None:
    @tf.function
    def double(x: Any) -> Any:
        return tf.matmul(x, x, name="product")

    concrete = double.get_concrete_function(tf.TensorSpec([3, 3]))
    for source in (concrete, concrete.graph):
        options = {**tfprof.ProfileOptionBuilder.float_operation(), "output": "none"}
        assert tfprof.profile(source, options=options).total_float_ops == 2 * 3 * 9
    with pytest.raises(UsageError, match="get_concrete_function"):
        tfprof.Profiler(double)


def test_only_graphs_are_live_graphs() -> None:
    assert live_graph(b"bytes") is None
    assert live_graph(tf.constant(1)) is None


def test_the_default_graph_is_taken_outside_eager_mode() -> None:
    assert default_graph() is None
    with tf.Graph().as_default():
        tf.constant(3.0, name="three")
        assert default_graph() is tf.compat.v1.get_default_graph()
        names = [child.name for child in tfprof.Profiler().view("scope").children]
    assert names == ["three"]


def test_write_op_log_is_understood_by_tensorflow_and_by_us(tmp_path: Any, run_meta: Any) -> None:
    graph = build()
    tfprof.write_op_log(graph, tmp_path, run_meta=run_meta, classic=True)
    ours = tfprof.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    logger = pytest.importorskip("tensorflow.python.profiler.tfprof_logger")
    theirs = quietly(logger.merge_default_with_oplog, graph, None, run_meta)

    def told(log: Any) -> dict[str, Any]:
        text = log.id_to_string
        return {
            entry.name: (
                entry.float_ops,
                list(entry.types),
                [
                    (text[t.file_id], text[t.function_id], t.lineno, t.func_start_line)
                    for t in entry.code_def.traces
                ],
            )
            for entry in log.log_entries
        }

    assert told(ours) == told(theirs)
