"""The small server of metrics, and clients that harm it, or try to."""

import contextlib
import http.client
import socket
import time

import pytest

from tfprof.errors import UsageError
from tfprof.remote.metrics import server as server_module
from tfprof.remote.metrics.server import MetricsServer, listening_address

pytestmark = pytest.mark.one_engine


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(server_module, "_SECONDS", 0.5)
    made = MetricsServer(listening_address(0), lambda accept: ("text/x", f"of {accept}".encode()))
    made.start()
    yield made
    made.stop()


def asked(server, method="GET", path="/metrics", **headers):
    client = http.client.HTTPConnection("127.0.0.1", server.address.port, timeout=10)
    try:
        client.request(method, path, headers=headers)
        answer = client.getresponse()
        return answer.status, answer.read()
    finally:
        client.close()


def raw(server, *pieces, timeout=10):
    with socket.create_connection(("127.0.0.1", server.address.port), timeout) as client:
        for piece in pieces:
            client.sendall(piece)
        read = b""
        with contextlib.suppress(ConnectionError):
            while part := client.recv(65536):
                read += part
        return read


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("9090", ("127.0.0.1", 9090)),
        (9090, ("127.0.0.1", 9090)),
        ("0", ("127.0.0.1", 0)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("[::1]:0", ("::1", 0)),
    ],
)
def test_addresses(text, address):
    assert listening_address(text) == address


@pytest.mark.parametrize("text", ["", "box", ":9090", "65536", "box:", "a:b:1", "-1", "[::1]", "²"])
def test_text_that_is_not_an_address(text):
    with pytest.raises(UsageError, match=r"is not an address"):
        listening_address(text)


def test_an_address_in_use(server):
    second = MetricsServer(server.address, lambda _: ("", b""))
    with pytest.raises(UsageError, match=f"{server.address.port}.*cannot be used.*any free port"):
        second.start()
    second.stop()


def test_only_loopback_is_local():
    for text, is_local in [("1", True), ("localhost:1", True), ("[::1]:1", True),
                           ("0.0.0.0:1", False), ("box:1", False)]:  # fmt: skip
        assert MetricsServer(listening_address(text), None).is_local == is_local


def test_requests(server):
    assert asked(server, Accept="a/b") == (200, b"of a/b")
    assert asked(server, path="/metrics?x=1")[0] == 200
    assert asked(server, "HEAD") == (200, b"")
    assert asked(server, path="/") == (404, b"metrics are at /metrics\n")
    assert asked(server, "POST")[0] == asked(server, "DELETE")[0] == 405
    assert asked(server, Host="evil.example")[0] == 403
    assert asked(server, Host="localhost:5")[0] == asked(server, Host="[::1]:5")[0] == 200


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"\x16\x03\x01\x02\x00\r\n\r\n", b"400"),
        (b"GET /metrics\r\n\r\n", b"400"),
        (b"GET /metrics HTTP/1.1\r\nhost\r\n: \r\n\r\n", b"200"),
        (b"GET /metrics HTTP/1.1\r\nx: " + b"y" * 100_000 + b"\r\n\r\n", b"431"),
    ],
)
def test_malformed_requests(server, request_, status):
    assert raw(server, request_)[9:12] in (status, b"")  # the last one may be cut by a reset
    assert asked(server)[0] == 200


def test_slow_and_silent_clients_are_turned_away_and_delay_no_other(server, monkeypatch):
    port = server.address.port
    silent = [socket.create_connection(("127.0.0.1", port), 10) for _ in range(8)]
    slow = socket.create_connection(("127.0.0.1", port), 10)
    slow.sendall(b"GET /met")
    began = time.monotonic()
    assert asked(server)[0] == 200
    assert time.monotonic() - began < 0.5
    for client in (*silent, slow):
        with contextlib.suppress(ConnectionError):
            assert client.recv(1) == b""
        client.close()
    assert asked(server)[0] == 200


def test_of_too_many_clients_the_first_is_turned_away(server, monkeypatch):
    monkeypatch.setattr(server_module, "_MOST_CLIENTS", 2)
    monkeypatch.setattr(server_module, "_SECONDS", 60.0)
    port = server.address.port
    with contextlib.ExitStack() as stack:
        first, *_ = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(3)
        ]
        assert asked(server)[0] == 200
        with contextlib.suppress(ConnectionError):
            assert first.recv(1) == b""


def test_an_answer_that_fails_leaves_the_server_alive(server):
    fail = iter([True, False])

    def answer(_):
        if next(fail):
            raise ValueError("no answer")
        return "text/x", b"ok"

    server._answer = answer
    assert raw(server, b"GET /metrics HTTP/1.1\r\n\r\n")[9:12] == b"500"
    assert asked(server) == (200, b"ok")
