from __future__ import annotations

from typing import Any

import pytest

from tests.graphs.calls import call, cost, floats, ints
from tfprof.graphs.flops.formulas import Cost
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.tensors import DT_FLOAT
from tfprof.graphs.shapes.infer import SHAPES

IMAGE = floats(1, 8, 8, 3)
FILTER = floats(3, 3, 3, 4)
SAME = {"strides": (1, 1, 1, 1), "padding": "SAME"}
N = 8 * 8 * 4
MACS = N * 27


def count(op: OpCall) -> Cost:
    return cost(SHAPES, op)


@pytest.mark.parametrize(
    ("names", "per_element"),
    [
        ((), 0),
        (("BiasAdd",), 1),
        (("BiasAdd", "Relu"), 2),
        (("BiasAdd", "Relu6"), 3),
        (("BiasAdd", "Add", "Relu"), 3),
        (("BiasAdd", "LeakyRelu"), 3),
        (("BiasAdd", "Elu"), 4),
        (("BiasAdd", "Tanh"), 2),
        (("BiasAdd", "Sigmoid"), 5),
        (("BiasAdd", "GeluExact"), 6),
        (("BiasAdd", "GeluApproximate"), 10),
        (("BiasAdd", "_FusedHardSwish"), 6),
        (("BiasAdd", "_MklSwish"), 6),
        (("BiasAdd", "_FusedSwish"), 6),
    ],
    ids=str,
)
def test_what_is_fused_costs_what_it_costs_alone(names: tuple[str, ...], per_element: int) -> None:
    for name in ("_FusedConv2D", "_MklFusedConv2D", "_MklNativeFusedConv2D"):
        result = count(call(name, IMAGE, FILTER, floats(4), fused_ops=names, **SAME))
        assert (result.macs, result.other) == (MACS, per_element * N)


def test_fused_batch_normalization_is_three_operations_an_element_and_four_a_channel() -> None:
    channels = [floats(4)] * 4
    names = ("FusedBatchNorm", "Relu")
    result = count(call("_FusedConv2D", IMAGE, FILTER, *channels, fused_ops=names, **SAME))

    assert result.other == 3 * N + 4 * 4 + N


def test_fused_products_of_matrices() -> None:
    op = call(
        "_FusedMatMul",
        *(floats(2, 3), floats(3, 5), floats(5)),
        fused_ops=("BiasAdd", "GeluExact"),
    )
    batch = call(
        "_MklFusedBatchMatMulV2",
        *(floats(7, 2, 3), floats(7, 5, 3), floats(), floats(7, 2, 5)),
        adj_y=True,
        fused_ops=("Mul", "Add"),
    )

    assert count(op)[:2] == (30, 60)
    assert count(batch)[:2] == (7 * 30, 2 * 7 * 10)


def test_fused_depthwise_and_three_dimensional_convolutions() -> None:
    depthwise = call(
        "_FusedDepthwiseConv2dNative",
        *(IMAGE, floats(3, 3, 3, 2), floats(6)),
        fused_ops=("BiasAdd",),
        **SAME,
    )
    volume = call(
        "_FusedConv3D",
        *(floats(1, 4, 4, 4, 3), floats(2, 2, 2, 3, 5), floats(5)),
        strides=(1,) * 5,
        padding="SAME",
        fused_ops=("BiasAdd",),
    )

    assert count(depthwise)[:2] == (8 * 8 * 6 * 9, 8 * 8 * 6)
    assert count(volume)[:2] == (64 * 5 * 24, 64 * 5)


def test_onednn_convolutions_with_a_bias() -> None:
    forward = call("_MklNativeConv2DWithBias", IMAGE, FILTER, floats(4), **SAME)
    backward = call(
        "_MklNativeConv2DBackpropFilterWithBias",
        *(IMAGE, ints(3, 3, 3, 4), floats(1, 8, 8, 4)),
        output_types=(DT_FLOAT, DT_FLOAT),
        **SAME,
    )

    assert count(forward)[:2] == (MACS, N)
    assert count(backward)[:2] == (MACS, N - 4)


def test_padding_in_front_of_a_convolution_computes_nothing() -> None:
    paddings = ints(0, 0, 1, 1, 1, 1, 0, 0)
    valid = {"strides": (1, 1, 1, 1), "padding": "VALID"}
    ops = [
        call("FusedPadConv2D", IMAGE, paddings, FILTER, mode="REFLECT", **valid),
        call("_MklNativePadWithConv2D", IMAGE, FILTER, paddings, **valid),
        call(
            "_MklNativePadWithFusedConv2D",
            *(IMAGE, FILTER, floats(4), paddings),
            num_args=1,
            fused_ops=("BiasAdd",),
            **valid,
        ),
    ]

    assert [count(op)[:2] for op in ops] == [(MACS, 0), (MACS, 0), (MACS, N)]


def test_resizing_in_front_of_a_convolution_blends_three_times_for_each_element() -> None:
    op = call(
        "FusedResizeAndPadConv2D",
        *(floats(1, 4, 4, 3), ints(6, 6), ints(0, 0, 1, 1, 1, 1, 0, 0), FILTER),
        strides=(1, 1, 1, 1),
        padding="VALID",
    )

    assert count(op)[:2] == (6 * 6 * 4 * 27, 9 * 6 * 6 * 3)


def test_convolution_with_side_input_of_older_releases() -> None:
    scalars = (floats(), floats())
    plain = call("FusedConv2DBiasActivation", IMAGE, FILTER, floats(4), floats(0), *scalars, **SAME)
    side = call(
        "FusedConv2DBiasActivation",
        *(IMAGE, FILTER, floats(4), floats(1, 8, 8, 4), *scalars),
        activation_mode="None",
        **SAME,
    )

    assert count(plain)[:2] == (MACS, 3 * N)
    assert count(side)[:2] == (MACS, 4 * N)


@pytest.mark.parametrize("names", [("Wobble",), "BiasAdd", 7], ids=str)
def test_fused_ops_that_nothing_is_known_of_give_no_count(names: Any) -> None:
    with pytest.raises(UnknownError):
        count(call("_FusedConv2D", IMAGE, FILTER, floats(4), fused_ops=names, **SAME))


def test_paddings_that_are_not_two_for_each_dimension_give_no_count() -> None:
    with pytest.raises(UnknownError):
        count(call("FusedPadConv2D", IMAGE, ints(1, 1), FILTER, **SAME))
