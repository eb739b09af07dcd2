"""``tfprof mcp``: a day of calls of assistants, and many at once that take all they can get."""

from __future__ import annotations

import asyncio
import collections
import json
import random
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from fuzz.load.curve import Curve, sample_of
from fuzz.load.programs import Outcome

_SAMPLES: Final = 40
_AT_ONCE: Final = 4
_MOST_LINE_BYTES: Final = 64 << 20
_PATIENCE_SECONDS: Final = 300.0
_WAKE_SECONDS: Final = 0.2

GREEDY: Final = (
    "select list(range) from range(1000000000)",
    "select repeat('a', 2000000000)",
    "select lpad('a', 2000000000, 'b')",
    "select levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
    "select count(*) from range(100000000) a, range(100000) b",
    "with recursive t(n) as (select 1 union all select n + 1 from t) select max(n) from t",
)
"""Questions in SQL without an end, or with answers of gigabytes."""

_MOST_MEMORY_MIB: Final = 2 * 2048 + 1024
"""Two questions at once of 2 GiB each, and the server."""

HOSTILE_LINES: Final = (
    b"\n", b"{\n", b"[]\n", b"null\n", b'{"jsonrpc": "2.0"}\n', b'"' + b"a" * (1 << 20) + b'"\n',
    b"[" * 100_000 + b"\n", b"\xff\xfe\n", b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}\n',
    b'{"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "../x"}}\n',
    b'{"jsonrpc": "2.0", "id": "y", "method": "nothing"}\n',
)  # fmt: skip
"""What is not the protocol, each a line."""


class Assistant:
    """A client of the server on its stdin and stdout.

    Args:
        process: The server.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process, self._n_sent = process, 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._reading = asyncio.create_task(self._read())

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request, with ``result`` or ``error``.

        Raises:
            TimeoutError: There is none.
            ConnectionError: The server has ended.
        """
        self._n_sent += 1
        future = self._waiting[self._n_sent] = asyncio.get_running_loop().create_future()
        self.send({"id": self._n_sent, "method": method, "params": params})
        return await asyncio.wait_for(future, _PATIENCE_SECONDS)

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """The answer of a tool as text."""
        answer = await self.request("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer:
            return f"error: {answer['error']}"
        return str(answer["result"]["content"][0]["text"])

    def send(self, message: dict[str, Any] | bytes) -> None:
        """Send a message, or a line as it is."""
        assert self._process.stdin is not None
        line = (
            message
            if isinstance(message, bytes)
            else json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        )
        self._process.stdin.write(line)  # as a client that does not wait for the server to read

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message = json.loads(line)
            future = self._waiting.pop(message.get("id"), None)
            if future is not None and not future.done():
                future.set_result(message)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionError("the server has ended"))


@asynccontextmanager
async def assistant(captures: Sequence[str]) -> AsyncIterator[tuple[int, Assistant]]:
    """A server with its client, which has introduced itself."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tfprof", "mcp", *captures, limit=_MOST_LINE_BYTES,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        client = Assistant(process)
        about = {"name": "fuzz.load", "version": "0"}
        await client.request(
            "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        )
        client.send({"method": "notifications/initialized"})
        yield process.pid, client
    finally:
        process.kill()
        await process.wait()


def calls(runs: Sequence[dict[str, Any]], seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Endless calls as assistants make them: tools with their arguments."""
    chance = random.Random(seed)
    while True:
        run = chance.choice(runs)
        name = run["name"]
        yield chance.choice(
            [
                ("overview", {"run": name}),
                ("findings", {"run": name}),
                ("view", {"kind": chance.choice(["scope", "graph", "op", "code"]), "run": name}),
                ("tool", {"tool": chance.choice(run["tools"]), "run": name, "most_rows": 50}),
                ("tables", {"run": name}),
                ("whatif", {"run": name, "free": ["input"]}),
                ("query", {"run": name, "sql": f"from events limit {chance.randrange(1, 90)}"}),
                ("query", {"sql": "select name, sum(self_ps) from events group by name"}),
                ("source", {"file": "train.py", "line": chance.randrange(99), "run": name}),
                ("view", {"kind": "../x", "by": "(.*)*zq", "run": "../x"}),
            ]
        )


