"""A crowd of clients with bad habits, and samples of a server meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from fuzz.load.curve import Curve
from fuzz.load.habits import RUDE, Found, Habit

_REST_SECONDS: Final = 0.3
_WAKE_SECONDS: Final = 0.5


@asynccontextmanager
async def rude_crowd(
    port: int, headers: Mapping[str, str], n_clients: int, found: Found
) -> AsyncIterator[None]:
    """Clients with all habits in turn, while the context lasts.

    Args:
        port: The port of the server.
        headers: Headers of a client that it lets in.
        n_clients: How many.
        found: Gets what a hostile client found.
    """
    habits = itertools.islice(itertools.cycle(RUDE.values()), n_clients)
    tasks = [asyncio.create_task(_goes_on(habit, port, headers, found)) for habit in habits]
    async with _until_the_end(*tasks):
        yield


async def _goes_on(habit: Habit, port: int, headers: Mapping[str, str], found: Found) -> None:
    while True:
        with contextlib.suppress(OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
            await habit(port, headers, found)
        await asyncio.sleep(_REST_SECONDS)


@asynccontextmanager
async def watched(curve: Curve) -> AsyncIterator[None]:
    """Samples of a process, while the context lasts."""

    async def watch() -> None:
        while True:
            curve.take(0)
            await asyncio.sleep(_WAKE_SECONDS)

    async with _until_the_end(asyncio.create_task(watch())):
        yield


@asynccontextmanager
async def _until_the_end(*tasks: asyncio.Task[None]) -> AsyncIterator[None]:
    """End tasks with the context; their errors are those of the context."""
    try:
        yield
    finally:
        pending = set(tasks)
        while pending:  # before Python 3.12, wait_for may swallow that it was cancelled
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=1.0)
    for error in (task.exception() for task in tasks if not task.cancelled()):
        if isinstance(error, Exception):
            raise error
