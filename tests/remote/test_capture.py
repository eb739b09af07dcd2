import errno
import json
import os
import threading
from pathlib import Path

import grpc
import pytest

from tests.remote.conftest import BUSY, space
from tfprof.core.wire import messages
from tfprof.errors import InputError, MissingDependencyError, UsageError
from tfprof.remote import CaptureOptions, capture
from tfprof.remote.addresses import addresses_of, is_address
from tfprof.remote.durations import seconds_of
from tfprof.remote.requests import received
from tfprof.remote.staging import Staging
from tfprof.remote.troubles import ServerError


def files(folder):
    """Files below a folder, but for the records of what arrived."""
    found = [p for p in folder.rglob("*") if p.is_file() and p.name != "capture.json"]
    return sorted(str(path.relative_to(folder)) for path in found)


def failure(address, tmp_path, **options):
    """Why a capture of one worker fails; nothing may be left of it."""
    with pytest.raises(InputError, match="no worker was captured") as raised:
        capture(address, 0.01, tmp_path / "logs", **{"retries": 0, **options})
    assert list(tmp_path.iterdir()) == []
    return str(raised.value)


def test_several_workers_are_one_run(fake_server, tmp_path):
    import tfprof

    different = messages.ProfileResponse(xspace=space("/host:other")).SerializeToString()
    one, other = fake_server(), fake_server(different)
    done = capture([one.address, other.address], "20ms", tmp_path, run="mine")
    assert (done.run, done.is_complete) == ("mine", True)
    names = [f"localhost_{server.port}.xplane.pb" for server in (one, other)]
    assert files(tmp_path) == sorted(f"plugins/profile/mine/{name}" for name in names)
    assert [Path(worker.path).name for worker in done.workers] == names
    assert Path(done.workers[0].path).read_bytes() == space().SerializeToString()
    assert done.workers[0].n_bytes == len(space().SerializeToString())
    run = tfprof.open_run(tmp_path)
    assert [host.name for host in run.hosts] == sorted(name[: -len(".xplane.pb")] for name in names)


def test_the_request(fake_server, tmp_path):
    server = fake_server()
    options = CaptureOptions(host_tracer_level=3, python_tracer_level=1, device_tracer_level=0)
    capture(server.address, 0.25, tmp_path, options)
    (request,) = server.requests
    assert request.emit_xspace
    assert (request.duration_ms, request.opts.duration_ms) == (250, 250)
    levels = request.opts
    assert (levels.version, levels.start_timestamp_ns) == (1, 0)
    assert (levels.host_tracer_level, levels.python_tracer_level) == (3, 1)
    assert (levels.device_tracer_level, request.repository_root) == (0, "")


def test_workers_begin_at_the_same_time(fake_server, tmp_path):
    servers = [fake_server(), fake_server()]
    options = CaptureOptions(delay=5.0)
    capture([server.address for server in servers], 0.01, tmp_path, options)
    one, other = (server.requests[0].opts.start_timestamp_ns for server in servers)
    assert one == other > 0


def test_servers_write_to_the_given_folder(fake_server, tmp_path, monkeypatch):
    server = fake_server(b"", b"")
    done = capture(server.address, 0.01, "gs://bucket/logs/", run="a", on_server=True)
    monkeypatch.chdir(tmp_path)
    capture(server.address, 0.01, "logs", on_server=True)
    first, second = server.requests
    assert not first.emit_xspace
    assert first.repository_root == "gs://bucket/logs/plugins/profile"
    assert (first.session_id, first.host_name) == ("a", f"localhost_{server.port}")
    assert (
        done.workers[0].path
        == f"gs://bucket/logs/plugins/profile/a/localhost_{server.port}.xplane.pb"
    )
    assert second.repository_root == f"{tmp_path}/logs/plugins/profile"
    assert list(tmp_path.iterdir()) == []


