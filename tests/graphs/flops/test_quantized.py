from __future__ import annotations

from typing import Any

import pytest

from tests.graphs.calls import call, cost, floats
from tfprof.graphs.flops.registry import FREE
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import DT_FLOAT, Tensor
from tfprof.graphs.shapes.infer import SHAPES

QINT8, QUINT8, QINT32 = 11, 12, 13
SCALAR = floats()
IMAGE = Tensor((1, 8, 8, 3), QUINT8)
FILTER = Tensor((3, 3, 3, 4), QINT8)
SAME = {"strides": (1, 1, 1, 1), "padding": "SAME"}
N = 8 * 8 * 4
MACS = N * 27


def count(op: OpCall) -> tuple[Any, Any]:
    macs, other, _ = cost(SHAPES, op)
    return macs, other


def quantized(op_type: str, *inputs: Tensor, **attrs: Any) -> OpCall:
    return call(op_type, *inputs, output_types=(QINT32, DT_FLOAT, DT_FLOAT), **attrs)


@pytest.mark.parametrize(
    ("tail", "per_result"),
    [
        ("", 0),
        ("PerChannel", 0),
        ("AndRelu", 1),
        ("AndRequantize", 5),
        ("AndReluAndRequantize", 6),
        ("WithBias", 1),
        ("WithBiasAndRelu", 2),
        ("WithBiasAndRequantize", 6),
        ("WithBiasAndReluAndRequantize", 7),
        ("WithBiasSumAndRelu", 4),
        ("WithBiasSumAndReluAndRequantize", 9),
        ("WithBiasSignedSumAndReluAndRequantize", 9),
    ],
)
def test_quantized_convolution_counts_its_products_and_what_its_name_adds(
    tail: str, per_result: int
) -> None:
    ranges = [SCALAR] * 5
    for prefix in ("", "_Mkl"):
        op = quantized(f"{prefix}QuantizedConv2D{tail}", IMAGE, FILTER, *ranges, **SAME)
        assert count(op) == (MACS, per_result * N)


def test_quantized_depthwise_convolution() -> None:
    op = quantized("QuantizedDepthwiseConv2DWithBiasAndRelu", IMAGE, FILTER, *[SCALAR] * 5, **SAME)

    assert count(op) == (8 * 8 * 12 * 9, 2 * 8 * 8 * 12)


@pytest.mark.parametrize(
    ("tail", "per_result"),
    [("", 0), ("WithBias", 1), ("WithBiasAndRelu", 2), ("WithBiasAndDequantize", 3)],
)
def test_quantized_product_of_matrices(tail: str, per_result: int) -> None:
    a, b = Tensor((2, 3), QUINT8), Tensor((5, 3), QINT8)
    op = quantized(f"QuantizedMatMul{tail}", a, b, *[SCALAR] * 5, transpose_b=True)

    assert count(op) == (30, per_result * 10)


def test_kernels_that_list_what_is_fused() -> None:
    names = {"fused_ops": ("BiasAdd", "Relu", "Requantize")}
    conv = quantized("_FusedQuantizedConv2D", IMAGE, FILTER, **names, **SAME)
    product = quantized("_QuantizedMatMul", Tensor((2, 3), QINT8), Tensor((3, 5), QINT8), **names)

    assert count(conv) == (MACS, 7 * N)
    assert count(product) == (30, 7 * 10)


def test_fused_op_that_nothing_is_known_of_gives_no_count() -> None:
    for names in (("Wobble",), "Relu"):
        with pytest.raises(UnknownError):
            count(quantized("_FusedQuantizedConv2D", IMAGE, FILTER, fused_ops=names, **SAME))


@pytest.mark.parametrize(
    ("op_type", "per_element"),
    [
        ("QuantizeV2", 5),
        ("Dequantize", 2),
        ("Requantize", 5),
        ("QuantizeDownAndShrinkRange", 7),
        ("RequantizationRange", 2),
        ("FakeQuantWithMinMaxVars", 7),
        ("FakeQuantWithMinMaxArgsGradient", 2),
        ("QuantizeAndDequantizeV3", 5),
        ("QuantizedRelu6", 2),
        ("UniformQuantizedClipByValue", 2),
    ],
)
def test_operations_per_element(op_type: str, per_element: int) -> None:
    assert count(call(op_type, Tensor((3, 4), QUINT8), SCALAR, SCALAR)) == (0, per_element * 12)


def test_sums_and_products_of_two_scales() -> None:
    x, y = Tensor((3, 4), QUINT8), Tensor((4,), QUINT8)

    assert count(quantized("QuantizedAdd", x, y)) == (0, 3 * 12)
    assert count(quantized("QuantizedMul", x, y)) == (0, 3 * 12)
    assert count(quantized("QuantizedBiasAdd", x, y)) == (0, 3 * 12)
    assert count(call("UniformQuantizedAdd", x, y)) == (0, 7 * 12)


def test_pools_count_taps() -> None:
    op = quantized(
        "QuantizedMaxPool", IMAGE, ksize=(1, 2, 2, 1), strides=(1, 2, 2, 1), padding="SAME"
    )

    assert count(op) == (0, 4 * 4 * 3 * 4)


def test_normalizations() -> None:
    channels = Tensor((3,), QUINT8)
    batch = quantized(
        "QuantizedBatchNormWithGlobalNormalization",
        *(IMAGE, SCALAR, SCALAR, channels),
        scale_after_normalization=True,
    )
    instance = quantized("QuantizedInstanceNorm", IMAGE, output_range_given=True)

    assert count(batch) == (0, 3 * 192 + 4 * 3)
    assert count(instance) == (0, 10 * 192 + 3 * 3)
    assert count(quantized("QuantizedInstanceNorm", IMAGE)) == (0, 12 * 192 + 3 * 3)


def test_uniform_products() -> None:
    a, b = Tensor((2, 3), QINT8), Tensor((3, 5), QINT8)
    steps = {"padding": "VALID", "window_strides": (1, 1), "feature_group_count": 1}
    image, kernel = Tensor((1, 3, 8, 8), QINT8), Tensor((4, 3, 3, 3), QINT8)

    assert count(call("UniformQuantizedDot", a, b)) == (30, 5 * 10)
    assert count(call("UniformQuantizedDotHybrid", floats(2, 3), b)) == (30, 2 * 15)
    n = 4 * 6 * 6
    assert count(call("UniformQuantizedConvolution", image, kernel, **steps)) == (n * 27, 5 * n)
    hybrid = call("UniformQuantizedConvolutionHybrid", floats(1, 3, 8, 8), kernel, **steps)
    assert count(hybrid) == (n * 27, 2 * 108)


def test_moves_of_quantized_elements_are_free() -> None:
    assert {"QuantizedReshape", "QuantizedConcat", "_MklQuantizedConcatV2"} <= set(FREE)
    assert "QuantizedReshape" in SHAPES
