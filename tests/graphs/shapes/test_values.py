"""Values of small tensors that follow from the graph: sizes, axes and conditions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graphs.calls import call, floats, ints, scalar, variable
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Symbolic, bind
from tfprof.graphs.model.tensors import (
    DT_BOOL,
    DT_FLOAT,
    DT_INT64,
    MOST_VALUES,
    Comparison,
    Conjunction,
    Handle,
    Tensor,
)
from tfprof.graphs.shapes.infer import VALUES

B = Symbolic.named("B")
H = Symbolic.named("H")
T = Symbolic.named("T")
UNKNOWN_SCALAR = Tensor((), 3)


def values(op_type: str, *inputs: Tensor, **attrs: Any) -> Any:
    (first, *_) = VALUES[op_type](call(op_type, *inputs, **attrs))
    return first


def all_values(op_type: str, *inputs: Tensor, **attrs: Any) -> list[Any]:
    return list(VALUES[op_type](call(op_type, *inputs, **attrs)))


def vector(*elements: Any, dtype: int = 3) -> Tensor:
    return Tensor((len(elements),), dtype, elements)


def truth(value: Any) -> Tensor:
    return Tensor((), DT_BOOL, (value,))


def matrix(rows: int, *elements: Any) -> Tensor:
    return Tensor((rows, len(elements) // rows), 3, elements)


def test_a_shape_is_taken_apart_and_put_together_for_a_reshape() -> None:
    """``reshape(x, [shape(x)[0], shape(x)[1], 4, -1])`` of attention heads."""
    shape = vector(*values("Shape", floats(B, T, 32)))
    sizes = [
        values("StridedSlice", shape, ints(k), ints(k + 1), ints(1), shrink_axis_mask=1)
        for k in range(2)
    ]
    assert sizes == [(B,), (T,)]
    packed = values("Pack", scalar(B), scalar(T), scalar(4), scalar(-1))
    assert packed == (B, T, 4, -1)
    assert values("Prod", vector(B, T, 32), scalar(0)) == (B * T * 32,)
    assert values("Mul", scalar(B), scalar(T)) == (B * T,)
    assert values("ConcatV2", vector(B), vector(T, 8), scalar(0)) == (B, T, 8)


def test_unknown_elements_do_not_hide_the_others() -> None:
    assert values("Pack", scalar(B), UNKNOWN_SCALAR, scalar(4)) == (B, None, 4)
    assert values("ConcatV2", vector(B), Tensor((2,), 3), scalar(0)) == (B, None, None)
    assert values("AddV2", vector(1, None), scalar(2)) == (3, None)
    with pytest.raises(UnknownError):
        values("Maximum", vector(1, 2), UNKNOWN_SCALAR)
    with pytest.raises(UnknownError):
        values("Pack", UNKNOWN_SCALAR, UNKNOWN_SCALAR)
    with pytest.raises(UnknownError):
        values("AddV2", UNKNOWN_SCALAR, UNKNOWN_SCALAR)
    with pytest.raises(UnknownError):
        values("AddV2", scalar(1), Tensor((B,), 3))


def test_sizes_of_a_convolution_come_out_of_integer_arithmetic() -> None:
    half = values("FloorDiv", scalar(H * 2), scalar(2))
    assert half == (H,)
    assert values("FloorMod", scalar(H * 4 + 3), scalar(4)) == (3,)
    odd = values("FloorDiv", scalar(H + 1), scalar(2))
    assert bind(odd[0], {"H": 7}) == 4
    assert values("Sub", scalar(H + 3), scalar(H)) == (3,)
    assert values("Neg", scalar(H)) == (-H,)
    assert values("Maximum", scalar(H), scalar(1)) == (H,)


def test_division_by_nothing_is_unknown() -> None:
    for op_type in ("FloorDiv", "TruncateDiv", "FloorMod", "TruncateMod", "Div", "RealDiv"):
        assert values(op_type, scalar(3), scalar(0)) == (None,)


def test_numbers_that_fit_no_integer_are_unknown() -> None:
    large = scalar(1 << 62, dtype=DT_INT64)
    assert values("Mul", large, large) == (None,)
    assert values("Pow", scalar(10), scalar(10**9)) == (None,)
    assert values("Pow", scalar(2), scalar(-1)) == (None,)
    assert values("Pow", scalar(B), scalar(2)) == (B * B,)
    assert values("Pow", scalar(B), scalar(10**6)) == (None,)
    assert values("Square", large) == (None,)


def test_floats_are_rounded_to_the_type_of_their_tensor() -> None:
    third = values("RealDiv", scalar(1.0, DT_FLOAT), scalar(3.0, DT_FLOAT))
    assert third == (float(np.float32(1) / np.float32(3)),)
    assert values("Mul", scalar(0.1, 2), scalar(3.0, 2)) == (0.1 * 3.0,)
    assert values("Mul", scalar(0.1, 14), scalar(3.0, 14)) == (None,)


def test_a_size_goes_through_floats_and_comes_back() -> None:
    as_float = values("Cast", scalar(7), DstT=DT_FLOAT)
    assert as_float == (7.0,)
    halved = values("Mul", scalar(7.0, DT_FLOAT), scalar(0.5, DT_FLOAT))
    assert values("Cast", scalar(halved[0], DT_FLOAT), DstT=3) == (3,)
    assert values("Ceil", scalar(3.5, DT_FLOAT)) == (4.0,)
    assert values("Cast", scalar(-3.5, DT_FLOAT), DstT=3) == (-3,)
    assert values("Cast", scalar(B), DstT=DT_FLOAT) == (B,)
    doubled = values("Mul", scalar(B, DT_FLOAT), scalar(2.0, DT_FLOAT))
    assert doubled == (B * 2,)
    assert values("Mul", scalar(B, DT_FLOAT), scalar(0.5, DT_FLOAT)) == (None,)
    assert values("RealDiv", scalar(B * 4, DT_FLOAT), scalar(2.0, DT_FLOAT)) == (B * 2,)
    assert values("RealDiv", scalar(B, DT_FLOAT), scalar(2.0, DT_FLOAT)) == (None,)
    assert values("Cast", scalar(math.inf, DT_FLOAT), DstT=3) == (None,)
    assert values("Cast", scalar(0), DstT=DT_BOOL) == (False,)
    assert values("Cast", truth(True), DstT=3) == (1,)
    assert values("Cast", truth(True), DstT=DT_FLOAT) == (1.0,)
    assert values("Cast", truth(Comparison("<", B, 3)), DstT=3) == (None,)


def test_comparisons_of_known_sizes_are_true_or_false() -> None:
    assert values("Less", scalar(3), scalar(4)) == (True,)
    assert values("GreaterEqual", scalar(3), scalar(4)) == (False,)
    assert values("Less", scalar(B), scalar(B + 1)) == (True,)
    assert values("Equal", scalar(B), scalar(B)) == (True,)
    assert values("NotEqual", vector(B, 2), vector(B + 1, 2)) == (True, False)
    assert values("Equal", truth(True), truth(False)) == (False,)
    assert values("Less", scalar(1.5, DT_FLOAT), scalar(2.0, DT_FLOAT)) == (True,)
    assert values("Less", scalar(B, DT_FLOAT), scalar(2.5, DT_FLOAT)) == (None,)


def test_comparisons_of_unknown_sizes_are_written_down() -> None:
    assert values("Less", scalar(B), scalar(10)) == (Comparison("<", B, 10),)
    assert values("Greater", scalar(B), scalar(10)) == (Comparison("<", 10, B),)
    assert values("LessEqual", scalar(B), scalar(T)) == (Comparison("<=", B, T),)
    assert values("GreaterEqual", scalar(B), scalar(T)) == (Comparison("<=", T, B),)
    assert values("Equal", scalar(B), scalar(T)) == (Comparison("==", B, T),)
    assert values("Less", scalar(B, DT_FLOAT), scalar(10.0, DT_FLOAT)) == (Comparison("<", B, 10),)


LESS = Comparison("<", B, 10)
MORE = Comparison("<", T, B)


@pytest.mark.parametrize(
    ("one", "other", "both", "either"),
    [
        (True, False, False, True),
        (True, LESS, LESS, True),
        (False, LESS, False, LESS),
        (LESS, MORE, Conjunction((LESS, MORE)), None),
        (LESS, None, Conjunction((LESS, None)), None),
        (Conjunction((LESS, None)), MORE, Conjunction((LESS, None, MORE)), None),
        (None, None, None, None),
        (None, False, False, None),
        (LESS, LESS, Conjunction((LESS, LESS)), LESS),
    ],
)
def test_conditions_are_joined(one: Any, other: Any, both: Any, either: Any) -> None:
    if one is not None or other is not None:
        assert values("LogicalAnd", truth(one), truth(other)) == (both,)
        assert values("LogicalOr", truth(one), truth(other)) == (either,)


def test_an_unknown_condition_joins_as_unknown() -> None:
    assert values("LogicalAnd", truth(LESS), Tensor((), DT_BOOL)) == (Conjunction((LESS, None)),)


def test_conditions_are_turned_around() -> None:
    assert values("LogicalNot", truth(True)) == (False,)
    assert values("LogicalNot", truth(LESS)) == (Comparison("<=", 10, B),)
    assert values("LogicalNot", truth(Comparison("<=", B, T))) == (Comparison("<", T, B),)
    assert values("LogicalNot", truth(Comparison("==", B, T))) == (Comparison("!=", B, T),)
    assert values("LogicalNot", truth(Conjunction((LESS, MORE)))) == (None,)


def test_a_known_condition_chooses() -> None:
    assert values("SelectV2", truth(True), scalar(B), scalar(T)) == (B,)
    assert values("SelectV2", truth(LESS), scalar(B), scalar(T)) == (None,)
    assert values("SelectV2", truth(LESS), scalar(B), scalar(B)) == (B,)
    rows = values(
        "Select", Tensor((2,), DT_BOOL, (True, False)), matrix(2, 1, 2, 3, 4), matrix(2, 5, 6, 7, 8)
    )
    assert rows == (1, 2, 7, 8)


def test_broadcasting_takes_the_size_that_is_not_one() -> None:
    assert values("BroadcastArgs", vector(B, 1, 3), vector(4, 3)) == (B, 4, 3)
    assert values("BroadcastArgs", vector(B), vector(T)) == (None,)
    assert values("BroadcastArgs", vector(B), vector(5)) == (5,)
    with pytest.raises(UnknownError):
        values("BroadcastArgs", vector(3), vector(4))
    assert all_values("BroadcastGradientArgs", vector(B, 10), vector(10)) == [(), (0,)]
    assert all_values("BroadcastGradientArgs", vector(B, 1, 3), vector(4, 3)) == [(1,), (0,)]
    assert all_values("BroadcastGradientArgs", vector(B, 1), vector(B, 1)) == [(1,), (1,)]


def test_the_shape_of_a_reduced_tensor_as_gradients_spell_it() -> None:
    stitched = values("DynamicStitch", vector(0, 1, 2), vector(1), vector(B, T, 8), vector(1))
    assert stitched == (B, 1, 8)
    with pytest.raises(UnknownError):
        values("DynamicStitch", vector(0, 2), vector(B, T))
    with pytest.raises(UnknownError):
        values("DynamicStitch", vector(-1), vector(B))


def test_lists_know_their_length() -> None:
    handle = Tensor((), 21, None, Handle((8,), 1, T))
    assert values("TensorListLength", handle) == (T,)
    assert values("TensorArraySizeV3", handle, Tensor((), 1)) == (T,)
    assert values("TensorListElementShape", handle) == (8,)
    assert values("VariableShape", variable(3, None)) == (3, None)


def test_loops_pass_constants_only() -> None:
    assert values("Enter", scalar(3), is_constant=True) == (3,)
    with pytest.raises(UnknownError):
        values("Enter", scalar(3))
    assert all_values("Merge", scalar(3), scalar(3)) == [(3,), None]
    for other in (scalar(4), UNKNOWN_SCALAR, Tensor()):
        with pytest.raises(UnknownError):
            values("Merge", scalar(3), other)
    assert all_values("Switch", scalar(3), truth(True)) == [(3,), (3,)]
    assert values("Exit", scalar(3)) == (3,)


def test_ranges_with_unknown_ends_have_no_values() -> None:
    assert values("Range", scalar(0), scalar(3), scalar(1)) == (0, 1, 2)
    assert values("Range", scalar(B), scalar(B + 2), scalar(1)) == (B, B + 1)
    for limit in (scalar(B), scalar(None), scalar(10**12)):
        with pytest.raises(UnknownError):
            values("Range", scalar(0), limit, scalar(1))


@pytest.mark.parametrize(
    "op",
    [
        call("Fill", vector(MOST_VALUES, 2), scalar(0)),
        call("Fill", vector(B), scalar(0)),
        call("Fill", vector(-1), scalar(0)),
        call("Tile", vector(1, 2), vector(10**12)),
        call("BroadcastTo", scalar(1), vector(10**6, 10**6)),
        call("ZerosLike", floats(10**9)),
        call("ZerosLike", floats(B)),
        call("ZerosLike", Tensor((), 21, None, Handle((3,), 1, 2))),
        call("Pad", vector(1), matrix(1, 10**12, 10**12)),
        call("Pad", vector(1), matrix(1, -1, 0)),
        call("GatherV2", vector(1, 2), scalar(2), scalar(0)),
        call("GatherV2", vector(1, 2), scalar(-1), scalar(0)),
        call("GatherV2", matrix(1, 1, 2), scalar(0), scalar(0), batch_dims=1),
        call("StridedSlice", vector(1), ints(1), ints(2), ints(1), shrink_axis_mask=1),
        call("StridedSlice", vector(1), ints(B), ints(2), ints(1)),
        call("InvertPermutation", vector(0, 0)),
        call("Where", Tensor((2,), DT_BOOL, (True, None))),
        call("ListDiff", vector(1, B), vector(1)),
        call("SplitV", vector(1, 2), vector(1, 3), scalar(0), num_split=2),
        call("Identity", floats(3)),
        call("Identity"),
        call("Sum", Tensor((3,), 3, (1, 2)), scalar(0)),
        call("Sum", vector(1), scalar(4)),
    ],
    ids=lambda op: op.type,
)
def test_what_cannot_be_is_unknown(op: OpCall) -> None:
    with pytest.raises(UnknownError):
        VALUES[op.type](op)


INTS = st.lists(st.integers(-9, 9), min_size=1, max_size=4)


@given(INTS, st.integers(-9, 9), st.sampled_from(["Add", "Sub", "Mul", "Maximum", "Minimum"]))
def test_arithmetic_is_that_of_numpy(left: list[int], right: int, op_type: str) -> None:
    function = {
        "Add": np.add, "Sub": np.subtract, "Mul": np.multiply,
        "Maximum": np.maximum, "Minimum": np.minimum,
    }[op_type]  # fmt: skip
    assert list(values(op_type, vector(*left), scalar(right))) == function(left, right).tolist()


@given(st.integers(-99, 99), st.integers(-9, 9).filter(bool))
def test_division_is_that_of_c_and_python(a: int, b: int) -> None:
    assert values("FloorDiv", scalar(a), scalar(b)) == (a // b,)
    assert values("FloorMod", scalar(a), scalar(b)) == (a % b,)
    assert values("TruncateDiv", scalar(a), scalar(b)) == (int(a / b),)
    assert values("Div", scalar(a), scalar(b)) == (int(a / b),)
    assert values("TruncateMod", scalar(a), scalar(b)) == (int(math.fmod(a, b)),)


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.data(),
    st.sampled_from(["Sum", "Prod", "Max", "Min"]),
)
def test_reductions_are_those_of_numpy(dims: list[int], data: st.DataObject, op_type: str) -> None:
    axes = data.draw(st.lists(st.integers(-len(dims), len(dims) - 1), max_size=2))
    array = np.arange(math.prod(dims)).reshape(dims) % 5 - 2
    reduced = {axis % len(dims) for axis in axes}
    function = {"Sum": np.sum, "Prod": np.prod, "Max": np.max, "Min": np.min}[op_type]
    tensor = Tensor(tuple(dims), 3, tuple(array.ravel().tolist()))
    got = values(op_type, tensor, vector(*axes))
    assert list(got) == np.ravel(function(array, axis=tuple(reduced))).tolist()


def test_reductions_of_nothing_give_their_start() -> None:
    assert values("Prod", vector(), scalar(0)) == (1,)
    assert values("Sum", vector(), scalar(0)) == (0,)
    assert values("Prod", vector(dtype=DT_FLOAT), scalar(0)) == (1.0,)
    assert values("All", vector(dtype=DT_BOOL), scalar(0)) == (True,)
    assert values("Max", vector(), scalar(0)) == (None,)


SHAPE = np.array([2, 3, 4], np.int32)
ONES = np.ones((2, 3, 4), np.float32)


def _sizes(r: Any, f: Any) -> Any:
    return r.Shape(input=f(ONES, 0, 1))


CASES = {
    "Shape": lambda r, f: [
        r.Size(input=f(ONES, 0)),
        r.Rank(input=f(ONES, 0)),
        r.ShapeN(input=[f(ONES, 0), f(ONES[0], 1)]),
        r.Prod(input=_sizes(r, f), axis=[0]),
    ],
    "Moves": lambda r, f: [
        r.Identity(input=_sizes(r, f)),
        r.ExpandDims(input=_sizes(r, f), axis=0),
        r.Squeeze(input=r.ExpandDims(input=_sizes(r, f), axis=0)),
        r.Reshape(tensor=_sizes(r, f), shape=[3, 1]),
        r.Transpose(x=r.Reshape(tensor=np.arange(6), shape=[2, 3]), perm=[1, 0]),
        r.Unpack(value=_sizes(r, f), num=3),
        r.Unpack(value=np.arange(6).reshape((2, 3)), num=3, axis=1),
        r.Split(axis=0, value=_sizes(r, f), num_split=3),
        r.SplitV(value=_sizes(r, f), size_splits=[1, -1], axis=0, num_split=2),
        r.Slice(input=_sizes(r, f), begin=[1], size=[-1]),
        r.Tile(input=_sizes(r, f), multiples=[2]),
        r.Tile(input=np.arange(4).reshape((2, 2)), multiples=[2, 2]),
        r.ReverseV2(tensor=_sizes(r, f), axis=[0]),
        r.Pad(input=_sizes(r, f), paddings=[[1, 2]]),
        r.PadV2(input=_sizes(r, f), paddings=[[1, 2]], constant_values=7),
        r.BroadcastTo(input=_sizes(r, f), shape=[2, 3]),
    ],
    "Joins": lambda r, f: [
        r.Pack(values=[_sizes(r, f), SHAPE], axis=1),
        r.Pack(values=[_sizes(r, f), SHAPE]),
        r.ConcatV2(values=[_sizes(r, f), SHAPE], axis=0),
        r.Concat(concat_dim=0, values=[_sizes(r, f), SHAPE]),
        r.ConcatOffset(concat_dim=1, shape=[_sizes(r, f), SHAPE, SHAPE]),
    ],
    "Slices": lambda r, f: [
        _sizes(r, f)[0],
        _sizes(r, f)[-1],
        _sizes(r, f)[1:],
        _sizes(r, f)[::-1],
        _sizes(r, f)[None],
        r.GatherV2(params=_sizes(r, f), indices=[2, 0], axis=0),
        r.Gather(params=_sizes(r, f), indices=1),
        r.GatherV2(params=np.arange(6).reshape((2, 3)), indices=[[2], [0]], axis=1),
    ],
    "Makes": lambda r, f: [
        r.Fill(dims=[3], value=2.5),
        r.ZerosLike(x=f(ONES[0])),
        r.OnesLike(x=f(SHAPE)),
        r.OnesLike(x=f(SHAPE > 0)),
        r.Range(start=0, limit=_sizes(r, f)[2], delta=1),
        r.Range(start=7, limit=-2, delta=-3),
        r.Range(start=0.0, limit=1.0, delta=0.25),
    ],
    "Arithmetic": lambda r, f: [
        op(x=_sizes(r, f), y=2)
        for op in (
            *(r.Add, r.AddV2, r.Sub, r.Mul, r.FloorDiv, r.FloorMod, r.Maximum, r.Minimum),
            *(r.TruncateDiv, r.TruncateMod, r.Div, r.Pow),
        )
    ],
    "Arithmetic of floats": lambda r, f: [
        op(x=np.float32([7.3, -7.3]), y=np.float32(2.1))
        for op in (
            *(r.AddV2, r.Sub, r.Mul, r.FloorDiv, r.FloorMod, r.Maximum, r.Minimum, r.RealDiv),
        )
    ],
    "One operand": lambda r, f: [
        *[op(x=_sizes(r, f)) for op in (r.Neg, r.Abs, r.Square)],
        *[
            op(x=np.float32([2.5, -2.5, 3.5]))
            for op in (r.Neg, r.Abs, r.Square, r.Ceil, r.Floor, r.Round, r.Rint)
        ],
        r.Sqrt(x=np.float32([2.0, 9.0])),
        r.Cast(x=_sizes(r, f), DstT=np.float32),
        r.Cast(x=np.float32([2.5, -2.5]), DstT=np.int64),
        r.Cast(x=[True, False], DstT=np.int32),
        r.AddN(inputs=[_sizes(r, f), _sizes(r, f), SHAPE]),
    ],
    "Comparisons": lambda r, f: [
        op(x=_sizes(r, f), y=3)
        for op in (r.Less, r.LessEqual, r.Greater, r.GreaterEqual, r.Equal, r.NotEqual)
    ],
    "Conditions": lambda r, f: [
        r.LogicalAnd(x=[True, False], y=True),
        r.LogicalOr(x=[True, False], y=False),
        r.LogicalNot(x=[True, False]),
        r.SelectV2(condition=[True, False, True], t=_sizes(r, f), e=7),
        r.Select(condition=[True, False, True], x=_sizes(r, f), y=SHAPE),
        r.All(input=[[True, False], [True, True]], axis=[1]),
        r.Any(input=[[True, False], [True, True]], axis=[0]),
        r.Where(condition=[[True, False], [True, True]]),
    ],
    "Reductions": lambda r, f: [
        op(input=np.arange(6).reshape((2, 3)), axis=axis, keep_dims=keep)
        for op in (r.Sum, r.Prod, r.Max, r.Min)
        for axis, keep in ((0, False), ([0, 1], True), (-1, True))
    ],
    "Broadcasts": lambda r, f: [
        r.BroadcastArgs(s0=_sizes(r, f), s1=[3, 1]),
        r.BroadcastGradientArgs(s0=[2, 1, 4], s1=[3, 1]),
        r.BroadcastGradientArgs(s0=_sizes(r, f), s1=[4]),
        r.BroadcastGradientArgs(s0=[1, 1], s1=[1]),
    ],
    "Indices": lambda r, f: [
        r.InvertPermutation(x=[2, 0, 1]),
        r.ListDiff(x=[5, 6, 7], y=[6]),
        r.Unique(x=[5, 6, 5]),
        r.DynamicStitch(indices=[[0, 1, 2], [1]], data=[_sizes(r, f), [1]]),
        r.DynamicStitch(indices=[[1], [0]], data=[[[1, 2]], [[3, 4]]]),
    ],
}


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_tensorflow(case: str) -> None:
    known = check(CASES[case])
    made = [name for name in known if not name.startswith(("fed", "Const"))]
    assert all(known[name].values is not None for name in made[-1:])
