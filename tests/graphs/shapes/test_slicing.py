"""Shapes of slices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graphs.calls import call, floats, ints, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Symbolic, bind
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES, VALUES
from tfprof.graphs.shapes.slicing import Part, part_size

T = Symbolic.named("T")
N = Symbolic.named("N")


def shape(op: OpCall) -> Any:
    (only,) = shapes(SHAPES, op)
    return only


def strided(*index: Any) -> dict[str, Any]:
    """The attributes and numbers that Python's subscript of a tensor turns into."""
    begins, ends, strides = [], [], []
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    for place, part in enumerate(index):
        bit = 1 << place
        begin, end, stride = 0, 0, 1
        if part is Ellipsis:
            masks["ellipsis"] |= bit
        elif part is None:
            masks["new_axis"] |= bit
        elif isinstance(part, slice):
            masks["begin"] |= bit if part.start is None else 0
            masks["end"] |= bit if part.stop is None else 0
            begin, end = part.start or 0, part.stop or 0
            stride = 1 if part.step is None else part.step
        else:
            masks["shrink_axis"] |= bit
            begin, end = part, part + 1
        begins.append(begin)
        ends.append(end)
        strides.append(stride)
    inputs = tuple(Tensor((len(index),), 3, tuple(n)) for n in (begins, ends, strides))
    return {"inputs": inputs, **{f"{name}_mask": mask for name, mask in masks.items()}}


def sliced(tensor: Tensor, *index: Any) -> OpCall:
    attrs = strided(*index)
    return call("StridedSlice", tensor, *attrs.pop("inputs"), **attrs)


BOUND = st.one_of(st.none(), st.integers(-7, 7))
STEP = st.one_of(st.none(), st.sampled_from([-3, -2, -1, 1, 2, 3]))
PART = st.one_of(st.builds(slice, BOUND, BOUND, STEP), st.integers(-2, 1), st.none())


@st.composite
def slices(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], tuple[Any, ...]]:
    dims = draw(st.lists(st.integers(2, 5), min_size=1, max_size=4))
    index: list[Any] = []
    used = 0
    for part in draw(st.lists(PART, max_size=5)):
        used += part is not None
        if used > len(dims):
            break
        index.append(part)
    if draw(st.booleans()):
        index.insert(draw(st.integers(0, len(index))), Ellipsis)
    return np.arange(np.prod(dims)).reshape(dims), tuple(index)


@given(slices())
def test_slices_are_those_of_numpy(case: Any) -> None:
    array, index = case
    tensor = Tensor(array.shape, 3, tuple(array.ravel().tolist()))
    op = sliced(tensor, *index)
    assert shape(op) == array[index].shape
    assert list(VALUES["StridedSlice"](op)[0]) == array[index].ravel().tolist()


@given(BOUND, BOUND, STEP, st.integers(1, 12))
def test_symbolic_sizes_are_right_whatever_is_filled_in(
    begin: int | None, end: int | None, step: int | None, n: int
) -> None:
    size = part_size(T, Part(0, begin, end, step or 1))
    assert size is not None
    assert bind(size, {"T": n}) == len(range(n)[begin:end:step])


@given(st.integers(0, 6), st.integers(0, 6), STEP, st.integers(1, 12))
def test_symbolic_bounds_are_right_whatever_is_filled_in(
    begin: int, length: int, step: int | None, n: int
) -> None:
    size = part_size(T, Part(0, begin, N + length, step or 1))
    assert size is not None
    for end in (1, 5):
        assert bind(size, {"T": n, "N": end}) == len(range(n)[begin : end + length : step])


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ((slice(None), slice(None, -1)), (N, T - 1)),
        ((slice(None), slice(1, None)), (N, T - 1)),
        ((slice(None), slice(-1, None)), (N, 1)),
        ((slice(None), -1), (N,)),
        ((Ellipsis, None), (N, T, 1)),
        ((slice(None), slice(None, None, -1)), (N, T)),
        ((slice(None), slice(0, T)), (N, T)),
        ((slice(None), slice(0, T - 1)), (N, T - 1)),
        ((0, slice(None, None, 2)), ((T + 1) // 2,)),
    ],
)
def test_slices_of_unknown_sizes_are_simple_where_they_can_be(index: Any, expected: Any) -> None:
    got = shape(sliced(floats(N, T), *index))
    assert [bind(dim, {"N": 3, "T": 8}) for dim in got] == [
        bind(dim, {"N": 3, "T": 8}) for dim in expected
    ]
    assert len(str(got)) <= len(str(expected)) + 1