def day(captures: Sequence[str], n_calls: int, seed: int) -> Outcome:
    """A day of calls."""
    return asyncio.run(_day(captures, n_calls, seed))


async def _day(captures: Sequence[str], n_calls: int, seed: int) -> Outcome:
    async with assistant(captures) as (pid, client):
        runs = json.loads(await client.call("runs", {}))["runs"]
        curve, kinds, n_done = Curve(pid), collections.Counter[str](), 0
        began = time.monotonic()

        async def ask(number: int) -> None:
            nonlocal n_done
            for tool, arguments in calls(runs, seed + number):
                if n_done >= n_calls:
                    return
                if n_done >= len(curve.samples) * max(n_calls // _SAMPLES, 1):
                    curve.take(n_done)
                n_done += 1
                kinds[_kind(await client.call(tool, arguments))] += 1

        await asyncio.gather(*map(ask, range(_AT_ONCE)))
    seconds = time.monotonic() - began
    answered = ", ".join(f"{n:,} × {kind}" for kind, n in sorted(kinds.items()))
    lines = [f"{n_done:,} calls in {seconds:,.0f} s: {answered}", *curve.lines()]
    return Outcome(lines, [*_wrong(kinds), *curve.growing()])


def crowd(captures: Sequence[str], n_calls: int) -> Outcome:
    """Calls at once that take all they can get, between lines that are not the protocol."""
    return asyncio.run(_crowd(captures, n_calls))


async def _crowd(captures: Sequence[str], n_calls: int) -> Outcome:
    async with assistant(captures) as (pid, client):
        curve, before = Curve(pid), sample_of(pid)
        for line in HOSTILE_LINES:
            client.send(line)
        asking = [
            asyncio.create_task(client.call("query", {"sql": GREEDY[at % len(GREEDY)]}))
            for at in range(n_calls)
        ]
        began, honest, slowest = time.monotonic(), collections.Counter[str](), 0.0
        while not all(one.done() for one in asking):
            curve.take(0)
            at = time.monotonic()
            honest[_kind(await client.call("overview", {}))] += 1
            slowest = max(slowest, time.monotonic() - at)
            await asyncio.sleep(_WAKE_SECONDS)
        seconds = time.monotonic() - began
        kinds = collections.Counter([_kind(one.result()) for one in asking])
        after = sample_of(pid)
    most_mib = max(one.memory_mib for one in curve.samples)
    n_most = max(one.n_children for one in curve.samples)
    findings = [*_wrong(kinds), *_wrong(honest)]
    if most_mib > before.memory_mib + _MOST_MEMORY_MIB:
        findings.append(f"{most_mib:,.0f} MiB")
    answered = ", ".join(f"{n:,} × {kind}" for kind, n in sorted(kinds.items()))
    lines = [
        f"{n_calls} greedy questions at once: {answered}, in {seconds:,.0f} s",
        f"meanwhile {honest.total():,} overviews, the slowest after {slowest:,.0f} s",
        f"memory of all processes: {before.memory_mib:,.0f} MiB before, {most_mib:,.0f} at most, "
        f"{after.memory_mib:,.0f} after; {n_most} processes for questions at most",
    ]
    return Outcome(lines, findings)


def _kind(text: str) -> str:
    """``answered``, ``cannot answer``, or the beginning of an error."""
    if text.startswith(("error", "Error")):
        return text[:200]
    return "cannot answer" if text.lstrip("{ \n").startswith('"cannot_answer"') else "answered"


def _wrong(kinds: collections.Counter[str]) -> list[str]:
    return [kind for kind in kinds if kind not in ("answered", "cannot answer")]
