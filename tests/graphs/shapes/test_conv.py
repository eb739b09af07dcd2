from __future__ import annotations

from typing import Any

import pytest

from tests.graphs.calls import call, floats, ints, shapes
from tests.graphs.shapes.static_shapes import Case, assert_like_tensorflow, live_op, static_shapes
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
H = Symbolic.named("H")
SAME = {"strides": (1, 2, 2, 1), "padding": "SAME"}


def test_unknown_sizes_pass_through() -> None:
    op = call("Conv2D", floats(B, H, 28, 3), floats(3, 3, 3, 8), **SAME)

    ((batch, height, *rest),) = shapes(SHAPES, op)  # type: ignore[misc]
    assert batch == B
    assert str(height) == "ceil(H / 2)"
    assert rest == [14, 8]


def test_convolution_of_an_unknown_image_or_filter_is_known_in_part() -> None:
    assert shapes(SHAPES, call("Conv2D", Tensor(), floats(3, 3, 3, 8), **SAME)) == [
        (None, None, None, 8)
    ]
    assert shapes(SHAPES, call("Conv2D", floats(B, 8, 8, 3), Tensor(), **SAME)) == [(B, 4, 4, None)]


def test_gradient_of_an_image_takes_unknown_sizes_that_are_spelled_out() -> None:
    spelled = Tensor((4,), 3, (B, H, 28, 3))
    op = call("Conv2DBackpropInput", spelled, floats(3, 3, 3, 8), floats(B, 5, 14, 8), **SAME)

    assert shapes(SHAPES, op) == [(B, H, 28, 3)]


def test_gradient_of_an_image_of_unknown_size_keeps_the_batch() -> None:
    spelled = Tensor((4,), 3, (None, 28, 28, None))
    op = call("Conv2DBackpropInput", spelled, floats(3, 3, 3, 8), floats(B, 14, 14, 8), **SAME)
    unknown = call("Conv2DBackpropInput", Tensor(), floats(3, 3, 3, 8), floats(B, 9, 9, 8), **SAME)

    assert shapes(SHAPES, op) == [(B, 28, 28, None)]
    assert shapes(SHAPES, unknown) == [(B, None, None, None)]


def test_gradient_of_an_image_may_be_given_height_and_width_alone() -> None:
    op = call(
        "Conv2DBackpropInput",
        *(ints(16, 28), floats(3, 3, 3, 8), floats(B, 8, 14, 8)),
        strides=(1, 1, 2, 2),
        padding="SAME",
        data_format="NCHW",
    )

    with pytest.raises(UnknownError):  # the first 8 is the batch, not channels
        shapes(SHAPES, call("Conv2DBackpropInput", ints(1, 2, 3), floats(3, 3, 3, 8), **SAME))
    assert shapes(SHAPES, op) == [(B, 3, 16, 28)]


def test_gradient_of_a_filter_of_unknown_size_has_the_channels_of_the_gradient() -> None:
    op = call(
        "Conv2DBackpropFilter", floats(B, 8, 8, 3), Tensor((4,), 3), floats(B, 4, 4, 5), **SAME
    )

    assert shapes(SHAPES, op) == [(None, None, None, 5)]


def test_onednn_gradient_with_bias_has_a_sum_for_each_channel() -> None:
    op = call(
        "_MklNativeConv2DBackpropFilterWithBias",
        *(floats(2, 8, 8, 3), ints(3, 3, 3, 5), floats(2, 4, 4, 5)),
        **SAME,
    )

    assert shapes(SHAPES, op) == [(3, 3, 3, 5), (5,)]


def test_three_dimensional_gradients_of_early_graphs_get_the_tensor() -> None:
    attrs = {"strides": (1, 2, 2, 2, 1), "padding": "SAME"}
    tensors = (floats(2, 8, 8, 8, 3), floats(3, 3, 3, 3, 5), floats(2, 4, 4, 4, 5))

    assert shapes(SHAPES, call("Conv3DBackpropInput", *tensors, **attrs)) == [(2, 8, 8, 8, 3)]
    assert shapes(SHAPES, call("Conv3DBackpropFilter", *tensors, **attrs)) == [(3, 3, 3, 3, 5)]


