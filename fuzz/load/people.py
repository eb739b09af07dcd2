"""What people do with the pages: they open one after another, and move about in the timeline."""

from __future__ import annotations

import asyncio
import collections
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
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


class People:
    """Honest clients of a server, and what they saw.

    Args:
        port: The port of the server.
        headers: Headers of a browser that it lets in.
        site: Its runs.
        seed: The same seed makes the same visits.
        prefix: What the addresses of the pages begin with.
    """

    def __init__(
        self, port: int, headers: Headers, site: Site, seed: int, prefix: str = ""
    ) -> None:
        self._port, self._headers, self._prefix = port, headers, prefix
        self._site, self._seed = site, seed
        self.seconds: list[float] = []
        self.statuses: collections.Counter[int] = collections.Counter()
        self.findings: list[str] = []
        self.n_again = 0

    async def go(
        self, n_people: int, goes_on: Callable[[], bool], rest_seconds: float = 0.0
    ) -> None:
        """Some people, each making visits while ``goes_on()``."""

        async def person(number: int) -> None:
            browser = Browser(self._port, self._headers)
            for paths in visits(self._site, self._seed + number):
                if not goes_on():
                    break
                await asyncio.gather(*(self._get(browser, self._prefix + path) for path in paths))
                await asyncio.sleep(rest_seconds)
            self.n_again += browser.n_again
            browser.close()

        await asyncio.gather(*map(person, range(n_people)))

    async def _get(self, browser: Browser, path: str) -> None:
        began = time.monotonic()
        try:
            answer = await browser.get(path)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
            self.findings.append(f"{path}: {error!r}")
            return
        self.seconds.append(time.monotonic() - began)
        self.statuses[answer.status] += 1
        if answer.status >= 500:
            self.findings.append(f"{path}: {answer.status} {answer.body[:200]!r}")

    @property
    def median_seconds(self) -> float:
        """The median time of an answer."""
        return statistics.median(self.seconds or [0.0])

    def words(self) -> str:
        """How many requests were answered, by status."""
        answered = ", ".join(f"{n:,} × {status}" for status, n in sorted(self.statuses.items()))
        return f"{answered}; {self.n_again} on a second connection; {len(self.findings)} not"


async def site_of(port: int, headers: Headers, prefix: str = "") -> Site:
    """The runs of a server, with the names of their pages; arguments are those of ``People``."""
    browser = Browser(port, headers)
    try:
        names = json.loads((await browser.get(f"{prefix}/api/site")).body)["runs"]
        pages = {}
        for run in (each["name"] for each in names):
            answer = await browser.get(f"{prefix}/api/site?{urlencode({'run': run})}")
            pages[run] = [page["id"] for page in json.loads(answer.body)["pages"]]
        return pages
    finally:
        browser.close()
