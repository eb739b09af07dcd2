"""Laws of the history: whatever the cuts, each slow step is reported once, and nothing else."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.remote.flight.history import History, Window
from tfprof.remote.flight.snapshots import Steps

MS, S = 1_000_000, 1_000_000_000


def steps(*spans, first=0, marked=True):
    starts, durations = np.array(spans, np.int64).reshape(-1, 2).T
    return Steps(starts, durations, np.arange(first, first + len(spans)), marked)


def seen(spans, windows):
    """What each window has of steps: those that began and ended in it.

    Args:
        spans: Number, start and end of each step.
        windows: Start, end, and time of the answer of each.
    """
    numbers, begins, ends = np.array(spans, np.int64).T
    for start, stop, answer in windows:
        rows = np.flatnonzero((begins >= start) & (ends <= stop))
        durations = ends[rows] - begins[rows]
        found = Steps(begins[rows] - start, durations, numbers[rows], bool(len(rows)))
        yield Window(found, start, stop, answer / 1e9)


def reported(windows, holds):
    """Reports of slow steps, as a recorder makes them: each step once, its latest time."""
    history, reports = History(), []
    for window in windows:
        history, found = history.after(window)
        for step in found:
            if not (holds(step.seconds, step.before) and holds(step.least, step.before)):
                continue
            if reports and step.is_same(reports[-1]):
                reports[-1] = step
            else:
                reports.append(step)
    return reports


def stream(rng, usual, gap, stride, factor, answer, interval):
    """A program with slow steps far from each other, and the windows of a recorder."""
    now, spans, slow = 0, [], []
    offset = rng.randrange(60)
    for place in range(300):
        took = round(usual * rng.uniform(0.8, 1.2))
        if 60 < place < 270 and place % 60 == offset:
            took = (usual + gap) * factor
            slow.append((place * stride, took / 1e9))
        spans.append((place * stride, now, now + took))
        now += took + round(gap * rng.uniform(0.5, 1.5))
    windows, at = [], rng.randrange(usual)
    while at < now:
        stop = min(now, at + round(interval * (usual + gap) * rng.uniform(0.5, 1.0)))
        windows.append((at, stop, answer))
        at = stop + rng.randrange(answer + 1)
    return spans, windows, slow


@given(
    st.integers(0, 2**32),
    st.sampled_from([2 * MS, 10 * MS, 40 * MS]),
    st.sampled_from([0, MS // 5, 20 * MS]),
    st.sampled_from([1, 10]),
    st.sampled_from([8, 20, 200]),
    st.sampled_from([0, MS // 2, 3 * MS]),
    st.sampled_from([5, 20, 60, 300]),
)
def test_each_slow_step_is_reported_once(seed, usual, gap, stride, factor, answer, interval):
    period = usual + gap
    spans, windows, slow = stream(random.Random(seed), usual, gap, stride, factor, answer, interval)

    def holds(seconds, before):
        return before["median"] is not None and seconds > 3 * before["median"] + 3 * period / 1e9

    reports = reported(seen(spans, windows), holds)
    assert len(reports) == len(slow)
    for report, (number, seconds) in zip(reports, slow, strict=True):
        delays = answer * (2 + seconds * 1e9 / (interval * period / 2))
        assert report.first <= number <= report.last
        assert report.seconds == pytest.approx(seconds, abs=(4 * period + delays) / 1e9)
        assert report.least <= seconds + period / 1e9


def follow(*windows):
    """The history after some windows, and the steps of the last one."""
    history, found = History(), []
    for window in windows:
        history, found = history.after(window)
    return history, found


USUAL = [(i * 10 * MS, 10 * MS) for i in range(20)]


def test_a_cut_step_follows_from_its_neighbours():
    history, found = follow(Window(steps(*USUAL), 0, 200 * MS))
    assert len(found) == 20 and history.usual_seconds == pytest.approx(0.01)
    # Steps 20 and 21 are missing: 1 s lies between, one of them took 10 ms.
    history, (cut, whole) = history.after(
        Window(steps((1000 * MS, 10 * MS), first=22), 200 * MS, 1300 * MS)
    )
    assert (cut.first, cut.last, cut.is_whole) == (20, 21, False)
    assert cut.seconds == pytest.approx(0.99)
    assert str(cut) == "one of the steps 20 to 21 took about 0.99 s"
    assert str(whole) == "step 22 took 0.01 s"
    # The next one follows at once: nothing was cut.
    _, found = history.after(Window(steps((0, MS), first=23), 1300 * MS, 1400 * MS))
    assert len(found) == 1


def test_one_cut_step_after_the_other():
    history, _ = follow(Window(steps(*USUAL), 0, 200 * MS))
    history, (first, _) = history.after(
        Window(steps((1000 * MS, MS), first=21), 200 * MS, 1300 * MS)
    )
    _, (second, _) = history.after(Window(steps((1000 * MS, MS), first=23), 1300 * MS, 2400 * MS))
    assert first.seconds == pytest.approx(1.0) and second.seconds == pytest.approx(1.099)
    assert not second.is_same(first)


def test_the_time_of_the_snapshot_is_not_that_of_the_steps_it_cuts():
    history, _ = follow(Window(steps(*USUAL), 0, 200 * MS, 0.03))
    # 60 ms for the steps 20 to 22: 10 for each, and 30 of the snapshot.
    history, (cut, _) = history.after(
        Window(steps((60 * MS, 10 * MS), first=23), 200 * MS, 300 * MS, 0.03)
    )
    assert cut.seconds == pytest.approx(0.01)
    # Two snapshots without a step, then all of it.
    history, found = history.after(Window(steps(marked=False), 300 * MS, 400 * MS, 0.03))
    assert found
    _, (cut, _) = history.after(Window(steps((100 * MS, 10 * MS), first=25), 400 * MS, 600 * MS))
    assert cut.seconds == pytest.approx(0.23 - 0.06)


def test_a_delay_that_snapshots_have_shown_is_expected():
    """The program stands for 2 of the 10 ms that each answer takes."""
    history, now = History(), 0
    for number in range(6):
        window = steps(*USUAL, first=number * 21)
        history, found = history.after(Window(window, now, now + 200 * MS, 0.01))
        now += 212 * MS
    assert found[0].seconds == pytest.approx(0.01) and not found[0].is_whole
    history, (slow, *_) = history.after(Window(steps(*USUAL, first=126), now + 15 * MS, now + S))
    assert slow.seconds == pytest.approx(0.025) and 0.02 < slow.least < slow.seconds


def test_a_step_that_goes_on():
    history, _ = follow(Window(steps(*USUAL), 0, 210 * MS))
    history, (still,) = history.after(Window(steps(marked=False), 210 * MS, 900 * MS))
    assert still.seconds == pytest.approx(0.7) and still.is_open
    history, (longer,) = history.after(Window(steps(marked=False), 900 * MS, 2200 * MS))
    assert str(longer) == "no step from 20 on has ended for 2 s"
    assert longer.is_same(still)
    _, (ended, whole) = history.after(Window(steps((S, MS), first=21), 2200 * MS, 4 * S))
    assert str(ended) == "step 20 took about 3 s" and ended.is_same(longer)
    assert not whole.is_same(longer)


def test_the_time_between_steps_is_not_a_step():
    """Steps of 1 ms every 20 ms; then a snapshot with nothing in it."""
    usual = [(i * 20 * MS, MS) for i in range(20)]
    history, _ = follow(Window(steps(*usual), 0, 382 * MS))
    _, (still,) = history.after(Window(steps(marked=False), 382 * MS, 399 * MS))
    assert still.least == 0 and still.seconds < 0.001
    # Once 300 ms lay between two steps: so may they again.
    history, (_, late) = history.after(
        Window(steps((0, MS), (300 * MS, MS), first=20), 400 * MS, 710 * MS)
    )
    assert late.is_exact
    _, (cut, _) = history.after(Window(steps((310 * MS, MS), first=23), 710 * MS, 1100 * MS))
    assert cut.seconds > 0.25 and cut.least < 0.01


def test_unmarked_steps_have_no_numbers():
    history, _ = follow(Window(steps((0, 10 * MS), marked=False), 0, 100 * MS))
    history, (step,) = history.after(Window(steps((0, S), marked=False), S, 3 * S))
    assert str(step) == "a step took 1 s"
    assert history.after(Window(steps(marked=False), 3 * S, 9 * S))[1] == []


def test_what_was_guessed_is_forgotten_when_a_step_is_marked():
    guessed = steps(*[(i * MS, MS) for i in range(20)], marked=False)
    history, _ = follow(Window(guessed, 0, S))
    now = steps(*[(i * S, S) for i in range(10)])
    history, found = history.after(Window(now, S, 11 * S))
    assert found[0].before["median"] == 1 and history.are_marked


def test_a_cut_step_that_leaves_its_time_needs_no_neighbours():
    history, _ = follow(Window(steps(*USUAL), 0, 200 * MS))
    history, (still,) = history.after(Window(steps(marked=False), 200 * MS, 900 * MS))
    ended = Steps(
        np.array([-690, 30, 60]) * MS, np.array([710, 10, 10]) * MS, np.array([20, 21, 24]), True,
        np.array([True, False, False]),
    )  # fmt: skip
    history, (slow, *others) = history.after(Window(ended, 900 * MS, 990 * MS, 0.05))
    assert str(slow) == "step 20 took 0.71 s" and slow.is_same(still) and not slow.is_whole
    assert (slow.begin_ns, slow.end_ns) == (210 * MS, 920 * MS)
    assert all(step.is_whole for step in others)
    # What is missing from now on was short: 300 ms between steps are none.
    later = steps((310 * MS, 10 * MS), first=27)
    _, found = history.after(Window(later, 990 * MS, 1400 * MS))
    assert [step.first for step in found] == [27]


def test_each_kind_of_steps_has_a_past_of_its_own():
    """Training of 10 ms, and evaluation of 1 ms with numbers of its own."""
    trained = steps(*USUAL)
    both = Steps(
        np.arange(30) * 10 * MS, np.r_[np.full(20, 10 * MS), np.full(10, MS)],
        np.r_[np.arange(20, 40), np.arange(10)], True, kinds=("train", "eval"),
        of_kind=np.r_[np.zeros(20, np.int64), np.ones(10, np.int64)],
    )  # fmt: skip
    train = Steps(trained.starts_ns, trained.durations_ns, trained.numbers, True, kinds=("train",))
    history, found = follow(Window(train, 0, 200 * MS), Window(both, 200 * MS, 500 * MS))
    assert [step.kind for step in found] == ["train"] * 20 + ["eval"] * 10
    assert found[-1].before["median"] == pytest.approx(0.001)
    # Evaluation goes on for a snapshot: no step of training does.
    evaluated = both.of("eval")
    assert len(evaluated) == 10 and evaluated.numbers[0] == 0
    later = Steps(
        evaluated.starts_ns, evaluated.durations_ns, evaluated.numbers + 10, True, kinds=("eval",)
    )
    _, found = history.after(Window(later, 500 * MS, 900 * MS))
    assert {step.kind for step in found} == {"eval"}


def paused(after_ms, number, *, ends=False):
    """What a history reports of a pause after 20 steps of 10 ms: the next one begins then."""
    taken = steps(*USUAL)
    if ends:
        taken = Steps(
            taken.starts_ns, taken.durations_ns, taken.numbers, True, np.arange(20) == 5
        )  # fmt: skip
    history, _ = follow(Window(taken, 0, 210 * MS))
    begin = 210 * MS + after_ms * MS
    history, found = history.interrupted().after(
        Window(steps((0, 10 * MS), (10 * MS, 10 * MS), first=number), begin, begin + 100 * MS)
    )
    assert [step.first for step in found if not step.is_unseen] == [number, number + 1]
    assert history.after(Window(steps(marked=False), begin + 100 * MS, begin + 110 * MS))[1]
    return [step for step in found if step.is_unseen]


@pytest.mark.parametrize("ends", [False, True])
def test_slow_steps_without_recording_follow_from_the_numbers(ends):
    (slow,) = paused(1400, 119, ends=ends)  # 99 steps of 10 ms, and 410 ms more
    assert (slow.first, slow.last, slow.is_exact) == (20, 118, False)
    assert slow.seconds == pytest.approx(0.42, abs=0.03) and 0.3 < slow.least <= slow.seconds
    assert str(slow).startswith("one of the steps 20 to 118, or what lies between them, took about")
    (usual,) = paused(1000, 119, ends=ends)
    assert usual.least < 0.05
    assert paused(1400, 20) == []  # no step ran meanwhile
    assert paused(1400, 3) == []  # numbers that begin anew tell nothing


def test_a_pause_is_not_an_unfinished_step():
    history, _ = follow(Window(steps(*USUAL), 0, 210 * MS))
    _, found = history.interrupted().after(Window(steps(marked=False), 5 * S, 6 * S))
    assert found == []
