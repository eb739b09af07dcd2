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
HALVES = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}


def test_unknown_sizes_pass_through() -> None:
    op = call("MaxPool", floats(B, 2 * H, 9, 3), **HALVES)

    assert shapes(SHAPES, op) == [(B, H, 4, 3)]


def test_pool_of_an_unknown_image_has_its_rank() -> None:
    assert shapes(SHAPES, call("AvgPool", Tensor(), **HALVES)) == [(None,) * 4]


def test_packed_channels_stay_packed() -> None:
    attrs = {"ksize": (1, 1, 2, 2), "strides": (1, 1, 2, 2), "padding": "VALID"}
    packed = {**attrs, "data_format": "NCHW_VECT_C"}

    assert shapes(SHAPES, call("MaxPool", floats(2, 3, 8, 8, 4), **packed)) == [(2, 3, 4, 4, 4)]
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("MaxPool", floats(2, 3, 8, 8), **packed))


def test_windows_of_the_second_version_are_inputs() -> None:
    op = call("MaxPoolV2", floats(B, 8, 8, 3), ints(1, 2, 2, 1), ints(1, 2, 2, 1), padding="SAME")

    assert shapes(SHAPES, op) == [(B, 4, 4, 3)]
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("MaxPoolV2", floats(B, 8, 8, 3), Tensor(), Tensor(), padding="SAME"))


def test_gradient_of_an_average_has_batch_and_channels_of_its_input() -> None:
    spelled = Tensor((4,), 3, (None, 8, H, None))
    op = call("AvgPoolGrad", spelled, floats(B, 4, 4, 3), **HALVES)

    assert shapes(SHAPES, op) == [(B, 8, H, 3)]


def test_fractional_pools_divide_and_round_down() -> None:
    op = call("FractionalMaxPool", floats(B, 9, H, 3), pooling_ratio=(1.0, 1.44, 2.0, 1.0))

    ((batch, height, width, channels), *_) = shapes(SHAPES, op)  # type: ignore[misc]
    assert (batch, height, channels) == (B, 6, 3)
    assert str(width) == "floor(H / 2)"
    almost = call("FractionalMaxPool", floats(1, 10, 11, 3), pooling_ratio=(1.0, 1.5, 1.5, 1.0))
    assert shapes(SHAPES, almost)[0] == (1, 6, 7, 3)  # 6.67 and 7.33
    odd = call("FractionalMaxPool", floats(B, 9, H, 3), pooling_ratio=(1.0, 1.44, 1.5, 1.0))
    assert shapes(SHAPES, odd)[0] == (B, 6, None, 3)


def _laid_out(layout: str, image: tuple[Any, ...]) -> tuple[Any, ...]:
    batch, *spatial, channels = image
    return (batch, *spatial, channels) if layout[-1] == "C" else (batch, channels, *spatial)


@pytest.mark.tensorflow
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
def test_two_dimensional_shapes_are_those_that_tensorflow_infers(
    layout: str, padding: str, stride: int
) -> None:
    image = _laid_out(layout, (2, 9, 10, 3))
    attrs = {
        "ksize": list(_laid_out(layout, (1, 2, 3, 1))),
        "strides": list(_laid_out(layout, (1, stride, stride, 1))),
        "padding": padding,
        "data_format": layout,
    }
    maximum: Case = ("MaxPool", {"input": image, **attrs})
    (result,) = static_shapes(live_op(*maximum))
    both = {"orig_input": image, "orig_output": result}
    cases: list[Case] = [
        maximum,
        ("AvgPool", {"value": image, **attrs}),
        ("AvgPoolGrad", {"orig_input_shape": list(image), "grad": result, **attrs}),
        ("AvgPoolGrad", {"orig_input_shape": ("int32", 4), "grad": result, **attrs}),
        ("MaxPoolGrad", {**both, "grad": result, **attrs}),
        ("MaxPoolGradGrad", {**both, "grad": image, **attrs}),
    ]
    if layout == "NHWC":
        steps = {name: attrs.pop(name) for name in ("ksize", "strides")}
        attrs.pop("data_format")
        cases += [
            ("MaxPoolV2", {"input": image, **steps, **attrs}),
            ("MaxPoolGradV2", {**both, "grad": result, **steps, **attrs}),
            ("MaxPoolGradGradV2", {**both, "grad": image, **steps, **attrs}),
            ("MaxPoolWithArgmax", {"input": image, **steps, **attrs}),
            (
                "MaxPoolGradWithArgmax",
                {
                    "input": image,
                    "grad": result,
                    "argmax": ("int64", *(result or ())),
                    **steps,
                    **attrs,
                },
            ),
        ]
    for case in cases:
        assert_like_tensorflow(SHAPES, case)


@pytest.mark.tensorflow
@pytest.mark.parametrize("layout", ["NDHWC", "NCDHW"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_three_dimensional_shapes_are_those_that_tensorflow_infers(
    layout: str, padding: str
) -> None:
    image = _laid_out(layout, (2, 9, 10, 11, 3))
    attrs = {
        "ksize": list(_laid_out(layout, (1, 2, 3, 2, 1))),
        "strides": list(_laid_out(layout, (1, 2, 1, 2, 1))),
        "padding": padding,
        "data_format": layout,
    }
    maximum: Case = ("MaxPool3D", {"input": image, **attrs})
    (result,) = static_shapes(live_op(*maximum))
    both = {"orig_input": image, "orig_output": result}
    for case in (
        maximum,
        ("AvgPool3D", {"input": image, **attrs}),
        ("AvgPool3DGrad", {"orig_input_shape": list(image), "grad": result, **attrs}),
        ("MaxPool3DGrad", {**both, "grad": result, **attrs}),
        ("MaxPool3DGradGrad", {**both, "grad": image, **attrs}),
    ):
        assert_like_tensorflow(SHAPES, case)


@pytest.mark.tensorflow
def test_pools_over_channels_and_explicit_paddings_are_as_tensorflow_has_them() -> None:
    image = (2, 9, 10, 12)
    deep = {"ksize": [1, 1, 1, 4], "strides": [1, 1, 1, 4], "padding": "VALID"}
    wide = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 2, 1], "padding": "EXPLICIT"}
    added = [0, 0, 1, 0, 1, 1, 0, 0]

    assert_like_tensorflow(SHAPES, ("MaxPool", {"input": image, **deep}))
    assert_like_tensorflow(
        SHAPES, ("MaxPool", {"input": image, **wide, "explicit_paddings": added})
    )


@pytest.mark.tensorflow
def test_fractional_pools_give_what_tensorflow_gives() -> None:
    import tensorflow as tf

    for ratios in ([1.0, 1.44, 1.73, 1.0], [1.0, 2.0, 2.0, 1.0]):
        pooled, rows, _ = tf.raw_ops.FractionalMaxPool(
            value=tf.zeros((2, 9, 10, 3)), pooling_ratio=ratios
        )
        op = call("FractionalMaxPool", floats(2, 9, 10, 3), pooling_ratio=tuple(ratios))
        assert shapes(SHAPES, op)[0] == tuple(pooled.shape)
        assert len(rows) == pooled.shape[1] + 1  # TensorFlow infers one less
