"""Budgets and retention: limits as people write them, what is counted, and what is removed."""

import json
import threading
import time
from datetime import datetime, timezone

import pytest

from tests.remote.flight.fake_sessions import FakeSession, wait_for
from tfprof.errors import UsageError
from tfprof.files.remote.path import as_path
from tfprof.remote.flight import FlightRecorder
from tfprof.remote.flight.budget import Budget
from tfprof.remote.flight.limits import Limits, budget_of, retention_of
from tfprof.remote.flight.retention import OldRun, Retention, superfluous

pytestmark = pytest.mark.one_engine

NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc).timestamp()
DAY = 86400.0


def test_limits():
    assert budget_of("20 runs, 5 GiB a day") == Limits(20, 5 << 30)
    assert budget_of("1 run") == Limits(1)
    assert budget_of("500MB per day") == Limits(None, 500 * 10**6)
    assert retention_of("50 runs,20GiB , 30 days") == Limits(50, 20 << 30, 30)
    assert str(Limits(1, 5 << 30, 2)) == "1 run, 5.37 GB, 2 days"
    for text in ("", "x", "0 runs", "2 runs, 3 runs", "5 days", "1 run a week"):
        with pytest.raises(UsageError, match="budget='"):
            budget_of(text)


@pytest.fixture(params=["disk", "bucket"])
def logdir(request, tmp_path):
    if request.param == "disk":
        return as_path(tmp_path / "logs")
    pytest.importorskip("fsspec")
    return as_path(f"memory://budget{tmp_path.name}/logs")


def test_a_budget_is_shared_and_begins_anew(logdir):
    said, now = [], [NOON]
    one, other = (
        Budget(Limits(3, 1000), logdir, said.append, lambda: now[0]) for _ in range(2)
    )  # fmt: skip
    first = one.reserve(400, must=False)
    one.settle(first, 100)
    assert other.reserve(500, must=False) and not one.is_spent
    assert not one.reserve(500, must=False)  # 1100 bytes
    assert "has no room for another run of up to 500 B, after 600 B in 2 runs" in said[0]
    assert said[0].endswith("anew, at 00:00 UTC, in 12 h 1 min; requests are") and one.is_spent
    assert one.reserve(900, must=True)  # on request
    assert not other.reserve(1, must=False) and len(said) == 2
    restarted = Budget(Limits(3, None), logdir, said.append, lambda: now[0])
    assert not restarted.reserve(1, must=False)
    now[0] += DAY / 2
    assert not one.is_spent
    assert said[-1] == "another day has begun: 3 runs, 1.00 kB may be written again"
    assert one.reserve(1, must=False)


def test_a_run_that_was_not_written_does_not_count(logdir):
    budget = Budget(Limits(1), logdir, print, lambda: NOON)
    for _ in range(3):
        entry = budget.reserve(5, must=False)
        assert entry
        budget.cancel(entry)


def test_clock_jumps_give_no_day_twice(logdir):
    now = [NOON]
    budget = Budget(Limits(1), logdir, lambda _: None, lambda: now[0])
    written = []
    for jump in (0, 0, -3 * 365 * DAY, 5 * 365 * DAY, 0, -3 * 365 * DAY, 0):
        now[0] = NOON + jump
        written.append(bool(budget.reserve(5, must=False)))
    assert written == [True, False, True, True, False, False, False]


def test_many_at_once_never_exceed_a_budget(tmp_path):
    entries = []

    def work():
        budget = Budget(Limits(5), as_path(tmp_path), lambda _: None, lambda: NOON)
        entries.extend(budget.reserve(1, must=False) for _ in range(4))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= sum(map(bool, entries)) <= 5


def test_a_folder_that_cannot_be_used_counts_alone(tmp_path):
    (tmp_path / ".tfprof").write_text("a file")
    said = []
    budget = Budget(Limits(2), as_path(tmp_path), said.append, lambda: NOON)
    assert [bool(budget.reserve(1, must=False)) for _ in range(3)] == [True, True, False]
    assert "counts what this recorder writes alone" in said[0] and len(said) == 2


