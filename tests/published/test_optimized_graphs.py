"""Graphs that TensorFlow's optimizer, Grappler, has rewritten cost what the model does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfprof
from tests.published.models import BATCH, CONVNET_OF_TF_KERAS, MODELS
from tfprof.graphs.reports.report import FlopsReport

pytestmark = pytest.mark.tensorflow


def optimized(model: Any) -> Any:
    """The GraphDef of a model, its weights made constants, as Grappler makes it for a CPU."""
    import tensorflow as tf
    from tensorflow.core.protobuf.config_pb2 import ConfigProto
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2,
    )
    from tensorflow.python.grappler import tf_optimizer

    # Biases of 0 would be left out.
    random = np.random.default_rng(0)
    model.set_weights([random.uniform(0.1, 1, each.shape) for each in model.get_weights()])
    (spec,) = (tf.TensorSpec([BATCH, *each.shape[1:]], each.dtype) for each in model.inputs)
    function = tf.function(lambda x: model(x, training=False)).get_concrete_function(spec)
    frozen = convert_variables_to_constants_v2(function, lower_control_flow=False)
    graph = tf.compat.v1.train.export_meta_graph(
        graph_def=frozen.graph.as_graph_def(), graph=frozen.graph
    )
    fetches = [each.name for each in frozen.outputs]
    graph.collection_def["train_op"].node_list.value.extend(fetches)
    for node in graph.graph_def.node:
        node.device = "/job:localhost/replica:0/task:0/device:CPU:0"
    config = ConfigProto()
    config.graph_options.rewrite_options.min_graph_nodes = -1
    return tf_optimizer.OptimizeGraph(config, graph)


def fused_ops(report: FlopsReport) -> set[str]:
    return {row.node.kind.op for row in report.ops if row.node.kind.op.startswith("_")}


@pytest.mark.parametrize(
    ("name", "fused"),
    [
        ("transformer encoder", set()),
        ("LSTM tagger", set()),
        ("U-Net", {"_FusedConv2D"}),  # with bias and ReLU
        ("ViT", {"_FusedConv2D", "_FusedMatMul"}),
    ],
)
def test_rewritten_models_of_keras_3(name: str, fused: set[str]) -> None:
    keras = pytest.importorskip("keras")
    make, work = MODELS[name]
    report = tfprof.flops(optimized(make(keras)))
    assert fused_ops(report) >= fused
    assert (report.flops, report.macs) == (work.flops, work.macs)
    assert report.coverage == 1


def test_a_fused_batch_norm() -> None:
    keras = pytest.importorskip("tf_keras")
    report = tfprof.flops(optimized(MODELS["convnet"][0](keras)))
    assert fused_ops(report) >= {"_FusedConv2D", "_FusedMatMul"}
    work = CONVNET_OF_TF_KERAS
    assert (report.flops, report.macs) == (work.flops, work.macs)
