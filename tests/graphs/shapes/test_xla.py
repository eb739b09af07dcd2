from __future__ import annotations

from typing import Any

import pytest

from tests.graphs.calls import call, floats, ints, scalar, shapes, variable
from tests.graphs.shapes.dimension_messages import conv_message, dot_message, gather_message
from tests.graphs.shapes.static_shapes import Case, assert_like_tensorflow
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.general_conv import conv_numbers, dot_numbers
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")

NHWC = conv_message((0, 3, (1, 2)), (2, 3, (0, 1)), (0, 3, (1, 2)))
MIXED = conv_message((0, 1, (2, 3)), (1, 0, (2, 3)), (3, 2, (1, 0)))
DOT = dot_message((3,), (1,), (0, 1), (0, 3))


def test_messages_are_read_from_text_and_from_bytes() -> None:
    as_bytes = dot_numbers(call("XlaDot", dimension_numbers=DOT))
    as_text = dot_numbers(call("XlaDot", dimension_numbers=DOT.decode()))

    assert as_bytes == as_text == ((3,), (1,), (0, 1), (0, 3))


def test_numbers_that_are_not_packed_are_read_too() -> None:
    loose = bytes([1 << 3, 3, 2 << 3, 1, 3 << 3, 0, 3 << 3, 1, 4 << 3, 0, 4 << 3, 3])

    assert dot_numbers(call("XlaDot", dimension_numbers=loose)) == ((3,), (1,), (0, 1), (0, 3))


def test_message_cut_anywhere_raises_unknown_or_has_fewer_numbers() -> None:
    for end in range(len(NHWC)):
        try:
            numbers = conv_numbers(call("XlaConv", dimension_numbers=NHWC[:end]))
        except UnknownError:
            continue
        assert numbers != conv_numbers(call("XlaConv", dimension_numbers=NHWC))


def test_dot_has_the_batch_then_what_stays_of_both_sides() -> None:
    op = call("XlaDot", floats(B, 3, 4, 5), floats(B, 5, 7, 3), dimension_numbers=DOT)

    assert shapes(SHAPES, op) == [(B, 3, 4, 7)]


def test_windows_of_a_reduction_count_like_those_of_a_pool() -> None:
    steps = (ints(1, 2, 2, 1), ints(1, 2, 2, 1), ints(1, 1, 1, 1), ints(1, 1, 1, 1))
    added = Tensor((4, 2), 3, (0, 0, 0, 1, 0, 1, 0, 0))
    op = call("XlaReduceWindow", floats(B, 9, 8, 3), floats(), *steps, added)

    assert shapes(SHAPES, op) == [(B, 5, 4, 3)]
    with pytest.raises(UnknownError):
        broken = (ints(1, 0, 2, 1), *steps[1:], added)
        shapes(SHAPES, call("XlaReduceWindow", floats(B, 9, 8, 3), floats(), *broken))


def test_reductions_leave_dimensions_out() -> None:
    one = call("XlaReduce", floats(B, 3, 4), floats(), dimensions_to_reduce=(1,))
    two = call(
        "XlaVariadicReduceV2",
        *(floats(B, 3), floats(B, 3), floats(), floats()),
        dimensions_to_reduce=(1,),
    )

    assert shapes(SHAPES, one) == [(B, 4)]
    assert shapes(SHAPES, two) == [(B,), (B,)]


def test_decompositions_have_full_matrices() -> None:
    # Shapes of tf2xla's kernels, whose op definitions infer none.
    assert shapes(SHAPES, call("XlaSvd", floats(B, 5, 3))) == [(B, 3), (B, 5, 5), (B, 3, 3)]
    assert shapes(SHAPES, call("XlaSvd", floats(3, 5))) == [(3,), (3, 3), (5, 5)]
    assert shapes(SHAPES, call("XlaSelfAdjointEig", floats(B, 5, 5))) == [(B, 5), (B, 5, 5)]


def test_operand_of_lower_rank_is_given_dimensions_of_1() -> None:
    wide, narrow = floats(2, 3, 4), floats(3)

    assert shapes(SHAPES, call("XlaBroadcastHelper", wide, narrow, ints(1))) == [
        *((2, 3, 4), (1, 3, 1)),
    ]
    assert shapes(SHAPES, call("XlaBroadcastHelper", narrow, wide, ints(1))) == [
        *((1, 3, 1), (2, 3, 4)),
    ]
    assert shapes(SHAPES, call("XlaBroadcastHelper", wide, floats(), ints())) == [(2, 3, 4), ()]


def test_packed_numbers_hold_four_elements() -> None:
    packed = Tensor((2, 3), 22)

    assert shapes(SHAPES, call("XlaDequantize", packed)) == [(2, 12)]
    assert shapes(SHAPES, call("XlaDequantize", packed, transpose_output=True)) == [(12, 2)]


def test_parts_of_a_tensor_are_padded_and_put_together_again() -> None:
    apart = call("XlaSplitND", floats(5, 6), N=4, num_splits=(2, 2), paddings=(1, 0))
    stored = call("ReadVariableXlaSplitND", variable(5, 6), N=4, num_splits=(2, 2), paddings=(1, 0))
    whole = call("XlaConcatND", *[floats(3, 3)] * 4, N=4, num_concats=(2, 2), paddings=(1, 0))

    assert shapes(SHAPES, apart) == shapes(SHAPES, stored) == [(3, 3)] * 4
    assert shapes(SHAPES, whole) == [(5, 6)]


