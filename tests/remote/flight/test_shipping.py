"""Log folders in buckets, with file systems of fsspec, and one that refuses at random."""

import contextlib
import json
import random
import threading
import time
from pathlib import Path

import pytest

import tfprof
from tests.remote.flight.fake_sessions import FakeSession, wait_for
from tfprof.errors import EmptyProfileError, InputError
from tfprof.files.remote.path import RemotePath
from tfprof.files.run_folder import capture_files, runs
from tfprof.remote.flight import shipping as shipping_module
from tfprof.remote.flight.limits import Limits
from tfprof.remote.flight.shipping import Shipping
from tfprof.remote.staging import runs_of

pytestmark = pytest.mark.one_engine
fsspec = pytest.importorskip("fsspec")

from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402


class Flaky(MemoryFileSystem):
    """A bucket that refuses; ``refuses`` decides for each request that writes."""

    protocol = "flaky"
    store, pseudo_dirs = {}, [""]
    requests, refuses = [], staticmethod(lambda _: False)

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("flaky://", "memory://"))

    def _asked(self, name):
        self.requests.append(name)
        if self.refuses(name):
            raise PermissionError("403 Forbidden")

    def pipe_file(self, path, value, **options):
        self._asked(path)
        super().pipe_file(path, value, **options)

    def put_file(self, lpath, rpath, **options):
        self._asked(rpath)
        super().put_file(lpath, rpath, **options)

    def rm_file(self, path):
        self._asked(path)
        super()._rm(path)


