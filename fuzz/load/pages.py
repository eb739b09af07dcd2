"""``tfprof ui`` in a crowd, and over a day of requests."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from fuzz.load.crowd import rude_crowd, watched
from fuzz.load.curve import Curve, sample_of
from fuzz.load.http import Client
from fuzz.load.people import Headers, People, site_of
from fuzz.load.programs import TFPROF, Outcome, program

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
    command = [*TFPROF, "ui", "--no-browser", "--no-cache", "--port", "0", *captures]
    with program(command) as (process, first_line):
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", first_line)
        assert found, f"it printed {first_line!r}"
        port = int(found[1])
        yield process.pid, port, {"Cookie": asyncio.run(_cookie_of(port, found[2]))}


async def _cookie_of(port: int, token: str) -> str:
    client = Client(port)
    answer = await client.get(f"/?token={token}")
    client.close()
    return answer.headers["set-cookie"].partition(";")[0]


def day(captures: Sequence[str], n_requests: int, seed: int) -> Outcome:
    """A day of requests."""
    with ui(captures) as (pid, port, headers):
        return asyncio.run(_day(Curve(pid), port, headers, n_requests, seed))


async def _day(curve: Curve, port: int, headers: Headers, n_requests: int, seed: int) -> Outcome:
    people = People(port, headers, await site_of(port, headers), seed)
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
    alone, honest = (People(port, headers, site, seed) for _ in range(2))
    await alone.go(1, _until(seconds / 4))
    before, curve, findings = sample_of(pid), Curve(pid), list[str]()
    async with rude_crowd(port, headers, n_clients - n_honest, findings.append), watched(curve):
        await honest.go(n_honest, _until(seconds), _REST_SECONDS)
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


def _until(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end
