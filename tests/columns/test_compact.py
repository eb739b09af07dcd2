import numpy as np
import pytest

from tfprof.columns.compact import CompactColumn


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (CompactColumn(), []),
        (CompactColumn(np.array([0, 255], np.uint8), -5, 2), [-5, 250]),
        (
            CompactColumn(np.array([2**32 - 1, 0], np.uint32), 10**15, 2),
            [10**15 + 2**32 - 1, 10**15],
        ),
        (CompactColumn(np.zeros(1, np.uint8), 7, 3), [7, 7, 7]),
        (CompactColumn(np.array([-(2**63), 2**63 - 1]), 0, 2), [-(2**63), 2**63 - 1]),
    ],
)
def test_values(column, values):
    assert len(column) == len(values)
    assert column.array().dtype == np.int64
    assert column.array().tolist() == values


def test_whether_a_value_can_be_negative():
    assert CompactColumn(np.array([0, 3], np.uint8), -1, 2).may_be_negative()
    assert not CompactColumn(np.array([0, 3], np.uint8), 0, 2).may_be_negative()
    assert CompactColumn(np.array([5]), 0, 1).may_be_negative()  # not looked at