def old(name, days, size=10):
    return OldRun(as_path(name), NOON - days * DAY, size)


def test_what_is_superfluous():
    runs = [old("a", 40), old("d", 0), old("b", 3), old("c", 1)]

    def names(**limits):
        return [run.folder.name for run in superfluous(runs, Limits(**limits), NOON)]

    assert names(runs=2) == ["a", "b"] and names(days=30) == ["a"]
    assert names(n_bytes=25) == ["a", "b"] and names(n_bytes=1) == ["a", "b", "c"]
    assert names(runs=3, n_bytes=15) == ["a", "b", "c"] and names() == []
    assert superfluous(runs, Limits(days=1), NOON - 100 * DAY) == []  # a clock that is behind


def made(folder, name, days, **record):
    run = folder / name
    run.mkdir(parents=True)
    (run / "h.xplane.pb").write_bytes(bytes(100))
    about = {"writer": "tfprof record", "time": time.time() - days * DAY, **record}
    (run / "record.json").write_text(json.dumps(about))
    return run


def test_only_runs_of_recorders_are_removed(tmp_path):
    made(tmp_path, "1", 9)
    (made(tmp_path, "2", 8) / "keep").touch()
    made(tmp_path, "3", 7, writer="another")
    (made(tmp_path, "4", 6) / "record.json").write_text("{")
    made(tmp_path, ".5.0123456789abcdef.tmp", 5)  # is being written
    (made(tmp_path, "6", 4) / ".unfinished").write_text("is being brought")
    (made(tmp_path, "7", 3) / "record.json").unlink()
    (tmp_path / "notes").write_text("x")
    made(tmp_path, "8", 2), made(tmp_path, "9", 1)
    said = []
    retention = Retention(Limits(runs=1), tmp_path, said.append)
    retention.apply()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".5.0123456789abcdef.tmp", "2", "3", "4", "6", "7", "9", "notes"]
    assert len(said) == 1 and said[0].startswith("removed 1, 8 (") and said[0].endswith("1 run")
    retention.apply()
    assert len(said) == 1


def test_a_clock_that_jumps_ahead_removes_nothing(tmp_path, monkeypatch):
    made(tmp_path, "1", 2), made(tmp_path, "2", 1)
    retention = Retention(Limits(days=30), tmp_path, print)
    ahead = time.time() + 400 * DAY
    monkeypatch.setattr(time, "time", lambda: ahead)
    retention.apply()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_recorder_with_a_budget(recorder):
    fake, said = FakeSession(), []
    with recorder(
        fake, when="step_time > 1s", cooldown_seconds=0, most_runs=None, budget=Limits(2),
        retain=Limits(2), count=3, say=said.append, keep_seconds=0.1,
    ) as recording:  # fmt: skip
        fake.is_always_slow = True
        events = recording.events()
        runs = [next(events), next(events)]
        wait_for(lambda: fake.n_snapshots > 20)
        threading.Timer(0.3, recording.save, ["a request"]).start()
        runs += events
    assert "a request" in runs[-1].reason and len(runs) == 3
    assert len(said) == 2 and "the budget of today (2 runs) has no room" in said[0]
    assert said[1].startswith("removed ")
    # What was held for runs that were not written is kept no longer than usual.
    assert runs[-1].seconds < 15
    about = json.loads((as_path(runs[-1].folder) / "record.json").read_text())
    assert about["writer"] == "tfprof record"


def test_two_recorders_of_one_folder_share_it(fake_server, tmp_path):
    fakes = FakeSession(), FakeSession()
    said = []
    runs = []
    for fake in fakes:
        server = fake_server(**fake.methods())
        with FlightRecorder(
            server.address, tmp_path, when="step_time > 1s", budget=Limits(1), say=said.append,
            interval_seconds=0.05, for_seconds=0.5, cooldown_seconds=0,
        ) as recording:  # fmt: skip
            fake.is_always_slow = True
            runs += recording.events()
    assert len(runs) == 1 and len(said) == 2