def test_asymmetric_dilations_of_a_volume_belong_to_the_dimension_they_stand_at() -> None:
    # TensorFlow 2.21 infers 7×7×13 here: height and width change their dilations.
    op = call(
        "Conv3D",
        *(floats(3, 9, 11, 14, 6), floats(2, 3, 2, 6, 8)),
        strides=(1,) * 5,
        padding="VALID",
        dilations=(1, 2, 1, 2, 1),
    )

    assert shapes(SHAPES, op) == [(3, 7, 9, 12, 8)]


@pytest.mark.parametrize(
    ("image", "kernel"),
    [
        ((8, 8, 3), (3, 3, 3, 8)),
        ((1, 8, 8, 3), (3, 3, 8)),
        ((1, 8, 8, 3), (3, 3, 2, 8)),
        ((1, 8, 8, 3), (3, 3, 0, 8)),
    ],
    ids=str,
)
def test_operands_that_do_not_fit_have_no_shape(
    image: tuple[int, ...], kernel: tuple[int, ...]
) -> None:
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("Conv2D", floats(*image), floats(*kernel), **SAME))


def test_depthwise_filter_for_other_channels_does_not_fit() -> None:
    with pytest.raises(UnknownError):
        op = call("DepthwiseConv2dNative", floats(1, 8, 8, 3), floats(3, 3, 4, 2), **SAME)
        shapes(SHAPES, op)


def test_generic_convolution_with_a_filter_of_too_few_dimensions_has_no_shape() -> None:
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("Conv", floats(2, 3), floats(3, 4), strides=(1, 1), padding="SAME"))


def _laid_out(layout: str, image: tuple[Any, ...]) -> tuple[Any, ...]:
    batch, *spatial, channels = image
    last = layout[-1] == "C"
    return (batch, *spatial, channels) if last else (batch, channels, *spatial)


