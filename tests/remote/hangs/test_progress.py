"""The progress of a worker, from snapshots whose steps are given."""

import pytest

from tests.remote.flight.snapshots import snapshot
from tfprof.remote.flight.history import StepSeen
from tfprof.remote.flight.snapshots import look
from tfprof.remote.flight.watched import WatchedSnapshot
from tfprof.remote.hangs import progress
from tfprof.remote.hangs.progress import after
from tfprof.testing.xspace_builders import event, host, line

pytestmark = pytest.mark.one_engine

S = 1_000_000_000
WORK = snapshot(host(line(event("MatMul", 0, 5))))
NOTHING = snapshot(host(line()))


def seen(at_s, *ends, data=NOTHING):
    """A snapshot of one second with the ends of some steps, as (number, seconds)."""
    steps = tuple(
        StepSeen(number, number, 1.0, 1.0, True, True, False, 0, round(end * S), "train", ())
        for number, end in ends
    )
    return WatchedSnapshot("h:1", data, look(data), steps, at_s * S, (at_s + 1) * S)


def through(*snapshots):
    found = None
    for at, each in enumerate(snapshots):
        found = after(found, each, float(at))
    return found


def test_what_never_worked_has_no_progress():
    assert through(seen(0), seen(1)) is None


def test_a_worker_is_quiet_from_its_last_step_on():
    found = through(seen(0, (7, 0.5), (8, 0.75)), seen(1), seen(2))
    assert (found.begin_ns, found.latest_ns, found.covered_ns) == (0, 0.75 * S, 3 * S)
    assert (found.step, found.arrived, found.quiet_seconds) == (8, 2.0, 2.25)
    assert len(found.snapshots) == 3


def test_an_op_counts_without_a_step_and_keeps_its_number():
    found = through(seen(0, (7, 0.5)), seen(1), seen(2, data=WORK))
    assert (found.begin_ns, found.latest_ns, found.step) == (2 * S, 3 * S, 7)
    assert found.quiet_seconds == 0.0
    found = through(seen(0, (-1, 0.5)))  # a step without a number
    assert (found.step, found.latest_ns) == (None, 0.5 * S)
    assert through(seen(0, (0, 0.5))).step == 0


def test_a_step_that_ends_after_its_snapshot_is_not_less_than_quiet():
    assert through(seen(0, (7, 1.5))).quiet_seconds == 0.0


def test_the_usual_time_between_steps_needs_three_of_them():
    found = through(seen(0, (1, 0.1), (2, 0.2), (3, 0.9)))
    assert found.usual_seconds is None
    assert after(found, seen(1, (4, 1.1)), 1.0).usual_seconds == pytest.approx(0.2)


def test_only_the_latest_snapshots_and_ends_are_kept(monkeypatch):
    monkeypatch.setattr(progress, "_MOST_BYTES", 2 * len(NOTHING))
    monkeypatch.setattr(progress, "_MOST_ENDS", 4)
    found = through(*[seen(at, (at, at + 0.5)) for at in range(6)])
    assert found.snapshots == (NOTHING, NOTHING)
    assert found.ends_ns == tuple(round((at + 0.5) * S) for at in (2, 3, 4, 5))
    monkeypatch.setattr(progress, "_MOST_BYTES", 1)
    assert through(seen(0, (1, 0.5)), seen(1)).snapshots == (NOTHING,)
    assert len(through(seen(0, (1, 0.5)), seen(1, data=b"")).snapshots) == 1
