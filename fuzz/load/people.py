"""What people do with the pages: they open one after another, and move about in the timeline."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote, urlencode

from fuzz.load.http import Answer, Client

_AT_ONCE: Final = 6
"""Connections of a browser to one server."""

_TILES: Final = 24
_WORDS: Final = ("MatMul", "dense", "train", "Iterator", "fusion", "copy", "x", "(.*)*(.*)*zq")

Headers = dict[str, str]
Site = dict[str, list[str]]
"""The runs, with the names of their pages."""


def visits(site: Site, seed: int) -> Iterator[Sequence[str]]:
    """What one person does, endlessly: the addresses that the browser requests at once.

    Args:
        site: The runs.
        seed: The same seed makes the same visits.
    """
    chance = random.Random(seed)
    while True:
        run = chance.choice(list(site))
        page = chance.choice([*site[run], *["trace"] * (len(site[run]) // 4)])
        params = {"run": run}
        if chance.random() < 0.3:
            params["step"] = str(chance.randrange(8))
        if chance.random() < 0.1 and len(site) > 1:
            params["against"] = chance.choice([name for name in site if name != run])
        yield [
            f"/api/site?{urlencode({'run': run})}",
            f"/api/page/{quote(page)}?{urlencode(params)}",
        ]
        if page == "trace":
            yield [f"/api/trace/{each}" for each in _in_timeline(run, chance)]


def _in_timeline(run: str, chance: random.Random) -> Iterator[str]:
    for _ in range(_TILES):
        level, number = chance.randrange(30, 44), chance.randrange(8)
        yield f"tiles?{urlencode({'run': run, 'k': level, 'number': number, 'tracks': 'all'})}"
    begin = chance.randrange(10**10)
    times = {"run": run, "t0": begin, "t1": begin + chance.randrange(10**10)}
    yield f"range?{urlencode(times)}"
    yield f"busy?{urlencode({**times, 'pixels': 1000})}"
    word = {"run": run, "text": chance.choice(_WORDS), "regex": str(chance.randrange(2))}
    yield f"search?{urlencode(word)}"


class Browser:
    """A browser that a server lets in: some connections.

    Args:
        port: The port of the server.
        headers: Its cookie.
    """

    def __init__(self, port: int, headers: Headers) -> None:
        sent = {**headers, "Accept-Encoding": "gzip"}
        self._clients = [Client(port, sent) for _ in range(_AT_ONCE)]
        self._free: asyncio.Queue[Client] = asyncio.Queue()
        for client in self._clients:
            self._free.put_nowait(client)

    async def get(self, path: str) -> Answer:
        """The answer to a request, on a connection that is free.

        Raises:
            OSError: The server refuses connections.
            asyncio.IncompleteReadError: The server ends new connections.
            TimeoutError: There is no answer.
        """
        client = await self._free.get()
        try:
            return await client.get(path)
        finally:
            self._free.put_nowait(client)

    @property
    def n_again(self) -> int:
        """How many requests were repeated on a new connection."""
        return sum(client.n_again for client in self._clients)

    def close(self) -> None:
        """End all connections."""
        for client in self._clients:
            client.close()


async def site_of(port: int, headers: Headers) -> Site:
    """The runs of a server, with the names of their pages."""
    browser = Browser(port, headers)
    try:
        names = json.loads((await browser.get("/api/site")).body)["runs"]
        pages = {}
        for run in (each["name"] for each in names):
            answer = await browser.get(f"/api/site?{urlencode({'run': run})}")
            pages[run] = [page["id"] for page in json.loads(answer.body)["pages"]]
        return pages
    finally:
        browser.close()
