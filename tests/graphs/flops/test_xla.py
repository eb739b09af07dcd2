from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graphs.calls import call, cost, floats, ints, scalar
from tests.graphs.shapes.dimension_messages import conv_message, dot_message
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES

NHWC = conv_message((0, 3, (1, 2)), (2, 3, (0, 1)), (0, 3, (1, 2)))


def count(op: OpCall) -> tuple[Any, Any]:
    macs, other, _ = cost(SHAPES, op)
    return macs, other


def conv(
    image: tuple[Any, ...],
    kernel: tuple[int, ...],
    *,
    strides: tuple[int, int] = (1, 1),
    padding: tuple[int, int, int, int] = (0, 0, 0, 0),
    holes: tuple[int, int] = (1, 1),
    spacing: tuple[int, int] = (1, 1),
    **attrs: Any,
) -> OpCall:
    steps = (ints(*strides), Tensor((2, 2), 3, padding), ints(*holes), ints(*spacing), scalar(1))
    attrs = {"dimension_numbers": NHWC, **attrs}
    return call("XlaConvV2", floats(*image), floats(*kernel), *steps, **attrs)


def test_dot_sums_over_all_contracted_dimensions() -> None:
    op = call(
        "XlaDot",
        *(floats(2, 3, 4, 5), floats(2, 5, 3, 7)),
        dimension_numbers=dot_message((1, 3), (2, 1), (0,), (0,)),
    )

    assert count(op) == (2 * 4 * 7 * 15, 0)


def test_dot_of_unknown_batch() -> None:
    batch = Symbolic.named("B")
    op = call(
        "XlaDotV2",
        *(floats(batch, 3), floats(3, 7)),
        dimension_numbers=dot_message((1,), (0,), (), ()),
    )

    assert count(op) == (21 * batch, 0)


