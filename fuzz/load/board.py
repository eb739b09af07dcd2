"""TensorBoard with the plugin, as many visitors and visitors from elsewhere meet it."""

from __future__ import annotations

import asyncio
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fuzz.load.curve import Curve
from fuzz.load.http import Client
from fuzz.load.people import People, site_of
from fuzz.load.programs import Outcome, program

_PREFIX: Final = "/data/plugin/tfprof"
_START_SECONDS: Final = 120.0
_SAMPLES: Final = 40
_VISITORS: Final = 20
"""TensorBoard starts a thread for each connection, of which a browser has six."""


def visitors(captures: Sequence[str], n_requests: int, seed: int) -> Outcome:
    """Requests of people, and of visitors from elsewhere.

    Raises:
        ModuleNotFoundError: TensorBoard is not installed.
    """
    with tempfile.TemporaryDirectory() as logs, socket.socket() as free:
        for capture in map(Path, captures):
            folder = Path(logs, "plugins", "profile", capture.name)
            shutil.copytree(capture, folder, ignore=lambda _, names: _not_captures(names))
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        board = [
            sys.executable, "-m", "tensorboard.main", "--logdir", logs, "--port", str(port),
            "--load_fast", "false", "--host", "127.0.0.1",
        ]  # fmt: skip
        with program(board, wait=False) as (process, _):
            return asyncio.run(_visitors(process.pid, port, n_requests, seed))


def _not_captures(names: Sequence[str]) -> list[str]:
    return [name for name in names if not name.endswith(".xplane.pb")]


async def _visitors(pid: int, port: int, n_requests: int, seed: int) -> Outcome:
    await _listens(port)
    people = People(port, {}, await site_of(port, {}, _PREFIX), seed, _PREFIX)
    curve, every = Curve(pid), max(n_requests // _SAMPLES, 1)

    def goes_on() -> bool:
        n_done = people.statuses.total()
        if n_done >= len(curve.samples) * every:
            curve.take(n_done)
        return n_done < n_requests

    foreign = asyncio.create_task(_foreign(port))
    await people.go(_VISITORS, goes_on)
    lines = [f"{people.statuses.total():,} requests of {_VISITORS} visitors: {people.words()}"]
    findings = [*people.findings, *await foreign, *curve.growing()]
    return Outcome([*lines, *curve.lines()], findings)


async def _listens(port: int) -> None:
    until = time.monotonic() + _START_SECONDS
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.5)
        else:
            writer.close()
            return


async def _foreign(port: int) -> list[str]:
    """Findings of what must not be answered."""
    findings = []
    for path, headers in (
        ("/api/site", {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}),
        ("/static/..%2fserver.py", {}), ("/static/../../../../etc/passwd", {}),
        ("/static/%00.js", {}), ("/static/" + "a" * 10_000 + ".js", {}),
        ("/api/page/%00", {}), ("/api/page/..%2f..%2fetc", {}), ("/api/hlo/text?module=../x", {}),
        ("/api/page/op-stats?step=" + "7" * 5000, {}), ("/api/site?run=../../etc", {}),
        ("/api/trace/tiles?k=-1&tracks=all", {}),
        ("/api/page/nothing?" + "x=1&" * 10_000, {}),
    ):  # fmt: skip
        client = Client(port, dict(headers))
        answer = await client.get(_PREFIX + path)
        client.close()
        if not 400 <= answer.status < 500:
            findings.append(f"{path[:80]} {headers} got {answer.status}: {answer.body[:80]!r}")
    return findings
