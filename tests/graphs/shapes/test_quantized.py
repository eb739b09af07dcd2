from __future__ import annotations

from typing import Any

import pytest

from tests.graphs.calls import call, floats, scalar, shapes
from tests.graphs.shapes.static_shapes import Case, assert_like_tensorflow
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES
from tfprof.graphs.shapes.quantized import CONVS, DEPTHWISE_CONVS, MAT_MULS

B = Symbolic.named("B")
QUINT8 = 12
SCALAR = floats()
SAME = {"strides": (1, 2, 2, 1), "padding": "SAME"}


def test_range_of_accumulators_goes_by_the_range_of_the_filter() -> None:
    image, kernel, channels = floats(B, 8, 8, 3), floats(3, 3, 3, 4), floats(4)
    one = call("QuantizedConv2D", image, kernel, *[SCALAR] * 4, **SAME)
    each = call("QuantizedConv2DPerChannel", image, kernel, *[SCALAR] * 2, *[channels] * 2, **SAME)
    eight_bits = call(
        "QuantizedConv2DWithBiasAndRequantize", image, kernel, channels, *[SCALAR] * 6, **SAME
    )

    assert shapes(SHAPES, one) == [(B, 4, 4, 4), (), ()]
    assert shapes(SHAPES, each) == [(B, 4, 4, 4), (4,), (4,)]
    assert shapes(SHAPES, eight_bits) == [(B, 4, 4, 4), (), ()]


def test_depthwise_oneDNN_kernels_have_a_result_for_each_channel_and_filter() -> None:
    # TensorFlow 2.21 infers 2 channels for those of oneDNN, as if they were not depthwise.
    op = call(
        "_MklQuantizedDepthwiseConv2D",
        floats(B, 8, 8, 6),
        floats(3, 3, 6, 2),
        *[SCALAR] * 4,
        **SAME,
    )

    assert shapes(SHAPES, op)[0] == (B, 4, 4, 12)


def test_dequantized_product_comes_without_a_range() -> None:
    op = call("QuantizedMatMulWithBiasAndDequantize", floats(B, 3), floats(3, 4), floats(4))

    assert shapes(SHAPES, op) == [(B, 4)]


def test_concatenation_takes_its_axis_in_front_or_behind() -> None:
    values = (Tensor((B, 3), QUINT8), Tensor((B, 4), QUINT8))
    first = call("QuantizedConcat", scalar(1), *values, *[SCALAR] * 4, N=2)
    last = call("QuantizedConcatV2", *values, scalar(-1), *[SCALAR] * 4, N=2)

    assert shapes(SHAPES, first) == shapes(SHAPES, last) == [(B, 7), (), ()]


@pytest.mark.parametrize("n", [None, 0, 9, "two"], ids=str)
def test_concatenation_of_a_wrong_number_of_values_has_no_shape(n: Any) -> None:
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("QuantizedConcatV2", floats(2, 3), floats(2, 3), scalar(0), N=n))


def test_concatenated_values_must_be_alike() -> None:
    for other in (floats(3, 3), floats(2, 3, 4)):
        with pytest.raises(UnknownError):
            shapes(SHAPES, call("QuantizedConcatV2", floats(2, 3), other, scalar(1), N=2))


def _signature(op_type: str) -> Any:
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(op_type)


_F = ("float32",)
_ZERO = ("int32",)
_CONV = {"strides": [1, 2, 2, 1], "padding": "SAME"}


def _conv_case(op_type: str) -> Case:
    depthwise = "Depthwise" in op_type
    outputs = 12 if depthwise else 8
    known = {
        "input": ("quint8", 2, 9, 10, 6),
        "filter": ("qint8", 3, 2, 6, 2 if depthwise else 8),
        "bias": ("float32", outputs),
    }
    arguments: dict[str, Any] = dict(_CONV)
    for argument in _signature(op_type).input_arg:
        summand = ("float32" if argument.type == 1 else "quint8", 2, 5, 5, 8)
        shape = summand if argument.name == "summand" else _F
        if op_type.endswith("PerChannel") and argument.name.endswith("_filter"):
            shape = ("float32", outputs)
        arguments[argument.name] = known.get(argument.name, shape)
    return op_type, arguments


@pytest.mark.tensorflow
def test_convolutions_have_the_shapes_that_tensorflow_infers() -> None:
    plain = [name for name in DEPTHWISE_CONVS if not name.startswith("_Mkl")]
    names = [name for name in (*CONVS, *plain) if _signature(name) is not None]
    assert len(names) > 20
    for name in names:
        assert_like_tensorflow(SHAPES, _conv_case(name))


@pytest.mark.tensorflow
def test_products_have_the_shapes_that_tensorflow_infers() -> None:
    names = [name for name in MAT_MULS if _signature(name) is not None]
    assert len(names) == 11
    for name in names:
        plain = name == "QuantizedMatMul"
        known = {
            "a": ("quint8", 3, 4),
            "b": ("quint8" if plain else "qint8", 4, 5),
            "bias": ("float32", 5),
        }
        arguments: dict[str, Any] = {
            argument.name: known.get(argument.name, _F) for argument in _signature(name).input_arg
        }
        if name.endswith("Dequantize"):
            arguments["Toutput"] = "float32"
        elif name.endswith("WithBias"):
            arguments["Toutput"] = "qint32"
        assert_like_tensorflow(SHAPES, (name, arguments))


