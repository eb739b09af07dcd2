"""Shapes that broadcast, as NumPy does it and with unknown dimensions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic, bind, maximum
from tfprof.graphs.shapes.dims import broadcast

B, C = Symbolic.named("B"), Symbolic.named("C")

shapes = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@given(st.lists(shapes, min_size=1, max_size=4))
def test_known_shapes_broadcast_as_in_numpy(given_shapes):
    try:
        expected = np.broadcast_shapes(*given_shapes)
    except ValueError:
        with pytest.raises(UnknownError):
            broadcast(*given_shapes)
    else:
        assert broadcast(*given_shapes) == expected


@given(st.lists(st.lists(st.sampled_from([1, 4, B]), max_size=3).map(tuple), max_size=3))
def test_an_unknown_dimension_broadcasts_like_the_number_that_it_is(given_shapes):
    result = broadcast(*given_shapes)
    filled = [tuple(bind(dim, {"B": 4}) for dim in shape) for shape in given_shapes]
    assert tuple(bind(dim, {"B": 4}) for dim in result) == np.broadcast_shapes(*filled)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((B, 3), (B, 1), (B, 3)),
        ((B, 3), (3,), (B, 3)),
        ((B,), (5,), (5,)),
        ((5,), (B,), (5,)),
        ((1,), (B,), (B,)),
        ((B,), (1,), (B,)),
        ((B,), (0,), (0,)),
        ((B,), (C,), (maximum(B, C),)),
        ((), (B, 2), (B, 2)),
    ],
)
def test_a_number_above_one_wins_over_an_unknown_dimension(left, right, expected):
    assert broadcast(left, right) == expected


def test_what_does_not_broadcast_names_the_dimensions():
    with pytest.raises(UnknownError, match="dimensions of 2 and 3"):
        broadcast((4, 2), (4, 3))
