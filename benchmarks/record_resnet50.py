"""Record one training step of ResNet-50: its graph, run metadata and op log.

The model is written here with TensorFlow's graph-mode building blocks, one Python function for
each part of the network, so that the call stacks in the op log read like the model. The files
written hold no path of the recording machine: this script appears in them as
``resnet50/train.py`` and TensorFlow's own sources as ``tensorflow/...``.

    python benchmarks/record_resnet50.py graph.pb.gz run_meta.pb.gz op_log.pb.gz
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf
from tensorflow.python.profiler import tfprof_logger

tf1 = tf.compat.v1

SCRIPT_NAME = "resnet50/train.py"
IMAGE_SIZE = 224
CLASSES = 1000
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))  # width, blocks, stride of the first
WEIGHT_DECAY = 1e-4
BATCH_NORM_MOMENTUM = 0.9


def conv2d(x: Any, filters: int, size: int, stride: int, name: str) -> Any:
    with tf1.variable_scope(name):
        kernel = tf1.get_variable(
            "kernel",
            [size, size, x.shape[-1], filters],
            initializer=tf1.variance_scaling_initializer(2.0, "fan_out"),
        )
        return tf.nn.conv2d(x, kernel, strides=stride, padding="SAME")


def moving_average(variable: Any, value: Any) -> Any:
    return tf1.assign_sub(variable, (variable - value) * (1.0 - BATCH_NORM_MOMENTUM))


def batch_norm(x: Any, name: str, gamma: float = 1.0) -> Any:
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
        y, batch_mean, batch_variance = tf1.nn.fused_batch_norm(
            x, scale, offset, epsilon=1.001e-5, is_training=True
        )
        tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, moving_average(mean, batch_mean))
        tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, moving_average(variance, batch_variance))
        return y


def conv_bn_relu(x: Any, filters: int, size: int, stride: int, name: str) -> Any:
    with tf1.variable_scope(name):
        x = conv2d(x, filters, size, stride, "conv")
        return tf.nn.relu(batch_norm(x, "bn"))


def shortcut(x: Any, filters: int, stride: int) -> Any:
    with tf1.variable_scope("shortcut"):
        return batch_norm(conv2d(x, filters, 1, stride, "conv"), "bn")


def bottleneck_block(x: Any, width: int, stride: int, name: str) -> Any:
    with tf1.variable_scope(name):
        filters = 4 * width
        residual = x if x.shape[-1] == filters and stride == 1 else shortcut(x, filters, stride)
        y = conv_bn_relu(x, width, 1, 1, "reduce")
        y = conv_bn_relu(y, width, 3, stride, "spatial")
        with tf1.variable_scope("expand"):
            y = batch_norm(conv2d(y, filters, 1, 1, "conv"), "bn", gamma=0.0)
        return tf.nn.relu(y + residual)


def residual_stage(x: Any, width: int, blocks: int, stride: int, name: str) -> Any:
    with tf1.variable_scope(name):
        for index in range(blocks):
            x = bottleneck_block(x, width, stride if index == 0 else 1, f"block_{index + 1}")
        return x


def stem(x: Any) -> Any:
    with tf1.variable_scope("stem"):
        x = conv_bn_relu(x, 64, 7, 2, "conv1")
        return tf.nn.max_pool2d(x, 3, 2, "SAME")


def classifier(x: Any) -> Any:
    with tf1.variable_scope("classifier"):
        x = tf.reduce_mean(x, axis=[1, 2])
        kernel = tf1.get_variable(
            "kernel", [x.shape[-1], CLASSES], initializer=tf1.glorot_uniform_initializer()
        )
        bias = tf1.get_variable("bias", [CLASSES], initializer=tf1.zeros_initializer())
        return tf.nn.bias_add(tf.matmul(x, kernel), bias)


def resnet50(images: Any) -> Any:
    with tf1.variable_scope("resnet50"):
        x = stem(images)
        for index, (width, blocks, stride) in enumerate(STAGES):
            x = residual_stage(x, width, blocks, stride, f"stage_{index + 1}")
        return classifier(x)


def input_pipeline(batch: int) -> Any:
    """Random images and labels, through a real input pipeline."""

    def synthesise(_: Any) -> Any:
        image = tf.random.uniform([IMAGE_SIZE, IMAGE_SIZE, 3], maxval=256, dtype=tf.int32)
        return tf.cast(image, tf.uint8), tf.random.uniform([], maxval=CLASSES, dtype=tf.int32)

    with tf1.name_scope("input"):
        data = tf.data.Dataset.range(1 << 20).map(synthesise).batch(batch, drop_remainder=True)
        return tf1.data.make_one_shot_iterator(data.prefetch(2)).get_next()


def augment(images: Any) -> Any:
    with tf1.name_scope("augment"):
        images = tf.image.random_flip_left_right(images)
        mean = tf.constant([123.68, 116.78, 103.94], name="channel_mean")
        return tf.cast(images, tf.float32) - mean


def loss_function(logits: Any, labels: Any) -> Any:
    with tf1.name_scope("loss"):
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        kernels = [v for v in tf1.trainable_variables() if v.op.name.endswith("kernel")]
        penalty = tf.add_n([tf.nn.l2_loss(v) for v in kernels])
        return tf.reduce_mean(losses) + WEIGHT_DECAY * penalty


def learning_rate(step: Any) -> Any:
    with tf1.name_scope("learning_rate"):
        warm_up = 0.1 * tf.cast(step, tf.float32) / 500.0
        return tf.minimum(warm_up, tf1.train.cosine_decay(0.1, step, 100_000))


def gradient_sizes(gradients: Any, variables: Any) -> Any:
    """A summary of each variable's largest gradient, as training scripts log it."""
    with tf1.name_scope("gradient_sizes"):
        for gradient, variable in zip(gradients, variables, strict=True):
            tf1.summary.scalar(variable.op.name, tf.reduce_max(tf.abs(gradient)))
        return tf1.summary.merge_all()


