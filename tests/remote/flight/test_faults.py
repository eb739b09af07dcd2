"""Signals at any moment, disks without room, and days of snapshots."""

import gc
import os
import random
import signal
import threading
import tracemalloc
from itertools import chain

import numpy as np
import pytest

import tfprof
from tests.remote.flight.fake_sessions import FakeSession, S, step_numbers, wait_for
from tests.remote.flight.snapshots import snapshot
from tfprof.cli.commands.record import _handlers
from tfprof.cli.signals import handled
from tfprof.options.captures import CaptureOptions
from tfprof.remote.addresses import Address
from tfprof.remote.flight import FlightRecorder
from tfprof.remote.flight.conditions import condition
from tfprof.remote.flight.history import Window
from tfprof.remote.flight.keeping import Ring, one_capture
from tfprof.remote.flight.sessions import Snapshot
from tfprof.remote.flight.snapshots import Look, Steps, Times
from tfprof.remote.flight.step_range import StepRange
from tfprof.remote.flight.watched import Settings, WatchedWorker
from tfprof.testing.xspace_builders import event, host, line

pytestmark = [
    pytest.mark.one_engine,
    pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX"),
]


def test_sigterm_at_any_moment_saves_what_there_is(fake_server, tmp_path):
    """In the start, while it waits, writes or ends; twice at times. What appears is whole."""
    rng, logdir = random.Random(5), tmp_path / "logs"
    fake = FakeSession()
    server = fake_server(**fake.methods())
    n_runs = 0
    for number in range(36):
        recorder = FlightRecorder(
            server.address, logdir, interval_seconds=0.05, when="step_time > 1s",
            cooldown_seconds=0.05,
        )  # fmt: skip
        fake.is_always_slow = number % 3 == 0
        n_before, over = fake.n_snapshots, threading.Event()
        pauses = [rng.uniform(0, 0.12), rng.uniform(0, 0.05) if number % 4 == 0 else None]

        def kill(pauses=pauses, over=over):
            for pause in pauses:
                if pause is not None and not over.wait(pause):
                    os.kill(os.getpid(), signal.SIGTERM)

        killer = threading.Thread(target=kill)
        saved = []
        with handled(_handlers(recorder)):
            killer.start()
            with recorder:
                saved = list(recorder.events())
            over.set()
            killer.join()
        assert not fake.is_on
        assert not [one for one in saved if one.trouble]
        n_taken = fake.n_snapshots - n_before
        written = [run for one in saved if one.folder for run in step_numbers(one)]
        numbers = [*chain(*written)]
        assert numbers == list(range(n_before + 1, n_before + len(numbers) + 1))
        n_runs += len(written)
        if n_taken:
            assert any("signal SIGTERM" in one.reason for one in saved)
        assert not list(logdir.glob("plugins/profile/.*"))
    assert n_runs > 10
    assert len(tfprof.open_run(logdir).hosts) == 1


def test_a_disk_without_room_for_snapshots(tmp_path, monkeypatch):
    """What was kept before can still be read, and what follows is kept in memory."""
    import resource

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = snapshot(host(line(event("a" * 5000, 0, 5, step_num=1))))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ring = Ring(100, 1 << 30)
    ring.add(data, 0, S)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(data) + 100, before[1]))
    try:
        for number in range(1, 4):
            ring.add(data, number * S, (number + 1) * S)
        kept = ring.taken()
        assert [each.data() for each in kept] == [data] * 4
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert one_capture(kept)
    for each in kept:
        each.drop()
    ring.close()


def test_a_disk_without_room_for_a_run(recorder, tmp_path):
    import resource

    fake = FakeSession()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with recorder(fake) as recording:
        wait_for(lambda: fake.n_snapshots > 3)
        events = recording.events()
        resource.setrlimit(resource.RLIMIT_FSIZE, (60, before[1]))
        try:
            recording.save("no room")
            failed = next(events)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert "it could not be written: " in failed.trouble and "File too large" in failed.trouble
        assert not list(tmp_path.rglob("*.pb*"))
        recording.save("room")
        ((first, *_),) = step_numbers(next(events))
    assert first == 1


def test_days_of_snapshots_take_no_more_memory():
    """Snapshots with slow steps, whose kinds change, and with events that are left out."""
    n_told, data = [0], snapshot(host(line(event("train", 0, S // 2, step_num=1))))
    settings = Settings(
        5.0, 1.0, condition("step_time > 100ms"), CaptureOptions(), 1 << 20, 0.0, 0, 1.0, None,
        lambda _: None, None, StepRange(10**6, 10**6 + 5),
    )  # fmt: skip

    def tell(_):
        n_told[0] += 1
        worker.ring.release()

    worker = WatchedWorker(Address("localhost", 1), settings, tell)
    worker.is_recording = True

    def take(number):
        kind = f"kind{chr(97 + number % 26)}{chr(97 + number // 26 % 26)}"
        times = np.array([0, S // 2]), np.full(2, S // 2)
        steps = Steps(*times, 2 * number + np.arange(2), are_marked=True, kinds=(kind,))
        seen = Look(Times(number * S, (number + 1) * S), steps)
        taken = Snapshot(data, number * S, 0.01)
        begin_ns, end_ns = worker._keep(taken, seen.times, is_damaged=False)
        worker._judge(data, seen, Window(steps, begin_ns, end_ns, 0.01))

    sizes = []
    for number in range(300):
        take(number)
        if number == 150:
            tracemalloc.start()
        if number in (200, 299):
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert n_told[0] >= 300 and len(worker.ring._kept) < 10
    worker.ring.close()
    assert abs(sizes[1] - sizes[0]) < 100_000, sizes
