"""A small HTTP server for metrics, in a thread of its own.

It answers GET and HEAD for one path and closes each connection. A client that is slow is turned
away, and of too many the one that came first, so that scraping never costs the recorder more than a
few sockets, and silent clients do not keep others from an answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlunsplit

from tfprof.errors import UsageError
from tfprof.remote.addresses import Address, address_of

_log = logging.getLogger("tfprof")

PATH = "/metrics"
_LOCAL = "127.0.0.1"
_MOST_HEADER_BYTES = 16_384
_MOST_CLIENTS = 128
_SECONDS = 5.0
_END_SECONDS = 5.0

Answer = Callable[[str], tuple[str, bytes]]
"""From an ``Accept`` header to a content type and a body."""


def listening_address(text: str | int) -> Address:
    """The address in ``9090``, which is of this machine alone, ``HOST:PORT`` or ``:PORT``.

    Port 0 takes any free one.

    Raises:
        UsageError: It is not an address, such as a host without a port.
    """
    host, colon, port = str(text).strip().rpartition(":")
    local = host or _LOCAL
    if not port.isascii() or not port.isdigit() or int(port) >= 1 << 16 or (colon and not host):
        raise UsageError(
            f"--metrics {text!r} is not an address; write it as a port of this machine, such as "
            "9090, or as HOST:PORT, such as 0.0.0.0:9090 for all of its interfaces"
        )
    if int(port) == 0:
        return address_of(f"{local}:1")._replace(port=0)
    return address_of(f"{local}:{port}")


class MetricsServer:
    """Serves an answer; ``start`` listens, ``stop`` ends.

    Args:
        address: Where it listens.
        answer: Makes the answer to a scrape, in the thread of the server.
    """

    def __init__(self, address: Address, answer: Answer) -> None:
        self.address, self._answer = address, answer
        self._thread = threading.Thread(target=self._run, name="tfprof-metrics", daemon=True)
        self._clients: dict[asyncio.Task[None], None] = {}  # in the order in which they came
        self._is_over = asyncio.Event()

    @property
    def is_local(self) -> bool:
        """Whether only programs of this machine reach it."""
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(self.address.host).is_loopback
        return self.address.host == "localhost"

    @property
    def url(self) -> str:
        """Where the metrics are."""
        return urlunsplit(("http", str(self.address), PATH, "", ""))

    def start(self) -> None:
        """Listen.

        Raises:
            UsageError: The address is in use, or not one of this machine.
        """
        host, port = self.address
        try:
            place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            listener = socket.create_server(place[4][:2], family=place[0])
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(
                f"--metrics {self.address}: it cannot be used: {reason}. Give another address of "
                "this machine, or 0 for any free port"
            ) from None
        self.address = Address(host, listener.getsockname()[1])
        self._listener, self._loop = listener, asyncio.new_event_loop()
        self._thread.start()

    def stop(self) -> None:
        """Close all connections."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._is_over.set)
            self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._listen())
        finally:
            self._loop.close()

    async def _listen(self) -> None:
        server = await asyncio.start_server(
            self._accept, sock=self._listener, limit=_MOST_HEADER_BYTES
        )
        await self._is_over.wait()
        server.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._clients) >= _MOST_CLIENTS:
            first = next(iter(self._clients))
            del self._clients[first]
            first.cancel()
        self._clients[task] = None
        try:
            await asyncio.wait_for(self._serve(reader, writer), _SECONDS)
            writer.close()
        except (OSError, asyncio.TimeoutError, asyncio.CancelledError):
            writer.transport.abort()  # the client is slow or has gone, or the server ends
        finally:
            self._clients.pop(task, None)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            writer.write(_response(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))
        except asyncio.IncompleteReadError:
            return
        else:
            writer.write(self._response_to(head.decode("latin-1")))
        writer.close()
        await writer.wait_closed()

    def _response_to(self, head: str) -> bytes:
        first, *lines = head.split("\r\n")
        words = first.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return _response(HTTPStatus.BAD_REQUEST)
        method, target, _ = words
        headers = {
            name.strip().lower(): value.strip()
            for name, colon, value in (line.partition(":") for line in lines)
            if colon
        }
        if self.is_local and not _is_address_or_local(headers.get("host", "")):
            return _response(HTTPStatus.FORBIDDEN)  # a page of another site has led a browser here
        if method not in ("GET", "HEAD"):
            return _response(HTTPStatus.METHOD_NOT_ALLOWED, extra="allow: GET, HEAD\r\n")
        if target.partition("?")[0] != PATH:
            return _response(HTTPStatus.NOT_FOUND, body=f"metrics are at {PATH}\n".encode())
        try:
            kind, body = self._answer(headers.get("accept", ""))
        except Exception:  # whatever it is, the next scrape is answered
            _log.exception("no metrics")
            return _response(HTTPStatus.INTERNAL_SERVER_ERROR)
        answer = _response(HTTPStatus.OK, kind, body, "vary: accept\r\ncache-control: no-store\r\n")
        return answer[: -len(body)] if method == "HEAD" and body else answer


def _is_address_or_local(host: str) -> bool:
    """Whether a ``Host`` header is missing, ``localhost``, or an IP address, each with any port."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name.lower() in ("", "localhost"):
        return True
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(name))
    return False


def _response(
    status: HTTPStatus, kind: str = "text/plain; charset=utf-8", body: bytes = b"", extra: str = ""
) -> bytes:
    body = body or (b"" if status is HTTPStatus.OK else f"{status.phrase}\n".encode())
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: {kind}\r\n"
        f"content-length: {len(body)}\r\nx-content-type-options: nosniff\r\n{extra}"
        "connection: close\r\n\r\n"
    )
    return head.encode() + body