def averaged_weights(step: Any) -> Any:
    """Keep a moving average of every weight, for evaluation."""
    average = tf1.train.ExponentialMovingAverage(0.9999, num_updates=step)
    return average.apply(tf1.trainable_variables())


def training_step(batch: int) -> tuple[Any, Any]:
    """One step: forward, backward, clipping, update, averages. Returns the loss and summaries."""
    step = tf1.train.get_or_create_global_step()
    images, labels = input_pipeline(batch)
    logits = resnet50(augment(images))
    tf1.train.Saver()  # its ops are part of every training graph; the recorded step runs none
    loss = loss_function(logits, labels)
    optimizer = tf1.train.MomentumOptimizer(learning_rate(step), 0.9, use_nesterov=True)
    gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
    summaries = gradient_sizes(gradients, variables)
    clipped, _ = tf.clip_by_global_norm(gradients, 5.0)
    update = optimizer.apply_gradients(zip(clipped, variables, strict=True), global_step=step)
    updated = tf.group(update, *tf1.get_collection(tf1.GraphKeys.UPDATE_OPS), name="updated")
    with tf1.control_dependencies([updated]):
        averages = averaged_weights(step)
    with tf1.control_dependencies([averages]):
        return tf.identity(loss, name="train_loss"), summaries


def session_config() -> Any:
    """No graph rewriting, so that the nodes that ran are the nodes of the graph."""
    config = tf1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf1.OptimizerOptions.L0
    return config


def record(batch: int, warm_up: int) -> tuple[Any, Any]:
    """Build the graph, run it, and return it with the metadata of the last step."""
    graph = tf.Graph()
    run_meta = tf1.RunMetadata()
    with graph.as_default():
        tf1.set_random_seed(1)
        fetches = training_step(batch)
        initialise = tf1.global_variables_initializer()
        with tf1.Session(graph=graph, config=session_config()) as session:
            session.run(initialise)
            for _ in range(warm_up):
                session.run(fetches)
            options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
            session.run(fetches, options=options, run_metadata=run_meta)
    for field in ("partition_graphs", "cost_graph", "function_graphs"):
        run_meta.ClearField(field)
    return graph, run_meta


def neutral_path(path: str) -> str:
    """The path without folders of this machine."""
    if Path(path).resolve() == Path(__file__).resolve():
        return SCRIPT_NAME
    parts = Path(path).parts
    if "tensorflow" in parts:
        last = len(parts) - 1 - parts[::-1].index("tensorflow")
        return "/".join(parts[last:])
    return Path(path).name


def build_op_log(graph: Any, run_meta: Any) -> Any:
    """TensorFlow's own op log for the graph, without this machine's paths."""
    op_log = tfprof_logger.merge_default_with_oplog(graph, None, run_meta)
    files = {trace.file_id for entry in op_log.log_entries for trace in entry.code_def.traces}
    for file_id in files:
        op_log.id_to_string[file_id] = neutral_path(op_log.id_to_string[file_id])
    return op_log


def write(path: Path, message: Any) -> None:
    data = message.SerializeToString(deterministic=True)
    path.write_bytes(gzip.compress(data, 9, mtime=0) if path.suffix == ".gz" else data)
    print(f"{path}: {len(data):,} bytes, {path.stat().st_size:,} stored")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("graph", "run_meta", "op_log"):
        parser.add_argument(name, type=Path, help="output file; a .gz name compresses it")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--warm-up", type=int, default=2)
    args = parser.parse_args()
    graph, run_meta = record(args.batch, args.warm_up)
    op_log = build_op_log(graph, run_meta)
    write(args.graph, graph.as_graph_def(add_shapes=True))
    write(args.run_meta, run_meta)
    write(args.op_log, op_log)
    stats = sum(len(device.node_stats) for device in run_meta.step_stats.dev_stats)
    print(f"{len(graph.get_operations()):,} graph nodes, {stats:,} node stats")
    return 0


if __name__ == "__main__":
    sys.exit(main())
