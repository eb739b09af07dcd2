"""Columns in few bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.core.columns.compact import CompactColumn

LOW, HIGH = -(2**63), 2**63 - 1


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


@pytest.mark.parametrize(
    ("values", "dtype", "offsets", "low"),
    [
        ([7], np.uint8, [0], 7),
        ([0, 0, 0], np.uint8, [0], 0),
        ([HIGH, HIGH - 1], np.uint8, [1, 0], HIGH - 1),
        ([-1, 254], np.uint8, [0, 255], -1),
        ([LOW, LOW + 256], np.uint16, [0, 256], LOW),
        ([10**15, 10**15 + 65535], np.uint16, [0, 65535], 10**15),
        ([0, 65536], np.uint32, [0, 65536], 0),
        ([5, 4 + 2**32], np.uint32, [0, 2**32 - 1], 5),
    ],
)
def test_the_least_width_that_holds_the_values(
    values: list[int], dtype: type, offsets: list[int], low: int
) -> None:
    column = CompactColumn.of(np.array(values, np.int64))
    assert column.offsets.dtype == dtype
    assert column.offsets.tolist() == offsets
    assert column.base == low
    assert len(column) == len(values)


@pytest.mark.parametrize("values", [[], [0, 2**32], [LOW, HIGH], [HIGH, LOW, 0]])
def test_no_values_and_values_too_far_apart_stay_as_they_are(values: list[int]) -> None:
    column = CompactColumn.of(np.array(values, np.int64))
    assert column.offsets.dtype == np.int64
    assert column.offsets.tolist() == values


@given(
    st.integers(LOW, HIGH),
    st.lists(st.integers(0, 70_000) | st.integers(0, 2**33), min_size=1, max_size=20),
)
def test_values_come_back(base: int, offsets: list[int]) -> None:
    values = np.array([min(base + offset, HIGH) for offset in offsets], np.int64)
    column = CompactColumn.of(values)
    is_wide = int(values.max()) - int(values.min()) >= 2**32
    assert (column.offsets.dtype == np.int64) == is_wide
    assert column.array().tolist() == values.tolist()
