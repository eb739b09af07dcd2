from __future__ import annotations

from typing import Any

import pytest

from tests.graphs.calls import call, floats, ints, scalar, shapes
from tests.graphs.shapes.static_shapes import Case, assert_like_tensorflow
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
FILTER = floats(3, 3, 3, 4)
VALID = {"strides": (1, 1, 1, 1), "padding": "VALID"}


def test_paddings_come_before_the_filter_or_behind_all_that_is_fused() -> None:
    image, paddings = floats(B, 8, 8, 3), ints(0, 0, 1, 2, 0, 1, 0, 0)
    plain = call("FusedPadConv2D", image, paddings, FILTER, **VALID)
    kernel = call("_MklNativePadWithConv2D", image, FILTER, paddings, **VALID)
    more = call("_MklPadWithFusedConv2D", image, FILTER, floats(4), paddings, num_args=1, **VALID)

    for op in (plain, kernel, more):
        assert shapes(SHAPES, op) == [(B, 9, 7, 4)]


def test_unknown_paddings_leave_the_extent_unknown() -> None:
    op = call("FusedPadConv2D", floats(B, 8, 8, 3), Tensor((4, 2), 3), FILTER, **VALID)

    assert shapes(SHAPES, op) == [(None, None, None, 4)]


def test_paddings_of_another_rank_have_no_meaning() -> None:
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("FusedPadConv2D", floats(B, 8, 8, 3), ints(1, 1), FILTER, **VALID))


def test_image_is_resized_then_padded() -> None:
    image, paddings = floats(B, 8, 8, 3), ints(0, 0, 1, 1, 1, 1, 0, 0)
    op = call("FusedResizeAndPadConv2D", image, ints(6, 5), paddings, FILTER, **VALID)
    unknown = call("FusedResizeAndPadConv2D", image, Tensor(), paddings, FILTER, **VALID)

    assert shapes(SHAPES, op) == [(B, 6, 5, 4)]
    assert shapes(SHAPES, unknown) == [(B, None, None, 4)]
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("FusedResizeAndPadConv2D", image, ints(6), paddings, FILTER, **VALID))


def test_onednn_moves_pass_over_their_layouts() -> None:
    layout = Tensor((16,), 4)
    values = (floats(2, 3), floats(2, 4))
    last = call("_MklConcatV2", *values, scalar(1), *[layout] * 3, N=2)
    first = call("_MklConcat", scalar(1), *values, *[layout] * 3, N=2)
    turned = call("_MklTranspose", floats(2, 3), ints(1, 0))

    assert shapes(SHAPES, last) == shapes(SHAPES, first) == [(2, 7)]
    assert shapes(SHAPES, turned) == [(3, 2)]


def _with_bias(n: int) -> dict[str, Any]:
    return {"fused_ops": ["BiasAdd"], "args": [(n,)]}


_TYPED_BIAS = {**_with_bias(4), "num_args": 1, "host_args": []}

_CASES: list[Case] = [
    (
        name,
        {
            "input": (2, 8, 9, 3),
            "filter": (3, 2, 3, 4),
            "strides": [1, 2, 1, 1],
            "padding": padding,
            **attrs,
        },
    )
    for padding in ("SAME", "VALID")
    for name, attrs in (
        ("_FusedConv2D", _TYPED_BIAS),
        ("_MklNativeFusedConv2D", _TYPED_BIAS),
        ("_FusedDepthwiseConv2dNative", _with_bias(12)),
        ("_MklNativeConv2DWithBias", {"bias": (4,)}),
    )
]
_CASES += [
    ("_FusedMatMul", {"a": (2, 3), "b": (5, 3), "transpose_b": True, **_with_bias(5)}),
    (
        "_FusedConv3D",
        {
            "input": (2, 6, 7, 8, 3),
            "filter": (2, 3, 2, 3, 5),
            "strides": [1, 1, 2, 1, 1],
            "padding": "VALID",
            **_with_bias(5),
        },
    ),
    (
        "FusedPadConv2D",
        {
            "input": (2, 8, 9, 3),
            "paddings": [[0, 0], [1, 2], [0, 1], [0, 0]],
            "filter": (3, 2, 3, 4),
            "mode": "REFLECT",
            "strides": [1, 2, 1, 1],
            "padding": "VALID",
        },
    ),
    (
        "FusedResizeAndPadConv2D",
        {
            "input": (2, 8, 9, 3),
            "size": [6, 7],
            "paddings": [[0, 0], [1, 2], [0, 1], [0, 0]],
            "filter": (3, 2, 3, 4),
            "mode": "REFLECT",
            "strides": [1, 2, 1, 1],
            "padding": "VALID",
        },
    ),
]


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", _CASES, ids=str)
def test_shapes_are_those_that_tensorflow_infers(case: Case) -> None:
    assert_like_tensorflow(SHAPES, case)
