"""Shapes of normalization kernels."""

import numpy as np
import pytest

from tests.graphs.calls import call, floats, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import UNKNOWN
from tfprof.graphs.shapes.infer import SHAPES

B, C = Symbolic.named("B"), Symbolic.named("C")


@pytest.mark.tensorflow
def test_batch_norms_agree_with_tensorflow():
    def build(raw, feed):
        x = feed(np.ones((2, 4, 5, 3), np.float32), 0)
        scale, mean = (feed(np.ones((3,), np.float32)) for _ in range(2))
        for training in (True, False):
            statistics = {"scale": scale, "offset": scale, "mean": mean, "variance": mean}
            flag = {"is_training": training}
            raw.FusedBatchNorm(x=x, **statistics, **flag)
            raw.FusedBatchNormV2(x=x, **statistics, **flag)
            raw.FusedBatchNormV3(x=x, **statistics, **flag)
            back = {"y_backprop": x, "x": x, "scale": scale, **flag}
            saved = {"reserve_space_1": mean, "reserve_space_2": mean}
            raw.FusedBatchNormGrad(**back, **saved)
            raw.FusedBatchNormGradV2(**back, **saved)
            raw.FusedBatchNormGradV3(**back, **saved, reserve_space_3=mean)

    check(build, run=False)


@pytest.mark.tensorflow
def test_channels_may_come_first():
    def build(raw, feed):
        scale = feed(np.ones((3,), np.float32))
        for dims, layout in (((2, 3, 4, 5), "NCHW"), ((2, 3, 4, 5, 6), "NCDHW")):
            raw.FusedBatchNormV3(
                x=feed(np.ones(dims, np.float32), 0),
                scale=scale,
                offset=scale,
                mean=scale,
                variance=scale,
                data_format=layout,
            )

    check(build, run=False)


@pytest.mark.tensorflow
def test_older_normalizations_agree_with_tensorflow():
    def build(raw, feed):
        x = feed(np.ones((2, 4, 5, 3), np.float32), 0)
        raw.LRN(input=x)
        raw.LRNGrad(input_grads=x, input_image=x, output_image=x)

    check(build)


def test_the_scale_gives_the_channels_where_the_image_does_not():
    inputs = (floats(B, 4, 4, C), *[floats(8)] * 4)
    assert shapes(SHAPES, call("FusedBatchNormV3", *inputs))[1] == (8,)


def test_the_gradient_takes_the_shape_from_whichever_image_is_known():
    inputs = (floats(B, 4, 4, 8), UNKNOWN, floats(8), floats(8), floats(8), UNKNOWN)
    outputs = shapes(SHAPES, call("FusedBatchNormGradV3", *inputs))
    assert outputs == [(B, 4, 4, 8), (8,), (8,), (0,), (0,)]


def test_side_inputs_get_a_gradient_of_the_shape_of_the_image():
    inputs = (floats(B, 4, 4, 8), floats(B, 4, 4, 8), floats(8), *[floats(8)] * 4)
    outputs = shapes(SHAPES, call("_FusedBatchNormGradEx", *inputs, num_side_inputs=1))
    assert outputs[5:] == [(B, 4, 4, 8)]


def test_onednn_kernels_have_a_layout_for_each_output():
    inputs = (floats(B, 4, 4, 8), *[floats(8)] * 4)
    assert len(shapes(SHAPES, call("_MklFusedBatchNorm", *inputs))) == 10
    assert len(shapes(SHAPES, call("_MklFusedBatchNormV3", *inputs))) == 12
    back = (floats(B, 4, 4, 8), floats(B, 4, 4, 8), *[floats(8)] * 4)
    assert len(shapes(SHAPES, call("_MklFusedBatchNormGradV3", *back))) == 10


def test_the_oldest_kernel_has_five_gradients():
    inputs = (floats(B, 4, 4, 8), *[floats(8)] * 3, floats(B, 4, 4, 8))
    outputs = shapes(SHAPES, call("BatchNormWithGlobalNormalizationGrad", *inputs))
    assert outputs == [(B, 4, 4, 8), (8,), (8,), (8,), (8,)]


def test_too_few_dimensions_are_refused():
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("FusedBatchNorm", floats(8), *[floats(8)] * 4))
