"""Shapes of ops that make, copy and rearrange tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.graphs.calls import call, floats, ints, scalar, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.arrays import reshaped
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")
T = Symbolic.named("T")
UNKNOWN_INTS = Tensor((2,), 3)


def shape(op_type: str, *inputs: Tensor, **attrs: Any) -> Any:
    (only,) = shapes(SHAPES, call(op_type, *inputs, **attrs))
    return only


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        ((6, 4), (3, -1), (3, 8)),
        ((6, 4), (3, None), (3, 8)),
        ((6, 4), (None, -1), (None, None)),
        ((B, 6, 4), (-1, 24), (B, 24)),
        ((B, 6, 4), (B, -1), (B, 24)),
        ((B, T, 4), (-1, 4), (B * T, 4)),
        ((B * T, 8), (-1, T, 2, 4), (B, T, 2, 4)),
        ((B, 3), (6, -1), (6, (B * 3) // 6)),
        ((0, 4), (-1, 4), (0, 4)),
        ((0, 4), (0, -1), (0, None)),
        ((1,), (), ()),
        (None, (-1, 3), (None, 3)),
        ((6, 4), None, None),
    ],
)
def test_a_reshaped_tensor_keeps_its_elements(before: Any, wanted: Any, after: Any) -> None:
    assert reshaped(before, wanted) == after


@pytest.mark.parametrize("wanted", [(5, -1), (5, 5), (-2, -12), (0, 3)])
def test_elements_that_do_not_fit_have_no_shape(wanted: Any) -> None:
    with pytest.raises(UnknownError):
        reshaped((6, 4), wanted)


def test_split_and_concat_follow_symbols() -> None:
    parts = shapes(SHAPES, call("Split", scalar(1), floats(B, 12), num_split=3))
    assert parts == [(B, 4)] * 3
    assert shape("ConcatV2", floats(B, 4), floats(T, 4), scalar(0)) == (B + T, 4)
    assert shape("ConcatV2", floats(B, 4), floats(B, 3), scalar(-1)) == (B, 7)
    assert shape("ConcatV2", floats(B, 4), Tensor(None, 1), scalar(0)) == (None, 4)
    assert shape("ConcatV2", floats(B, 4), floats(B, 3), Tensor((), 3)) == (None, None)
    sizes = shapes(SHAPES, call("SplitV", floats(B, T), ints(2, -1), scalar(1), num_split=2))
    assert sizes == [(B, 2), (B, T - 2)]


def test_a_known_size_determines_an_unknown_one() -> None:
    assert shape("ConcatV2", floats(B, 4), floats(8, 3), scalar(1)) == (8, 7)
    assert shape("Pack", floats(B, 4), floats(8, 4), axis=1) == (8, 2, 4)


def test_paddings_add_up_and_may_be_unknown() -> None:
    paddings = Tensor((2, 2), 3, (1, 2, None, 3))
    assert shape("Pad", floats(B, 4), paddings) == (B + 3, None)
    assert shape("MirrorPadGrad", floats(B, 9), Tensor((2, 2), 3, (0, 0, 1, 1))) == (B, 7)
    assert shape("Pad", floats(B, 4), Tensor((2, 2), 3)) == (None, None)


def test_ranges_count_their_numbers() -> None:
    assert shape("Range", scalar(0), scalar(B), scalar(1)) == (B,)
    assert shape("Range", scalar(1), scalar(T + 1), scalar(1)) == (T,)
    assert shape("Range", scalar(10), scalar(0), scalar(-3)) == (4,)
    assert shape("Range", scalar(T - 1), scalar(-1), scalar(-1)) == (T,)
    assert shape("Range", scalar(0.0), scalar(1.0), scalar(0.25)) == (4,)
    assert shape("Range", scalar(5), scalar(2), scalar(1)) == (0,)
    assert shape("Range", scalar(0), Tensor((), 3), scalar(1)) == (None,)


def test_squeezing_without_axes_keeps_unknown_sizes() -> None:
    assert shape("Squeeze", floats(B, 1, 1, 10)) == (B, 10)
    assert shape("Squeeze", floats(B, 1, 1, 10), squeeze_dims=(-2,)) == (B, 1, 10)


@pytest.mark.parametrize(
    "op",
    [
        call("Squeeze", floats(2, 3), squeeze_dims=(1,)),
        call("Squeeze", floats(2, 3), squeeze_dims=(5,)),
        call("ExpandDims", floats(2), scalar(7)),
        call("ExpandDims", floats(2), scalar(None)),
        call("ExpandDims", floats(2)),
        call("Transpose", floats(2, 3), ints(0, 0)),
        call("Transpose", floats(2, 3), ints(0)),
        call("Unpack", floats(2, 3), num=-1),
        call("Unpack", floats(2, 3), num="many"),
        call("Unpack", floats(2, 3), num=1 << 40),
        call("Unpack", floats(2, 3)),
        call("Unpack", floats(2, 3), num=2, axis=2),
        call("Split", scalar(0), floats(7), num_split=2),
        call("Split", scalar(3), floats(8), num_split=2),
        call("SplitV", floats(8), ints(1, 2, 3), scalar(0), num_split=2),
        call("Tile", floats(2, 3), ints(2)),
        call("Tile", floats(2), ints(-2)),
        call("Fill", ints(-1), scalar(0)),
        call("Fill", ints(*[1] * 300), scalar(0)),
        call("Fill", Tensor((1 << 50,), 3), scalar(0)),
        call("Bitcast", floats(2), type=99),
        call("Bitcast", floats(3), type=2),
        call("Pad", floats(2), Tensor((2, 2), 3, (1, 1, 1, 1))),
        call("Pad", floats(2), Tensor((1, 2), 3, (-2, -1))),
        call("SplitV", floats(2), ints(3, -1), scalar(0), num_split=2),
        call("ConcatV2", floats(2, 3), floats(3, 4), scalar(0)),
        call("ConcatV2", floats(2, 3), scalar(0), scalar(5)),
        call("Reshape", floats(2, 3), ints(7)),
    ],
    ids=lambda op: op.type,
)
def test_contradictions_are_unknown(op: Any) -> None:
    with pytest.raises(UnknownError):
        SHAPES[op.type](op)


def test_a_copy_of_nothing_is_unknown() -> None:
    assert shapes(SHAPES, call("Identity")) == [None]


X = np.arange(24.0, dtype=np.float32).reshape((2, 3, 4))

CASES = {
    "Const": lambda r, f: r.Identity(input=np.ones((2, 3), np.float32)),
    "Identity": lambda r, f: r.StopGradient(input=r.Snapshot(input=r.Identity(input=f(X, 0)))),
    "IdentityN": lambda r, f: r.IdentityN(input=[f(X, 0), f(X[0])]),
    "EnsureShape": lambda r, f: r.EnsureShape(input=f(X, 0, 1), shape=[None, 3, 4]),
    "PlaceholderWithDefault": lambda r, f: r.PlaceholderWithDefault(input=X, shape=[None, 3, 4]),
    "Cast": lambda r, f: r.Cast(x=f(X, 0), DstT=np.int32),
    "CheckNumerics": lambda r, f: r.CheckNumerics(tensor=f(X, 0), message=""),
    "Bitcast same": lambda r, f: r.Bitcast(input=f(X, 0), type=np.int32),
    "Bitcast smaller": lambda r, f: r.Bitcast(input=f(X, 0), type=np.int8),
    "Bitcast larger": lambda r, f: r.Bitcast(input=f(X[:, :, :2], 0), type=np.int64),
    "Shape": lambda r, f: [r.Shape(input=f(X, 0)), r.ShapeN(input=[f(X, 1), f(X[0])])],
    "Size": lambda r, f: [r.Size(input=f(X, 0)), r.Rank(input=f(X, 0))],
    "Reshape": lambda r, f: r.Reshape(tensor=f(X, 0), shape=[-1, 12]),
    "Reshape fixed": lambda r, f: r.Reshape(tensor=f(X, 0), shape=[4, 6]),
    "Squeeze": lambda r, f: r.Squeeze(input=f(X[:, :1], 0)),
    "Squeeze axes": lambda r, f: r.Squeeze(input=f(X[:1, :1], 0), axis=[0, -2]),
    "ExpandDims": lambda r, f: [r.ExpandDims(input=f(X, 0), axis=a) for a in (-1, 0, 2, -4)],
    "Transpose": lambda r, f: r.Transpose(x=f(X, 0), perm=[2, 0, 1]),
    "ConjugateTranspose": lambda r, f: r.ConjugateTranspose(x=f(X, 0), perm=[2, 0, 1]),
    "Concat": lambda r, f: r.Concat(concat_dim=1, values=[f(X, 0), f(X, 1), X]),
    "ConcatV2": lambda r, f: r.ConcatV2(values=[f(X, 0), f(X, 0)], axis=-1),
    "ConcatOffset": lambda r, f: r.ConcatOffset(
        concat_dim=1, shape=[np.array([2, 3]), np.array([2, 5])]
    ),
    "Pack": lambda r, f: [r.Pack(values=[f(X, 0), f(X, 0)], axis=a) for a in (0, -1, 1)],
    "ParallelConcat": lambda r, f: r.ParallelConcat(values=[X[:1], X[1:]], shape=[2, 3, 4]),
    "Unpack": lambda r, f: r.Unpack(value=f(X, 0), num=4, axis=-1),
    "Split": lambda r, f: r.Split(axis=2, value=f(X, 0, 2), num_split=2),
    "SplitV": lambda r, f: r.SplitV(value=f(X, 0), size_splits=[1, -1], axis=2, num_split=2),
    "Pad": lambda r, f: r.Pad(input=f(X, 0), paddings=[[1, 2], [0, 0], [3, 0]]),
    "PadV2": lambda r, f: r.PadV2(
        input=f(X, 0), paddings=[[1, 2], [0, 0], [3, 0]], constant_values=np.float32(1)
    ),
    "MirrorPad": lambda r, f: r.MirrorPad(
        input=f(X, 0), paddings=[[1, 1], [0, 0], [2, 0]], mode="REFLECT"
    ),
    "Tile": lambda r, f: r.Tile(input=f(X, 0), multiples=[2, 1, 3]),
    "BroadcastTo": lambda r, f: r.BroadcastTo(input=f(X, 0), shape=[5, 2, 3, 4]),
    "BroadcastArgs": lambda r, f: r.BroadcastArgs(s0=[2, 1, 3], s1=[4, 3]),
    "BroadcastGradientArgs": lambda r, f: r.BroadcastGradientArgs(s0=[2, 1, 3], s1=[4, 3]),
    "Fill": lambda r, f: r.Fill(dims=[2, 3], value=1.0),
    "ZerosLike": lambda r, f: [r.ZerosLike(x=f(X, 0)), r.OnesLike(x=f(X, 0))],
    "Empty": lambda r, f: r.Empty(shape=[2, 3], dtype=np.float32, init=True),
    "Range": lambda r, f: r.Range(start=3, limit=20, delta=4),
    "Range of floats": lambda r, f: r.Range(start=0.0, limit=1.0, delta=0.3),
    "LinSpace": lambda r, f: r.LinSpace(start=0.0, stop=1.0, num=7),
    "OneHot": lambda r, f: [
        r.OneHot(indices=f(np.array([[1, 2]]), 0), depth=5, on_value=1.0, off_value=0.0, axis=a)
        for a in (-1, 0, 1)
    ],
    "InvertPermutation": lambda r, f: r.InvertPermutation(x=[2, 0, 1]),
    "Reverse": lambda r, f: [
        r.ReverseV2(tensor=f(X, 0), axis=[1]),
        r.Reverse(tensor=f(X, 0), dims=[True, False, True]),
        r.ReverseSequence(input=f(X, 0), seq_lengths=[1, 2], seq_dim=1),
        r.Roll(input=f(X, 0), shift=[1], axis=[0]),
    ],
    "MatrixBandPart": lambda r, f: r.MatrixBandPart(input=f(X, 0), num_lower=1, num_upper=0),
    "MatrixSetDiag": lambda r, f: r.MatrixSetDiag(input=f(X, 0), diagonal=f(X[:, :, 0], 0)),
    "DataFormat": lambda r, f: [
        r.DataFormatVecPermute(x=[1, 2, 3, 4]),
        r.DataFormatDimMap(x=[1, 2]),
    ],
    "Bucketize": lambda r, f: r.Bucketize(input=f(X, 0), boundaries=[1.0, 5.0]),
    "RandomShuffle": lambda r, f: r.RandomShuffle(value=f(X, 0)),
    "DeepCopy": lambda r, f: r.DeepCopy(x=f(X, 0)),
    "GuaranteeConst": lambda r, f: r.GuaranteeConst(input=f(X, 0)),
    "QuantizedReshape": lambda r, f: r.QuantizedReshape(
        tensor=r.Bitcast(input=f(X.astype(np.uint8), 0), type="quint8"),
        shape=[4, 6],
        input_min=0.0,
        input_max=9.0,
    ),
}


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", CASES)
def test_shapes_are_those_of_tensorflow(case: str) -> None:
    check(CASES[case])