@given(
    st.integers(1, 3), st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.integers(0, 2)
)
def test_convolution_counts_what_a_walk_over_taps_does(
    taps: int, stride: int, spacing: int, groups: int, added: int
) -> None:
    size, inputs, outputs = 6, 2 * groups, 4
    reach = (taps - 1) * spacing + 1
    starts = range(0, size + 2 * added - reach + 1, stride)
    walked = sum(
        1
        for _ in product(
            range(2), starts, starts, range(outputs), range(taps), range(taps), range(2)
        )
    )
    op = conv(
        (2, size, size, inputs),
        (taps, taps, inputs // groups, outputs),
        strides=(stride, stride),
        padding=(added,) * 4,
        spacing=(spacing, spacing),
    )

    assert SHAPES["XlaConvV2"](op)[0] == (2, len(starts), len(starts), outputs)
    assert count(op) == (walked, 0)


@given(st.integers(1, 3), st.integers(2, 3), st.integers(1, 5))
def test_holes_in_the_image_take_no_products(taps: int, hole: int, size: int) -> None:
    """With room for all, each element of the image meets each tap, as a walk finds."""
    width = (size - 1) * hole + 1
    around = taps - 1
    walked = sum(
        1
        for start in range(width + around)
        for tap in range(taps)
        if 0 <= start + tap - around < width and (start + tap - around) % hole == 0
    )
    op = conv((1, size, 1, 3), (taps, 1, 3, 4), padding=(around, around, 0, 0), holes=(hole, 1))

    assert count(op) == (walked * 3 * 4, 0)


def test_groups_of_the_batch_share_a_filter() -> None:
    op = conv((4, 8, 8, 3), (3, 3, 3, 8), batch_group_count=2)

    assert count(op) == (2 * 6 * 6 * 8 * 27, 0)


def test_gradient_of_a_filter_as_xla_writes_it_counts_like_the_forward_convolution() -> None:
    # Channels are the batch and the batch is summed: 8×8×3 with 3×3 taps, 6×6 results, 4 channels.
    numbers = conv_message((3, 0, (1, 2)), (0, 3, (1, 2)), (2, 3, (0, 1)))
    op = conv((2, 8, 8, 3), (2, 6, 6, 4), dimension_numbers=numbers)

    assert count(op) == (2 * 6 * 6 * 4 * 27, 0)


def test_reductions_take_one_operation_less_than_elements_come_together() -> None:
    op = call("XlaReduce", floats(3, 4, 5), floats(), dimensions_to_reduce=(0, 2))
    several = call(
        "XlaVariadicReduceV2",
        *(floats(3, 4), Tensor((3, 4), 3), floats(), Tensor((), 3)),
        dimensions_to_reduce=(1,),
        output_types=(1, 3),
    )

    assert count(op) == (0, 60 - 4)
    assert count(several) == (0, 12 - 3)  # indices are not float work


def test_windows_of_a_reduction() -> None:
    steps = (ints(1, 2, 2, 1), ints(1, 2, 2, 1), ints(1, 1, 1, 1), ints(1, 1, 1, 1))
    pool = call("XlaReduceWindow", floats(2, 8, 8, 3), floats(), *steps, ints(*[0] * 8))
    back = call(
        "XlaSelectAndScatter",
        *(floats(2, 8, 8, 3), *steps[:2], ints(*[0] * 8), floats(2, 4, 4, 3), floats()),
    )

    assert count(pool) == (0, 2 * 4 * 4 * 3 * 3)
    assert count(back) == (0, 2 * 4 * 4 * 3 * 4)


def test_sorts_take_a_comparison_for_each_element_and_doubling() -> None:
    assert count(call("XlaSort", floats(5, 8))) == (0, 40 * 3)
    assert count(call("XlaSort", floats(1))) == (0, 0)
    assert count(call("XlaKeyValueSort", floats(9), floats(9))) == (0, 9 * 4)
    assert count(call("XlaVariadicSort", floats(8, 5), floats(8, 5), scalar(0))) == (0, 40 * 3)
    with pytest.raises(UnknownError):
        count(call("XlaSort", floats(Symbolic.named("N"))))


def test_decompositions_count_like_those_of_tensorflow() -> None:
    eig = count(call("XlaSelfAdjointEig", floats(2, 6, 6)))
    svd = count(call("XlaSvd", floats(2, 6, 4)))

    assert eig[0] * 2 + eig[1] == 2 * 9 * 6**3
    assert svd[0] * 2 + svd[1] == 2 * (4 * 36 * 4 + 8 * 6 * 16 + 9 * 64)


def test_updates_and_roundings_take_one_operation_each() -> None:
    assert count(call("XlaScatter", floats(5, 6), Tensor((3, 1), 3), floats(3, 6))) == (0, 18)
    assert count(call("XlaReducePrecision", floats(5, 6))) == (0, 30)
    assert count(call("XlaDequantize", Tensor((2, 3), 22))) == (0, 2 * 24)
    assert count(call("XlaAllReduce", floats(5, 6), Tensor((1, 4), 3), reduce_op="Add")) == (0, 30)


@pytest.mark.parametrize(
    "numbers",
    [
        dot_message((2,), (0,), (), ()),
        dot_message((1,), (), (), ()),
        dot_message((1, 1), (0, 0), (), ()),
        b"\xff\xff",
        7,
    ],
    ids=str,
)
def test_dimension_numbers_that_do_not_fit_give_no_count(numbers: Any) -> None:
    with pytest.raises(UnknownError):
        count(call("XlaDot", floats(2, 3), floats(3, 7), dimension_numbers=numbers))


def test_convolutions_with_broken_steps_give_no_count() -> None:
    for broken in (
        {"strides": (0, 1)},
        {"holes": (1, 0)},
        {"dimension_numbers": conv_message((0, 3, (1, 1)), (2, 3, (0, 1)), (0, 3, (1, 2)))},
        {"dimension_numbers": conv_message((0, 3, (1,)), (2, 3, (0, 1)), (0, 3, (1, 2)))},
        {"dimension_numbers": ""},
    ):
        with pytest.raises(UnknownError):
            count(conv((2, 6, 6, 3), (3, 3, 3, 4), **broken))  # type: ignore[arg-type]
