"""Reductions, running sums, selections and counts, by hand and by counting each step."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graphs.calls import call, cost, floats, ints, scalar
from tfprof.graphs.flops.registry import FREE
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import DT_BOOL, DT_INT32, Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


def flops(op):
    return cost(SHAPES, op).flops


def counted_additions(dims, axes):
    """Adds up a tensor element by element and counts."""
    seen, count = set(), 0
    for place in itertools.product(*map(range, dims)):
        group = tuple(index for axis, index in enumerate(place) if axis not in axes)
        count += group in seen
        seen.add(group)
    return count


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4).flatmap(
        lambda dims: st.tuples(
            st.just(tuple(dims)), st.lists(st.integers(0, len(dims) - 1), unique=True)
        )
    )
)
def test_a_sum_takes_as_many_additions_as_there_are_to_do(case):
    dims, axes = case
    expected = counted_additions(dims, axes)
    for op_type in ("Sum", "Prod", "Max", "Min"):
        assert flops(call(op_type, floats(*dims), ints(*axes))) == expected
    results = math.prod(dim for axis, dim in enumerate(dims) if axis not in axes)
    assert flops(call("Mean", floats(*dims), ints(*axes))) == expected + results


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.data())
def test_a_running_sum_adds_every_element_but_the_first_of_a_line(dims, data):
    axis = data.draw(st.integers(0, len(dims) - 1))
    steps = sum(place[axis] > 0 for place in itertools.product(*map(range, dims)))
    assert flops(call("Cumsum", floats(*dims), scalar(axis))) == steps
    assert flops(call("Cumsum", floats(*dims), scalar(axis - len(dims)))) == steps
    assert flops(call("Cumprod", floats(*dims), scalar(axis))) == steps
    assert flops(call("CumulativeLogsumexp", floats(*dims), scalar(axis))) == 6 * steps


def test_empty_tensors_take_nothing():
    assert flops(call("Sum", floats(0, 5), ints(0))) == 0
    assert flops(call("Cumsum", floats(0, 5), scalar(0))) == 0


def test_an_unknown_batch_stays_a_name():
    assert flops(call("Mean", floats(B, 8, 8, 3), ints(1, 2))) == 192 * B
    assert flops(call("Sum", floats(B, 10), ints(1))) == 9 * B
    assert flops(call("ArgMax", floats(B, 10), scalar(1))) == 9 * B


def test_whole_numbers_and_truth_values_are_not_float_work():
    assert flops(call("Sum", Tensor((4, 5), DT_INT32), ints(0))) == 0
    assert flops(call("Max", Tensor((4, 5), DT_INT32), ints(0))) == 0
    assert {"All", "Any"} <= FREE.keys()
    assert flops(call("Sum", Tensor((4, 5), DT_BOOL), ints(0))) == 0


def test_complex_sums_and_products():
    z = Tensor((4, 5), 8)
    assert flops(call("Sum", z, ints(0))) == 2 * (20 - 5)
    assert flops(call("Prod", z, ints(0))) == 6 * (20 - 5)
    assert flops(call("Mean", z, ints(0))) == 2 * 20
    # |x|² 3 each, 15 additions, 5 roots
    assert flops(call("EuclideanNorm", z, ints(0))) == 60 + 15 + 5


def test_a_norm_squares_adds_and_takes_a_root():
    assert flops(call("EuclideanNorm", floats(4, 5), ints(0))) == 20 + 15 + 5


def test_segments_add_every_element():
    ids = Tensor((4,), DT_INT32)
    op = call("UnsortedSegmentSum", floats(4, 5), ids, scalar(2))
    assert flops(op) == 20
    op = call("SegmentMean", floats(4, 5), ids, outputs=(floats(3, 5),))
    assert flops(op) == 20 + 15


def test_the_largest_elements_pass_a_heap():
    assert flops(call("TopKV2", floats(2, 100), scalar(8))) == 200 * 3
    assert flops(call("TopKV2", floats(2, 100), scalar(1))) == 200
    # sorting: k = n
    assert flops(call("TopKV2", floats(2, 100), scalar(100))) == 200 * 7
    assert flops(call("TopKV2", floats(B, 100), scalar(8))) == 300 * B
    assert flops(call("ApproxTopK", floats(2, 100), k=8)) == 600
    with pytest.raises(UnknownError, match="how many"):
        flops(call("TopKV2", floats(2, B), scalar(B)))


def test_selections():
    assert flops(call("NthElement", floats(2, 100), scalar(3))) == 400
    assert flops(call("InTopKV2", floats(5, 10), floats(5), scalar(2))) == 50


def test_counts_add_weights_of_floats_only():
    values, bins = Tensor((9,), DT_INT32), (floats(4),)
    assert flops(call("Bincount", values, scalar(4), floats(9), outputs=bins)) == 9
    whole = Tensor((9,), DT_INT32)
    assert flops(call("Bincount", values, scalar(4), whole, outputs=bins)) == 0
    op = call("DenseBincount", values, scalar(4), floats(9), outputs=bins, binary_output=True)
    assert flops(op) == 0
    assert flops(call("HistogramFixedWidth", floats(9), floats(2), scalar(4))) == 36


def test_binary_searches():
    op = call("Bucketize", floats(9), outputs=(floats(9),), boundaries=(0.0, 1.0, 2.0))
    assert flops(op) == 9 * 2
    op = call("LowerBound", floats(2, 15), floats(2, 4), outputs=(floats(2, 4),))
    assert flops(op) == 8 * 4


def test_gradients_of_copies_are_added_up():
    op = call("MirrorPadGrad", floats(6, 6), ints(1, 1, 1, 1), outputs=(floats(4, 4),))
    assert flops(op) == 36 - 16


def test_an_unknown_axis_of_a_running_sum_is_reported():
    with pytest.raises(UnknownError):
        flops(call("Cumsum", floats(2, 3), Tensor((), DT_INT32)))
    with pytest.raises(UnknownError):
        flops(call("Cumsum", floats(2, 3), scalar(2)))
