"""Connections that send nothing, or slowly, and a browser that is opened without the token."""

import socket
import stat
import threading
import time
import webbrowser
from contextlib import ExitStack

import pytest

httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")

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
    access = serve(header_seconds=0.5)
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