@pytest.mark.tensorflow
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("padding", ["SAME", "VALID", "EXPLICIT"])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_two_dimensional_shapes_are_those_that_tensorflow_infers(
    layout: str, padding: str, stride: int, dilation: int, groups: int
) -> None:
    image = _laid_out(layout, (3, 11, 14, 6))
    kernel, depthwise = (3, 2, 6 // groups, 8), (3, 2, 6, 2)
    added = [n for pair in _laid_out(layout, ((0, 0), (1, 2), (0, 3), (0, 0))) for n in pair]
    attrs = {
        "strides": list(_laid_out(layout, (1, stride, stride, 1))),
        "dilations": list(_laid_out(layout, (1, dilation, dilation, 1))),
        "padding": padding,
        "explicit_paddings": added if padding == "EXPLICIT" else [],
        "data_format": layout,
    }
    forward: list[Case] = [
        ("Conv2D", {"input": image, "filter": kernel, **attrs}),
        ("DepthwiseConv2dNative", {"input": image, "filter": depthwise, **attrs}),
    ]
    (result,), (depthwise_result,) = (static_shapes(live_op(*case)) for case in forward)
    fused = {"args": [(8,)], "num_args": 1, "host_args": [], "fused_ops": ["BiasAdd"]}
    to_image = {"filter": kernel, "out_backprop": result, **attrs}
    to_filter = {"input": image, "out_backprop": result, **attrs}
    cases: list[Case] = [
        *forward,
        ("_FusedConv2D", {"input": image, "filter": kernel, **fused, **attrs}),
        ("Conv2DBackpropInput", {"input_sizes": list(image), **to_image}),
        ("Conv2DBackpropInput", {"input_sizes": ("int32", 4), **to_image}),
        ("Conv2DBackpropInputV2", {"input": image, **to_image}),
        ("Conv2DBackpropFilter", {"filter_sizes": list(kernel), **to_filter}),
        ("Conv2DBackpropFilter", {"filter_sizes": ("int32", 4), **to_filter}),
        ("Conv2DBackpropFilterV2", {"filter": kernel, **to_filter}),
        (
            "DepthwiseConv2dNativeBackpropInput",
            {
                "input_sizes": list(image),
                "filter": depthwise,
                "out_backprop": depthwise_result,
                **attrs,
            },
        ),
        (
            "DepthwiseConv2dNativeBackpropFilter",
            {
                "input": image,
                "filter_sizes": list(depthwise),
                "out_backprop": depthwise_result,
                **attrs,
            },
        ),
    ]
    if groups == 1:
        cases.append(("Conv2DBackpropInput", {"input_sizes": [11, 14], **to_image}))
    for case in cases:
        assert_like_tensorflow(SHAPES, case)


@pytest.mark.tensorflow
@pytest.mark.parametrize("layout", ["NDHWC", "NCDHW"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("dilation", [1, 2])
def test_three_dimensional_shapes_are_those_that_tensorflow_infers(
    layout: str, padding: str, stride: int, dilation: int
) -> None:
    image, kernel = _laid_out(layout, (3, 9, 11, 14, 6)), (2, 3, 2, 3, 8)
    attrs = {
        "strides": list(_laid_out(layout, (1, stride, stride, 1, 1))),
        "dilations": list(_laid_out(layout, (1, 1, dilation, dilation, 1))),
        "padding": padding,
        "data_format": layout,
    }
    forward: Case = ("Conv3D", {"input": image, "filter": kernel, **attrs})
    (result,) = static_shapes(live_op(*forward))
    for case in (
        forward,
        (
            "Conv3DBackpropInputV2",
            {"input_sizes": list(image), "filter": kernel, "out_backprop": result, **attrs},
        ),
        (
            "Conv3DBackpropFilterV2",
            {"input": image, "filter_sizes": list(kernel), "out_backprop": result, **attrs},
        ),
    ):
        assert_like_tensorflow(SHAPES, case)


@pytest.mark.tensorflow
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("layout", ["CHANNELS_LAST", "CHANNELS_FIRST"])
@pytest.mark.parametrize("n_batch", [1, 2])
@pytest.mark.parametrize("n_spatial", [2, 3])
@pytest.mark.parametrize("stride", [1, 2])
def test_generic_convolutions_have_the_shapes_that_tensorflow_infers(
    padding: str, layout: str, n_batch: int, n_spatial: int, stride: int
) -> None:
    spatial, steps = (9, 10, 11)[:n_spatial], [stride] * n_spatial
    last = layout == "CHANNELS_LAST"
    case = {
        "input": (5, 3)[:n_batch] + ((*spatial, 4) if last else (4, *spatial)),
        "filter": (*(2, 3, 2)[:n_spatial], 4, 8),
        "strides": [1, *steps, 1] if last else [1, 1, *steps],
        "padding": padding,
        "data_format": layout,
        "batch_dims": n_batch,
    }
    assert_like_tensorflow(SHAPES, ("Conv", case))


@pytest.mark.tensorflow
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
def test_dilations_have_the_shapes_that_tensorflow_infers(padding: str, stride: int) -> None:
    attrs = {"strides": [1, stride, stride, 1], "rates": [1, 2, 1, 1], "padding": padding}
    tensors = {"input": (2, 9, 10, 3), "filter": (3, 2, 3), **attrs}
    (result,) = static_shapes(live_op("Dilation2D", tensors))

    assert_like_tensorflow(SHAPES, ("Dilation2D", tensors))
    for name in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter"):
        assert_like_tensorflow(SHAPES, (name, {**tensors, "out_backprop": result}))
