"""Output shapes by hand, with TensorFlow's rules for padding and layouts."""

from __future__ import annotations

from typing import Any

from tfprof.capture.eager.shapes import output_shape
from tfprof.testing.builders import op

NHWC: dict[str, Any] = {"strides": [1, 2, 2, 1], "padding": "SAME"}
NCHW: dict[str, Any] = {"strides": [1, 1, 2, 2], "padding": "SAME", "data_format": "NCHW"}


def result(op_type: str, *inputs: tuple[int, ...] | None, **attributes: Any) -> Any:
    return output_shape(op_type, op("x", op_type, **attributes).attr, inputs)


def test_products() -> None:
    assert result("MatMul", (4, 3), (4, 5), transpose_a=True) == (3, 5)
    assert result("MatMul", (4, 3), (5, 3), transpose_b=True) == (4, 5)
    assert result("MatMul", (4, 3), (3, 5)) == (4, 5)


def test_batches_of_products_broadcast() -> None:
    assert result("BatchMatMulV2", (7, 1, 4, 3), (6, 3, 5)) == (7, 6, 4, 5)
    assert result("BatchMatMulV2", (4, 3), (3,)) is None
    assert result("BatchMatMulV2", (2, 3, 4), (2, 3, 5), adj_x=True) == (2, 4, 5)


def test_elementwise_ops_broadcast() -> None:
    assert result("Mul", (4, 1, 3), (5, 1)) == (4, 5, 3)
    assert result("AddN", (4, 3), (4, 3), (4, 3)) == (4, 3)
    assert result("Mul", (4,), (3,)) is None
    assert result("Mul", (4,), None) is None
    assert result("Relu", (2, 3)) == (2, 3)
    assert result("BiasAdd", (2, 3), None) == (2, 3)


def test_convolutions() -> None:
    assert result("Conv2D", (8, 9, 9, 3), (3, 3, 3, 16), **NHWC) == (8, 5, 5, 16)
    valid = {**NHWC, "padding": "VALID"}
    assert result("Conv2D", (8, 9, 9, 3), (3, 3, 3, 16), **valid) == (8, 4, 4, 16)
    assert result("Conv2D", (8, 9, 9, 3), (3, 3, 3, 16), **valid, dilations=[1, 2, 2, 1]) == (
        *(8, 3, 3, 16),
    )
    assert result("Conv2D", (8, 3, 9, 9), (3, 3, 3, 16), **NCHW) == (8, 16, 5, 5)
    assert result("DepthwiseConv2dNative", (8, 9, 9, 3), (3, 3, 3, 2), **NHWC) == (8, 5, 5, 6)
    assert result("Conv2D", (8, 9, 9, 3), (3, 3, 3, 16), **{**NHWC, "padding": "EXPLICIT"}) is None


def test_a_convolution_that_ran_in_the_other_layout() -> None:
    assert result("Conv2D", (8, 3, 10, 9), (3, 3, 3, 16), **NHWC) == (8, 5, 5, 16)
    assert result("Conv2D", (8, 10, 9, 3), (3, 3, 3, 16), **NCHW) == (8, 16, 5, 5)


def test_pools() -> None:
    pool: dict[str, Any] = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    assert result("MaxPool", (8, 9, 7, 3), **pool) == (8, 4, 3, 3)
    assert result("AvgPool", (8, 1, 1, 3), **{**pool, "padding": "SAME"}) == (8, 1, 1, 3)


def test_other_ops_are_not_known() -> None:
    assert result("Sum", (2, 3), (1,)) is None
    assert result("NoOp") is None
