"""The rules for which runs are traced, without TensorFlow."""

from __future__ import annotations

import pytest

from tfprof.capture.graph_sessions.schedule import Schedule, Wishes, step_numbers
from tfprof.errors import UsageError


def test_runs_are_numbered_from_0() -> None:
    schedule = Schedule()
    assert [schedule.begin() for _ in range(3)] == [(0, None), (1, None), (2, None)]


def test_wishes_for_one_step_add_up() -> None:
    schedule = Schedule()
    schedule.add([1, 2], Wishes(trace=True))
    schedule.add([1], Wishes(folders=("a",)))
    schedule.add([1], Wishes(folders=("a", "b")))
    assert schedule.begin() == (0, None)
    assert schedule.begin() == (1, Wishes(trace=True, folders=("a", "b")))
    assert schedule.begin() == (2, Wishes(trace=True))


def test_a_wish_for_the_next_run_is_for_that_run_only() -> None:
    schedule = Schedule()
    schedule.add([0], Wishes(folders=("a",)))
    schedule.add_to_next(Wishes(trace=True))
    assert schedule.begin() == (0, Wishes(trace=True, folders=("a",)))
    assert schedule.begin() == (1, None)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("10", "must be a list of step numbers"),
        (10, "must be a list of step numbers"),
        ([1.5], r"1\.5 is not a step number"),
        ([3, -1], "-1 is not a step"),
        (range(101), "at most 100 steps"),
    ],
)
def test_wrong_steps_are_refused(steps: object, message: str) -> None:
    with pytest.raises(UsageError, match=f"trace_steps.*{message}"):
        step_numbers(steps, "trace_steps", most=100)  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", [[0, 2], (2, 0, 2), {0, 2}, range(0, 3, 2), iter([0, 2])])
def test_steps_may_be_any_iterable(steps: object) -> None:
    assert step_numbers(steps, "dump_steps", most=2) == {0, 2}  # type: ignore[arg-type]
