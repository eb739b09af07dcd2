from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs.calls import call, cost, floats, ints
from tests.graphs.flops.brute_force import convolution_products, window_starts
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


def macs(op: OpCall) -> Any:
    return cost(SHAPES, op).macs


def laid_out(layout: str, **sizes: int) -> tuple[int, ...]:
    return tuple(sizes[letter] for letter in layout)


def ones(layout: str, **steps: int) -> tuple[int, ...]:
    return tuple(steps.get(letter, 1) for letter in layout)


def test_first_layer_of_vgg_takes_its_published_multiply_adds() -> None:
    op = call(
        "Conv2D",
        floats(1, 224, 224, 3),
        floats(3, 3, 3, 64),
        strides=(1, 1, 1, 1),
        padding="SAME",
    )

    assert macs(op) == 224 * 224 * 64 * 27 == 86_704_128


@settings(max_examples=60)
@given(st.data())
def test_convolution_and_gradients_count_what_a_walk_over_taps_does(data: st.DataObject) -> None:
    small = st.integers(1, 2)
    layout = data.draw(st.sampled_from(["NHWC", "NCHW", "NDHWC", "NCDHW"]))
    letters = layout.replace("N", "").replace("C", "")
    groups = data.draw(small)
    inputs, outputs = groups * data.draw(small), groups * data.draw(small)
    padding = data.draw(st.sampled_from(["SAME", "VALID"]))
    taps = {x: data.draw(st.integers(1, 3)) for x in letters}
    strides = {x: data.draw(small) for x in letters}
    dilations = {x: data.draw(small) for x in letters}
    sizes = {x: data.draw(st.integers((taps[x] - 1) * dilations[x] + 1, 6)) for x in letters}
    batch = data.draw(small)
    starts = [window_starts(sizes[x], taps[x], strides[x], dilations[x], padding) for x in letters]
    walked = list(
        convolution_products(
            (batch, *sizes.values()), tuple(taps.values()), (inputs, outputs, groups), starts
        )
    )

    image = laid_out(layout, N=batch, C=inputs, **sizes)
    kernel = (*(taps[x] for x in letters), inputs // groups, outputs)
    result = laid_out(
        layout, N=batch, C=outputs, **{x: len(s) for x, s in zip(letters, starts, strict=True)}
    )
    attrs = {
        "strides": ones(layout, **strides),
        "dilations": ones(layout, **dilations),
        "padding": padding,
        "data_format": layout,
    }
    rank = f"{len(letters)}D"
    version = "V2" if rank == "3D" else ""
    forward = call(f"Conv{rank}", floats(*image), floats(*kernel), **attrs)
    to_image = call(
        f"Conv{rank}BackpropInput{version}",
        *(ints(*image), floats(*kernel), floats(*result)),
        **attrs,
    )
    to_filter = call(
        f"Conv{rank}BackpropFilter{version}",
        *(floats(*image), ints(*kernel), floats(*result)),
        **attrs,
    )

    assert SHAPES[forward.type](forward)[0] == result
    assert SHAPES[to_image.type](to_image)[0] == image
    assert SHAPES[to_filter.type](to_filter)[0] == kernel
    assert macs(forward) == macs(to_image) == macs(to_filter) == len(walked) == len(set(walked))


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.sampled_from(["SAME", "VALID"]))
def test_depthwise_convolution_counts_the_taps_of_one_channel_for_each_result(
    taps: int, channels: int, multiplier: int, padding: str
) -> None:
    starts = window_starts(5, taps, 2, 1, padding)
    walked = sum(
        1
        for _ in convolution_products(
            (2, 5, 5), (taps, taps), (channels, channels * multiplier, channels), [starts] * 2
        )
    )
    attrs = {"strides": (1, 2, 2, 1), "padding": padding}
    image, kernel = (2, 5, 5, channels), (taps, taps, channels, multiplier)
    result = (2, len(starts), len(starts), channels * multiplier)
    forward = call("DepthwiseConv2dNative", floats(*image), floats(*kernel), **attrs)
    to_image = call(
        "DepthwiseConv2dNativeBackpropInput",
        *(ints(*image), floats(*kernel), floats(*result)),
        **attrs,
    )
    to_filter = call(
        "DepthwiseConv2dNativeBackpropFilter",
        *(floats(*image), ints(*kernel), floats(*result)),
        **attrs,
    )

    assert SHAPES[forward.type](forward)[0] == result
    assert macs(forward) == macs(to_image) == macs(to_filter) == walked


def test_transposed_convolution_counts_from_the_gradient_not_from_its_result() -> None:
    # Keras' Conv2DTranspose(16, 3, strides=2) on 8×8×4: each input element meets 9·16 taps.
    op = call(
        "Conv2DBackpropInput",
        *(ints(1, 17, 17, 16), floats(3, 3, 16, 4), floats(1, 8, 8, 4)),
        strides=(1, 2, 2, 1),
        padding="VALID",
    )

    assert macs(op) == 8 * 8 * 4 * 9 * 16


def test_gradients_that_get_the_tensor_itself_count_the_same() -> None:
    attrs = {"strides": (1, 2, 2, 1), "padding": "SAME"}
    image, kernel, result = floats(2, 8, 8, 3), floats(3, 3, 3, 5), floats(2, 4, 4, 5)
    wanted = 2 * 4 * 4 * 5 * 27

    assert macs(call("Conv2DBackpropInputV2", image, kernel, result, **attrs)) == wanted
    assert macs(call("Conv2DBackpropFilterV2", image, kernel, result, **attrs)) == wanted


