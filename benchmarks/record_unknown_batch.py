"""Record the ResNet-50 step as many training scripts have it: the graph does not know the batch.

The last batch of the input may be smaller, and what batch normalization does is decided while the
graph runs (``is_training`` as a placeholder), by the conditionals of TensorFlow 1. Of each
``Switch`` only one output is ever seen.

    python benchmarks/record_unknown_batch.py FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import record_resnet50 as model
import tensorflow as tf

tf1 = tf.compat.v1


def input_pipeline(batch: int) -> Any:
    """As in the model, but no batch is dropped for being small."""

    def synthesise(_: Any) -> Any:
        size = [model.IMAGE_SIZE, model.IMAGE_SIZE, 3]
        image = tf.random.uniform(size, maxval=256, dtype=tf.int32)
        label = tf.random.uniform([], maxval=model.CLASSES, dtype=tf.int32)
        return tf.cast(image, tf.uint8), label

    with tf1.name_scope("input"):
        data = tf.data.Dataset.range(1 << 20).map(synthesise).batch(batch)
        return tf1.data.make_one_shot_iterator(data.prefetch(2)).get_next()


def batch_norm(x: Any, name: str, gamma: float = 1.0) -> Any:
    """As in the model, for training and for inference in one graph."""
    with tf1.variable_scope(name):
        size = [x.shape[-1]]
        scale = tf1.get_variable("gamma", size, initializer=tf1.constant_initializer(gamma))
        offset = tf1.get_variable("beta", size, initializer=tf1.zeros_initializer())
        mean = tf1.get_variable(
            "moving_mean", size, initializer=tf1.zeros_initializer(), trainable=False
        )
        variance = tf1.get_variable(
            "moving_variance", size, initializer=tf1.ones_initializer(), trainable=False
        )
        y, batch_mean, batch_variance = tf1.cond(
            is_training(),
            lambda: tf1.nn.fused_batch_norm(x, scale, offset, epsilon=1.001e-5, is_training=True),
            lambda: tf1.nn.fused_batch_norm(
                x, scale, offset, mean, variance, epsilon=1.001e-5, is_training=False
            ),
        )
        updates = (
            model.moving_average(mean, batch_mean),
            model.moving_average(variance, batch_variance),
        )
        for update in updates:
            tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, update)
        return y


def is_training() -> Any:
    """The placeholder that says so; one for each graph."""
    graph = tf1.get_default_graph()
    if not graph.get_collection("is_training"):
        with tf1.name_scope(None), tf.control_dependencies(None):
            chosen = tf1.placeholder_with_default(True, [], "is_training")
        graph.add_to_collection("is_training", chosen)
    return graph.get_collection("is_training")[0]


def record(batch: int = 8, warm_up: int = 2) -> tuple[Any, Any]:
    """The graph, and the metadata of its last run."""
    model.input_pipeline, model.batch_norm = input_pipeline, batch_norm
    tf1.disable_control_flow_v2()
    return model.record(batch, warm_up)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where graph.pb, run_meta.pb and op_log.pb go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    graph, run_meta = record()
    model.write(folder / "graph.pb", graph.as_graph_def(add_shapes=True))
    model.write(folder / "run_meta.pb", run_meta)
    model.write(folder / "op_log.pb", model.build_op_log(graph, run_meta))


if __name__ == "__main__":
    main()
