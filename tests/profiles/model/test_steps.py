import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.profiles.model.executions import StepDetail
from tfprof.profiles.model.steps import MEASURES, StepRecords, StepTable


def records(**micros_by_row):
    """Records with one run each; ``r3=20`` is row 3 with 20 us of CPU time."""
    rows = np.array([int(name[1:]) for name in micros_by_row], np.int64)
    values = np.zeros((len(MEASURES), len(rows)), np.int64)
    values[0] = 1
    values[2] = list(micros_by_row.values())
    return StepRecords.from_stats(rows, values, np.zeros((2, len(rows)), np.int64))


def test_stats_of_the_same_op_add_up():
    rows = np.array([2, 0, 2], np.int64)
    values = np.arange(3 * len(MEASURES)).reshape(len(MEASURES), 3)
    made = StepRecords.from_stats(rows, values, np.zeros((2, len(rows)), np.int64))
    assert made.rows.tolist() == [0, 2]
    assert made.values[0].tolist() == [1, 0 + 2]
    assert made.values[1].tolist() == [4, 3 + 5]


def test_adding_a_step_twice_merges_it():
    table = StepTable()
    table.add(4, records(r0=10, r1=1))
    table.add(4, records(r1=5))
    assert table.steps == [4]
    measures = table.measures(4, 3)
    assert measures.exec_micros.tolist() == [10, 6, 0]
    assert measures.values[0].tolist() == [1, 2, 0]
    assert measures.recorded.tolist() == [True, True, False]


def test_a_chosen_step_shows_only_itself_with_all_ops_ever_recorded():
    table = StepTable()
    table.add(1, records(r0=10))
    table.add(2, records(r1=7))
    measures = table.measures(2, 2)
    assert measures.exec_micros.tolist() == [0, 7]
    assert measures.recorded.tolist() == [True, True]


def test_the_average_divides_by_the_steps_of_each_op_and_truncates():
    table = StepTable()
    table.add(0, records(r0=10, r1=8))
    table.add(1, records(r0=5))
    table.add(2, records(r0=5))
    # r0: (10 + 5 + 5) / 3 = 6; r1 was seen in one step only: 8 / 1.
    assert table.measures(-1, 2).exec_micros.tolist() == [6, 8]
    assert table.measures(-7, 2).exec_micros.tolist() == [6, 8]


def test_negative_steps_are_kept_and_averaged():
    table = StepTable()
    table.add(-5, records(r0=4))
    table.add(3, records(r0=8))
    assert table.steps == [-5, 3]
    assert table.measures(-1, 1).exec_micros.tolist() == [6]
    assert table.measures(3, 1).exec_micros.tolist() == [8]


def test_a_negative_sum_is_averaged_as_an_unsigned_number():
    table = StepTable()
    table.add(0, records(r0=-10))
    assert table.measures(-1, 1).exec_micros.tolist() == [-10]
    table.add(1, records(r0=-10))
    assert table.measures(-1, 1).exec_micros.tolist() == [9223372036854775798]


def test_total_time_is_averaged_by_itself():
    values = np.zeros((len(MEASURES), 1), np.int64)
    values[1], values[2] = 1, 1
    table = StepTable()
    row = np.zeros(1, np.int64)
    table.add(0, StepRecords(row, values, np.zeros((2, 1), np.int64)))
    table.add(1, StepRecords(row, np.zeros_like(values), np.zeros((2, 1), np.int64)))
    measures = table.measures(-1, 1)
    # accelerator 1 / 2 = 0 and CPU 1 / 2 = 0, but both together 2 / 2 = 1.
    assert measures.values[1:3].tolist() == [[0], [0]]
    assert measures.exec_micros.tolist() == [1]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=8),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=8),
)
def test_merging_equals_reading_both_at_once(first, second):
    def made(pairs):
        rows = np.array([row for row, _ in pairs], np.int64)
        values = np.tile(np.array([v for _, v in pairs], np.int64), (len(MEASURES), 1))
        return StepRecords.from_stats(rows, values, np.zeros((2, len(rows)), np.int64))

    merged, whole = made(first).merge(made(second)), made(first + second)
    assert merged.rows.tolist() == whole.rows.tolist()
    assert merged.values.tolist() == whole.values.tolist()


def test_the_window_goes_from_the_first_start_to_the_last_end():
    rows = np.array([4, 2, 4, 4])
    values = np.zeros((len(MEASURES), 4), np.int64)
    window = np.array([[30, 0, 10, 0], [35, 0, 12, 0]])
    records = StepRecords.from_stats(rows, values, window)
    assert records.rows.tolist() == [2, 4]
    assert records.window.tolist() == [[0, 10], [0, 35]]


def test_contents_of_steps_are_made_on_request():
    made = []

    def make(name, micros):
        def part():
            made.append(name)
            return records(r0=micros)

        return part

    table = StepTable()
    table.add_run(3, make("first", 10), StepDetail)
    table.add_run(5, make("other", 1), StepDetail)
    table.add_run(3, make("second", 5), StepDetail)
    assert (len(table.records), list(table.records), table.steps) == (2, [3, 5], [3, 5])
    assert 3 in table.records
    assert 4 not in table.records
    assert made == []
    assert table.records[3].values[2].tolist() == [15]
    assert table.records[3] is table.records[3]
    assert made == ["first", "second"]
    table.add_run(3, make("third", 1), StepDetail)  # grows after it was read
    assert table.records[3].values[2].tolist() == [16]
    assert made == ["first", "second", "third"]
    with pytest.raises(KeyError):
        table.records[4]
    assert table.records.get(4) is None


def test_a_detail_that_is_put_in_takes_the_place_of_what_waits():
    table = StepTable()
    table.add_run(3, lambda: records(r0=1), lambda: pytest.fail("it is not needed"))
    detail = StepDetail()
    table.details[3] = detail
    assert table.details[3] is detail


def test_steps_are_read_while_others_are_added():
    table = StepTable()
    seen = []

    def ask():
        while len(seen) < 2000:
            seen.append(int(table.records[0].values[2][0]))

    table.add(0, records(r0=1))
    asking = threading.Thread(target=ask)
    asking.start()
    for _ in range(500):
        table.add(0, records(r0=1))
    asking.join()
    assert seen == sorted(seen)
    assert table.records[0].values[2].tolist() == [501]
