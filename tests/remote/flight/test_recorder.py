"""The recorder, against a server whose answers are given beforehand."""

import json
import os
import threading
import time
from itertools import pairwise
from pathlib import Path

import grpc
import pytest

import tfprof
from tests.remote.flight.fake_sessions import FakeSession, S, step_numbers, wait_for
from tests.remote.flight.snapshots import snapshot
from tfprof.captures.read.xspace import read_xspace
from tfprof.core.wire import messages as pb
from tfprof.errors import InputError, UsageError
from tfprof.remote.flight import FlightRecorder, Observed, sessions
from tfprof.remote.flight.program_memory import ProgramMemory
from tfprof.remote.staging import Staging
from tfprof.testing.xspace_builders import event, host, line

pytestmark = pytest.mark.one_engine


def test_a_slow_step(recorder, tmp_path):
    fake = FakeSession()
    with recorder(fake, when="step_time > 3 * median", count=1, keep_seconds=60) as recording:
        wait_for(lambda: fake.n_snapshots > 12)
        fake.slow.set()
        (saved,) = recording.events()
    assert "took 4 s" in saved.reason and saved.reason.endswith("step_time > 3 * median")
    ((*_, last),) = found = step_numbers(saved)
    assert found == [list(range(1, last + 1))]
    about = json.loads((tmp_path / "plugins/profile" / saved.folder / "record.json").read_text())
    assert about["reason"] == saved.reason
    assert fake.calls[0] == "start" and fake.calls[-1] == "stop" and not fake.is_on


def test_an_observer_receives_each_snapshot_and_its_steps(recorder):
    fake, seen = FakeSession(), []
    with recorder(fake, watch=seen.append) as recording:
        wait_for(lambda: len(seen) >= 3)
    assert [[step.first for step in each.steps] for each in seen] == [
        [number + 1] for number in range(len(seen))
    ]
    assert {each.address for each in seen} == set(recording.observed)
    for each in seen:
        (number,) = read_xspace(each.data).plane("/host:CPU").stat("step_num").signed.tolist()
        assert [number] == [step.first for step in each.steps]
        assert each.begin_ns < each.end_ns


def test_what_was_written_is_not_written_again(recorder):
    fake = FakeSession()
    with recorder(fake, interval_seconds=5, count=2) as recording:
        events = recording.events()
        recording.save("one")
        first = next(events)
        recording.save("two")
        second = next(events)
    assert (first.reason, second.reason) == ("one", "two")
    assert step_numbers(first) == [[1]] and step_numbers(second) == [[2]]
    assert first.folder != second.folder


def test_what_follows_is_kept_too(recorder):
    fake = FakeSession()
    with recorder(fake, after_seconds=0.2, count=1) as recording:
        recording.save("asked")
        recording.save("again")
        (saved,) = recording.events()
    assert saved.reason == "asked; again" and saved.seconds >= 0.2


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED])
def test_the_end_of_a_program_is_an_event(recorder, code):
    """It was killed, or shut its server down while a snapshot was under way; it may come back."""
    going, staying = FakeSession(), FakeSession()
    with recorder(going, staying, interval_seconds=0.1) as recording:
        wait_for(lambda: going.n_snapshots and staying.n_snapshots)
        going.gone = code
        events = recording.events()
        saved = next(events)
        assert "ended: the connection broke off" in saved.reason
        assert len(step_numbers(saved)) == 2
        going.gone, before = False, going.n_snapshots
        wait_for(lambda: going.n_snapshots > before)
        going.gone = code
        assert "ended: the connection broke off" in next(events).reason
        staying.gone = code
        assert "ended" in next(events).reason
        assert list(events) == []


def test_a_server_that_hangs(recorder):
    fake = FakeSession()
    with recorder(fake, answer_seconds=0.2) as recording:
        wait_for(lambda: fake.n_snapshots > 2)
        fake.hang = 0.5
        (saved,) = recording.events()
    assert "no answer within 0.2 s" in saved.reason and saved.folder


