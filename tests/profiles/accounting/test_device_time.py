import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tfprof.profiles.accounting.device_time import StepTimes, covered_nanos
from tfprof.testing.builders import graph, op, run, stat


def covered(*intervals):
    starts, ends = np.array(intervals, np.int64).reshape(-1, 2).T
    return covered_nanos(starts, ends)


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([], 0),
        ([(3, 8)], 5),
        ([(0, 4), (6, 9)], 7),
        ([(6, 9), (0, 4)], 7),
        ([(0, 4), (2, 9)], 9),
        ([(0, 9), (2, 4), (8, 10)], 10),
        ([(0, 4), (4, 6)], 6),
        ([(5, 5), (7, 2)], 0),
        ([(0, 4), (9, 2), (6, 8)], 6),
    ],
)
def test_covered_time(intervals, expected):
    assert covered(*intervals) == expected


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=12))
def test_covered_time_is_the_number_of_moments_inside(intervals):
    inside = {moment for start, end in intervals for moment in range(start, end)}
    assert covered(*intervals) == len(inside)


def times_of(executions):
    profiler = tfprof.Profiler(graph(*[op(name) for name, _ in executions]))
    profiler.add_step(0, run(executions))
    return StepTimes.from_executions(profiler._session.profile.steps.details[0].executions)


def test_times_of_a_step():
    times = times_of(
        [("a", stat(10, start=100)), ("b", stat(5, start=105)), ("c", stat(7, start=120)),
         ("d", stat(9, start=0))]
    )  # fmt: skip
    assert len(times) == 3  # d has no start
    assert times.window_nanos == 27_000
    a, b = times.rows == 0, times.rows == 1
    assert times.busy_nanos(a | b) == 10_000
    assert times.alone_nanos(a, b) == 5_000
    assert times.alone_nanos(b, a) == 0
    assert times.alone_nanos(a, times.rows == 2) == 10_000


def test_a_step_without_times():
    times = times_of([("a", stat(10, start=0))])
    assert (len(times), times.window_nanos) == (0, 0)
    assert times.busy_nanos(times.rows == 0) == 0
