"""What was fetched is kept within bounds, and is what was fetched."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import BinaryIO

import pytest

from tfprof.errors import UsageError
from tfprof.files.cache import Cache, key_of
from tfprof.files.remote.settings import Settings, settings

pytestmark = pytest.mark.one_engine


def _put(cache: Cache, key: str, data: bytes) -> None:
    file = cache.unfinished()
    assert file is not None
    file.write(data)
    cache.keep(file, key).close()


def _get(cache: Cache, key: str) -> bytes | None:
    stream = cache.opened(key)
    if stream is None:
        return None
    with stream:
        return stream.read()


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_what_was_kept_is_there_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "new", 100)
    assert _get(cache, "a") is None
    _put(cache, "a", b"content")
    assert _get(cache, "a") == b"content"
    assert _get(Cache(tmp_path / "new", 100), "a") == b"content"


@pytest.mark.parametrize("damage", [b"", b"cont", b"cOntent", b"content and more"])
def test_damaged_files_are_fetched_anew(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(tmp_path, 100)
    _put(cache, "a", b"content")
    (kept,) = _files(tmp_path)
    kept.write_bytes(damage)
    assert _get(cache, "a") is None
    assert not _files(tmp_path)
    _put(cache, "a", b"content")
    assert _get(cache, "a") == b"content"


def test_foreign_files_do_no_harm(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 100)
    foreign = tmp_path / "a-notes-mine.txt"
    foreign.write_text("mine")
    assert _get(cache, "a") is None
    _put(cache, "b", b"x" * 100)
    assert foreign.exists()


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 30)
    for number, key in enumerate("abc"):
        _put(cache, key, key.encode() * 10)
        (kept,) = tmp_path.glob(f"{key}-*")
        os.utime(kept, (number, number))
    assert _get(cache, "a") == b"a" * 10  # now used last
    _put(cache, "d", b"d" * 10)
    assert [path.name[0] for path in _files(tmp_path)] == ["a", "c", "d"]


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 30)
    old, young = (tmp_path / f"{name}.unfinished" for name in ("old", "young"))
    for path in (old, young):
        path.write_bytes(b"x")
    yesterday = time.time() - 100_000
    os.utime(old, (yesterday, yesterday))
    _put(cache, "a", b"x")
    assert (old.exists(), young.exists()) == (False, True)


def test_several_writers_of_one_file_and_little_room(tmp_path: Path) -> None:
    troubles: list[BaseException] = []

    def work(number: int) -> None:
        cache = Cache(tmp_path, 2_500)
        try:
            for turn in range(20):
                key = str((number + turn) % 5)
                data = key.encode() * 1_000
                if _get(cache, key) not in (None, data):
                    raise AssertionError(key)
                _put(cache, key, data)
        except BaseException as error:  # told below
            troubles.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not troubles
    assert sum(path.stat().st_size for path in _files(tmp_path)) <= 2_500


def test_keys_tell_nothing_and_differ_by_content() -> None:
    keys = [
        key_of("https://h/a", "etag=1", 5),
        key_of("https://h/a", "etag=2", 5),
        key_of("https://h/b", "etag=1", 5),
        key_of("https://h/a", "etag=1", 6),
    ]
    assert len(set(keys)) == 4
    assert all(key.isalnum() and len(key) == 40 for key in keys)


def test_choices_of_the_environment(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert settings({"TFPROF_REMOTE_CACHE": ""} | home) == Settings(None)
    chosen = settings(
        {
            "TFPROF_REMOTE_CACHE": str(tmp_path),
            "TFPROF_REMOTE_CACHE_SIZE": "500 MB",
            "TFPROF_REMOTE_TRIES": "2",
            "TFPROF_REMOTE_TIMEOUT": "1.5",
        }
    )
    assert chosen == Settings(tmp_path, 500 << 20, 2, 1.5)
    assert settings({"TFPROF_REMOTE_CACHE_SIZE": "0"}).cache is None
    if os.name == "posix":
        assert settings({"XDG_CACHE_HOME": "/x"}).cache == Path("/x/tfprof/remote")
        assert settings({"XDG_CACHE_HOME": "relative"}).cache == (
            Path.home() / ".cache/tfprof/remote"
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TFPROF_REMOTE_CACHE_SIZE", "much"),
        ("TFPROF_REMOTE_TRIES", "0"),
        ("TFPROF_REMOTE_TRIES", "1.5"),
        ("TFPROF_REMOTE_TIMEOUT", "0"),
        ("TFPROF_REMOTE_TIMEOUT", "-1"),
    ],
)
def test_choices_that_are_none_are_refused(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=name):
        settings({name: value})


@pytest.mark.skipif(os.name != "posix", reason="no limits of files")
def test_a_full_disk_keeps_nothing_of_a_content(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        Cache(tmp_path, 1 << 20).keep_content(bytes(1 << 16), "a")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not _files(tmp_path)


def test_a_signal_leaves_nothing_unfinished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(cache: Cache, file: BinaryIO, key: str) -> BinaryIO:
        raise SystemExit(128 + 15)

    monkeypatch.setattr(Cache, "keep", ended)
    with pytest.raises(SystemExit):
        Cache(tmp_path, 1 << 20).keep_content(b"content", "a")
    assert not _files(tmp_path)