def test_some_fail(fake_server, absent, tmp_path):
    server = fake_server()
    done = capture(f"{absent},{server.address}", 0.01, tmp_path, retries=1)
    bad, good = done.workers
    assert done.failed == (bad,) and good.is_captured and not done.is_complete
    assert "connection refused" in bad.trouble and "tfprof.capture.serve(" in bad.trouble
    assert (bad.attempts, good.attempts) == (2, 1)
    assert len(files(tmp_path)) == 1


def test_another_session_is_waited_for(fake_server, tmp_path):
    server = fake_server(BUSY, BUSY, None)
    (worker,) = capture(server.address, 0.01, tmp_path, retries=2).workers
    assert worker.attempts == 3 and len(server.requests) == 3


def test_another_session_that_stays(fake_server, tmp_path):
    text = failure(fake_server(BUSY).address, tmp_path, retries=2)
    assert "another profiling session is active there" in text and "(3 attempts)" in text


def test_an_idle_program(fake_server, tmp_path):
    answer = messages.ProfileResponse(empty_trace=True, xspace=space()).SerializeToString()
    server = fake_server(answer)
    assert "nothing was recorded" in failure(server.address, tmp_path, retries=1)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ((grpc.StatusCode.UNAVAILABLE, "Socket closed"), "the connection broke off"),
        ((grpc.StatusCode.PERMISSION_DENIED, "no\n\x1b[31m way"), "PERMISSION_DENIED: no"),
        ((grpc.StatusCode.UNIMPLEMENTED, ""), "has no profiler service"),
        (b"", "sent no capture back: its TensorFlow is too old"),
        (b"\x42\x10\x01", "its answer is damaged"),
        (b"\x42\x02\x0a\x05", "its answer is damaged"),
    ],
)
def test_answers_that_are_not_captures(fake_server, tmp_path, answer, text):
    assert text in failure(fake_server(answer).address, tmp_path)


def test_a_server_that_hangs_in_a_session(fake_server, tmp_path):
    server = fake_server("hang")
    text = failure(server.address, tmp_path, retries=3, answer_seconds=0.3)
    assert "no answer within 0.31 s" in text and len(server.requests) == 1
    assert server.given_up.wait(10)


def test_a_server_that_hangs_from_the_start(mute, tmp_path):
    text = failure(mute, tmp_path, connect_seconds=0.2)
    assert "accepts the connection but says nothing within 0.2 s. The program hangs" in text


def test_no_such_host(tmp_path):
    assert "no such host" in failure("no-such-host.invalid:6009", tmp_path, retries=3)


def test_the_profilers_own_remarks(fake_server, tmp_path):
    sent = space(errors=["no CUPTI"], warnings=["dropped\n 3", "no CUPTI"])
    server = fake_server(messages.ProfileResponse(xspace=sent).SerializeToString())
    (worker,) = capture(server.address, 0.01, tmp_path).workers
    assert worker.remarks == ("no CUPTI", "dropped 3")


def test_a_capture_in_two_parts_is_their_sum():
    first, second = space("/host:CPU"), space("/device:GPU:0")
    parts = [messages.ProfileResponse(xspace=one).SerializeToString() for one in (first, second)]
    found = received(b"".join(parts))
    assert b"".join(found.parts) == first.SerializeToString() + second.SerializeToString()
    with pytest.raises(ServerError):
        received(b"\xff")


def test_two_runs_of_one_second(fake_server, tmp_path, monkeypatch):
    monkeypatch.setattr("tfprof.remote.staging.time.strftime", lambda _: "now")
    server = fake_server()
    names = [capture(server.address, 0.01, tmp_path).run for _ in range(3)]
    assert names == ["now", "now_1", "now_2"]


def test_a_run_that_is_there(fake_server, tmp_path):
    server = fake_server()
    capture(server.address, 0.01, tmp_path, run="a")
    with pytest.raises(UsageError, match="there is such a run"):
        capture(server.address, 0.01, tmp_path, run="a")
    assert len(server.requests) == 1


