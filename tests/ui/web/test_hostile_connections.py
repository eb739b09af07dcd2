"""Connections that send nothing, or slowly, and a browser that is opened without the token."""

import socket
import stat
import threading
import time
import webbrowser
from contextlib import ExitStack, suppress

import pytest

httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")

from tfprof.ui.pages.site import Site  # noqa: E402
from tfprof.ui.web.connections import bounded_protocol  # noqa: E402
from tfprof.ui.web.guard import Access  # noqa: E402
from tfprof.ui.web.listening import listening  # noqa: E402
from tfprof.ui.web.opening import opened_in_browser  # noqa: E402
from tfprof.ui.web.server import application  # noqa: E402

pytestmark = pytest.mark.one_engine


@pytest.fixture
def serve(site):
    """Starts the server with these bounds; returns its access."""
    with ExitStack() as stack:

        def serve(**bounds):
            listener = stack.enter_context(listening("127.0.0.1", 0))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # feels soon who reads
            access = Access(listener.getsockname()[1])
            config = uvicorn.Config(
                application(site, access), log_level="error", lifespan="off", ws="none",
                http=bounded_protocol(**bounds),
            )  # fmt: skip
            server = uvicorn.Server(config)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            stack.callback(thread.join)
            stack.callback(setattr, server, "should_exit", True)
            return access

        yield serve


def half_open(access, text=b"GET / HTTP/1.1\r\nHost: x"):
    connection = socket.create_connection(("127.0.0.1", access.port), timeout=10)
    connection.sendall(text)
    return connection


def test_connections_that_send_nothing_do_not_block_others(serve):
    access = serve()
    with ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(half_open(access))
        with httpx.Client(follow_redirects=True) as client:
            assert client.get(access.address).status_code == 200
            assert client.get(access.address).status_code == 200


def test_connections_of_refused_clients_do_not_block_others(serve):
    access = serve(most_connections=8)
    with ExitStack() as stack:
        for _ in range(20):
            one = stack.enter_context(half_open(access, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
            assert one.recv(12) == b"HTTP/1.1 403"
        with httpx.Client(follow_redirects=True) as client:
            assert client.get(access.address).status_code == 200


def test_a_header_has_to_end_in_time(serve):
    access = serve(wait_seconds=0.5)
    began = time.monotonic()
    with half_open(access) as connection:
        connection.settimeout(0.1)
        while time.monotonic() < began + 8:
            try:
                connection.sendall(b"x")  # drips
                if connection.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
    assert 0.4 < time.monotonic() - began < 5


def receives_little(access):
    """A connection that holds few unread bytes."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(10)
    connection.connect(("127.0.0.1", access.port))
    return connection


def asking(access):
    """A request for data, with the cookie."""
    host, cookie = f"127.0.0.1:{access.port}", f"{access.cookie}={access.token}"
    return f"GET /api/trace/x HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n".encode()


@pytest.fixture
def large_answers(monkeypatch):
    monkeypatch.setattr(Site, "data", lambda *_: bytes(2 << 20))


def is_ended(connection):
    until = time.monotonic() + 8
    while time.monotonic() < until:
        try:
            connection.sendall(b"x")
        except TimeoutError:
            continue
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_clients_that_read_nothing_are_ended(serve, large_answers):
    access = serve(wait_seconds=0.5)
    with receives_little(access) as connection:
        connection.sendall(asking(access) * 20)
        connection.settimeout(0.2)
        assert is_ended(connection)


def test_clients_that_read_nothing_do_not_block_others(serve, large_answers):
    access = serve(most_connections=4)
    with ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(receives_little(access)).sendall(asking(access) * 20)
        time.sleep(0.5)
        honest = stack.enter_context(half_open(access, b"GET / HTTP/1.1\r\n"))
        stack.enter_context(half_open(access))
        honest.sendall(b"Host: x\r\n\r\n")
        assert honest.recv(12) == b"HTTP/1.1 403"


def test_an_answer_may_be_read_slowly(serve, large_answers):
    access = serve(wait_seconds=0.4)
    with receives_little(access) as connection:
        connection.sendall(asking(access))
        n_read, began = 0, time.monotonic()
        while part := connection.recv(64 << 10):
            n_read += len(part)
            if time.monotonic() < began + 1.5:
                time.sleep(0.06)
    assert n_read > 2 << 20


def test_a_refusal_ends_the_connection(serve):
    with half_open(serve(), b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 20) as connection:
        answer = b""
        with suppress(ConnectionError):
            while part := connection.recv(65536):
                answer += part
    assert answer.count(b"HTTP/1.1 403") == 1


def test_many_browsers_at_once(serve):
    access = serve()
    with ExitStack() as stack:
        browsers = [stack.enter_context(half_open(access, b"")) for _ in range(300)]
        for one in browsers:
            one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert {one.recv(12) for one in browsers} == {b"HTTP/1.1 403"}


def test_a_browser_is_opened_without_the_token_in_its_arguments(monkeypatch):
    shown = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    address = "http://127.0.0.1:1/?token=secret"
    with opened_in_browser(address) as path:
        deadline = time.monotonic() + 5
        while not shown and time.monotonic() < deadline:
            time.sleep(0.01)
        assert shown == [path.as_uri()]
        assert "secret" not in shown[0]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert address in path.read_text()
    assert not path.exists()


@pytest.mark.browser
def test_the_file_leads_into_the_server(chromium, serve, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", str)
    access = serve()
    tab = chromium.new_context().new_page()
    with opened_in_browser(access.address) as path:
        tab.goto(path.as_uri())
        tab.wait_for_url(f"http://127.0.0.1:{access.port}/**")
        tab.wait_for_selector("h1")
    assert "token" not in tab.url