def test_a_server_without_continuous_profiling(fake_server, tmp_path):
    data = snapshot(host(line(event("train", 0, 5, step_num=1))), start_ns=S, stop_ns=2 * S)
    answer = pb.ProfileResponse(xspace=pb.XSpace.FromString(data)).SerializeToString()
    server = fake_server(answer)
    with FlightRecorder(server.address, tmp_path, interval_seconds=0.05, count=1) as recording:
        recording.save("asked")
        (saved,) = recording.events()
        (remark, *_) = recording.remarks
    assert "no continuous profiling: short captures" in remark
    assert recording.observed[server.address].way == "captures"
    assert step_numbers(saved)[0][0] == 1


def test_the_session_of_a_dead_recorder_is_ended(recorder):
    fake = FakeSession(is_on=True)
    with recorder(fake, count=1) as recording:
        assert "a recorder that is gone" in recording.remarks[0]
    assert fake.calls[:5] == ["start", "get", "get", "stop", "start"]
    old = FakeSession(is_on=True)
    old.began_ns -= 60 * S  # no request for a minute: there is no need to wait
    with recorder(old, count=1):
        pass
    assert old.calls[:4] == ["start", "get", "stop", "start"]


def test_another_recorder_is_left_alone(recorder, tmp_path):
    fake = FakeSession()
    with recorder(fake) as living:
        (address,) = living.observed
        with pytest.raises(InputError, match="another recorder is at work there"):
            FlightRecorder(address, tmp_path).__enter__()
        assert fake.is_on and "stop" not in fake.calls


def test_another_recorder_that_ends_early_names_the_reason(recorder, tmp_path, monkeypatch):
    fake = FakeSession()
    with recorder(fake) as living:
        (address,) = living.observed
        monkeypatch.setattr(sessions, "LIVING_SECONDS", 30.0)
        other = FlightRecorder(address, tmp_path)
        threading.Timer(0.3, other.stop).start()
        with other:
            pass
        [seen] = other.observed.values()
        assert "another client has a session there" in seen.trouble and "stop" not in fake.calls


def test_a_capture_of_another_client(recorder, tmp_path):
    fake = FakeSession(is_on=True)
    fake.get = lambda data, context: context.abort(grpc.StatusCode.NOT_FOUND, "none found")
    with pytest.raises(InputError, match="another profiling session is active"):
        recorder(fake, retries=1).__enter__()
    assert fake.calls == ["start", "start"]
    assert list(tmp_path.iterdir()) == []


def test_a_session_that_another_client_has_ended_begins_anew(recorder):
    fake = FakeSession()
    with recorder(fake):
        wait_for(lambda: fake.n_snapshots > 1)
        fake.is_on = False
        wait_for(lambda: fake.calls.count("start") == 2 and fake.is_on)
    assert not fake.is_on


def test_a_full_disk_loses_nothing(recorder, monkeypatch):
    fake = FakeSession()
    finish = Staging.finish

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with recorder(fake, interval_seconds=5) as recording:
        events = recording.events()
        monkeypatch.setattr(Staging, "finish", full)
        recording.save("one")
        failed = next(events)
        assert "could not be written" in failed.trouble and not failed.folder
        monkeypatch.setattr(Staging, "finish", finish)
        recording.save("two")
        assert step_numbers(next(events)) == [[1, 2]]


def test_no_server_is_there(absent, tmp_path):
    with pytest.raises(InputError, match="connection refused"):
        FlightRecorder(absent, tmp_path, retries=0).__enter__()
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_the_block_hands_the_session_back(recorder):
    fake = FakeSession()
    with pytest.raises(KeyboardInterrupt), recorder(fake):
        raise KeyboardInterrupt
    assert not fake.is_on
    assert not [each for each in threading.enumerate() if each.name.startswith("tfprof-record")]