def test_a_run_that_appears_meanwhile(fake_server, tmp_path):
    server = fake_server("hang", None)
    folder = tmp_path / "plugins" / "profile" / "a"

    def appear():
        server.asked.wait(10)
        folder.mkdir()
        (folder / "x").touch()
        server.over.set()

    thread = threading.Thread(target=appear)
    thread.start()
    # A server that hung answers nothing, which is not a capture; the second worker has one.
    other = fake_server()
    with pytest.raises(UsageError, match="there is such a run by now"):
        capture([server.address, other.address], 0.01, tmp_path, run="a", retries=0)
    thread.join()
    assert files(tmp_path) == ["plugins/profile/a/x"]


@pytest.mark.parametrize("where", ["a_file", "a_file/logs"])
def test_a_folder_that_cannot_be_written(fake_server, tmp_path, where):
    (tmp_path / "a_file").touch()
    server = fake_server()
    with pytest.raises(InputError, match="cannot be written"):
        capture(server.address, 0.01, tmp_path / where)
    assert files(tmp_path) == ["a_file"] and server.requests == []


def test_a_full_disk(fake_server, tmp_path, monkeypatch):
    class FullDisk:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.stream.close()

        def writelines(self, parts):
            self.stream.write(b"a part")
            raise OSError(28, "No space left on device")

    opened = Path.open

    def on_full_disk(path, mode="r", *rest, **options):
        stream = opened(path, mode, *rest, **options)
        return FullDisk(stream) if path.name.endswith(".part") else stream

    monkeypatch.setattr(Path, "open", on_full_disk)
    assert "cannot be written: No space left on device" in failure(fake_server().address, tmp_path)


def test_no_unfinished_run_is_seen(fake_server, tmp_path):
    from tfprof.files.run_folder import runs

    quick, slow = fake_server(), fake_server("hang")
    seen = []

    class Looking:
        def stage(self, what):
            if "1 done" in what:
                seen.append((runs(tmp_path), len(files(tmp_path))))
                slow.over.set()

    done = capture([quick.address, slow.address], 0.01, tmp_path, retries=0, watch=Looking())
    assert seen[0] == ({}, 1)
    assert list(runs(tmp_path)) == [done.run]


def test_folders_that_were_there_stay(fake_server, tmp_path):
    (tmp_path / "plugins").mkdir()
    with pytest.raises(InputError):
        capture(fake_server(BUSY).address, 0.01, tmp_path, retries=0)
    assert [path.name for path in tmp_path.rglob("*")] == ["plugins"]


def test_an_interrupted_capture_gives_the_session_back(fake_server, tmp_path):
    server = fake_server("hang")

    class Impatient:
        def stage(self, what):
            if server.asked.is_set():
                raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        capture(server.address, 60, tmp_path / "logs", watch=Impatient())
    assert server.given_up.wait(10)
    assert list(tmp_path.iterdir()) == []
    assert not [t for t in threading.enumerate() if t.name.startswith("tfprof-capture")], before


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"addresses": "localhost"}, "write it as HOST:PORT"),
        ({"addresses": " , "}, "no server was given"),
        ({"addresses": "a:1,b:2,a:1"}, "a:1 is given twice"),
        ({"duration": "soon"}, "not a duration"),
        ({"duration": 0}, "from 1 ms to a day"),
        ({"duration": float("nan")}, "from 1 ms to a day"),
        ({"retries": -1}, "from 0 to 100"),
        ({"run": "../x"}, "cannot be the name of a run"),
    ],
)
def test_wrong_arguments(given, text, tmp_path):
    arguments = {"addresses": "a:1", "duration": 1.0, "logdir": tmp_path, **given}
    with pytest.raises(UsageError, match=text):
        capture(**arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"framework": "jax"}, "framework='jax' cannot be chosen from outside"),
        ({"duration": 2.0}, r"duration=1.0 is given, and the options say 2.0; say it once"),
        ({"session_id": "other"}, "run='mine' is given, and the options say 'other'"),
    ],
)
def test_options_that_have_no_meaning_or_two(given, text, tmp_path):
    with pytest.raises(UsageError, match=text):
        capture("a:1", 1.0, tmp_path, CaptureOptions(**given), run="mine")
    assert list(tmp_path.iterdir()) == []


