"""Runs of certain steps of all workers."""

import json
import time
from itertools import count, pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.full_disk import files_of_at_most
from tests.remote.flight.fake_sessions import FakeSession, step_numbers, wait_for
from tests.remote.flight.snapshots import snapshot
from tfprof.captures.read.xspace import read_xspace
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, InputError
from tfprof.remote.flight.snapshots import NO_STEPS, Steps, marked_steps
from tfprof.remote.flight.step_range import (
    Place,
    StepRange,
    StepsAwaited,
    Watched,
    cut_to,
    place_after,
    seconds_to_snapshot,
    would_cut,
)
from tfprof.testing.xspace_builders import event, host, line

pytestmark = pytest.mark.one_engine

MS = 1_000_000
WANTED = StepRange(100, 110)


def steps(first, last, period=10 * MS):
    numbers = np.arange(first, last + 1)
    starts = (numbers - first) * period
    return Steps(starts, np.full(len(numbers), period - 1), numbers, are_marked=True)


def test_where_a_worker_is():
    assert place_after(None, NO_STEPS, 0, WANTED) is None
    place = place_after(None, steps(20, 40), 1000, WANTED)
    assert place == Place("", 20, 40, 1000 + 210 * MS - 1, 10 * MS)
    place = place_after(place, steps(95, 105), 10**9, WANTED)
    assert (place.earliest, place.number, place.begin_ns) == (20, 105, 10**9 + 50 * MS)
    later = place_after(place, steps(106, 120), 2 * 10**9, WANTED)
    assert later.begin_ns == place.begin_ns and later.number == 120
    restarted = place_after(later, steps(3, 5), 3 * 10**9, WANTED)
    assert (restarted.earliest, restarted.number, restarted.begin_ns) == (3, 5, None)


@pytest.mark.parametrize("period", [1 * MS, 10 * MS, 100 * MS, 900 * MS])
@pytest.mark.parametrize("usual", [0.4, 8.0])
def test_no_snapshot_cuts_the_steps(period, usual):
    """Snapshots of a program with regular steps; the ones between them stay 0.2 s apart."""
    place, now = None, 0
    taken = [0]
    while place is None or place.number < WANTED.last:
        now += round(1e9 * min(seconds_to_snapshot(place, WANTED, now, usual), 15.0))
        first, last = taken[-1] // period, now // period - 1
        if last >= first:
            window = steps(first, last, period)
            place = place_after(place, window, first * period, WANTED)
        taken.append(now)
    begin, end = WANTED.first * period, (WANTED.last + 1) * period
    if begin > 1.5e9 * usual:  # it was seen to come
        assert not [at for at in taken if begin < at < end]
    assert min(after - before for before, after in pairwise(taken)) >= 2e8 - 1


def test_a_machine_that_wakes_late_cuts_no_step():
    place = Place("", 0, 89, 900 * MS, 10.0 * MS)  # step 100 begins at 1000 ms
    late = {700: False, 790: False, 900: True, 1000: True, 1109: True, 1111: False}
    assert {at: would_cut(place, WANTED, at * MS) for at in late} == late
    assert seconds_to_snapshot(place, WANTED, 950 * MS, 0.0) == pytest.approx(0.16 + 0.5, abs=0.01)
    assert not would_cut(None, WANTED, 0)


def watched(number, *, earliest=0, is_recording=True, n_snapshots=9, begin=5):
    place = None if number is None else Place("", earliest, number, 0, 10.0 * MS, begin)
    return Watched("w", place, is_recording, n_snapshots)


@pytest.mark.parametrize(
    ("others", "is_due", "is_due_later"),
    [
        ([], True, True),
        ([watched(110)], True, True),
        ([watched(107)], False, True),  # on its way, or stuck
        ([watched(None)], True, True),  # marks no steps
        ([watched(None, n_snapshots=1)], False, True),
        ([watched(50, is_recording=False)], True, True),
    ],
)
def test_when_the_run_is_due(others, is_due, is_due_later):
    awaited = StepsAwaited(WANTED)
    assert not awaited.is_due([watched(109), *others[1:]], 0)
    workers = [watched(115), *others]
    assert awaited.is_due(workers, 100) is is_due
    assert awaited.is_due(workers, 131) is is_due_later


