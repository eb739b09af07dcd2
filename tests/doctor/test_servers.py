import contextlib
import http.server
import socket
import threading

import pytest

from tests.remote.programs import Program
from tfprof.doctor import servers
from tfprof.doctor.servers import check_server, check_servers
from tfprof.errors import UsageError
from tfprof.remote.addresses import address_of
from tfprof.remote.grpc_probe import Answer, probe

SETTINGS = bytes.fromhex("000006040000000000000300000064")
SHORT = 0.3


@contextlib.contextmanager
def answering(*pieces, keep_open=False):
    """A server that takes one connection, reads something and sends pieces of bytes."""
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def serve():
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                for piece in pieces:
                    connection.sendall(piece)
                if keep_open:
                    done.wait(10)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):  # closing with unread data would reset
                    pass

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        done.set()
        listener.close()
        thread.join()


def frame(kind, flags, stream, payload):
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
    return head + payload


def trailers(status, message=b""):
    """What gRPC's C core sends where it has nothing but trailers."""
    named = b"\x40\x0bgrpc-status" + bytes([len(status)]) + status
    if message:
        named += b"\x00\x0cgrpc-message" + bytes([len(message)]) + message
    return frame(1, 0x5, 1, b"\x88\x40\x0ccontent-type\x10application/grpc" + named)


def kind_of(port, timeout=SHORT):
    return probe("127.0.0.1", port, timeout).kind


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:6009", ("localhost", 6009)),
        ("grpc://10.0.0.2:8466", ("10.0.0.2", 8466)),
        ("[::1]:6009", ("::1", 6009)),
        (" host.name:1 ", ("host.name", 1)),
    ],
)
def test_addresses(text, address):
    assert address_of(text) == address


@pytest.mark.parametrize(
    "text", ["localhost", ":6009", "host:0", "host:65536", "::1:6009", "http://a:1", "a:b", ""]
)
def test_no_addresses(text):
    with pytest.raises(UsageError, match="write it as HOST:PORT"):
        address_of(text)


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ([SETTINGS, trailers(b"12", b"unimplemented.")], "profiler"),
        ([SETTINGS + frame(4, 1, 0, b""), frame(1, 4, 1, b"\x88"), trailers(b"0")], "profiler"),
        ([SETTINGS, trailers(b"12")], "grpc"),
        ([SETTINGS, trailers(b"12", b"Method not found!")], "grpc"),
        ([SETTINGS, frame(1, 0x5, 1, b"\x8d")], "http2"),  # 404
        ([SETTINGS, frame(7, 0, 0, bytes(8))], "http2"),  # goes away
        ([SETTINGS[:5], SETTINGS[5:], trailers(b"0")[:20]], "http2"),
        ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "other"),
        ([b"\x15\x03\x01\x00\x02\x02\x46"], "other"),
        ([b"SSH-2.0-OpenSSH_9.6\r\n"], "other"),
        ([b"ok"], "other"),
        ([], "silent"),
    ],
)
def test_who_answers(answers, kind):
    with answering(*answers) as port:
        assert kind_of(port) == kind


def test_a_server_that_says_nothing():
    with answering(keep_open=True) as port:
        (check,) = check_server(f"127.0.0.1:{port}", SHORT)
    assert check.status == "error"
    assert check.message.endswith("accepts the connection but says nothing within 0.3 s")


def test_http2_without_an_answer_to_the_call():
    with answering(SETTINGS, keep_open=True) as port:
        (check,) = check_server(f"127.0.0.1:{port}", SHORT)
    assert check.status == "warning"
    assert "says nothing within 0.3 s" in check.message


def test_a_web_server():
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    thread = threading.Thread(target=server.serve_forever)
    server.RequestHandlerClass.log_message = lambda *_: None
    thread.start()
    try:
        (check,) = check_server(f"127.0.0.1:{server.server_port}", 5)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert check.status == "error"
    assert "another kind of server listens there" in check.message
    assert "<!DOCTYPE HTML" in check.message


def test_what_it_says_is_shown_escaped():
    with answering(b"\x1b[31mred\n") as port:
        (check,) = check_server(f"127.0.0.1:{port}", SHORT)
    assert r'it sends "\x1b[31mred\n"' in check.message


def test_tls_is_named():
    with answering(b"\x15\x03\x01\x00\x02\x02\x46") as port:
        (check,) = check_server(f"127.0.0.1:{port}", SHORT)
    assert check.message.endswith("(TLS, which profiler servers do not speak)")


def test_several_are_checked_at_once_and_reported_in_order(monkeypatch):
    ports = [5, 3, 4]
    all_asked = threading.Barrier(len(ports))

    def answer(host, port, timeout):
        all_asked.wait(30)  # would break if they came one after the other
        return Answer("refused")

    monkeypatch.setattr(servers, "probe", answer)
    checks = check_servers([f"localhost:{port}" for port in ports], SHORT)
    assert [check.message.split(": ")[0] for check in checks] == [f"localhost:{p}" for p in ports]


def test_a_closed_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    (check,) = check_server(f"127.0.0.1:{port}", SHORT)
    assert check.status == "error"
    assert "connection refused" in check.message
    assert check.command == f"tfprof.capture.serve({port})"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("timed out"), "timeout"),
        (socket.gaierror(-2, "Name or service not known"), "unknown_host"),
        (OSError(113, "No route to host"), "unreachable"),
        (ConnectionRefusedError(), "refused"),
    ],
)
def test_no_connection(monkeypatch, error, kind):
    def fail(*_):
        raise error

    monkeypatch.setattr("tfprof.remote.grpc_probe._connected", fail)
    assert probe("host", 6009, SHORT).kind == kind
    (check,) = check_server("host:6009", SHORT)
    assert check.status == "error"
    assert check.remedy
    assert (check.command == "ssh -N -L 6009:localhost:6009 host") == (kind == "timeout")


def test_a_name_that_no_resolver_takes():
    assert probe("a" * 70 + ".invalid", 1, SHORT).kind == "unknown_host"


@pytest.mark.tensorflow
def test_tensorflows_own_server():
    server = Program()
    try:
        server.wait_until_ready()
        (check,) = check_server(server.address, 20)
    finally:
        server.end()
    assert (check.status, check.message) == ("ok", f"{server.address}: a profiler server answers")
