import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.graphs.interpreter.trip_counts import Counter, TripCount, step_of, trip_count
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Comparison, Conjunction

I, J, N = (Symbolic.named(name) for name in "ijn")  # noqa: E741


@given(
    st.sampled_from(["<", "<=", "!="]),
    st.integers(-20, 20),
    st.integers(-20, 20),
    st.integers(-4, 4),
    st.integers(-4, 4),
)
def test_the_trips_are_those_of_a_loop_that_runs(relation, start, limit, step, limit_step):
    condition = Comparison(relation, I, J)
    found = trip_count(condition, {"i": Counter(start, step), "j": Counter(limit, limit_step)})
    holds = {"<": int.__lt__, "<=": int.__le__, "!=": int.__ne__}[relation]
    trips, i, j = 0, start, limit
    while holds(i, j) and trips < 1000:
        trips, i, j = trips + 1, i + step, j + limit_step
    if trips == 1000:
        assert found is None  # it never ends
    elif found is not None:
        assert found == TripCount(trips)
    else:  # it ends at once, and would never end if it did not
        assert trips == 0


def test_a_symbolic_limit_gives_symbolic_trips():
    counters = {"i": Counter(0, 1)}
    assert trip_count(Comparison("<", I, N), counters) == TripCount(N)
    assert str(trip_count(Comparison("<", 2 * I, N), counters).trips) == "ceil(n / 2)"
    assert trip_count(Comparison("<=", I, N), counters) == TripCount(N + 1)


def test_of_several_conditions_the_first_to_fail_counts():
    counters = {"i": Counter(0, 1), "j": Counter(10, -1)}
    both = Conjunction((Comparison("<", I, 7), Comparison("<", 4, J), True))
    assert trip_count(both, counters) == TripCount(6)


def test_a_condition_besides_makes_it_a_bound():
    both = Conjunction((Comparison("<", I, 7), None))
    assert trip_count(both, {"i": Counter(0, 1)}) == TripCount(7, is_bound=True)
    nested = Conjunction((both, Comparison("<", I, 9)))
    assert trip_count(nested, {"i": Counter(0, 1)}) == TripCount(7, is_bound=True)


@pytest.mark.parametrize(
    "condition",
    [
        None,
        True,
        3.5,
        Comparison("<", N, 10),  # it does not compare a counter
        Comparison("<", I * I, 10),  # no straight line
        Comparison("==", I, 3),
        Conjunction((None, True)),
    ],
)
def test_what_does_not_tell_gives_none(condition):
    assert trip_count(condition, {"i": Counter(0, 1)}) is None


def test_a_loop_whose_condition_is_false_never_runs():
    assert trip_count(False, {}) == TripCount(0)


def test_steps():
    assert step_of("i", I + 3) == 3
    assert step_of("i", I) == 0
    assert step_of("i", I + N) == N
    assert step_of("i", 2 * I) is None
    assert step_of("i", None) is None
    assert step_of("i", True) is None
