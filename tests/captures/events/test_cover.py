"""The compiled sweep over intervals gives the same results as NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.captures.events.steps import step_times
from tfprof.captures.events.steps.step_events import Spent, StepEvents
from tfprof.captures.events.steps.step_times import spent_by_kind
from tfprof.core.wire.compiled import native_module

native = native_module("cover")
N_ROWS = 3
EVENTS = st.lists(
    st.tuples(
        st.integers(0, N_ROWS - 1), st.sampled_from(list(Spent)), st.integers(0, 50),
        st.integers(1, 20),
    ),
    max_size=20,
)  # fmt: skip


@given(EVENTS)
def test_each_moment_counts_for_the_largest_kind(events):
    """With both engines, compared with a loop over all moments."""
    expected = np.zeros((max(Spent) + 1, N_ROWS), np.int64)
    for row in range(N_ROWS):
        for moment in range(70):
            kinds = [
                kind
                for own, kind, start, length in events
                if own == row and start <= moment < start + length
            ]
            if kinds:
                expected[max(kinds), row] += 1
    columns = np.array([(*one[:3], one[2] + one[3]) for one in events], np.int64).reshape(-1, 4)
    for engine in (native, None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(step_times, "_native", engine)
            found = spent_by_kind(StepEvents(*columns.T.copy()), N_ROWS)
        amounts = np.zeros_like(expected)
        for kind, amount in found.items():
            amounts[kind] = amount
        assert amounts.tolist() == expected.tolist()


@pytest.mark.skipif(native is None, reason="built without a compiler")
def test_columns_that_do_not_fit_are_refused():
    def arrays(n, rows=0, levels=0):
        column = np.arange(n, dtype=np.int64)
        places = [np.full(n, rows), np.full(n, levels, np.int8)]
        return column, column, column + 1, *places, room[0] + n, room[0], np.zeros(2, np.int64)

    room = np.zeros((2, 3), np.int64)
    native.covered(*arrays(4), room)
    for wrong in ({"rows": 3}, {"rows": -1}, {"levels": 2}, {"levels": -1}):
        with pytest.raises(ValueError, match="a row or a level that is not there"):
            native.covered(*arrays(4, **wrong), room)
    longer = *arrays(5)[:5], *[np.zeros(4, np.int64)] * 2
    for place in (0, 2, 3, 4, 5, 6):
        with pytest.raises(ValueError, match="different lengths"):
            native.covered(*arrays(4)[:place], longer[place], *arrays(4)[place + 1 :], room)
    with pytest.raises(ValueError, match="not there"):
        native.covered(np.arange(4) + 1, *arrays(4)[1:], room)
    with pytest.raises(ValueError, match="as many levels"):
        native.covered(*arrays(4), np.zeros((3, 3), np.int64))