def test_overhead_is_measured(recorder):
    fake, said = FakeSession(), []
    with recorder(fake, overhead_seconds=2.2, say=said.append) as recording:
        wait_for(lambda: said)
        (seen,) = recording.observed.values()
        recording.save("now")
        saved = next(recording.events())
    assert fake.calls.count("start") == 6
    assert "is unknown" in said[0]  # a step for each session is too little
    # The times without a session were not observed, and the run says so.
    assert 40 < seen.percent < 60 and 1 <= seen.paused_seconds < 1.5
    assert "s had no session, to measure what it costs" in str(seen)
    assert "nothing was recorded in 1." in saved.notes[0] and "in 5 pauses" in saved.notes[0]
    warnings = read_xspace(next(Path(saved.folder).glob("*.xplane.pb"))).warnings
    assert saved.notes[0] in warnings


def test_a_program_that_ends_while_the_overhead_is_measured(fake_server, tmp_path):
    """Another one is at its address before the next session begins."""
    first, second = FakeSession(), FakeSession()
    server = fake_server(**first.methods())
    recorder = FlightRecorder(
        server.address, tmp_path, overhead_seconds=5.5, interval_seconds=0.05, restart_seconds=20
    )
    with recorder:
        wait_for(lambda: not first.is_on and first.n_snapshots)
        server.close()
        fake_server(port=server.port, **second.methods())
        events = recorder.events()
        assert "ended: " in next(events).reason
        wait_for(lambda: second.n_snapshots > 2)
        recorder.save("now")
        assert next(events).reason == "now"
        (seen,) = recorder.observed.values()
    assert seen.overhead.trouble and seen.gone_seconds > 0 and "came back" in str(seen)


def test_nothing_was_recorded():
    assert str(Observed("continuous", 0, 0, 0, 0, 0, 0, 0, 0, 1, None, None, None, "")) == (
        "nothing was recorded: recording ended before the first snapshot"
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"interval_seconds": 60}, "interval=60 s must be from 0.05 to 10 s"),
        ({"keep_seconds": 0}, "keep=0 s"),
        ({"count": 0}, "count=0 must be 1 or more"),
        ({"when": "step_time >"}, "at column 12"),
    ],
)
def test_wrong_options(options, text, tmp_path):
    with pytest.raises(UsageError, match=text):
        FlightRecorder("localhost:1", tmp_path, **options)


def test_a_worker_that_comes_back_is_recorded_again(fake_server, tmp_path):
    first, second, other, said = FakeSession(), FakeSession(), FakeSession(), []
    going, staying = fake_server(**first.methods()), fake_server(**other.methods())
    recorder = FlightRecorder(
        [going.address, staying.address], tmp_path, interval_seconds=0.05, say=said.append
    )
    with recorder:
        wait_for(lambda: first.n_snapshots)
        going.close()
        events = recorder.events()
        assert "ended: " in next(events).reason
        assert recorder.observed[going.address].trouble
        fake_server(port=going.port, **second.methods())
        wait_for(lambda: second.n_snapshots > 2)
        wait_for(lambda: not recorder.observed[going.address].trouble)
        recorder.save("both")
        saved = next(events)
    assert f"{going.address}: recorded again" in said and not second.is_on
    assert len(saved.files) == 2 and all(step_numbers(saved))


@pytest.mark.parametrize("way", ["continuous", "captures"])
def test_a_worker_that_comes_back_between_two_snapshots_is_another_program(
    fake_server, tmp_path, way
):
    """No request meanwhile; the runs that are due have the steps of one program each."""
    first, second, said = FakeSession(), FakeSession(), []
    second.n_snapshots, second.is_always_slow = 100, True

    def methods(fake):
        return fake.methods() if way == "continuous" else {"Profile": fake.profile}

    server = fake_server(**methods(first))
    recorder = FlightRecorder(
        server.address, tmp_path, interval_seconds=1, say=said.append, when="step_time > 1s",
        cooldown_seconds=0, restart_seconds=20,
    )  # fmt: skip
    with recorder:
        wait_for(lambda: first.n_snapshots > 1)
        server.close()
        fake_server(port=server.port, **methods(second))
        wait_for(lambda: second.n_snapshots > 102)
        events = recorder.events()
        gone, back = next(events), next(events)
    assert "ended: " in gone.reason and "recorded again" in said[-1]
    assert max(step_numbers(gone)[0]) < 100 <= min(step_numbers(back)[0])
    assert f"on {server.address}" in back.reason and back.steps[0].seconds > 1


