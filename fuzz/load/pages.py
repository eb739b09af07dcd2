"""``tfprof ui`` in a crowd, and over a day of requests."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import itertools
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from fuzz.load.curve import Curve, sample_of
from fuzz.load.habits import RUDE, Found, Habit
from fuzz.load.http import Client
from fuzz.load.people import Browser, Headers, Site, site_of, visits
from fuzz.load.programs import Outcome, program

HONEST_SHARE: Final = 0.6
"""Share of honest clients of a crowd; the others have the habits of ``RUDE``."""

_PEOPLE: Final = 8
_SAMPLES: Final = 60
_SETTLE_SECONDS: Final = 15.0
_WAKE_SECONDS: Final = 0.5
_REST_SECONDS: Final = 0.3


@contextmanager
def ui(captures: Sequence[str]) -> Iterator[tuple[int, int, Headers]]:
    """A server of pages: its process, its port, and the headers of a browser that it lets in."""
    arguments = ["ui", "--no-browser", "--no-cache", "--port", "0", *captures]
    with program(arguments) as (process, first_line):
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", first_line)
        assert found, f"it printed {first_line!r}"
        port = int(found[1])
        yield process.pid, port, {"Cookie": asyncio.run(_cookie_of(port, found[2]))}


async def _cookie_of(port: int, token: str) -> str:
    client = Client(port)
    answer = await client.get(f"/?token={token}")
    client.close()
    return answer.headers["set-cookie"].partition(";")[0]


class _Honest:
    """Honest clients, and what they saw."""

    def __init__(self, port: int, headers: Headers, site: Site, seed: int) -> None:
        self._port, self._headers, self._site, self._seed = port, headers, site, seed
        self.seconds: list[float] = []
        self.statuses: collections.Counter[int] = collections.Counter()
        self.findings: list[str] = []
        self.n_again = 0

    async def go(self, n_people: int, goes_on: callable, rest_seconds: float = 0.0) -> None:
        """Some people, each making visits while ``goes_on()``."""

        async def person(number: int) -> None:
            browser = Browser(self._port, self._headers)
            for paths in visits(self._site, self._seed + number):
                if not goes_on():
                    break
                await asyncio.gather(*(self._get(browser, path) for path in paths))
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
        return statistics.median(self.seconds or [0.0])

    def words(self) -> str:
        """How many requests were answered, by status."""
        answered = ", ".join(f"{n:,} × {status}" for status, n in sorted(self.statuses.items()))
        return f"{answered}; {self.n_again} on a second connection; {len(self.findings)} not"


def day(captures: Sequence[str], n_requests: int, seed: int) -> Outcome:
    """A day of requests."""
    with ui(captures) as (pid, port, headers):
        return asyncio.run(_day(Curve(pid), port, headers, n_requests, seed))


async def _day(curve: Curve, port: int, headers: Headers, n_requests: int, seed: int) -> Outcome:
    people = _Honest(port, headers, await site_of(port, headers), seed)
    every = max(n_requests // _SAMPLES, 1)

    def goes_on() -> bool:
        n_done = people.statuses.total()
        if n_done >= len(curve.samples) * every:
            curve.take(n_done)
        return n_done < n_requests

    began = time.monotonic()
    await people.go(_PEOPLE, goes_on)
    seconds = time.monotonic() - began
    lines = [f"{people.statuses.total():,} requests in {seconds:,.0f} s: {people.words()}"]
    return Outcome([*lines, *curve.lines()], people.findings + curve.growing())


def crowd(captures: Sequence[str], n_clients: int, seconds: float, seed: int) -> Outcome:
    """Many clients at once, honest and others."""
    with ui(captures) as (pid, port, headers):
        return asyncio.run(_crowd(pid, port, headers, n_clients, seconds, seed))


async def _crowd(
    pid: int, port: int, headers: Headers, n_clients: int, seconds: float, seed: int
) -> Outcome:
    site = await site_of(port, headers)
    n_honest = round(n_clients * HONEST_SHARE)
    alone, honest = (_Honest(port, headers, site, seed) for _ in range(2))
    await alone.go(1, _until(seconds / 4))
    before, curve, ended, findings = sample_of(pid), Curve(pid), asyncio.Event(), list[str]()
    watch = asyncio.create_task(_watch(curve, ended))
    habits = itertools.islice(itertools.cycle(RUDE.values()), n_clients - n_honest)
    rude = [
        asyncio.create_task(_goes_on(habit, port, headers, findings.append, ended))
        for habit in habits
    ]
    await honest.go(n_honest, _until(seconds), _REST_SECONDS)
    ended.set()
    await watch
    for task in rude:
        task.cancel()
    await asyncio.gather(*rude, return_exceptions=True)
    await asyncio.sleep(_SETTLE_SECONDS)
    after = sample_of(pid)
    if after.n_descriptors > before.n_descriptors + 2:
        findings.append(f"{after.n_descriptors - before.n_descriptors} descriptors stay open")
    slower = honest.median_seconds / max(alone.median_seconds, 1e-9)
    most_mib = max(one.memory_mib for one in curve.samples)
    n_most = max(one.n_descriptors for one in curve.samples)
    lines = [
        f"{n_honest} honest and {n_clients - n_honest} other clients for {seconds:g} s",
        f"honest requests: {honest.words()}",
        f"one client alone: {alone.words()}",
        f"in the crowd an answer takes {slower:,.0f} × as long (medians)",
        f"memory: {before.memory_mib:,.0f} MiB before, {most_mib:,.0f} at most, "
        f"{after.memory_mib:,.0f} after",
        f"descriptors: {before.n_descriptors} before, {n_most} at most, "
        f"{after.n_descriptors} after",
    ]
    return Outcome(lines, findings + honest.findings)


def _until(seconds: float) -> callable:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


async def _goes_on(
    habit: Habit, port: int, headers: Headers, found: Found, ended: asyncio.Event
) -> None:
    """A client with a habit, again and again."""
    while not ended.is_set():
        with contextlib.suppress(OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
            await habit(port, headers, found)
        await asyncio.sleep(_REST_SECONDS)


async def _watch(curve: Curve, ended: asyncio.Event) -> None:
    while not ended.is_set():
        curve.take(0)
        await asyncio.sleep(_WAKE_SECONDS)