def test_a_slice_of_everything_leaves_a_size_as_it_is() -> None:
    half = T // 2
    assert part_size(half, Part(0)) == half
    assert part_size(half, Part(0, stride=-1)) == half
    assert part_size(half, Part(0, 0, half)) == half
    assert part_size(T, Part(0, end=1)) == 1


def test_unknown_bounds_leave_their_dimension_unknown() -> None:
    op = call(
        "StridedSlice", floats(4, 5, 6), ints(0, None), ints(2, 3), Tensor((2,), 3), end_mask=0
    )
    assert shape(op) == (None, None, 6)
    op = call("StridedSlice", floats(4, 5, 6), ints(0, None), ints(2, 3), ints(1, 1))
    assert shape(op) == (2, None, 6)
    op = call("StridedSlice", floats(4, 5), ints(None), ints(None), ints(1), shrink_axis_mask=1)
    assert shape(op) == (5,)
    op = call("StridedSlice", floats(4, 5), *[Tensor((2,), 3)] * 3, begin_mask=1, end_mask=1)
    assert shape(op) == (None, None)


@pytest.mark.parametrize(
    "op",
    [
        call("StridedSlice", floats(4), ints(0, 0), ints(1, 1), ints(1, 1)),
        call("StridedSlice", floats(4), ints(0), ints(1), ints(0)),
        call("StridedSlice", floats(4, 4), ints(0, 0), ints(1, 1), ints(1, 1), ellipsis_mask=3),
        call("StridedSlice", floats(4), *[Tensor(None, 3)] * 3),
        call("StridedSlice", floats(4)),
        call("StridedSlice"),
        call("Slice", floats(4), ints(0, 0), ints(1, 1)),
        call("Slice", floats(4), ints(6), ints(-1)),
        call("Slice", floats(4), ints(0), ints(-2)),
        call("StridedSliceGrad", ints(-3), ints(0), ints(1), ints(1), floats(1)),
        call("RandomCrop", floats(4), ints(1, 1)),
    ],
    ids=lambda op: op.type,
)
def test_contradictions_are_unknown(op: OpCall) -> None:
    with pytest.raises(UnknownError):
        SHAPES[op.type](op)


def test_sizes_may_be_what_is_left() -> None:
    assert shape(call("Slice", floats(N, T), ints(0, 2), ints(-1, -1))) == (N, T - 2)
    assert shape(call("Slice", floats(N, T), ints(0, 2), ints(1, 3))) == (1, 3)
    assert shape(call("Slice", floats(N, T), Tensor((2,), 3), ints(1, -1))) == (1, None)
    assert shape(call("Slice", floats(N, T), Tensor((2,), 3), Tensor((2,), 3))) == (None, None)
    assert shape(call("Slice", floats(), ints(), ints())) == ()


def test_a_crop_keeps_the_channels() -> None:
    assert shape(call("RandomCrop", floats(N, T, 3), ints(4, 5))) == (4, 5, 3)


X = np.arange(24.0, dtype=np.float32).reshape((2, 3, 4))

CASES = {
    "StridedSlice": lambda r, f: [
        f(X, 0, 1)[:, 1:, ::2],
        f(X, 0, 1)[0, ..., None],
        f(X, 0, 1)[..., -1],
        f(X, 0, 1)[:, None, ::-1],
    ],
    "Slice": lambda r, f: r.Slice(input=f(X, 0, 1), begin=[0, 1, 2], size=[-1, 2, 2]),
    "StridedSliceGrad": lambda r, f: r.StridedSliceGrad(
        shape=[4], begin=[0], end=[2], strides=[1], dy=[1.0, 2.0]
    ),
    "TensorStridedSliceUpdate": lambda r, f: r.TensorStridedSliceUpdate(
        input=f(X[0, 0], 0), begin=[0], end=[2], strides=[1], value=np.float32([1, 2])
    ),
    "InplaceUpdate": lambda r, f: r.InplaceUpdate(x=f(X, 0), i=[0], v=f(X[:1], 0)),
}


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", CASES)
def test_shapes_are_those_of_tensorflow(case: str) -> None:
    check(CASES[case])
