"""Workers that come, go and restart under another port, and ones that answer nonsense."""

import contextlib
import random
import socket
import threading
import time

import grpc
import pytest

from tests.remote.flight.fake_sessions import FakeSession, step_numbers, wait_for
from tfprof.core.wire import messages as pb
from tfprof.errors import InputError
from tfprof.remote.discovery.files import in_path
from tfprof.remote.flight import FlightRecorder, crew

pytestmark = pytest.mark.one_engine


@pytest.fixture
def following(fake_server, tmp_path):
    """Makes a recorder that follows a file, and the servers of fake sessions."""
    file = tmp_path / "workers.txt"
    options = {"interval_seconds": 0.05, "keep_seconds": 5, "follow_seconds": 0.05}

    def make(*fakes, **more):
        servers = [fake_server(**fake.methods()) for fake in fakes]
        file.write_text("".join(f"{server.address}\n" for server in servers))
        return FlightRecorder(in_path(file), tmp_path / "logs", **{**options, **more}), servers

    return make, file


def test_a_worker_that_restarts_under_another_port(following, fake_server):
    make, file = following
    first, staying, second, said = FakeSession(), FakeSession(), FakeSession(), []
    second.n_snapshots = 1000
    recorder, (going, other) = make(first, staying, say=said.append, keep_seconds=0.5)
    with recorder:
        wait_for(lambda: first.n_snapshots and staying.n_snapshots)
        events = recorder.events()
        going.close()
        assert f"{going.address} ended: the connection broke off" in next(events).reason
        back = fake_server(**second.methods())
        file.write_text(f"{back.address}\n{other.address}\n")
        wait_for(lambda: second.n_snapshots > 1002)
        wait_for(lambda: going.address not in recorder.observed)
        recorder.save("both")
        saved = next(events)
    assert f"{back.address}: found" in said
    assert any(text.startswith(f"{going.address}: no longer listed; ") for text in said)
    assert {numbers[0] > 1000 for numbers in step_numbers(saved)} == {True, False}
    assert not second.is_on and not staying.is_on


def test_a_list_that_cannot_be_read_for_a_moment_ends_nothing(following):
    make, file = following
    fake, said = FakeSession(), []
    recorder, _ = make(fake, say=said.append)
    with recorder:
        text = file.read_text()
        recorder._crew.update([], time.monotonic())  # as while it is written anew
        file.write_text("no address\n")
        wait_for(lambda: said)
        assert "workers.txt:1: server 'no address' is not an address" in said[0]
        assert said[0].endswith("Workers that are known are still recorded")
        file.write_text(text)
        wait_for(lambda: "the list of workers can be read again" in said)
        assert fake.is_on and fake.calls.count("start") == 1
        file.write_text("")
        wait_for(lambda: not fake.is_on)  # it left for good
    assert fake.calls.count("stop") == 1


def test_a_recorder_waits_for_the_first_worker(following, fake_server):
    make, file = following
    fake = FakeSession()
    recorder, _ = make(count=1)
    with recorder:
        server = fake_server(**fake.methods())
        file.write_text(server.address)
        wait_for(lambda: fake.n_snapshots)
        recorder.save("now")
        (saved,) = recorder.events()
    assert step_numbers(saved)


