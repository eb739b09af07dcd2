"""Train a small model with a TF1 session, trace two steps and profile them; needs TensorFlow.

python examples/train_and_profile_v1.py
"""

import numpy as np
import tensorflow as tf

import tfprof

tf1 = tf.compat.v1


def build() -> tuple[tf.Graph, tf.Operation, tf.Operation]:
    """A graph with its training op and its initializer."""
    graph = tf.Graph()
    with graph.as_default():
        pixels = tf.constant(np.random.default_rng(1).random((64, 28, 28, 1)), tf.float32)
        labels = tf.constant(np.arange(64) % 10)
        with tf1.variable_scope("conv"):
            kernel = tf1.get_variable("kernel", [3, 3, 1, 8])
            hidden = tf.nn.relu(tf.nn.conv2d(pixels, kernel, 2, "SAME"))
        with tf1.variable_scope("dense"):
            weights = tf1.get_variable("weights", [14 * 14 * 8, 10])
            logits = tf.reshape(hidden, [64, -1]) @ weights
        with tf1.name_scope("loss"):
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        return graph, train, tf1.global_variables_initializer()


def main() -> None:
    """Train, trace, and print two reports."""
    graph, train, initialize = build()
    profiler = tfprof.Profiler(graph)
    trace = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
    with tf1.Session(graph=graph) as session:
        session.run(initialize)
        session.run(train)  # the first step is slower than the others
        for step in (1, 2):
            run_meta = tf1.RunMetadata()
            session.run(train, options=trace, run_metadata=run_meta)
            profiler.add_step(step, run_meta)

    builder = tfprof.ProfileOptionBuilder
    time = builder().order_by("micros").select(["micros", "bytes"])
    profiler.profile_name_scope(time.with_max_depth(3).with_min_execution_time(10).build())
    own_lines = [".*train_and_profile.*"]
    profiler.profile_python(
        time.with_max_depth(6).with_node_names(show_name_regexes=own_lines).build()
    )

    variables = profiler.profile_name_scope(
        {**builder.trainable_variables_parameter(), "output": "none"}
    )
    print(f"Parameters: {variables.total_parameters:,}")
    operations = profiler.profile_operations({**builder.float_operation(), "output": "none"})
    print(f"Float operations of a step: {operations.total_float_ops:,}")


if __name__ == "__main__":
    main()
