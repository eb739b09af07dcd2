"""Files of web servers and of fsspec's memory: what is fetched, and what goes wrong."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.files.remote.web_server import Files, Handler, of_bytes, status, times
from tfprof.errors import InputError, TfprofError
from tfprof.files.disk import entries, is_folder, is_ordinary_file, opened, read_file
from tfprof.files.remote import fetch
from tfprof.files.remote.path import as_path

pytestmark = pytest.mark.one_engine

BLOCK = 1 << 12
DATA = random.Random(1).randbytes(10 * BLOCK + 17)
MISSING = "cannot be read: there is no such file or folder. Check the URL"


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "BLOCK_BYTES", BLOCK)


def _error(url: str) -> str:
    with pytest.raises(InputError) as caught:
        read_file(url)
    assert isinstance(caught.value, TfprofError)
    return str(caught.value)


# What is fetched


def test_a_file_comes_in_blocks_several_at_once_and_each_byte_once(web: Files) -> None:
    url = web.put("/logs/a.bin", DATA)
    begun = threading.Barrier(4)

    def together(handler: Handler) -> bool:
        if handler.request_.range and handler.request_.range[0] in range(BLOCK, 5 * BLOCK, BLOCK):
            begun.wait(10)  # four blocks are under way, or this breaks
        return False

    web.faults = [together]
    assert bytes(read_file(url)) == DATA
    assert web.n_sent == len(DATA)
    ranges = sorted(one.range or () for one in web.of("/logs/a.bin"))
    assert ranges == [
        (start, min(start + BLOCK, len(DATA))) for start in range(0, len(DATA), BLOCK)
    ]
    assert web.most_at_once >= 4


def test_what_was_fetched_is_kept(web: Files, own_cache: Path) -> None:
    url = web.put("/a.bin", DATA)
    assert bytes(read_file(url)) == DATA
    web.requests.clear()
    assert bytes(read_file(url)) == DATA
    assert [one.method for one in web.requests] == ["HEAD"]
    (kept,) = (path for path in own_cache.rglob("*") if path.is_file())
    kept.write_bytes(DATA[:-1])
    assert bytes(read_file(url)) == DATA
    assert web.n_sent == len(DATA)
    web.put("/a.bin", DATA[::-1])
    assert bytes(read_file(url)) == DATA[::-1]


def test_ambiguous_files_are_not_kept(web: Files, own_cache: Path) -> None:
    web.has_etags = False
    url = web.put("/a.bin", DATA)
    assert bytes(read_file(url)) == DATA
    assert not own_cache.exists()


def test_nothing_is_kept_where_it_was_not_wanted_or_cannot_be(
    web: Files, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = web.put("/a.bin", DATA)
    monkeypatch.setenv("TFPROF_REMOTE_CACHE", "")
    assert bytes(read_file(url)) == DATA
    own_cache.write_text("a file where the folder should be")
    monkeypatch.setenv("TFPROF_REMOTE_CACHE", str(own_cache))
    assert bytes(read_file(url)) == DATA
    own_cache.unlink()
    monkeypatch.setenv("TFPROF_REMOTE_CACHE_SIZE", "1K")
    assert bytes(read_file(url)) == DATA
    assert not [path for path in own_cache.rglob("*") if path.is_file()]


def test_of_a_file_that_is_looked_at_only_a_part_is_fetched(web: Files) -> None:
    data = random.Random(2).randbytes(3 << 20)
    url = web.put("/a.bin", data)
    with opened(url, whole=False) as stream:
        assert stream.read(100) == data[:100]
        assert stream.seek(0, 2) == len(data)
        stream.seek(-10, 2)
        assert stream.read() == data[-10:]
        stream.seek(1000)
        assert stream.read(5) == data[1000:1005]
    assert web.n_sent < 1 << 20
    assert len(web.requests) <= 4


@pytest.mark.parametrize("sends_size", [True, False])
def test_servers_without_ranges_send_one_stream(web: Files, sends_size: bool) -> None:
    web.has_ranges, web.sends_size = False, sends_size
    url = web.put("/a.bin", DATA)
    assert bytes(read_file(url)) == DATA
    with opened(url, whole=False) as stream:
        stream.seek(5 * BLOCK)
        assert stream.read(10) == DATA[5 * BLOCK : 5 * BLOCK + 10]
    large = random.Random(3).randbytes(1 << 20)
    url = web.put("/large.bin", large)
    with opened(url, whole=False) as stream:
        stream.seek(1 << 19)
        assert stream.read(10) == large[1 << 19 : (1 << 19) + 10]


def test_empty_files(web: Files) -> None:
    assert bytes(read_file(web.put("/empty", b""))) == b""


def test_folders_are_listed(web: Files) -> None:
    for name in ("/logs/b/2", "/logs/b/1", "/logs/a", "/other"):
        web.put(name, b"x")
    assert [path.name for path in entries(f"{web.url}/logs")] == ["a", "b"]
    assert [path.name for path in entries(f"{web.url}/logs/b/")] == ["1", "2"]
    assert is_folder(f"{web.url}/logs")
    assert is_ordinary_file(f"{web.url}/logs/a")
    assert not is_folder(f"{web.url}/logs/a")
    assert not is_folder(f"{web.url}/nothing")
    assert "is a folder. Name a file in it" in _error(f"{web.url}/logs")


def test_a_listing_is_not_requested_repeatedly(web: Files) -> None:
    web.put("/logs/a", b"x")
    folder = as_path(f"{web.url}/logs")
    for _ in range(3):
        assert [path.is_file() for path in entries(folder)] == [True]
    assert not (folder / "b").exists()
    assert [one.method for one in web.requests] == ["GET"]


def test_names_in_lists_are_read(web: Files) -> None:
    for name in ("/logs/a b", "/logs/é", "/logs/50%"):
        web.put(name, name.encode())
    held = {path.name: bytes(read_file(path)).decode() for path in entries(f"{web.url}/logs/")}
    assert held == {"a b": "/logs/a b", "é": "/logs/é", "50%25": "/logs/50%"}


def test_lists_lead_nowhere_else(web: Files) -> None:
    def hostile(handler: Handler) -> bool:
        names = ("a", "../x", "https://evil.example/x", "/etc/passwd", "b/../../x", "?C=N", "c#d")
        links = "".join(f'<a href="{name}">x</a>' for name in names)
        handler.send(200, links.encode(), {"Content-Type": "text/html"})
        return True

    web.faults = [of_bytes(hostile)]
    assert [path.name for path in entries(f"{web.url}/logs/")] == ["a"]


# What goes wrong


def test_denied(web: Files) -> None:
    url = web.put("/a.bin", DATA)
    web.faults = [status(403)]
    text = _error(url)
    assert text.startswith(f"{url}: cannot be read: access is denied (status 403). ")
    assert "give a signed URL" in text
    assert len(web.requests) <= 2, "it is not requested again"


def test_missing(web: Files) -> None:
    url = f"{web.url}/no.bin"
    assert _error(url) == f"{url}: {MISSING}"


def test_no_secret_is_in_a_message(web: Files, own_cache: Path) -> None:
    web.put("/a.bin", DATA)
    host = web.url.removeprefix("http://")
    secret = f"http://ann:hunter2@{host}"
    assert bytes(read_file(f"{secret}/a.bin?sig=s3cret")) == DATA
    names = " ".join(map(str, own_cache.rglob("*")))
    for fault in (status(403), status(500), status(404), status(418), _reset):
        web.faults = [fault]
        for path in ("a.bin", "b/"):
            with pytest.raises(InputError) as caught:
                read_file(f"{secret}/{path}?sig=s3cret")
            text = f"{caught.value} {caught.value.__cause__} {names}"
            assert "hunter2" not in text
            assert "s3cret" not in text
            assert f"{web.url}/{path}".rstrip("/") in text


def _reset(handler: Handler) -> bool:
    handler.reset()
    return True


@pytest.mark.parametrize("code", [429, 500, 502, 503])
def test_servers_that_fail_for_a_while_get_another_request(web: Files, code: int) -> None:
    url = web.put("/a.bin", DATA)
    web.faults = [times(3, of_bytes(status(code, Retry_After="0")))]
    assert bytes(read_file(url)) == DATA


def test_servers_that_fail_for_ever_are_given_up(
    web: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = web.put("/a.bin", DATA)
    web.faults = [of_bytes(status(500))]
    monkeypatch.setenv("TFPROF_REMOTE_TRIES", "3")
    text = _error(url)
    assert "the server fails (status 500); tried 3 times in " in text
    assert "TFPROF_REMOTE_TRIES" in text
    assert len(web.of("/a.bin")) == 3


def test_throttled_for_ever(web: Files) -> None:
    url = web.put("/a.bin", DATA)
    web.faults = [of_bytes(status(429, Retry_After="0"))]
    assert "the server gets too many requests (status 429); tried 5 times in " in _error(url)


def test_one_bad_block_of_many_is_tried_again_alone(web: Files) -> None:
    url = web.put("/a.bin", DATA)

    def third(handler: Handler) -> bool:
        if handler.request_.range != (3 * BLOCK, 4 * BLOCK):
            return False
        body = DATA[3 * BLOCK : 4 * BLOCK]
        headers = {"Content-Range": f"bytes {3 * BLOCK}-{4 * BLOCK - 1}/{len(DATA)}"}
        handler.send(206, body, headers, cut_at=100)
        return True

    web.faults = [times(2, third)]
    assert bytes(read_file(url)) == DATA
    counts = dict.fromkeys(range(0, len(DATA), BLOCK), 0)
    for one in web.of("/a.bin"):
        assert one.range
        counts[one.range[0]] += 1
    assert counts.pop(3 * BLOCK) == 3
    assert set(counts.values()) == {1}


def test_connections_that_break(web: Files) -> None:
    url = web.put("/a.bin", DATA)
    web.faults = [times(3, of_bytes(_reset))]
    assert bytes(read_file(url)) == DATA
    web.put("/a.bin", DATA[::-1])
    web.faults = [of_bytes(_reset)]
    assert "the connection was lost, or there is none: " in _error(url)


def test_no_server_listens(web: Files) -> None:
    url = "http://127.0.0.1:1/a.bin"
    text = _error(url)
    assert text.startswith(f"{url}: cannot be read: the connection was lost, or there is none")
    assert "tried 5 times" in text


def test_a_stream_that_breaks_begins_anew(web: Files) -> None:
    web.has_ranges = False
    url = web.put("/a.bin", DATA)

    def cut(handler: Handler) -> bool:
        handler.send(200, DATA, {"ETag": "1"}, cut_at=len(DATA) // 2)
        return True

    web.faults = [times(4, of_bytes(cut))]
    assert bytes(read_file(url)) == DATA


def test_fewer_bytes_than_requested_are_noticed(web: Files) -> None:
    url = web.put("/a.bin", DATA)

    def short(handler: Handler) -> bool:
        headers = {"Content-Range": f"bytes 0-9/{len(DATA)}"}
        handler.send(206, DATA[:10], headers)
        return True

    web.faults = [of_bytes(short)]
    assert "it ends too early: 10 bytes came from byte 0 on, of 4096; tried 5 times" in _error(url)


def test_silent_servers(web: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    url = web.put("/a.bin", DATA)
    over = threading.Event()

    def silent(handler: Handler) -> bool:
        over.wait(10)
        return False

    web.faults = [of_bytes(silent)]
    monkeypatch.setenv("TFPROF_REMOTE_TIMEOUT", "0.05")
    monkeypatch.setenv("TFPROF_REMOTE_TRIES", "2")
    text = _error(url)
    over.set()
    assert "nothing came for 0.05 s; tried 2 times in " in text
    assert "TFPROF_REMOTE_TIMEOUT" in text


def test_files_that_change_while_they_are_read(web: Files, own_cache: Path) -> None:
    url = web.put("/a.bin", DATA)

    def written(handler: Handler) -> bool:
        if handler.request_.range and handler.request_.range[0] == 2 * BLOCK:
            web.put("/a.bin", DATA[::-1])
        return False

    web.faults = [written]
    text = _error(url)
    assert text == f"{url}: was written to while it was read. Read it again when it is complete"
    assert not [path for path in own_cache.rglob("*") if path.is_file()]
    assert bytes(read_file(url)) == DATA[::-1]


def test_files_that_become_shorter_while_they_are_read(web: Files) -> None:
    url = web.put("/a.bin", DATA)

    def cut(handler: Handler) -> bool:
        if handler.request_.range and handler.request_.range[0] == 2 * BLOCK:
            web.put("/a.bin", DATA[:100])
        return False

    web.faults = [cut]
    assert f"{url}: cannot be read: " in _error(url)


# Other file systems


def test_files_in_memory() -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/tfprof-test/logs/a b#?.bin", DATA)
    try:
        (path,) = entries("memory://tfprof-test/logs")
        assert path.name == "a b#?.bin"
        assert bytes(read_file(path)) == DATA
        assert is_folder("memory://tfprof-test")
        assert MISSING in _error("memory://tfprof-test/no")
    finally:
        memory.rm("/tfprof-test", recursive=True)


def test_file_systems_that_answer_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    wrappers = pytest.importorskip("fsspec.implementations.asyn_wrapper")
    memory = fsspec.filesystem("memory")
    memory.pipe("/tfprof-wrapped/a.bin", DATA)
    path = as_path("memory://tfprof-wrapped/a.bin")
    begun, over, silent = threading.Barrier(4), threading.Event(), threading.Event()
    read = type(memory).cat_file

    def answer(self: Any, name: str, start: int, end: int) -> bytes:
        if silent.is_set():
            over.wait(10)
        elif start in range(BLOCK, 5 * BLOCK, BLOCK):
            begun.wait(10)  # four blocks are under way, or this breaks
        return bytes(read(self, name, start, end))

    monkeypatch.setattr(type(memory), "cat_file", answer)
    path.known.file_system(lambda: wrappers.AsyncFileSystemWrapper(memory, asynchronous=False))
    monkeypatch.setenv("TFPROF_REMOTE_CACHE", "")
    try:
        assert bytes(read_file(path)) == DATA
        silent.set()
        monkeypatch.setenv("TFPROF_REMOTE_TIMEOUT", "0.05")
        monkeypatch.setenv("TFPROF_REMOTE_TRIES", "2")
        assert "nothing came for 0.05 s; tried 2 times" in _error(path)
    finally:
        over.set()
        memory.rm("/tfprof-wrapped", recursive=True)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError("no"), "access is denied. Check the credentials: run 'gcloud"),
        (OSError("Forbidden: bucket"), "access is denied"),
        (TimeoutError(), "nothing came for 60 s; tried 5 times"),
        (ConnectionResetError("gone"), "the connection was lost, or there is none: Connection"),
        (ValueError("what"), "cannot be read: ValueError: what. Check the URL"),
        (FileNotFoundError("x"), MISSING),
    ],
)
def test_errors_of_other_file_systems(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsspec = pytest.importorskip("fsspec")
    path = as_path("gs://bucket/a")
    memory = fsspec.filesystem("memory")
    path.known.file_system(lambda: memory)

    def info(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(type(memory), "info", info)
    assert said in _error(path)
