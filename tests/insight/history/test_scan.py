"""Folders are read once, here and in buckets; what was read before Ctrl-C stays."""

import shutil
import time

import pytest

from tests.insight.history.runs import capture, logged
from tfprof.demo import demo_files
from tfprof.insight.history import scan
from tfprof.insight.history.record import found_runs
from tfprof.insight.history.store import Store

pytest.importorskip("duckdb")


@pytest.fixture
def logs(tmp_path):
    for number in range(3):
        logged(tmp_path / "logs", number, capture(1000 + number, at=number))
    return tmp_path / "logs"


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "h.duckdb"))


def test_only_new_and_changed_runs_are_read(logs, store, tmp_path):
    assert scan.read_new(store, found_runs([logs])) == 3
    assert scan.read_new(store, found_runs([logs])) == 0
    place = logged(logs, 3, capture(1003, at=3)) / "vm.xplane.pb"
    assert scan.read_new(store, found_runs([logs])) == 1
    place.write_bytes(capture(2000, at=3).SerializeToString())
    assert scan.read_new(store, found_runs([logs])) == 1
    assert len(store.records()) == 4
    place.touch()
    shutil.copytree(logs, tmp_path / "copy")
    assert scan.read_new(store, found_runs([logs, tmp_path / "copy"])) == 0
    assert len(store.records()) == 4


def test_a_run_that_was_read_before_its_last_host_had_written_gives_way(logs, store):
    [first, *_] = found_runs([logs])
    scan.read_new(store, [first], commit="abc", labels={"branch": "main"}, again=True)
    (first.files[0].parent / "other.xplane.pb").write_bytes(
        capture(1000, machine="other").SerializeToString()
    )
    assert scan.read_new(store, found_runs([logs])) == 3
    found = store.records()
    assert [one.hardware for one in found] == ["CPU only, 2 hosts", "CPU only", "CPU only"]
    assert (found[0].commit, found[0].labels) == ("abc", {"branch": "main"})


def test_files_of_one_name_are_runs_of_their_own(store, tmp_path):
    """A program that writes to the same file each time has many runs."""
    for step_us in (1000, 1100):
        path = tmp_path / "latest.xplane.pb"
        path.write_bytes(capture(step_us).SerializeToString())
        assert scan.read_new(store, found_runs([path]), again=True) == 1
    assert len(store.records()) == 2


def test_an_added_graph_has_the_time_when_it_was_added_and_keeps_it(store):
    times = [time.time_ns()]
    scan.read_new(store, found_runs([demo_files().graph]), again=True)
    times += [store.records()[0].began_ns, time.time_ns()]
    assert times == sorted(times)
    scan.read_new(store, found_runs([demo_files().graph]), again=True)
    assert store.records()[0].began_ns == times[1]


def test_what_cannot_be_read_is_noted_and_read_when_it_can_be(logs, store):
    place = logged(logs, 3, capture(1003, at=3)) / "vm.xplane.pb"
    whole = place.read_bytes()
    place.write_bytes(whole[:40])
    assert scan.read_new(store, found_runs([logs])) == 3
    [trouble] = [why for _, _, why in store.sources().values() if why]
    assert "vm.xplane.pb" in trouble
    place.write_bytes(whole)
    assert scan.read_new(store, found_runs([logs])) == 1
    assert not any(why for _, _, why in store.sources().values())


def test_runs_that_were_read_before_ctrl_c_stay(logs, store, monkeypatch):
    read = scan.record_of

    def interrupted(found, *rest):
        if found.name == found_runs([logs])[2].name:
            raise KeyboardInterrupt
        return read(found, *rest)

    monkeypatch.setattr(scan, "record_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scan.read_new(store, found_runs([logs]))
    assert len(store.records()) == 2
    monkeypatch.setattr(scan, "record_of", read)
    assert scan.read_new(store, found_runs([logs])) == 1


def test_a_history_outlives_its_log_folder(logs, store):
    scan.read_new(store, found_runs([logs]))
    shutil.rmtree(logs)
    assert [one.figures["step_time"].n_steps for one in store.records()] == [8, 8, 8]


def test_a_bucket_is_read_like_a_folder(logs, store, tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setenv("TFPROF_REMOTE_CACHE", str(tmp_path / "cache"))
    bucket = fsspec.filesystem("memory")
    bucket.put(str(logs), "/tfprof-history/logs", recursive=True)
    try:
        assert scan.read_new(store, found_runs(["memory://tfprof-history/logs"])) == 3
        assert scan.read_new(store, found_runs(["memory://tfprof-history/logs"])) == 0
        here = Store(str(tmp_path / "here.duckdb"))
        scan.read_new(here, found_runs([logs]))
        assert [one.id for one in here.records()] == [one.id for one in store.records()]
        assert store.records()[0].source.startswith("memory://tfprof-history/logs")
        bucket.put(store.path, "/tfprof-history/h.duckdb")
        assert Store("memory://tfprof-history/h.duckdb").records() == store.records()
    finally:
        bucket.rm("/tfprof-history", recursive=True)


def test_the_commit_is_that_of_the_service_or_of_git(monkeypatch, tmp_path):
    for name in scan._COMMIT_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CI_COMMIT_SHA", "abc")
    assert scan.current_commit() == "abc"
    monkeypatch.delenv("CI_COMMIT_SHA")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert scan.current_commit() == ""
    monkeypatch.setenv("PATH", "")
    assert scan.current_commit() == ""
