"""Clients of a web server that are slow, rude or hostile; each is a coroutine that goes on.

A habit gets the port of a server and the headers of an honest client. What the server answers to a
hostile request is checked: 4xx, or a connection that ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from fuzz.load.http import Answer, read_answer, request

Found = Callable[[str], None]
"""Where findings go."""

Habit = Callable[[int, Mapping[str, str], Found], Awaitable[None]]
"""A client: port, headers of an honest client, and where findings go."""

_BYTE_SECONDS: Final = 1.0
_REST_SECONDS: Final = 0.2
_ANSWER_SECONDS: Final = 30.0
_LARGE: Final = "/api/page/op-stats"
"""A document that needs work and has a long answer."""


@asynccontextmanager
async def _connected(
    port: int, received_bytes: int = 0
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection; with a small buffer, a server feels at once that nothing is read."""
    link = socket.socket()
    link.setblocking(False)
    if received_bytes:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, received_bytes)
    try:
        await asyncio.get_running_loop().sock_connect(link, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=link)
    except BaseException:
        link.close()
        raise
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def _own(port: int, headers: Mapping[str, str]) -> dict[str, str]:
    return {"Host": f"127.0.0.1:{port}", **headers}


async def drips(port: int, headers: Mapping[str, str], found: Found) -> None:
    """Sends a byte a second."""
    async with _connected(port) as (_, writer):
        for byte in request("/", _own(port, headers)):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(_BYTE_SECONDS)


async def half_open(port: int, headers: Mapping[str, str], found: Found) -> None:
    """Sends half a header and waits until the server ends the connection."""
    async with _connected(port) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nHost: 127")
        await asyncio.wait_for(reader.read(), _ANSWER_SECONDS)


async def never_reads(port: int, headers: Mapping[str, str], found: Found) -> None:
    """Requests large answers, one after another, and reads none."""
    async with _connected(port, 4096) as (_, writer):
        for _ in range(200):
            writer.write(request(_LARGE, _own(port, headers)))
            await asyncio.wait_for(writer.drain(), _ANSWER_SECONDS)
            await asyncio.sleep(_REST_SECONDS)


async def pipelines(port: int, headers: Mapping[str, str], found: Found) -> None:
    """Sends requests without a token as fast as it can, and reads no refusal."""
    one = request("/", {"Host": "x"}) * 500
    async with _connected(port, 4096) as (_, writer):
        while True:
            writer.write(one)
            await asyncio.wait_for(writer.drain(), _ANSWER_SECONDS)


async def aborts(port: int, headers: Mapping[str, str], found: Found) -> None:
    """Requests a page and resets the connection, before or within the answer."""
    path = f"{_LARGE}?step={random.randrange(8)}"
    async with _connected(port) as (reader, writer):
        link = writer.get_extra_info("socket")
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.write(request(path, _own(port, headers)))
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(reader.read(10), random.random() / 2)


async def large_headers(port: int, headers: Mapping[str, str], found: Found) -> None:
    """Sends 16 MB of headers, many of them or a long one."""
    is_long = random.random() < 0.5
    async with _connected(port) as (_, writer):
        writer.write(b"GET / HTTP/1.1\r\n" + (b"x: " if is_long else b""))
        for _ in range(256):
            writer.write(b"y" * 65_536 if is_long else b"x: y\r\n" * 10_922)
            await asyncio.wait_for(writer.drain(), _ANSWER_SECONDS)


def _hostile_requests(port: int, headers: Mapping[str, str]) -> list[bytes]:
    """Requests that must be refused."""
    own, without = _own(port, headers), _own(port, {})
    outside = (
        "/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/%2e%2e/guard.py",
        "/static/%00.js", "/static//etc/passwd", "/api/page/../../etc/passwd", "/api/..",
        "/api/page/%2e%2e%2fsite", "/etc/passwd", "/api/page/nothing", "/api/page/trace%00",
        "/api/page/op-stats?run=../../x", "/api/page/op-stats?step=" + "7" * 5000,
        "/" + "a" * 20_000, "/api/site?" + "x=1&" * 5000, "/api/trace/tiles?k=-1&tracks=all",
        "/api/trace/tiles?k=1&number=99999999999999999999&tracks=all",
    )  # fmt: skip
    socket_headers = {
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "x",
        "Sec-WebSocket-Version": "13",
    }  # fmt: skip
    return [
        *(request(path, own) for path in outside),
        request("/api/site", without),
        request("/?token=wrong", without),
        request("/api/site", {**own, "Host": "evil.example"}),
        request("/api/site", {**own, "Host": f"127.0.0.1.evil.example:{port}"}),
        request("/api/site", {**own, "Origin": "http://evil.example"}),
        request("/api/site", {**own, "Origin": "null"}),
        request("/api/site", {**own, "Sec-Fetch-Site": "cross-site"}),
        request("/api/site", own, "POST"),
        request("/api/site", {**own, "Content-Length": "5"}) + b"abcde",
        request("/api/site", {**own, "Content-Length": "5", "Transfer-Encoding": "chunked"}),
        request("/api/site", {**own, "Transfer-Encoding": "chunked"}) + b"0\r\n\r\n",
        request("/api/site", {**own, "Transfer-Encoding ": "chunked"}),
        request("/api/site", {**own, "X": "a\r\nHost: evil.example"}),
        request("http://evil.example/api/site", {**without, **socket_headers}),
        b"GET /api/site HTTP/1.1\nHost: x\n\n",
        b"GET /api/site HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"\0" * 1000 + b"\r\n\r\n",
        random.randbytes(2000) + b"\r\n\r\n",
    ]  # fmt: skip


async def attacks(port: int, headers: Mapping[str, str], found: Found) -> None:
    """Leaves the folder, forges Host and Origin, smuggles requests, speaks other protocols."""
    for sent in random.sample(requests := _hostile_requests(port, headers), len(requests)):
        try:
            async with _connected(port) as (reader, writer):
                writer.write(sent)
                answer = await asyncio.wait_for(read_answer(reader), _ANSWER_SECONDS)
        except (OSError, asyncio.IncompleteReadError):
            continue  # it ended the connection
        if not _is_refusal(answer):
            found(f"{sent[:80]!r} got {answer.status}: {answer.body[:80]!r}")


def _is_refusal(answer: Answer) -> bool:
    return 400 <= answer.status < 500


RUDE: Final[Mapping[str, Habit]] = {
    "sends a byte a second": drips,
    "sends half a header": half_open,
    "reads no answer": never_reads,
    "pipelines and reads nothing": pipelines,
    "resets the connection": aborts,
    "sends 16 MB of headers": large_headers,
    "attacks": attacks,
}