_Q = ("quint8", 3, 4)
_Q32 = ("qint32", 3, 4)
_UNIFORM = {
    f"{side}_quantization_{end}_val": 0
    for side in ("lhs", "rhs", "output")
    for end in ("min", "max")
}
_UNIFORM_INPUTS = {
    **{f"{side}_scales": _F for side in ("lhs", "rhs", "output")},
    **{f"{side}_zero_points": _ZERO for side in ("lhs", "rhs", "output")},
}
_RANGE = {"min_range": _F, "max_range": _F}
_INPUT_RANGE = {"input_min": _F, "input_max": _F}
_XY = {"min_x": _F, "max_x": _F, "min_y": _F, "max_y": _F}
_IMAGE = ("quint8", 2, 9, 10, 6)
_POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
_CASES: list[Case] = [
    ("QuantizedMaxPool", {"input": _IMAGE, "min_input": _F, "max_input": _F, **_POOL}),
    ("QuantizedAvgPool", {"input": _IMAGE, "min_input": _F, "max_input": _F, **_POOL}),
    ("QuantizedRelu", {"features": _Q, "min_features": _F, "max_features": _F}),
    ("QuantizedReluX", {"features": _Q, "max_value": _F, "min_features": _F, "max_features": _F}),
    ("QuantizedInstanceNorm", {"x": _IMAGE, "x_min": _F, "x_max": _F}),
    (
        "QuantizedBiasAdd",
        {
            "input": _IMAGE,
            "bias": ("quint8", 6),
            "out_type": "qint32",
            "min_input": _F,
            "max_input": _F,
            "min_bias": _F,
            "max_bias": _F,
        },
    ),
    ("QuantizedAdd", {"x": _Q, "y": ("quint8", 4), **_XY}),
    ("QuantizedMul", {"x": _Q, "y": ("quint8", 4), **_XY}),
    ("QuantizeDownAndShrinkRange", {"input": _Q32, **_INPUT_RANGE, "out_type": "quint8"}),
    (
        "Requantize",
        {
            "input": _Q32,
            **_INPUT_RANGE,
            "out_type": "quint8",
            "requested_output_min": _F,
            "requested_output_max": _F,
        },
    ),
    ("RequantizationRange", {"input": _Q32, **_INPUT_RANGE}),
    ("QuantizeV2", {"input": (3, 4), **_RANGE, "T": "quint8"}),
    (
        "QuantizeV2",
        {"input": (3, 4), "min_range": (4,), "max_range": (4,), "T": "quint8", "axis": 1},
    ),
    ("Dequantize", {"input": _Q, **_RANGE}),
    ("FakeQuantWithMinMaxArgs", {"inputs": (3, 4)}),
    ("FakeQuantWithMinMaxVars", {"inputs": (3, 4), "min": _F, "max": _F}),
    (
        "FakeQuantWithMinMaxVarsPerChannelGradient",
        {"gradients": (3, 4), "inputs": (3, 4), "min": (4,), "max": (4,)},
    ),
    (
        "FakeQuantWithMinMaxVarsGradient",
        {"gradients": (3, 4), "inputs": (3, 4), "min": _F, "max": _F},
    ),
    ("QuantizeAndDequantizeV2", {"input": (3, 4), **_INPUT_RANGE}),
    ("QuantizeAndDequantizeV3", {"input": (3, 4), **_INPUT_RANGE, "num_bits": _ZERO}),
    (
        "QuantizeAndDequantizeV4Grad",
        {"gradients": (3, 4), "input": (3, 4), "input_min": (4,), "input_max": (4,), "axis": 1},
    ),
    (
        "QuantizedConcat",
        {
            "concat_dim": 1,
            "values": [_Q, ("quint8", 3, 5)],
            "input_mins": [_F, _F],
            "input_maxes": [_F, _F],
        },
    ),
    (
        "UniformQuantizedAdd",
        {"lhs": _Q32, "rhs": ("qint32", 4), **_UNIFORM_INPUTS, **_UNIFORM},
    ),
    (
        "UniformQuantizedDot",
        {
            "lhs": ("qint8", 3, 4),
            "rhs": ("qint8", 4, 5),
            "Tout": "qint32",
            **_UNIFORM_INPUTS,
            **_UNIFORM,
        },
    ),
]
for _padding, _added in (("SAME", []), ("VALID", []), ("EXPLICIT", [1, 2, 0, 1])):
    for _strides in ([], [2, 1]):
        for _holes in ([], [2, 1]):
            _CASES.append(
                (
                    "UniformQuantizedConvolution",
                    {
                        "lhs": ("qint8", 2, 6, 9, 10),
                        "rhs": ("qint8", 8, 3, 3, 2),
                        "Tout": "qint32",
                        "padding": _padding,
                        "explicit_padding": _added,
                        "window_strides": _strides,
                        "lhs_dilation": _holes,
                        "feature_group_count": 2,
                        **_UNIFORM_INPUTS,
                        **_UNIFORM,
                    },
                )
            )


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", _CASES, ids=str)
def test_shapes_are_those_that_tensorflow_infers(case: Case) -> None:
    assert_like_tensorflow(SHAPES, case)