def test_custom_calls_declare_their_shapes() -> None:
    one = call("XlaCustomCall", shape=(3, -1))
    two = call("XlaCustomCallV2", result_shapes=((3, 4), None))

    assert shapes(SHAPES, one) == [(3, None)]
    assert shapes(SHAPES, two) == [(3, 4), None]


def test_sort_of_several_tensors_has_all_of_them() -> None:
    op = call("XlaVariadicSort", floats(B, 3), Tensor((B, 3), 3), scalar(1))

    assert shapes(SHAPES, op) == [(B, 3), (B, 3)]


def test_gather_puts_slices_where_its_numbers_say() -> None:
    indices, sizes = Tensor((7, 2), 3), ints(1, 6)
    behind = gather_message((1,), (0,), (0,), 1)
    front = gather_message((0,), (0,), (0,), 1)

    for message, shape in ((behind, (7, 6)), (front, (6, 7))):
        op = call("XlaGather", floats(5, 6), indices, sizes, dimension_numbers=message)
        assert shapes(SHAPES, op) == [shape]


def test_dimensions_that_operand_and_indices_share_are_left_out_of_a_slice() -> None:
    shared = bytes([5 << 3, 0, 6 << 3, 0])
    message = gather_message((2,), (1,), (1,), 2) + shared
    indices = Tensor((7, 3, 1), 3)
    op = call("XlaGather", floats(7, 5, 6), indices, ints(1, 1, 6), dimension_numbers=message)

    assert shapes(SHAPES, op) == [(7, 3, 6)]


@pytest.mark.parametrize(
    "message",
    [gather_message((5,), (), (0,), 1), gather_message((), (), (0,), 1)],
    ids=["no such place", "too few places"],
)
def test_gathers_whose_numbers_do_not_fit_have_no_shape(message: bytes) -> None:
    op = call("XlaGather", floats(5, 6), Tensor((7, 2), 3), ints(1, 6), dimension_numbers=message)
    with pytest.raises(UnknownError):
        shapes(SHAPES, op)


def _conv_cases() -> list[Case]:
    cases: list[Case] = []
    for strides in ([1, 1], [2, 3]):
        for holes in ([1, 1], [2, 1]):
            for spacing in ([1, 1], [1, 2]):
                for groups in (1, 2):
                    steps = {
                        "window_strides": strides,
                        "padding": [[1, 2], [0, 1]],
                        "lhs_dilation": holes,
                        "rhs_dilation": spacing,
                        "feature_group_count": groups,
                        "precision_config": "",
                    }
                    last = {"lhs": (2, 9, 10, 6), "rhs": (3, 2, 6 // groups, 8)}
                    first = {"lhs": (2, 6, 9, 10), "rhs": (8, 6 // groups, 3, 2)}
                    wanted = {"preferred_element_type": "float32", "batch_group_count": 1}
                    cases += [
                        ("XlaConv", {**last, "dimension_numbers": NHWC, **steps}),
                        ("XlaConv", {**first, "dimension_numbers": MIXED, **steps}),
                        ("XlaConvV2", {**last, "dimension_numbers": NHWC, **steps, **wanted}),
                    ]
    name, arguments = cases[2]
    shared = {**arguments, "lhs": (4, 9, 10, 6), "batch_group_count": 2}
    return [*cases, (name, shared)]


_DOT_CASE = {
    "lhs": (2, 3, 4, 5),
    "rhs": (2, 5, 7, 3),
    "dimension_numbers": DOT,
    "precision_config": "",
}
_GATHER = {
    "operand": (5, 6),
    "start_indices": ("int32", 7, 1),
    "slice_sizes": [1, 6],
    "dimension_numbers": gather_message((1,), (0,), (0,), 1),
    "indices_are_sorted": False,
}
_GROUPS = ("int32", 1, 4)
_PADDED = {
    "input": (2, 3),
    "padding_value": (),
    "padding_low": [-1, 0],
    "padding_high": [0, 2],
    "padding_interior": [0, 1],
}
_CASES: list[Case] = [
    *_conv_cases(),
    ("XlaDot", _DOT_CASE),
    ("XlaDotV2", {**_DOT_CASE, "preferred_element_type": "float32"}),
    ("XlaGather", _GATHER),
    ("XlaPad", _PADDED),
    (
        "XlaReduceScatter",
        {"input": (8, 3), "group_assignment": _GROUPS, "scatter_dimension": 0, "reduce_op": "Add"},
    ),
    (
        "XlaAllReduce",
        {"input": (2, 3), "group_assignment": _GROUPS, "reduce_op": "Add", "mode": "CrossReplica"},
    ),
    ("XlaRngBitGenerator", {"algorithm": 1, "initial_state": ("uint64", 3), "shape": [2, 3]}),
    ("XlaSharding", {"input": (2, 3)}),
    ("XlaReducePrecision", {"operand": (2, 3), "exponent_bits": 1, "mantissa_bits": 2}),
    ("XlaSort", {"input": (2, 3)}),
    ("XlaKeyValueSort", {"keys": (2, 3), "values": (2, 3)}),
    ("XlaReplicaId", {}),
    ("XlaSpmdShardToFullShape", {"input": (4, 3), "manual_sharding": "", "full_shape": [8, 3]}),
]


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", _CASES, ids=lambda case: str(case[0]))
def test_shapes_are_those_that_tensorflow_infers(case: Any) -> None:
    assert_like_tensorflow(SHAPES, case)