def test_gradients_of_three_dimensions_that_get_the_tensor_count_the_same() -> None:
    attrs = {"strides": (1, 2, 2, 2, 1), "padding": "SAME"}
    image, kernel = floats(2, 8, 8, 8, 3), floats(3, 3, 3, 3, 5)
    result = floats(2, 4, 4, 4, 5)
    wanted = 2 * 4**3 * 5 * 81

    assert macs(call("Conv3DBackpropInput", image, kernel, result, **attrs)) == wanted
    assert macs(call("Conv3DBackpropFilter", image, kernel, result, **attrs)) == wanted


def test_packed_channels_count_one_by_one() -> None:
    op = call(
        "Conv2D",
        *(Tensor((1, 2, 8, 8, 4), 11), Tensor((16, 2, 3, 3, 4), 11)),
        strides=(1, 1, 1, 1),
        padding="SAME",
        data_format="NCHW_VECT_C",
        filter_format="OIHW_VECT_I",
    )

    assert SHAPES["Conv2D"](op)[0] == (1, 4, 8, 8, 4)
    assert macs(op) == 64 * 16 * 9 * 8


def test_generic_convolution_takes_any_number_of_batch_dimensions() -> None:
    op = call(
        "Conv",
        *(floats(2, 3, 8, 9, 4), floats(3, 3, 4, 5)),
        strides=(1, 1, 1, 1),
        padding="SAME",
        batch_dims=2,
    )

    assert macs(op) == 2 * 3 * 8 * 9 * 5 * 36


def test_unknown_batch_and_extent_stay_in_the_count() -> None:
    height = Symbolic.named("H")
    op = call(
        "Conv2D",
        *(floats(B, height, 8, 3), floats(3, 3, 3, 4)),
        strides=(1, 2, 2, 1),
        padding="SAME",
    )
    count = macs(op)

    assert count.symbols == ("B", "H")
    assert count.bind(B=5, H=7) == 5 * 4 * 4 * 4 * 27


def test_complex_convolution_takes_four_real_multiply_adds() -> None:
    op = call(
        "Conv2D",
        *(Tensor((1, 4, 4, 1), 8), Tensor((1, 1, 1, 1), 8)),
        strides=(1, 1, 1, 1),
        padding="VALID",
    )

    assert macs(op) == 4 * 16


def test_dilation_takes_an_addition_and_a_comparison_for_each_tap() -> None:
    attrs = {"strides": (1, 1, 1, 1), "rates": (1, 2, 2, 1), "padding": "VALID"}
    forward = call("Dilation2D", floats(2, 9, 9, 3), floats(3, 2, 3), **attrs)
    gradient = floats(2, 5, 7, 3)
    n = 2 * 5 * 7 * 3

    assert cost(SHAPES, forward) == (0, 2 * n * 6, (("n", n), ("k", 6)))
    for name in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter"):
        op = call(name, floats(2, 9, 9, 3), floats(3, 2, 3), gradient, **attrs)
        assert cost(SHAPES, op).flops == 2 * n * 6 + n


@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"strides": (1, 1, 1, 1)},
        {"strides": (1, 1), "padding": "SAME"},
        {"strides": (1, 0, 1, 1), "padding": "SAME"},
        {"strides": "SAME", "padding": "SAME"},
        {"strides": (1, 1, 1, 1), "padding": "FULL"},
        {"strides": (1, 1, 1, 1), "padding": "EXPLICIT"},
        {"strides": (1, 1, 1, 1), "padding": "EXPLICIT", "explicit_paddings": (1,)},
        {"strides": (1, 1, 1, 1), "padding": "SAME", "dilations": (1, 0, 1, 1)},
        {"strides": (1, 1, 1, 1), "padding": "SAME", "data_format": "WHAT"},
        {"strides": (1, 1, 1, 1), "padding": "SAME", "data_format": "NDHWC"},
        {"strides": (1, 1, 1, 1), "padding": "SAME", "filter_format": "IHWO"},
    ],
    ids=str,
)
def test_attributes_without_a_meaning_give_no_count(attrs: dict[str, Any]) -> None:
    with pytest.raises(UnknownError):
        macs(call("Conv2D", floats(1, 8, 8, 3), floats(3, 3, 3, 4), **attrs))


@pytest.mark.parametrize("kernel", [(3, 3, 3), (3,), (3, 3, 3, 3, 4)], ids=str)
def test_filters_of_a_wrong_rank_give_no_count(kernel: tuple[int, ...]) -> None:
    with pytest.raises(UnknownError):
        macs(
            call(
                "Conv2D",
                *(floats(1, 8, 8, 3), floats(*kernel)),
                strides=(1, 1, 1, 1),
                padding="SAME",
            )
        )


def test_onednn_kernels_count_like_plain_ones() -> None:
    for name in ("_MklConv2D", "_MklNativeConv2D"):
        op = call(
            name, floats(1, 8, 8, 3), floats(3, 3, 3, 4), strides=(1, 1, 1, 1), padding="SAME"
        )
        assert macs(op) == math.prod((8, 8, 4, 27))
