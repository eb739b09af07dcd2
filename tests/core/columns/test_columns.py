import numpy as np
import pytest

from tfprof.core.columns.columns import Int64Column, concatenate_tables
from tfprof.profiles.model.executions import Allocations


def test_new_rows_hold_the_fill_value_and_old_ones_stay():
    column = Int64Column(fill=-1)
    column.extend([5, 6])
    column.resize(40)
    assert column.array.tolist() == [5, 6] + [-1] * 38


def test_resize_never_shrinks():
    column = Int64Column()
    column.extend(range(20))
    column.resize(3)
    assert len(column) == 20
    assert column.array.tolist() == list(range(20))


def test_writes_go_through():
    column = Int64Column()
    column.extend([1, 2, 3])
    column.array[1] = 7
    assert column.array.tolist() == [1, 7, 3]


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 1000])
def test_grows_past_its_first_allocation(size):
    column = Int64Column(fill=3)
    column.resize(size)
    assert column.array.tolist() == [3] * size


def test_tables_are_concatenated_column_by_column():
    first = Allocations(*(np.array([n], np.int64) for n in range(4)))
    second = Allocations(*(np.array([n, -n], np.int64) for n in range(4)))
    joined = concatenate_tables([first, second, Allocations()])
    assert joined.rows.tolist() == [0, 0, 0]
    assert joined.sizes.tolist() == [3, 3, -3]
