import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfprof.core.columns.distinct import distinct_rows

INTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.tuples(*[INTS] * n), max_size=20).map(lambda rows: (n, rows))
    )
)
def test_distinct_rows_are_those_of_numpy(case):
    width, rows = case
    table = np.array(rows, np.int64).reshape(-1, width)
    found = distinct_rows(list(table.T))
    values, first, place, counts = np.unique(
        table, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    assert found.values.tolist() == values.tolist()
    assert found.first.tolist() == first.tolist()
    assert found.place.tolist() == place.reshape(-1).tolist()
    assert found.counts.tolist() == counts.tolist()


def test_truth_values_are_numbers():
    found = distinct_rows([np.array([True, False]), np.array([2, 2], np.int32)])
    assert found.values.tolist() == [[0, 2], [1, 2]]
