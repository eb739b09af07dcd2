"""Servers that send a byte now and then: never silent for long, and never done."""

from __future__ import annotations

import time

import pytest

from tests.files.remote.web_server import Files, Handler
from tfprof.errors import InputError
from tfprof.files.disk import entries, opened, read_file
from tfprof.files.remote import access
from tfprof.files.remote.settings import TIMEOUT

pytestmark = pytest.mark.one_engine

DATA = b"x" * 5000


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TIMEOUT, "0.4")
    monkeypatch.setattr(access, "SLOWEST_BYTES_PER_S", 20_000)


def drip(handler: Handler, head: bytes) -> None:
    try:
        handler.wfile.write(head)
        for _ in range(100):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.1)
    except OSError:
        pass
    handler.close_connection = True


def in_head(handler: Handler) -> bool:
    drip(handler, b"HTTP/1.1 200 OK\r\nX-Slow: ")
    return True


def in_body(handler: Handler) -> bool:
    if handler.command == "HEAD":
        return False
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(DATA)}\r\n\r\n"
    if handler.request_.range:
        start, stop = handler.request_.range
        head = (
            f"HTTP/1.1 206 Partial Content\r\nContent-Length: {stop - start}\r\n"
            f"Content-Range: bytes {start}-{stop - 1}/{len(DATA)}\r\n\r\n"
        )
    drip(handler, head.encode())
    return True


@pytest.mark.parametrize("fault", [in_head, in_body])
@pytest.mark.parametrize("has_ranges", [True, False])
def test_a_server_that_drips_is_given_up(web: Files, fault, has_ranges: bool) -> None:
    url = web.put("/a.bin", DATA)
    web.has_ranges, web.faults = has_ranges, [fault]
    began = time.monotonic()
    with pytest.raises(InputError, match="the server sends too slowly"):
        read_file(url)
    assert time.monotonic() - began < 4


def test_a_list_that_drips(web: Files) -> None:
    web.put("/logs/a.bin", DATA)
    web.faults = [in_body]
    began = time.monotonic()
    with pytest.raises(InputError, match="too slowly"):
        entries(f"{web.url}/logs/")
    assert time.monotonic() - began < 4


def test_a_file_of_which_parts_are_read(web: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "SLOWEST_BYTES_PER_S", 2_000_000)
    url = web.put("/a.bin", DATA * 300)
    web.faults = [in_body]
    began = time.monotonic()
    with pytest.raises(InputError, match="too slowly"), opened(url) as file:
        file.read(10)
    assert time.monotonic() - began < 5
