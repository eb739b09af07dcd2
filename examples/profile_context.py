"""Profile a training loop without changing it; needs TensorFlow.

python examples/profile_context.py
"""

import numpy as np
import tensorflow.compat.v1 as tf

import tfprof


def train(n_steps: int) -> None:
    """A training loop without any profiling code."""
    with tf.Graph().as_default(), tf.Session() as session:
        pixels = tf.constant(np.random.default_rng(1).random((64, 784)), tf.float32)
        labels = tf.constant(np.arange(64) % 10)
        with tf.variable_scope("dense"):
            weights = tf.get_variable("weights", [784, 10])
            logits = tf.matmul(pixels, weights)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        for _ in range(n_steps):
            session.run(step)


def main() -> None:
    """Trace steps 8 to 10, write a profile after step 10, and ask for the slowest ops."""
    with tfprof.ProfileContext("train_dir", trace_steps=range(8, 11), dump_steps=[10]) as pctx:
        train(20)

    options = tfprof.ProfileOptionBuilder().order_by("micros").with_max_depth(5)
    pctx.profiler.profile_operations(options.with_min_execution_time(1).build())
    print("Traced steps:", *pctx.profiler.steps)

    saved = tfprof.load("train_dir/profile_10")  # on any machine, without TensorFlow
    print("In the file:", *saved.steps)


if __name__ == "__main__":
    main()
