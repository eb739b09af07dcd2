"""Profiler servers that would take a client's memory."""

import gzip
import socket
import threading
import tracemalloc

import pytest

from tfprof.core.wire import messages
from tfprof.remote.addresses import Address
from tfprof.remote.requests import received
from tfprof.remote.service import ProfilerServer
from tfprof.remote.troubles import ServerError

pytestmark = pytest.mark.one_engine

HEADERS, DATA, SETTINGS = 1, 0, 4  # frames of HTTP/2 (RFC 9113, 6)
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags, stream, payload=b""):
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
    return head + payload


def literal(**headers):
    """Headers that are neither compressed nor indexed (RFC 7541, 6.2.2)."""
    texts = [text.replace("_", "-").encode() for pair in headers.items() for text in pair]
    pairs = zip(texts[::2], texts[1::2], strict=True)
    return b"".join(
        b"\0" + bytes([len(name)]) + name + bytes([len(text)]) + text for name, text in pairs
    )


def answering(message, encoding):
    """One answer of a gRPC server that compresses although its client does not take that."""
    first = b"\x88" + literal(content_type="application/grpc", grpc_encoding=encoding)
    packed = bytes([encoding != "identity"]) + len(message).to_bytes(4, "big") + message
    last = frame(HEADERS, END_HEADERS | END_STREAM, 1, literal(grpc_status="0"))
    return frame(HEADERS, END_HEADERS, 1, first) + frame(DATA, 0, 1, packed) + last


@pytest.fixture
def serve():
    """A server that gives an answer to the first connection; returns its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve(answer):
            def accept():
                link, _ = listener.accept()
                with link:
                    link.sendall(frame(SETTINGS, 0, 0) + frame(SETTINGS, ACK, 0))
                    received = b""
                    while frame(DATA, END_STREAM, 1, bytes(5)) not in received:
                        received += link.recv(65536)
                    link.sendall(answer)
                    while link.recv(65536):
                        pass

            threading.Thread(target=accept, daemon=True).start()
            return Address("127.0.0.1", listener.getsockname()[1])

        yield serve


def test_an_answer_is_received(serve):
    with ProfilerServer(serve(answering(b"x" * 1000, "identity"))) as server:
        assert server.call("Profile", b"", 10.0) == b"x" * 1000


def test_remarks_take_little_memory_and_are_few():
    many = [f"remark {number}" for number in range(10_000)]
    space = messages.XSpace(errors=["x" * 20_000_000, *many], warnings=["the last"])
    answer = messages.ProfileResponse(xspace=space).SerializeToString()
    tracemalloc.start()
    found = received(answer)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_bytes < 200_000
    assert len(found.remarks) == 100 and found.remarks[1] == "remark 0"
    assert len(found.remarks[0]) < 400 and found.n_bytes > 20_000_000


def test_an_answer_that_unpacks_to_more_is_refused(serve):
    bomb = gzip.compress(bytes(8_000_000))
    assert len(bomb) < 10_000
    with (
        ProfilerServer(serve(answering(bomb, "gzip"))) as server,
        pytest.raises(ServerError, match=r"(?i)compress"),
    ):
        server.call("Profile", b"", 10.0)