def test_a_worker_that_comes_back_just_before_a_call(fake_server, tmp_path, monkeypatch):
    """Between the look at the connection and the call; what it answers is not the old program's."""
    first, second = FakeSession(), FakeSession()
    second.n_snapshots, second.is_always_slow = 100, True
    server, back = fake_server(Profile=first.profile), threading.Event()
    request = sessions.profile_request

    def restart(*arguments):
        if first.n_snapshots > 1 and not back.is_set():
            back.set()
            server.close()
            fake_server(port=server.port, Profile=second.profile)
        return request(*arguments)

    monkeypatch.setattr(sessions, "profile_request", restart)
    with FlightRecorder(
        server.address, tmp_path, interval_seconds=1, when="step_time > 1s", cooldown_seconds=0,
        restart_seconds=20,
    ) as recorder:  # fmt: skip
        wait_for(lambda: second.n_snapshots > 102)
        gone = next(recorder.events())
    assert "ended: " in gone.reason and max(step_numbers(gone)[0]) < 100


def test_a_lonely_worker_that_comes_back(fake_server, tmp_path):
    first, second = FakeSession(), FakeSession()
    server = fake_server(**first.methods())
    recorder = FlightRecorder(
        server.address, tmp_path, interval_seconds=0.05, restart_seconds=20, count=2
    )
    with recorder:
        wait_for(lambda: first.n_snapshots)
        server.close()
        events = recorder.events()
        assert "ended" in next(events).reason
        fake_server(port=server.port, **second.methods())
        threading.Timer(1.5, recorder.save, ["later"]).start()
        assert next(events).reason == "later"
    assert second.n_snapshots


def test_a_worker_that_hangs_delays_no_run(recorder):
    hanging, well = FakeSession(), FakeSession()
    with recorder(hanging, well, answer_seconds=30, count=1) as recording:
        wait_for(lambda: well.n_snapshots and hanging.n_snapshots)
        hanging.hang, begun = 8, time.monotonic()
        recording.save("now")
        (saved,) = recording.events()
        assert time.monotonic() - begun < 6
        hanging.hang = 0
    assert hanging.n_snapshots and saved.folder
    assert f"{next(iter(recording.observed))} has not answered in time" in saved.notes[0]


def test_a_snapshot_under_way_does_not_count_as_requested(recorder):
    fake = FakeSession()
    fake.late = 0.3
    with recorder(fake, interval_seconds=0.2, count=1) as recording:
        for n_gets in range(2, 5):
            wait_for(lambda n_gets=n_gets: fake.calls.count("get") == n_gets)
        recording.save("now")  # the fourth is under way
        (saved,) = recording.events()
    assert step_numbers(saved)[0][-1] >= 5


def test_slow_steps_in_the_cool_down_come_in_one_run(recorder):
    fake = FakeSession()
    with recorder(
        fake, when="step_time > 3 * median", cooldown_seconds=1.0, keep_seconds=0.1, count=2
    ) as recording:
        wait_for(lambda: fake.n_snapshots > 12)
        events = recording.events()
        fake.slow.set()
        first = next(events)
        for _ in range(3):
            fake.slow.set()
            wait_for(lambda: not fake.slow.is_set())
        second = next(events)
    assert len(first.steps) == 1 and len(second.steps) == 3
    assert second.reason.count("took 4 s") == 3 and second.time - first.time > 0.9
    assert all(step.has_mark for step in second.steps) and not second.notes
    ((*numbers, _),) = step_numbers(second)
    assert {step.step.first for step in second.steps} <= set(numbers)


