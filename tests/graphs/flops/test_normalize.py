"""Normalization kernels, by hand; and layer norms that Keras composes of plain ops."""

import pytest

import tfprof.graphs.flops.registry as registry
from tests.graphs.calls import call, cost, floats, ints
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
N, C = 2 * 4 * 5 * 3, 3
IMAGE, CHANNELS = floats(2, 4, 5, 3), floats(3)


def flops(op):
    return cost(SHAPES, op).flops


def test_training_takes_statistics_of_the_batch():
    # mean: n - c additions, c divisions; differences: n; variance: n squares, n - c additions, c
    # divisions; c unbiased variances; r·scale: 4·c; scale and offset: 2·n
    expected = (N - C + C) + N + (N + N - C + C) + C + 4 * C + 2 * N
    assert expected == 6 * N + 5 * C
    for op_type in ("FusedBatchNorm", "FusedBatchNormV3", "_MklNativeFusedBatchNormV3"):
        assert flops(call(op_type, IMAGE, *[CHANNELS] * 4)) == expected


def test_moving_averages_inside_the_kernel_are_on_top():
    op = call("FusedBatchNormV3", IMAGE, *[CHANNELS] * 4, exponential_avg_factor=0.1)
    # (1 - f)·old + f·new for mean and variance
    assert flops(op) == 6 * N + 5 * C + 2 * 3 * C


def test_inference_has_the_statistics():
    # differences, scale and offset: 3·n; r·scale: 4·c
    op = call("FusedBatchNormV3", IMAGE, *[CHANNELS] * 4, is_training=False)
    assert flops(op) == 3 * N + 4 * C


def test_the_layout_does_not_matter():
    image = floats(2, 3, 4, 5)
    op = call("FusedBatchNormV3", image, *[CHANNELS] * 4, data_format="NCHW")
    assert flops(op) == 6 * N + 5 * C


def test_an_unknown_batch_stays_a_name():
    op = call("FusedBatchNormV3", floats(B, 4, 5, 3), *[CHANNELS] * 4, is_training=False)
    assert flops(op) == 180 * B + 12


def test_gradients():
    inputs = (IMAGE, IMAGE, CHANNELS, CHANNELS, CHANNELS)
    # differences n; sums n - c and 2·n - c; dx = factor·(dy - mean - d·other): 4·n; factors 9·c
    expected = N + (N - C) + (2 * N - C) + 4 * N + 9 * C
    assert flops(call("FusedBatchNormGradV3", *inputs, CHANNELS)) == expected
    # sums as before, dx = dy·factor; r 3·c, factor c, scale gradient c
    expected = N + (N - C) + (2 * N - C) + N + 5 * C
    op = call("FusedBatchNormGradV3", *inputs, CHANNELS, is_training=False)
    assert flops(op) == expected


def test_fused_additions_and_activations_are_counted():
    inputs = (IMAGE, *[CHANNELS] * 4, IMAGE)
    fused = {"num_side_inputs": 1, "activation_mode": "Relu"}
    assert flops(call("_FusedBatchNormEx", *inputs, **fused)) == 8 * N + 5 * C
    assert flops(call("_FusedBatchNormGradEx", IMAGE, IMAGE, CHANNELS, **fused)) == 9 * N + 7 * C
    with pytest.raises(UnknownError, match="Swirl"):
        flops(call("_FusedBatchNormEx", *inputs, activation_mode="Swirl"))


def test_neighbouring_channels_take_part_in_local_response_normalization():
    image = floats(1, 2, 2, 8)
    # 8 channels, 3 in a window: square, 2 additions, ·α, + bias, pow, /
    assert flops(call("LRN", image, depth_radius=1)) == 32 * (1 + 2 + 2 + 1 + 1)
    # a window is no wider than there are channels
    assert flops(call("LRN", image)) == 32 * (8 + 4)
    assert flops(call("LRNGrad", image, image, image, depth_radius=1)) == 32 * (7 * 3 + 3)


def test_onednn_layer_norm():
    # 10 rows of 16: mean, differences, variance 2, times r, scale, offset; r takes 3
    assert flops(call("_MklLayerNorm", floats(10, 16), floats(16), floats(16))) == 7 * 160 + 30


def test_onednn_instance_norm():
    op = call(
        "_MklFusedInstanceNorm", floats(2, 4, 5, 3), floats(3), floats(3),
        reduction_axes=(1, 2), fused_ops=("Relu",),
    )  # fmt: skip
    assert flops(op) == 7 * N + 4 * 2 * 3
    inputs = (IMAGE, CHANNELS, CHANNELS)
    for attrs in ({}, {"reduction_axes": (1, 2), "fused_ops": ("Swirl",)}):
        with pytest.raises(UnknownError):
            flops(call("_MklFusedInstanceNorm", *inputs, **attrs))


def plain(op_type, *inputs, **attrs):
    """Cost and output of an op by all rules."""
    from tfprof.graphs.model.tensors import DT_FLOAT, Tensor
    from tfprof.graphs.shapes.infer import SHAPES

    op = call(op_type, *inputs, **attrs)
    (shape,) = SHAPES[op_type](op)
    out = Tensor(shape, DT_FLOAT)
    made = call(op_type, *inputs, outputs=(out,), **attrs)
    return registry.FORMULAS[op_type].cost(made).flops, out


def test_a_layer_norm_of_plain_ops_sums_up_to_its_definition():
    """As ``tf.nn.moments`` and ``tf.nn.batch_normalization`` compose it, for m rows of k."""
    m, k = 10, 16
    n = m * k
    x, gamma, total = floats(m, k), floats(k), 0

    def run(op_type, *inputs, **attrs):
        nonlocal total
        flops, out = plain(op_type, *inputs, **attrs)
        total += flops
        return out

    mean = run("Mean", x, ints(1), keep_dims=True)
    squares = run("SquaredDifference", x, mean)
    variance = run("Mean", squares, ints(1), keep_dims=True)
    root = run("Rsqrt", run("AddV2", variance, floats()))
    factor = run("Mul", root, gamma)
    shift = run("Sub", gamma, run("Mul", mean, factor))
    run("AddV2", run("Mul", x, factor), shift)
    # mean n; (x - mean)² 2·n; variance n; + ε m; 1/√ 2·m; ·γ n; ·mean n; β - n; ·x n; + n
    assert total == 9 * n + 3 * m