@pytest.mark.parametrize(
    ("worker", "note"),
    [
        (watched(120), ""),
        (watched(None), "w marks no steps"),
        (watched(None, n_snapshots=0), "w is not recorded"),
        (watched(300, earliest=200), "had passed steps 100 to 110 already"),
        (watched(50), "got to step 50 only, and is not in this run"),
        (watched(105), "got to step 105 only; what it had of steps 100 to 110 is in this run"),
        (watched(120, earliest=104), "this run has its steps from 104 on"),
    ],
)
def test_what_a_run_lacks(worker, note):
    notes = StepsAwaited(WANTED).notes([worker])
    assert note in notes.get("w", "") and bool(note) == bool(notes)


def test_cut_to():
    marks = [event("train", 10 * MS * number, 5 * MS, step_num=number) for number in range(20)]
    data = snapshot(host(line(*marks, event("op", 73 * MS, MS), event("op", 153 * MS, MS))))
    part, numbers = cut_to(data, StepRange(5, 8))
    assert numbers == [5, 6, 7, 8]
    assert marked_steps(read_xspace(part)).numbers.tolist() == numbers
    assert cut_to(data, StepRange(18, 30))[1] == [18, 19]
    with pytest.raises(InputError, match="cannot be written"), files_of_at_most(100):
        cut_to(data, StepRange(5, 8))
    with pytest.raises(EmptyProfileError, match="none of steps 30 to 31 was recorded"):
        cut_to(data, StepRange(30, 31))


class Stepping(FakeSession):
    """Steps of 10 ms that follow each other by the clock, from a number on."""

    def __init__(self, first):
        super().__init__()
        self.first, self.epoch_ns = first, time.time_ns()

    def get(self, data, context):
        began, self.began_ns = self.began_ns, time.time_ns()
        self.n_snapshots += 1
        marks = []
        for number in count((began - self.epoch_ns) // (10 * MS) + 1):
            start = self.epoch_ns + number * 10 * MS - began
            if start + 10 * MS > self.began_ns - began:
                break
            marks.append(event("train", start, 9 * MS, step_num=self.first + number))
        data = snapshot(host(line(*marks)), start_ns=began, stop_ns=self.began_ns)
        return pb.ProfileResponse(xspace=pb.XSpace.FromString(data)).SerializeToString()


def test_exactly_these_steps_of_all_workers(recorder):
    """Some are a few steps ahead, one had passed them, and one marks none."""
    fakes = [Stepping(0), Stepping(13), Stepping(5000), FakeSession()]
    fakes[3].is_silent = True
    with recorder(*fakes, interval_seconds=0.3, keep_seconds=0.1, steps=WANTED) as recording:
        (saved,) = recording.events()
    assert saved.reason == "steps 100 to 110" and len(saved.files) == 2
    assert step_numbers(saved) == [list(range(100, 111))] * 2
    passed, silent = saved.notes
    assert "had passed steps 100 to 110 already" in passed and "marks no steps" in silent
    about = json.loads((Path(saved.folder) / "record.json").read_text())
    assert about["notes"] == [passed, silent]
    assert not any(fake.is_on for fake in fakes)


def test_what_there_is_of_the_steps_at_the_end(recorder):
    fake = Stepping(0)
    with recorder(fake, interval_seconds=0.2, steps=StepRange(20, 5000)) as recording:
        wait_for(lambda: time.time_ns() - fake.epoch_ns > 10**9)
        recording.stop()
        (saved,) = recording.events()
    (numbers,) = step_numbers(saved)
    assert numbers[0] == 20 and "what it had of steps 20 to 5000 is in this run" in saved.notes[0]


def test_steps_that_no_worker_has(recorder):
    fake = Stepping(900)
    with recorder(fake, interval_seconds=0.2, steps=WANTED) as recording:
        (saved,) = recording.events()
    assert not saved.folder and "no worker was recorded in them" in saved.trouble
    assert "had passed" in saved.notes[0]


def test_other_runs_still_have_what_was_kept(recorder):
    fake = Stepping(0)
    with recorder(fake, interval_seconds=0.2, steps=WANTED, when="step_time > 9s") as recording:
        events = recording.events()
        assert next(events).reason == str(WANTED)
        recording.save("more")
        saved = next(events)
    (numbers,) = step_numbers(saved)
    assert numbers[0] < 50 and set(range(100, 111)) <= set(numbers)