def test_what_is_slow_at_the_end_is_written(recorder):
    fake = FakeSession()
    with recorder(fake, when="step_time > 3 * median", cooldown_seconds=60) as recording:
        wait_for(lambda: fake.n_snapshots > 12)
        events = recording.events()
        fake.slow.set()
        next(events)
        fake.slow.set()
        wait_for(lambda: not fake.slow.is_set())
        recording.stop()
        (last,) = events
    assert len(last.steps) == 1 and last.folder


def test_a_limit_of_runs(recorder):
    fake, said = FakeSession(), []
    with recorder(
        fake, when="step_time > 1s", cooldown_seconds=0, most_runs=2, say=said.append,
        for_seconds=2,
    ) as recording:  # fmt: skip
        fake.slow.set()
        wait_for(lambda: fake.n_snapshots > 10)
        fake.is_always_slow = True
        saved = list(recording.events())
    assert len(saved) == 2
    assert said == ["2 runs were written for the condition, which is the limit: it writes no more"]


def test_a_step_that_a_snapshot_has_cut_is_missing_and_the_run_says_so(recorder):
    fake = FakeSession()
    fake.n_parts = 10
    with recorder(fake, when="step_time > 300ms", count=1) as recording:
        wait_for(lambda: fake.n_snapshots > 12)
        fake.is_silent = True
        (saved,) = recording.events()
    (step,) = saved.steps
    assert not step.has_mark and step.seconds > 0
    (note,) = saved.notes
    assert "this run has no mark of such a step" in note
    about = json.loads((Path(saved.folder) / "record.json").read_text())
    assert about["notes"] == [note] and about["steps"][0]["has_mark"] is False
    run = tfprof.open_run(saved.folder)
    assert note in [each.message for each in run.notes]


def test_a_program_that_holds_too_much(recorder):
    fake, said = FakeSession(), []
    with recorder(fake, most_program_bytes=1 << 20, say=said.append) as recording:
        (saved,) = recording.events()
        (seen,) = recording.observed.values()
    assert "and the limit is 1.05 MB: it is not recorded any more" in saved.reason
    assert seen.is_limited and seen.program_bytes > 1 << 20
    (worker,) = recording._workers
    assert worker._memory.process == os.getpid()


def test_a_program_that_grows_gets_a_request_at_once(recorder, monkeypatch):
    held, looks = [1 << 30], []
    monkeypatch.setattr(ProgramMemory, "resident_bytes", lambda self: (looks.append(1), held[0])[1])
    fake, said = FakeSession(), []
    with recorder(fake, interval_seconds=8, say=said.append) as recording:
        wait_for(lambda: fake.n_snapshots == 2)  # after 1 s, then each twice as long
        n_looks = len(looks)
        wait_for(lambda: len(looks) > n_looks + 1)  # also at what that snapshot has left
        held[0] += 600 << 20
        begun = time.monotonic()
        wait_for(lambda: fake.n_snapshots == 3)
        assert time.monotonic() - begun < 3
        wait_for(lambda: said)
        (seen,) = recording.observed.values()
    assert seen.program_bytes - seen.program_bytes_before == 600 << 20
    assert "629 MB more than before it was recorded" in said[0]


@pytest.mark.parametrize(("late", "least", "most"), [(0.4, 0.75, 0.89), (0.2, 0.45, 0.65)])
def test_time_counts_from_the_request(recorder, late, least, most):
    """It records again while it answers; after a long answer it rests as long."""
    fake, asked = FakeSession(), []
    fake.late, get = late, fake.get
    fake.get = lambda data, context: (asked.append(time.monotonic()), get(data, context))[1]

    def pauses():
        return [after - before for before, after in pairwise(asked[2:])]

    with recorder(fake, interval_seconds=0.5):  # a busy machine makes some of them longer
        wait_for(lambda: len(pauses()) > 2 and min(pauses()) < most)
    assert least < min(pauses())
