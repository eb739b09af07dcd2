"""The server of ``--metrics``: many who scrape, between clients that are rude or hostile."""

from __future__ import annotations

import asyncio
import collections
import sys
import time
from typing import Final

from fuzz.load.crowd import rude_crowd, watched
from fuzz.load.curve import Curve, sample_of
from fuzz.load.http import Client
from fuzz.load.programs import Outcome, program

_PROGRAM: Final = """
import time
from tfprof.remote.metrics import Metrics
metrics = Metrics(0)
metrics._server.start()
print(metrics.url, flush=True)
while True:
    time.sleep(60)
"""
_SETTLE_SECONDS: Final = 8.0
_EVERY_SECONDS: Final = 0.2
"""Prometheus scrapes every 15 s."""


def scrapes(n_clients: int, seconds: float) -> Outcome:
    """As many clients at once, half of them honest."""
    with program([sys.executable, "-c", _PROGRAM]) as (process, url):
        port = int(url.rpartition(":")[2].partition("/")[0])
        return asyncio.run(_scrapes(process.pid, port, n_clients, seconds))


async def _scrapes(pid: int, port: int, n_clients: int, seconds: float) -> Outcome:
    until, findings = time.monotonic() + seconds, list[str]()
    statuses, n_again = collections.Counter[int](), 0

    async def scrape() -> None:
        nonlocal n_again
        while time.monotonic() < until:
            client = Client(port)
            try:
                statuses[(await client.get("/metrics")).status] += 1
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
                findings.append(f"/metrics: {error!r}")
            client.close()
            await asyncio.sleep(_EVERY_SECONDS)

    before, curve = sample_of(pid), Curve(pid)
    async with rude_crowd(port, {}, n_clients // 2, findings.append), watched(curve):
        await asyncio.gather(*(scrape() for _ in range(n_clients // 2)))
    await asyncio.sleep(_SETTLE_SECONDS)
    after = sample_of(pid)
    if after.n_descriptors > before.n_descriptors + 2:
        findings.append(f"{after.n_descriptors - before.n_descriptors} descriptors stay open")
    findings += [f"status {status}" for status in statuses if status != 200]
    lines = [
        f"{statuses.total():,} scrapes of {n_clients // 2} clients among as many others: "
        f"{statuses[200]:,} × 200",
        *list(curve.lines())[:2],
    ]
    return Outcome(lines, findings)
