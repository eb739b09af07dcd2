"""How much of a time intervals cover."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfprof.core.columns.covered import covered_until

INTERVALS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=12)


@given(INTERVALS, st.lists(st.integers(-5, 60), max_size=8))
def test_each_moment_is_covered_or_not(intervals, moments):
    starts = np.array([start for start, _ in intervals], np.int64)
    ends = starts + np.array([length for _, length in intervals], np.int64)
    covered = covered_until(starts, ends)
    points = {
        point for start, length in intervals for point in range(start, start + length)
    }  # each stands for the time up to the next
    expected = [sum(point < moment for point in points) for moment in moments]
    assert covered(np.array(moments, np.int64)).tolist() == expected
