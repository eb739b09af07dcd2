"""What steps leave at their end: exactly what no mark can tell."""

import threading
from typing import Any

import pytest

from tfprof.capture import steps
from tfprof.capture.steps import NOTED_NS, StepEnds

S = 1_000_000_000


class Profiler:
    """Notes the events that are left."""

    def __init__(self) -> None:
        self.left: list[dict[str, Any]] = []

    def __call__(self, name: str, **values: Any) -> Any:
        assert name == "tfprof.end_of_step"
        self.left.append(values)
        return threading.Lock()  # some context


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The time, which tests set."""
    time = [100 * S]
    monkeypatch.setattr(steps.time, "perf_counter_ns", lambda: time[0])
    return time


def test_the_end_of_a_step_is_left_at_once(now: list[int]) -> None:
    ends, profiler = StepEnds(), Profiler()
    ends.leave(4, "train", 3 * NOTED_NS, [profiler], was_on=False)
    ends.leave(5, "train", NOTED_NS - 1, [profiler], was_on=True)  # its mark is enough
    assert profiler.left == [{"number": 4, "nanoseconds": 3 * NOTED_NS, "ago": 0, "of": "train"}]
    assert not ends.late


def test_what_ends_between_two_sessions_is_left_by_a_later_step(now: list[int]) -> None:
    ends, profiler = StepEnds(), Profiler()
    for number in range(4, 60):  # the longest are kept
        took = S if number == 4 else NOTED_NS + number
        ends.leave(number, "train", took, [], was_on=number == 4)
        now[0] += NOTED_NS
    assert len(ends.late) == 16
    ends.leave(60, "eval", 1, [profiler], was_on=False)
    first, *others = sorted(profiler.left, key=lambda left: left["number"])
    assert first == {"number": 4, "nanoseconds": S, "ago": 56 * NOTED_NS, "of": "train"}
    assert [left["number"] for left in others] == list(range(45, 60))
    assert not ends.late


def test_nothing_is_kept_when_no_session_comes_back(now: list[int]) -> None:
    ends, profiler = StepEnds(), Profiler()
    ends.leave(1, "train", S, [], was_on=False)
    assert not ends.late  # nothing was recorded yet
    ends.leave(2, "train", S, [], was_on=True)
    now[0] += 6 * S
    ends.leave(3, "train", S, [], was_on=False)
    assert not ends.late
    ends.leave(4, "train", S, [], was_on=True)
    now[0] += 6 * S
    ends.leave(5, "train", 1, [profiler], was_on=False)  # too long ago
    assert profiler.left == [] and not ends.late
