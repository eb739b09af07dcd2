"""Real models, run by TensorFlow; programs that write what the profiler reads.

Each writes a pickled dict with ``graph``, ``op_log`` and ``steps`` (step number and run metadata),
all serialized, in a process of its own.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from tests.remote.programs import Forked

PROGRAM = "import sys; from tests.oracle.models import main; main(*sys.argv[1:])"
NAMES = ("conv_net", "while_loop", "concrete_function")


def build(name: str, folder: Path) -> dict[str, Any]:
    """Run one model in a new process and return its messages."""
    target = folder / f"{name}.pickle"
    _, errors = Forked(PROGRAM, name, str(target)).communicate()
    if not target.is_file():
        raise RuntimeError(f"the model {name} did not run:\n{errors.decode()[-3000:]}")
    return pickle.loads(target.read_bytes())


def _conv_net(tf: Any) -> Any:
    v1 = tf.compat.v1
    image = v1.placeholder_with_default(tf.ones([2, 8, 8, 3]), [None, 8, 8, 3], name="image")
    layer = image
    for index, channels in enumerate((3, 4)):
        with v1.variable_scope(f"layer{index}"):
            kernel = v1.get_variable("kernel", [3, 3, channels, 4], use_resource=False)
            layer = tf.nn.relu(v1.nn.conv2d(layer, kernel, strides=[1, 1, 1, 1], padding="SAME"))
    with v1.variable_scope("head"):
        weights = v1.get_variable("weights", [4, 5], use_resource=True)
        logits = tf.matmul(tf.reduce_mean(layer, [1, 2]), weights)
    loss = tf.reduce_mean(tf.square(logits), name="loss")
    return v1.train.GradientDescentOptimizer(0.1).minimize(loss)


def _while_loop(tf: Any) -> Any:
    v1 = tf.compat.v1
    v1.disable_control_flow_v2()
    weights = tf.constant([[1.0, 0.5], [0.0, 1.0]], name="weights")

    def body(index: Any, value: Any) -> tuple[Any, Any]:
        with v1.name_scope("step"):
            return index + 1, tf.matmul(value, weights)

    with v1.name_scope("loop"):
        start = (tf.constant(0), tf.ones([3, 2]))
        _, value = v1.while_loop(lambda index, _: index < 5, body, start)
    return tf.gradients(tf.reduce_sum(value), weights)


def _run_session(tf: Any, name: str) -> dict[str, Any]:
    from tensorflow.python.profiler import tfprof_logger

    v1 = tf.compat.v1
    v1.set_random_seed(1)
    with v1.Graph().as_default() as graph:
        fetches = {"conv_net": _conv_net, "while_loop": _while_loop}[name](tf)
        steps = _run_steps(tf, fetches, None)
        op_log = tfprof_logger.merge_default_with_oplog(graph, add_trace=True)
        graph_def = graph.as_graph_def(add_shapes=True)
    return {
        "graph": graph_def.SerializeToString(deterministic=True),
        "op_log": _without_folders(op_log),
        "steps": steps,
    }


def _run_function(tf: Any) -> dict[str, Any]:
    from tensorflow.python.profiler import tfprof_logger

    weights = tf.ones([4, 6])

    @tf.function
    def dense(value: Any) -> Any:
        with tf.name_scope("dense"):
            hidden = tf.nn.relu(tf.matmul(value, weights))
        return tf.while_loop(lambda x: tf.reduce_sum(x) < 1e3, lambda x: (x * 2.0,), (hidden,))

    graph = dense.get_concrete_function(tf.ones([2, 4])).graph
    op_log = tfprof_logger.merge_default_with_oplog(graph, add_trace=True)
    graph_def = graph.as_graph_def(add_shapes=True)
    feeds = {tensor.name: [[1.0] * tensor.shape[1]] * tensor.shape[0] for tensor in graph.inputs}
    with tf.Graph().as_default():
        tf.graph_util.import_graph_def(graph_def, name="")
        steps = _run_steps(tf, [tensor.name for tensor in graph.outputs], feeds)
    return {
        "graph": graph_def.SerializeToString(deterministic=True),
        "op_log": _without_folders(op_log),
        "steps": steps,
    }


def _run_steps(tf: Any, fetches: Any, feeds: dict[str, Any] | None) -> list[tuple[int, bytes]]:
    """Run the default graph twice with full tracing, as steps 0 and 3."""
    v1 = tf.compat.v1
    steps = []
    with v1.Session() as session:
        if feeds is None:
            session.run(v1.global_variables_initializer())
        for step in (0, 3):
            run_meta = v1.RunMetadata()
            options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
            session.run(fetches, feeds, options=options, run_metadata=run_meta)
            steps.append((step, _trim(run_meta)))
    return steps


def _trim(run_meta: Any) -> bytes:
    """Drop the graphs, which the profiler does not read."""
    for field in ("partition_graphs", "function_graphs", "cost_graph"):
        run_meta.ClearField(field)
    return run_meta.SerializeToString(deterministic=True)


def _without_folders(op_log: Any) -> bytes:
    """Cut the traces' file names to their last part, as the reports do."""
    for number, text in op_log.id_to_string.items():
        op_log.id_to_string[number] = text.rpartition("/")[2]
    return op_log.SerializeToString(deterministic=True)


def main(name: str, target: str) -> None:
    """Build one model and write its messages."""
    import tensorflow as tf

    if name == "concrete_function":
        model = _run_function(tf)
    else:
        tf.compat.v1.disable_eager_execution()
        model = _run_session(tf, name)
    Path(target).write_bytes(pickle.dumps(model))
