"""Rules for ops that contradict their own definition: they say nothing, and take no time."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import MOST_VALUES, Comparison, Handle, Tensor
from tfprof.graphs.shapes import infer
from tfprof.graphs.shapes.infer import HANDLES, VALUES

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

B = Symbolic.named("B")
NAMES = (
    *("axis", "num", "num_split", "shape", "value", "squeeze_dims", "batch_dims", "element_shape"),
    *("block_size", "data_format", "ksizes", "strides", "rates", "padding", "output_shapes"),
    *("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask", "DstT"),
    *("num_elements", "num_sparse", "dense_shapes", "shapes", "component_types", "is_constant"),
    *("row_partition_types", "_handle_shapes", "dtype", "num_outs", "num_partitions", "type"),
)
ATTRIBUTES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2, 3, 1 << 40, -(1 << 70), 2.5, "SAME", "VALID", "NHWC", b"\xff", ""),
    *((), (1, 2), (-1,), (None, 3), (0,) * 4, (1,) * 5, ((2, 3), None), ("x",), (1.5,)),
    *(Tensor((2,), 3, (1, 2)), Tensor((3,), 3, (1,)), Tensor(None, 1)),
)
SIZES = (0, 1, 2, 3, 5, 1 << 40, -1, B, B + 1)
ELEMENTS = (0, 1, 2, -1, -2, 7, 1 << 40, -(1 << 63), None, True, 2.5, float("nan"), float("inf"))


def _tensor(draw: random.Random) -> Tensor:
    rank = draw.choice((None, 0, 0, 1, 1, 1, 2, 3, 4, 5))
    if rank is None:
        return Tensor(None, draw.choice((0, 1, 3)))
    shape = tuple(draw.choice(SIZES) for _ in range(rank))
    values = None
    if draw.random() < 0.6:
        small = tuple(draw.choice((0, 1, 2, 3)) for _ in range(rank))
        count = 1
        for dim in small:
            count *= dim
        special = (*ELEMENTS, B, -B, B - 3, Comparison("<", B, 3))
        values = tuple(draw.choice(special) for _ in range(count))
        if draw.random() < 0.8:
            shape = small
    handle = None
    if draw.random() < 0.3:
        handle = Handle(draw.choice((None, (), (3, None), shape)), 1, draw.choice((None, 0, 3, B)))
    return Tensor(shape, draw.choice((0, 1, 3, 9, 10, 19, 21)), values, handle)


def _op(op_type: str, draw: random.Random) -> OpCall:
    inputs = tuple(_tensor(draw) for _ in range(draw.randrange(6)))
    attrs = {name: draw.choice(ATTRIBUTES) for name in NAMES if draw.random() < 0.5}
    types = tuple(draw.choice((0, 1, 3)) for _ in range(draw.randrange(4)))
    return OpCall(op_type, inputs, (), attrs, types)


OP_TYPES = sorted({*infer.SHAPES, *VALUES, *HANDLES})


@pytest.mark.parametrize("first", range(26))
def test_nonsense_is_unknown_and_small(first: int) -> None:
    """``infer`` lets pass what rules may run into, so any other exception fails here."""
    for op_type in OP_TYPES[first::26]:
        draw = random.Random(op_type)
        for _ in range(60):
            op = _op(op_type, draw)
            shapes, values, _ = infer.infer(op, 3)
            for shape in shapes:
                assert shape is None or len(shape) <= 2 * 254
            for elements in values:
                assert elements is None or len(elements) <= MOST_VALUES
