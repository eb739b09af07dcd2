"""A small HTTP client that keeps its connection, as browsers do, and can be told to misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from dataclasses import dataclass, field
from typing import Final

_MOST_HEAD: Final = 1 << 20
PATIENCE_SECONDS: Final = 90.0
"""Longest wait for an answer; the server has 60 s for a page."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a server.

    Attributes:
        status: Its status.
        headers: Its headers, their names in small letters.
        body: Its content, unpacked.
    """

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Client:
    """A connection that is made on first use, and again if the server has closed it meanwhile.

    Attributes:
        port: The port of the server.
        headers: Headers of each request.
        n_again: How often a request was repeated on a new connection.
    """

    port: int
    headers: dict[str, str] = field(default_factory=dict)
    n_again: int = 0
    _open: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> Answer:
        """The answer to a request.

        Raises:
            OSError: The server closes new connections, too.
            TimeoutError: There is no answer.
        """
        kept = self._open is not None
        try:
            return await asyncio.wait_for(self._get(path), PATIENCE_SECONDS)
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            if not kept:
                raise
            self.n_again += 1  # as browsers do with a connection that was idle
            return await asyncio.wait_for(self._get(path), PATIENCE_SECONDS)

    async def _get(self, path: str) -> Answer:
        if self._open is None:
            self._open = await asyncio.open_connection("127.0.0.1", self.port, limit=_MOST_HEAD)
        reader, writer = self._open
        writer.write(request(path, {"Host": f"127.0.0.1:{self.port}", **self.headers}))
        answer = await read_answer(reader)
        if answer.headers.get("connection") == "close":
            self.close()
        return answer

    def close(self) -> None:
        """End the connection."""
        if self._open is not None:
            with contextlib.suppress(OSError):
                self._open[1].close()
            self._open = None


def request(path: str, headers: dict[str, str], method: str = "GET") -> bytes:
    """A request as bytes."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def read_answer(reader: asyncio.StreamReader) -> Answer:
    """The next answer of a connection.

    Raises:
        asyncio.IncompleteReadError: The connection ends before.
    """
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): text.strip() for name, _, text in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    if headers.get("content-encoding") == "gzip":
        body = zlib.decompress(body, 31)
    return Answer(int(first.split()[1]), headers, body)
