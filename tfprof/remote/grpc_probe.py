"""One gRPC call over a plain socket, to find out which server listens at an address.

The call is ``tensorflow.ProfilerService/Monitor`` with an empty request, which changes nothing.
TensorFlow's server refuses it with a text of its own. Other profiler servers answer it. Servers
without that service refuse it with another text.
"""

from __future__ import annotations

import errno
import os
import re
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

Kind = Literal[
    "profiler", "grpc", "http2", "other", "silent", "refused", "timeout", "unknown_host",
    "unreachable",
]  # fmt: skip

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _SETTINGS, _GOAWAY, _CONTINUATION = 0, 1, 4, 7, 9  # RFC 9113, 6
_END_STREAM, _END_HEADERS = 0x1, 0x4
_FRAME_HEAD = 9
_STREAM = 1
_MAX_BYTES = 1 << 16
_SHOWN_BYTES = 40
_PIECE_SECONDS = 0.1
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)  # opens no descriptor
_WINDOWS_WOULD_BLOCK = 10035

_EMPTY_REQUEST = bytes(5)  # not compressed, 0 bytes long
_STATUS = re.compile(rb"grpc-status[\x01\x02](\d{1,2})")
_TENSORFLOW_REFUSAL = b"unimplemented."  # the text of TensorFlow's Monitor


@dataclass(frozen=True, slots=True)
class Answer:
    """What kind of server listens, with the details for a message."""

    kind: Kind
    detail: str = ""


def probe(
    host: str,
    port: int,
    timeout_seconds: float,
    is_given_up: Callable[[], bool] = lambda: False,
) -> Answer:
    """Find out which server listens at an address.

    Args:
        host: Name or IP address.
        port: TCP port.
        timeout_seconds: Limit for the connection, and again for the answer.
        is_given_up: Called from time to time: whether the caller has given up. The answer is then
            ``timeout`` or ``silent``.
    """
    limit = f"{timeout_seconds:g} s"
    patience = partial(_Patience, timeout_seconds, is_given_up)
    try:
        with _connected(host, port, patience) as connection:
            return _ask(connection, f"{host}:{port}", patience(), limit)
    except ConnectionRefusedError:
        return Answer("refused")
    except (socket.gaierror, UnicodeError) as error:  # UnicodeError: a label too long for DNS
        return Answer("unknown_host", _reason(error))
    except TimeoutError:
        return Answer("timeout", limit)
    except OSError as error:
        return Answer("unreachable", _reason(error))


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


class _Patience:
    """A time limit, waited for in short pieces, so that a caller can give up in between."""

    def __init__(self, seconds: float, is_given_up: Callable[[], bool]) -> None:
        self._end, self._is_given_up = time.monotonic() + seconds, is_given_up

    def wait(self, connection: socket.socket, event: int) -> None:
        """Wait until a socket can be read or written.

        Raises:
            TimeoutError: It is too late, or the caller has given up.
        """
        with _Selector() as selector:
            selector.register(connection, event)
            while not self._is_given_up():
                left = self._end - time.monotonic()
                if selector.select(min(max(left, 0), _PIECE_SECONDS)):
                    return
                if left <= 0:
                    break
        raise TimeoutError


def _connected(host: str, port: int, patience: Callable[[], _Patience]) -> socket.socket:
    """A connection to the first address of a host that takes one; each is waited for."""
    failed: OSError = OSError("the name has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        connection = socket.socket(family, kind, protocol)
        try:
            connection.setblocking(False)
            number = connection.connect_ex(address)
            if number in (errno.EINPROGRESS, errno.EWOULDBLOCK, _WINDOWS_WOULD_BLOCK):
                patience().wait(connection, selectors.EVENT_WRITE)
                number = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if number:
                raise OSError(number, os.strerror(number))
            return connection
        except OSError as error:
            connection.close()
            failed = error
    raise failed


def _ask(connection: socket.socket, authority: str, patience: _Patience, limit: str) -> Answer:
    received, ended = b"", ""
    try:
        connection.sendall(_PREFACE + _frame(_SETTINGS, 0, 0) + _call(authority))
        while len(received) < _MAX_BYTES and not _is_answered(received):
            patience.wait(connection, selectors.EVENT_READ)
            piece = connection.recv(4096)
            if not piece:
                ended = "closes it without an answer"
                break
            received += piece
    except TimeoutError:
        ended = f"says nothing within {limit}"
    except OSError as error:
        ended = f"breaks it off ({_reason(error)})"
    return _judge(received, ended)


def _judge(received: bytes, ended: str) -> Answer:
    if not received:
        return Answer("silent", ended)
    if not _is_http2(received):
        return Answer("other", repr(received[:_SHOWN_BYTES])[2:-1])
    headers = b"".join(payload for kind, _, stream, payload in _frames(received)
                       if kind in (_HEADERS, _CONTINUATION) and stream == _STREAM)  # fmt: skip
    status = _STATUS.search(headers)
    if status is None:
        return Answer("http2", ended or "no gRPC status")
    return Answer("profiler" if status[1] == b"0" or _TENSORFLOW_REFUSAL in headers else "grpc")


def _is_http2(received: bytes) -> bool:
    """Whether the bytes begin with a settings frame, as every answer over HTTP/2 does."""
    size, head = int.from_bytes(received[:3], "big"), received[3:_FRAME_HEAD]
    return len(head) == 6 and size % 6 == 0 and head == bytes([_SETTINGS, 0, 0, 0, 0, 0])


def _is_answered(received: bytes) -> bool:
    if len(received) >= _FRAME_HEAD and not _is_http2(received):
        return True
    return any(
        kind == _GOAWAY or (stream == _STREAM and kind in (_DATA, _HEADERS) and flags & _END_STREAM)
        for kind, flags, stream, _ in _frames(received)
    )


def _frames(received: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Type, flags, stream and payload of each whole frame."""
    start = 0
    while start + _FRAME_HEAD <= len(received):
        end = start + _FRAME_HEAD + int.from_bytes(received[start : start + 3], "big")
        if end > len(received):
            return
        stream = int.from_bytes(received[start + 5 : start + _FRAME_HEAD], "big")
        payload = received[start + _FRAME_HEAD : end]
        yield received[start + 3], received[start + 4], stream, payload
        start = end


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return (
        len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
    )


def _call(authority: str) -> bytes:
    """The request, with headers that are neither compressed nor indexed (RFC 7541, 6.2.2)."""
    headers = b"\x83\x86"  # :method POST, :scheme http, of the static table
    for name, value in (
        (":path", "/tensorflow.ProfilerService/Monitor"),
        (":authority", authority[:100]),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
    ):
        texts = [text.encode("ascii", "replace") for text in (name, value)]
        headers += b"\x00" + b"".join(bytes([len(text)]) + text for text in texts)
    return _frame(_HEADERS, _END_HEADERS, _STREAM, headers) + _frame(
        _DATA, _END_STREAM, _STREAM, _EMPTY_REQUEST
    )