def test_a_source_that_is_not_there_is_an_error_at_the_start_only(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        FlightRecorder(in_path(tmp_path / "none"), tmp_path).__enter__()


def test_a_source_that_hangs_or_fails_delays_nothing(fake_server, tmp_path):
    fake, hangs, said = FakeSession(), threading.Event(), []
    server = fake_server(**fake.methods())
    n_calls = []

    def source():
        n_calls.append(1)
        if len(n_calls) == 2:
            raise RuntimeError("a bug")
        if len(n_calls) > 2:
            hangs.wait(20)
        return [server_address]

    from tfprof.remote.addresses import address_of

    server_address = address_of(server.address)
    recorder = FlightRecorder(
        source, tmp_path, interval_seconds=0.05, follow_seconds=0.05, count=1, say=said.append
    )
    begun = time.monotonic()
    with recorder:
        wait_for(lambda: len(n_calls) > 2 and fake.n_snapshots > 2)
        recorder.save("now")
        (saved,) = recorder.events()
    hangs.set()
    assert saved.folder and time.monotonic() - begun < 8
    assert "the source of workers fails with RuntimeError: a bug" in said[0]


def test_a_worker_that_was_given_up_is_tried_again(following, fake_server, monkeypatch):
    make, file = following
    monkeypatch.setattr(crew, "_AGAIN_SECONDS", 0.1)
    fake = FakeSession()
    with other_kind() as (address, stop):
        recorder, _ = make()
        file.write_text(address)
        with recorder:
            wait_for(lambda: "another kind of server" in recorder.observed[address].trouble)
            stop()
            fake_server(port=int(address.rpartition(":")[2]), **fake.methods())
            wait_for(lambda: fake.n_snapshots)


@contextlib.contextmanager
def other_kind():
    """A server of another kind: its address, and what ends it."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("localhost", 0))
        listening.listen()
        over = threading.Event()

        def serve():
            listening.settimeout(0.05)
            while not over.is_set():
                with contextlib.suppress(OSError), listening.accept()[0] as one:
                    one.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")
                    one.settimeout(0.2)
                    one.recv(100)

        thread = threading.Thread(target=serve)
        thread.start()

        def stop():
            over.set()
            thread.join()
            listening.close()

        try:
            yield f"localhost:{listening.getsockname()[1]}", stop
        finally:
            stop()


def test_nonsense_harms_no_other_worker(recorder):
    """Random bytes, a wrong message and damaged snapshots; all others are recorded meanwhile."""
    rng, well = random.Random(4), FakeSession()
    said = []

    class Nonsense(FakeSession):
        def get(self, data, context):
            self.calls.append("get")
            self.n_snapshots += 1
            kind = self.n_snapshots % 4
            if kind == 0:
                return rng.randbytes(rng.randrange(1, 300))
            if kind == 1:  # an answer whose snapshot has a random plane
                return b"\x42\x66\x0a\x64" + rng.randbytes(100)
            if kind == 2:
                context.abort(grpc.StatusCode.INTERNAL, "boom " * 200)
            return pb.GraphDef(node=[pb.NodeDef(name="x" * 50)]).SerializeToString()

    bad = Nonsense()
    with recorder(bad, well, say=said.append, restart_seconds=30) as recording:
        wait_for(lambda: bad.n_snapshots > 12 and well.n_snapshots > 12)
        recording.save("now")
        events = recording.events()
        while "now" not in (saved := next(events)).reason:
            assert "ended: " in saved.reason
        assert saved.folder and len(saved.files) == 1
    assert any("a snapshot is not kept: " in text for text in said)
    assert not well.is_on and well.calls.count("start") == 1


def test_a_huge_answer_is_not_received(recorder):
    fake, well = FakeSession(), FakeSession()
    get = fake.get
    fake.get = lambda data, context: (
        b"\x42\x80\x80\x80\x02" + bytes(1 << 22) if fake.n_snapshots == 2 else get(data, context)
    )
    with recorder(fake, well, most_bytes=1 << 20, restart_seconds=9) as recording:
        wait_for(lambda: well.n_snapshots > 5)
        saved = next(recording.events())
    assert "its answer is too large, and is not received" in saved.reason
    assert len(saved.files) == 2


def test_a_server_that_drips_delays_no_other(recorder, fake_server):
    """It sends a byte at a time, and never a whole answer."""
    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        listening.listen()
        over = threading.Event()

        def drip():
            while not over.is_set():
                with contextlib.suppress(OSError):
                    one, _ = listening.accept()
                    with one:
                        # The beginning of HTTP/2: settings, one byte after the other.
                        for octet in b"\x00\x00\x0c\x04\x00\x00\x00\x00\x00" + bytes(500):
                            if over.wait(0.1):
                                return
                            one.sendall(bytes([octet]))

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        fake = FakeSession()
        well = fake_server(**fake.methods())
        recording = FlightRecorder(
            [f"localhost:{listening.getsockname()[1]}", well.address], recorder.folder,
            interval_seconds=0.05, count=1,
        )  # fmt: skip
        begun = time.monotonic()
        with recording:
            recording.save("now")
            (saved,) = recording.events()
            assert time.monotonic() - begun < 5
            assert saved.folder and len(saved.files) == 1
            over.set()
    assert fake.n_snapshots
