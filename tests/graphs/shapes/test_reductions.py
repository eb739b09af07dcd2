"""Shapes of reductions, running sums, selections, counts and segments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graphs.calls import call, floats, ints, scalar, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import DT_INT32, Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


@st.composite
def reduced(draw):
    dims = draw(st.lists(st.integers(1, 4), max_size=4).map(tuple))
    axes = draw(st.lists(st.sampled_from(range(len(dims))), unique=True)) if dims else []
    signs = draw(st.lists(st.booleans(), min_size=len(axes), max_size=len(axes)))
    named = tuple(a - len(dims) if sign else a for a, sign in zip(axes, signs, strict=True))
    return dims, named, draw(st.booleans())


@given(reduced())
def test_reductions_drop_or_keep_axes_as_numpy_does(case):
    dims, axes, keep_dims = case
    expected = np.sum(np.zeros(dims), axis=axes, keepdims=keep_dims).shape
    op = call("Sum", floats(*dims), ints(*axes), keep_dims=keep_dims)
    assert shapes(SHAPES, op) == [expected]


def test_unknown_axes_keep_the_rank_with_keep_dims():
    axes = Tensor((2,), DT_INT32)
    op = call("Mean", floats(B, 3, 4), axes, keep_dims=True)
    assert shapes(SHAPES, op) == [(None, None, None)]


def test_unknown_axes_leave_so_many_dimensions_less():
    assert shapes(SHAPES, call("Max", floats(B, 3, 4), Tensor((2,), DT_INT32))) == [(None,)]
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("Max", floats(B, 3, 4), Tensor(None, DT_INT32)))
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("Max", floats(B), Tensor((2,), DT_INT32)))


def test_axes_out_of_range_are_refused():
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("Sum", floats(2, 3), ints(2)))


def test_unknown_dimensions_stay_where_they_are():
    assert shapes(SHAPES, call("Sum", floats(B, 3, 4), ints(-1))) == [(B, 3)]
    assert shapes(SHAPES, call("ArgMax", floats(B, 10), scalar(1))) == [(B,)]
    assert shapes(SHAPES, call("ArgMax", floats(B, 10), Tensor((), DT_INT32))) == [(None,)]


def test_the_number_of_chosen_elements_may_be_unknown():
    op = call("TopKV2", floats(B, 10), Tensor((), DT_INT32))
    assert shapes(SHAPES, op) == [(B, None), (B, None)]
    assert shapes(SHAPES, call("TopKV2", floats(B, 10), scalar(3))) == [(B, 3), (B, 3)]


def test_the_first_top_k_takes_the_number_from_an_attribute():
    assert shapes(SHAPES, call("TopK", floats(B, 10), k=3)) == [(B, 3), (B, 3)]


def test_without_aggregation_the_device_says_how_many_results_there_are():
    op = call("ApproxTopK", floats(8, 100), k=4, aggregate_to_topk=False)
    assert shapes(SHAPES, op) == [(8, None), (8, None)]


@pytest.mark.tensorflow
def test_reductions_agree_with_tensorflow():
    def build(raw, feed):
        x = feed(np.ones((2, 3, 4), np.float32), 0)
        for name in ("Sum", "Prod", "Mean", "Max", "Min", "EuclideanNorm"):
            reduce = getattr(raw, name)
            first = {"input": x}
            reduce(**first, axis=[0, -1])
            reduce(**first, axis=1, keep_dims=True)
            reduce(**first, axis=feed(np.array([1], np.int32)), keep_dims=True)
            reduce(**first, axis=[])
        bools = feed(np.ones((2, 3), bool))
        raw.All(input=bools, axis=[0])
        raw.Any(input=bools, axis=[0, 1])
        raw.ArgMax(input=x, dimension=-1)
        raw.ArgMin(input=x, dimension=0)
        raw.Cumsum(x=x, axis=1)
        raw.Cumprod(x=x, axis=-1, exclusive=True)
        raw.CumulativeLogsumexp(x=x, axis=0)

    check(build)


@pytest.mark.tensorflow
def test_selections_and_counts_agree_with_tensorflow():
    def build(raw, feed):
        x = feed(np.arange(24, dtype=np.float32).reshape(2, 3, 4), 0)
        raw.TopKV2(input=x, k=2)
        raw.TopKV2(input=x, k=feed(np.int32(3)))
        raw.NthElement(input=x, n=1)
        raw.ApproxTopK(input=feed(np.ones((2, 9), np.float32), 0), k=2)
        predictions = feed(np.ones((5, 7), np.float32), 0)
        raw.InTopKV2(predictions=predictions, targets=feed(np.ones((5,), np.int32)), k=2)
        raw.InTopK(predictions=predictions, targets=feed(np.ones((5,), np.int32)), k=2)
        raw.HistogramFixedWidth(values=x, value_range=[0.0, 5.0], nbins=11)
        raw.IsotonicRegression(input=predictions)

    check(build, run=False)


@pytest.mark.tensorflow
def test_sparse_counts_agree_with_tensorflow():
    def build(raw, feed):
        indices, values = feed(np.zeros((2, 2), np.int64)), feed(np.ones((2,), np.int32))
        weights = feed(np.ones((2,), np.float32))
        raw.SparseBincount(
            indices=indices, values=values, dense_shape=np.int64([3, 4]), size=5, weights=weights
        )
        splits = feed(np.array([0, 1, 2], np.int64))
        raw.RaggedBincount(splits=splits, values=values, size=5, weights=weights)

    check(build)


@pytest.mark.tensorflow
def test_segments_agree_with_tensorflow():
    def build(raw, feed):
        data, ids = feed(np.ones((4, 5), np.float32), 1), feed(np.array([0, 0, 1, 2], np.int32))
        for name in ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax"):
            getattr(raw, name)(data=data, segment_ids=ids)
        for name in ("Sum", "Prod", "Min", "Max"):
            unsorted = getattr(raw, f"UnsortedSegment{name}")
            unsorted(data=data, segment_ids=ids, num_segments=6)
            unsorted(data=data, segment_ids=feed(np.ones((4, 5), np.int32)), num_segments=3)
        rows = {"indices": np.int32([0, 2, 1]), "segment_ids": np.int32([0, 0, 1])}
        for name in ("Sum", "Mean", "SqrtN"):
            getattr(raw, f"SparseSegment{name}")(data=data, **rows)
            getattr(raw, f"SparseSegment{name}WithNumSegments")(data=data, **rows, num_segments=7)
            getattr(raw, f"SparseSegment{name}Grad")(grad=data, **rows, output_dim0=9)
            getattr(raw, f"SparseSegment{name}GradV2")(grad=data, **rows, dense_output_dim0=9)

    check(build)
