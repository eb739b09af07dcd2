"""A web server of files with the faults that a test needs."""

from __future__ import annotations

import hashlib
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

Fault = Callable[["Handler"], bool]
"""Answers a request and returns True, or leaves it to the server."""


@dataclass
class Request:
    method: str
    path: str
    query: str
    range: tuple[int, int] | None
    n_sent: int = 0


@dataclass
class Files:
    """What the server has, and how it behaves.

    ``faults`` are called one after another for each request, ``requests`` are those so far, and
    ``most_at_once`` is how many were answered at the same time.
    """

    url: str = ""
    held: dict[str, bytes] = field(default_factory=dict)
    has_ranges: bool = True
    has_etags: bool = True
    sends_size: bool = True
    faults: list[Fault] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, path: str, data: bytes) -> str:
        self.held[path] = data
        return f"{self.url}{path}"

    def of(self, path: str, method: str = "GET") -> list[Request]:
        return [one for one in self.requests if (one.method, one.path) == (method, path)]

    @property
    def n_sent(self) -> int:
        return sum(one.n_sent for one in self.requests)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    files: Files
    request_: Request

    def do_HEAD(self) -> None:
        self._handle()

    def do_GET(self) -> None:
        self._handle()

    def log_message(self, *_: object) -> None:
        pass

    def _handle(self) -> None:
        path, _, query = self.path.partition("?")
        ranged = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        place = (int(ranged[1]), int(ranged[2]) + 1) if ranged else None
        self.request_ = Request(self.command, unquote(path), query, place)
        files = self.files
        with files.lock:
            files.requests.append(self.request_)
            files.at_once += 1
            files.most_at_once = max(files.most_at_once, files.at_once)
        try:
            if not any(fault(self) for fault in list(files.faults)):
                self.answer()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with files.lock:
                files.at_once -= 1

    def answer(self) -> None:
        path = self.request_.path
        if path in self.files.held:
            self._send_file(self.files.held[path])
        elif any(name.startswith(path.rstrip("/") + "/") for name in self.files.held):
            if path.endswith("/"):
                self.send(200, self._list(path), {"Content-Type": "text/html"})
            else:
                self.send(301, b"", {"Location": f"{path}/"})
        else:
            self.send(404, b"nothing here")

    def _list(self, path: str) -> bytes:
        below = {name.removeprefix(path) for name in self.files.held if name.startswith(path)}
        names = sorted({quote(re.sub("/.*", "/", name)) for name in below})
        links = "".join(f'<a href="{name}">x</a>\n' for name in ["../", "?C=N;O=D", *names])
        return f"<html><body>{links}</body></html>".encode()

    def _send_file(self, data: bytes) -> None:
        headers = {"Content-Type": "application/octet-stream"}
        if self.files.has_etags:
            headers["ETag"] = f'"{hashlib.md5(data).hexdigest()}"'
        place = self.request_.range if self.files.has_ranges else None
        if place is None:
            self.send(200, data, headers)
        elif place[0] >= len(data):
            self.send(416, b"")
        else:
            part = data[place[0] : place[1]]
            headers["Content-Range"] = f"bytes {place[0]}-{place[0] + len(part) - 1}/{len(data)}"
            self.send(206, part, headers)

    def send(
        self,
        status: int,
        body: bytes,
        headers: dict[str, str] | None = None,
        cut_at: int | None = None,
    ) -> None:
        """Send an answer; if it is cut, the connection ends with a reset."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if self.files.sends_size:
            self.send_header("Content-Length", str(len(body)))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command == "HEAD":
            return
        sent = body if cut_at is None else body[:cut_at]
        self.request_.n_sent += len(sent)
        self.wfile.write(sent)
        self.wfile.flush()
        if cut_at is not None:
            self.reset()

    def reset(self) -> None:
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        pass


@contextmanager
def serving(files: Files | None = None) -> Iterator[Files]:
    """A server of files, on a port of its own."""
    files = files or Files()
    handler = type("OfFiles", (Handler,), {"files": files})
    with _Server(("127.0.0.1", 0), handler) as server:
        files.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield files
        finally:
            server.shutdown()
            thread.join()


def times(n: int, fault: Fault) -> Fault:
    """A fault of the first ``n`` requests that it applies to."""
    left = [n]

    def first(handler: Handler) -> bool:
        with handler.files.lock:
            if not left[0]:
                return False
            left[0] -= 1
        if fault(handler):
            return True
        with handler.files.lock:
            left[0] += 1
        return False

    return first


def status(code: int, path: str = "", **headers: str) -> Fault:
    """All requests for a path get a status; without one, all requests."""

    def fault(handler: Handler) -> bool:
        if path not in ("", handler.request_.path):
            return False
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        handler.send(code, b"no", names)
        return True

    return fault


def of_bytes(fault: Fault) -> Fault:
    """A fault of requests for content, not for what there is."""
    return lambda handler: handler.command == "GET" and fault(handler)
