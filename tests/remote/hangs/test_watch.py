"""The recorder with a watch for hangs, against servers whose answers are given beforehand."""

import os
import threading
import time
from pathlib import Path

import pytest

from tests.remote.hangs.fakes import Fake
from tfprof.captures.overview.overview_page import overview
from tfprof.captures.run.hang_record import hang_of
from tfprof.captures.run.run import open_run
from tfprof.errors import UsageError
from tfprof.remote.discovery.files import in_path
from tfprof.remote.flight import FlightRecorder, sessions
from tfprof.remote.hangs import HangWatch

pytestmark = pytest.mark.one_engine

TIMEOUT_S = 2.5


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(sessions, "LIVING_SECONDS", 0.3)


@pytest.fixture
def job(fake_server, tmp_path):
    """Makes programs, a recorder of them, and a watch."""
    fakes = []

    def make(count, say=lambda remark: None):
        fakes.extend(Fake() for _ in range(count))
        watch = HangWatch(TIMEOUT_S, folders=[tmp_path], say=say)
        servers = [fake_server(**fake.methods()) for fake in fakes]
        for fake, server in zip(fakes, servers, strict=True):
            fake.server = server
        recorder = FlightRecorder(
            [server.address for server in servers], tmp_path, interval_seconds=0.1,
            answer_seconds=TIMEOUT_S, keep_seconds=0.2, watch=watch.saw, writes_silent=False,
        )  # fmt: skip
        return fakes, recorder, watch

    yield make
    for fake in fakes:
        fake.over.set()


def wait_for_steps(recorder):
    until = time.monotonic() + 20
    while not all(each.n_steps for each in recorder.observed.values()):
        assert time.monotonic() < until
        time.sleep(0.02)


def runs(recorder, watch, seconds):
    """The runs that are written within a time."""
    timer = threading.Timer(seconds, recorder.stop)
    timer.start()
    for saved in recorder.events():
        watch.wrote(saved)
        yield saved
    timer.cancel()


def test_all_stand_still_and_go_on(job, tmp_path):
    said = []
    fakes, recorder, watch = job(3, said.append)
    with recorder:
        watch.start(recorder)
        wait_for_steps(recorder)
        begin = time.monotonic()
        for fake in fakes:
            fake.works = "nothing"
        found = runs(recorder, watch, 40.0)
        saved = next(found)
        assert time.monotonic() - begin > TIMEOUT_S
        hang = hang_of(saved.folder)
        assert hang.named == () and "Hang of" in saved.reason
        assert [rank.step for rank in hang.ranks] == [fake.step for fake in fakes]
        assert [rank.process for rank in hang.ranks] == [os.getpid()] * 3
        for fake in fakes:
            fake.works = "steps"
        until = time.monotonic() + 20
        while not any("went on after" in remark for remark in said):
            assert time.monotonic() < until
            time.sleep(0.05)
        recorder.stop()
        assert list(found) == []  # one hang is one run
        watch.stop()
    assert hang_of(saved.folder).went_on_seconds > TIMEOUT_S
    assert not list(Path(saved.folder).glob("*.part"))
    result = overview(open_run(tmp_path))
    assert result.verdict[0].startswith("Hang of") and "Then it went on." in result.verdict[0]
    assert len(result.table("hang")) == 3
    assert result.table("steps").rows  # what came before the hang was kept
    assert "hang" not in overview(open_run(tmp_path), classic=True).tables


def test_a_silent_server_while_the_others_go_on(job):
    fakes, recorder, watch = job(3)
    with recorder:
        watch.start(recorder)
        wait_for_steps(recorder)
        fakes[2].works = "silent"
        saved = next(runs(recorder, watch, 40.0))
        watch.stop()
    hang = hang_of(saved.folder)
    assert hang.named == (2,) and hang.ranks[2].quiet_seconds >= TIMEOUT_S
    assert "while 2 other ranks made some" in saved.reason
    assert [rank.state for rank in hang.ranks] == ["runs", "runs", "silent"]


def test_a_program_at_its_end_does_not_hang(job):
    """Its server has closed its port, and the last answer does not come."""
    fakes, recorder, watch = job(2)
    with recorder:
        watch.start(recorder)
        wait_for_steps(recorder)
        fakes[1].works = "silent"
        time.sleep(0.2)
        fakes[1].server.refuse()
        assert [
            saved.reason for saved in runs(recorder, watch, 5.0) if "Hang" in saved.reason
        ] == []
        watch.stop()


def test_a_job_that_hung_and_left_the_list_makes_room_for_the_next(fake_server, tmp_path):
    file, fakes = tmp_path / "workers.txt", [Fake(), Fake()]
    first, second = (fake_server(**fake.methods()) for fake in fakes)
    file.write_text(f"{first.address}\n")
    said = []
    watch = HangWatch(TIMEOUT_S, folders=[tmp_path], say=said.append)
    recorder = FlightRecorder(
        in_path(file), tmp_path, interval_seconds=0.1, answer_seconds=TIMEOUT_S, keep_seconds=0.2,
        watch=watch.saw, writes_silent=False, follow_seconds=0.1,
    )  # fmt: skip
    with recorder:
        watch.start(recorder)
        wait_for_steps(recorder)
        fakes[0].works = "nothing"
        found = runs(recorder, watch, 60.0)
        assert first.address in next(found).reason
        file.write_text(f"{second.address}\n")
        first.close()
        hung = (saved for saved in found if "Hang" in saved.reason)
        until = time.monotonic() + 20
        while not recorder.observed.get(second.address) or first.address in recorder.observed:
            assert time.monotonic() < until
            time.sleep(0.05)
        until = time.monotonic() + 20
        while not recorder.observed[second.address].n_steps:
            assert time.monotonic() < until
            time.sleep(0.05)
        fakes[1].works = "nothing"
        assert second.address in next(hung).reason
        watch.stop()
    assert "the job that hung has ended" in said


def test_a_hang_just_after_another_run_has_what_came_before_it(job):
    """The run of a slow step takes what is kept, and a silent server gives no more."""
    fakes, recorder, watch = job(3)
    with recorder:
        watch.start(recorder)
        wait_for_steps(recorder)
        fakes[2].works = "silent"
        recorder.save("a slow step")
        found = runs(recorder, watch, 40.0)
        assert next(found).reason == "a slow step"
        saved = next(found)
        watch.stop()
    assert "Hang" in saved.reason and len(saved.files) == 3
    assert hang_of(saved.folder).named == (2,)


def test_ops_between_steps_are_progress(job):
    fakes, recorder, watch = job(2)
    with recorder:
        watch.start(recorder)
        wait_for_steps(recorder)
        for fake in fakes:
            fake.works = "ops"
        assert list(runs(recorder, watch, 3.5)) == []
        watch.stop()


def test_a_program_that_never_made_progress(job):
    fakes, recorder, watch = job(1)
    fakes[0].works = "nothing"
    with recorder:
        watch.start(recorder)
        assert list(runs(recorder, watch, 3.0)) == []
        watch.stop()


@pytest.mark.parametrize("seconds", [0.0, -1.0, 0.5])
def test_a_timeout_that_is_too_short(seconds):
    with pytest.raises(UsageError, match="hang-timeout"):
        HangWatch(seconds)