@pytest.fixture
def bucket(monkeypatch, tmp_path):
    fsspec.register_implementation("flaky", Flaky, clobber=True)
    monkeypatch.setenv("TFPROF_OUTBOX", str(tmp_path / "outbox"))
    monkeypatch.setenv("TFPROF_REMOTE_TRIES", "1")
    monkeypatch.setenv("TFPROF_REMOTE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Flaky, "store", {})
    monkeypatch.setattr(Flaky, "pseudo_dirs", [""])
    monkeypatch.setattr(Flaky, "requests", [])
    monkeypatch.setattr(Flaky, "refuses", staticmethod(lambda _: False))
    return "flaky://bucket/logs"


def names(url):
    """Names of the runs that a reader finds now."""
    return list(runs(RemotePath(url)))


def in_outbox(tmp_path):
    return sorted(path.name for path in (tmp_path / "outbox").glob("*/plugins/profile/[0-9a-z]*"))


def test_a_run_in_a_bucket(recorder, bucket, tmp_path):
    one, other = FakeSession(), FakeSession()
    with recorder(one, other, count=1, logdir=bucket) as recording:
        wait_for(lambda: one.n_snapshots and other.n_snapshots)
        recording.save("now")
        (saved,) = recording.events()
    assert saved.folder.startswith(f"{bucket}/plugins/profile/2") and not saved.notes
    assert len(tfprof.open_run(bucket).hosts) == 2 and names(bucket) == [Path(saved.folder).name]
    assert in_outbox(tmp_path) == []
    record = json.loads((RemotePath(saved.folder) / "record.json").read_bytes())
    assert record["reason"] == "now"


def test_readers_find_whole_runs_only(bucket, tmp_path, monkeypatch):
    """At each request, a reader finds all files of a run or no run."""
    outbox, seen = tmp_path / "box", []
    make_run(outbox, "a", n_hosts=3)

    def look(_):
        folder = RemotePath(f"{bucket}/plugins/profile/a")
        seen.append(len(capture_files(folder)) if folder.exists() else 0)
        return False

    monkeypatch.setattr(Flaky, "refuses", staticmethod(look))
    shipping = Shipping(outbox, RemotePath(bucket), print)
    shipping.start()
    assert shipping.bring("a") == (f"{bucket}/plugins/profile/a", "")
    shipping.end()
    look("")
    assert set(seen) == {0, 3} and seen == sorted(seen) and len(seen) == 7


def make_run(outbox, name, n_hosts=1):
    folder = runs_of(outbox) / name
    folder.mkdir(parents=True)
    for number in range(n_hosts):
        (folder / f"h{number}.xplane.pb").write_bytes(b"\x0a\x02\x12\x00" * 10)
    (folder / "record.json").write_text("{}")
    return folder


def test_a_bucket_that_refuses_gets_the_run_later(recorder, bucket, tmp_path, monkeypatch):
    is_closed, said, fake = [True], [], FakeSession()
    monkeypatch.setattr(Flaky, "refuses", staticmethod(lambda _: is_closed[0]))
    monkeypatch.setattr(Shipping.__init__, "__defaults__", (0.1,))
    with recorder(fake, count=2, logdir=bucket, say=said.append) as recording:
        wait_for(lambda: fake.n_snapshots)
        events = recording.events()
        recording.save("refused")
        first = next(events)
        assert str(tmp_path / "outbox") in first.folder and Path(first.folder).is_dir()
        (note,) = first.notes
        assert note.startswith("1 run lies in ") and "and not in the bucket: " in note
        assert "access is denied" in note and "again and again" in note
        assert f"Runs stay in {tmp_path / 'outbox'}" in said[0]
        is_closed[0] = False
        wait_for(lambda: in_outbox(tmp_path) == [])
        recording.save("taken")
        assert next(events).folder.startswith(bucket)
    assert Path(first.folder).name in names(bucket) and len(names(bucket)) == 2
    assert any(text.endswith(f"in {bucket}/plugins/profile now") for text in said)


def test_what_is_left_is_brought_by_the_next_recorder(bucket, tmp_path, monkeypatch):
    outbox, said = tmp_path / "box", []
    make_run(outbox, "a")
    monkeypatch.setattr(Flaky, "refuses", staticmethod(lambda _: True))
    first = Shipping(outbox, RemotePath(bucket), said.append)
    first.start()
    first.bring("a")
    first.end()
    assert "by the next recorder of this log folder" in said[-1] and "(" in said[-1]
    monkeypatch.setattr(Flaky, "refuses", staticmethod(lambda _: False))
    second = Shipping(outbox, RemotePath(bucket), said.append)
    second.start()
    second.end()
    assert "still holds a for flaky://" in said[-1] and names(bucket) == ["a"]


def test_random_refusals_lose_nothing_and_show_no_half_run(bucket, tmp_path, monkeypatch):
    rng, outbox = random.Random(7), tmp_path / "box"
    monkeypatch.setattr(Flaky, "refuses", staticmethod(lambda _: rng.random() < 0.3))
    shippings = [Shipping(outbox, RemotePath(bucket), lambda _: None, 0.01) for _ in range(2)]
    for shipping in shippings:
        shipping.start()
    over, seen = threading.Event(), []

    def read():
        while not over.is_set():
            with contextlib.suppress(InputError):  # before there is anything
                for name in names(bucket):
                    run = RemotePath(f"{bucket}/plugins/profile/{name}")
                    seen.append(len(capture_files(run)))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(12):
            make_run(outbox, f"r{number:02}", n_hosts=3)
            shippings[number % 2].bring(f"r{number:02}")
        until = time.monotonic() + 20
        while list(runs_of(outbox).glob("r*")) and time.monotonic() < until:
            time.sleep(0.01)
    finally:
        over.set()
        reader.join()
        for shipping in shippings:
            shipping.end()
    assert names(bucket) == [f"r{number:02}" for number in range(12)]
    assert set(seen) <= {3} and not [each for each in Flaky.store if each.endswith(".unfinished")]


def test_a_run_that_another_recorder_has_just_brought_has_no_size(tmp_path):
    assert shipping_module._n_bytes(tmp_path / "gone") == 0


def test_retention_in_a_bucket(recorder, bucket, monkeypatch):
    fake = FakeSession()
    with recorder(fake, count=3, logdir=bucket, retain=Limits(runs=2)) as recording:
        events = recording.events()
        folders = []
        for reason in "abc":
            n_before = fake.n_snapshots
            wait_for(lambda n_before=n_before: fake.n_snapshots > n_before)
            recording.save(reason)
            folders.append(next(events).folder)
    assert sorted(names(bucket)) == sorted(Path(folder).name for folder in folders[1:])
    assert not [each for each in Flaky.store if Path(folders[0]).name in each]


def test_a_folder_that_is_removed_halfway_is_not_read(bucket):
    path = RemotePath(f"{bucket}/plugins/profile/a")
    fs = Flaky()
    for name in ("h.xplane.pb", "record.json", ".unfinished"):
        fs.pipe_file(f"{path}/{name}".replace("flaky://", "/"), b"x")
    assert names(bucket) == []
    with pytest.raises(EmptyProfileError):
        tfprof.open_run(bucket)


def test_a_url_of_this_machine(recorder, tmp_path):
    fake = FakeSession()
    with recorder(fake, count=1, logdir=(tmp_path / "a b").as_uri()) as recording:
        wait_for(lambda: fake.n_snapshots)
        recording.save("now")
        (saved,) = recording.events()
    assert Path(saved.folder).parent == tmp_path / "a b" / "plugins" / "profile"