def test_duration_and_name_may_be_options(fake_server, tmp_path):
    server = fake_server()
    options = CaptureOptions(duration=0.25, session_id="mine")
    assert capture(server.address, None, tmp_path, options).run == "mine"
    assert server.requests[0].opts.duration_ms == 250
    with pytest.raises(UsageError, match="there is such a run"):
        capture(server.address, None, tmp_path, options)
    with pytest.raises(UsageError, match="no duration was given"):
        capture(server.address, None, tmp_path)


def test_without_grpcio(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "grpc", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'tfprof\[remote\]'"):
        capture("localhost:1", 1, tmp_path)


def test_addresses_and_durations():
    found = addresses_of(["grpc://a:1, b:2", "[::1]:3"])
    assert [str(address) for address in found] == ["a:1", "b:2", "[::1]:3"]
    assert [address.file_stem for address in found] == ["a_1", "b_2", "__1_3"]
    assert is_address("a:1,b:2") and not is_address("logs")
    assert [seconds_of(text) for text in ("500ms", "2", "1.5s", "2m")] == [0.5, 2, 1.5, 120]


def test_amounts_of_data_are_reported_and_lie_beside_the_captures(fake_server, absent, tmp_path):
    rich = space(name="/host:CPU", errors=["CUPTI could not be loaded"])
    rich.planes[0].stat_metadata[1].name = "step_num"
    rich.planes[0].event_metadata[1].name = "train"
    events = rich.planes[0].lines.add(name="python").events
    for number in range(2):
        step = events.add(metadata_id=1, offset_ps=number * 1000, duration_ps=900)
        step.stats.add(metadata_id=1, int64_value=number)
    answer = messages.ProfileResponse(xspace=rich).SerializeToString()
    one, other = fake_server(answer), fake_server(b"\x42\x03\x0a\xff\x7f")
    done = capture([one.address, other.address, absent], 0.01, tmp_path, retries=0)
    (arrived,) = [each for each in done.arrived if each.steps]
    assert (arrived.host, arrived.steps) == (f"localhost_{one.port}", 2)
    record = json.loads((Path(done.folder) / "capture.json").read_text())
    assert record["version"] == 1 and record["options"]["host_tracer_level"] == 2
    hosts = {host["host"]: host for host in record["hosts"]}
    assert hosts[arrived.host]["bytes"] == rich.ByteSize()
    missing = {(note["host"], note["message"]) for note in record["missing"]}
    assert (arrived.host, "CUPTI could not be loaded") in missing
    assert any(text.startswith(f"{absent}: connection refused") for _, text in missing)
    assert {(note.host, note.message) for note in done.notes} == missing


def test_a_record_that_cannot_be_written_is_reported(fake_server, tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    done = capture(fake_server().address, 0.01, tmp_path)
    assert len(files(tmp_path)) == 1 and not list(tmp_path.rglob("capture.json*"))
    assert done.notes[-1].message == "capture.json could not be written: No space left on device"


@pytest.mark.parametrize("is_named", [False, True])
def test_a_run_of_that_name_that_appears_meanwhile(tmp_path, monkeypatch, is_named):
    move = Path.rename

    def late(path, target):
        if path.name.endswith(".tmp") and not target.name.endswith("_1"):
            target.mkdir()  # between the look and the move
            (target / "other").write_text("")
        return move(path, target)

    monkeypatch.setattr(Path, "rename", late)
    with Staging(tmp_path, "mine") as staging:
        staging.note("record.json", "{}")
        if is_named:
            with pytest.raises(UsageError, match="there is such a run by now"):
                staging.finish(is_named=True)
        else:
            assert Path(staging.finish(is_named=False)).name == "mine_1"
