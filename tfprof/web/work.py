"""Work of a server: each document is made once, however many ask, and the last ones are kept."""

from __future__ import annotations

import asyncio
import gzip
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from tfprof.errors import TfprofError

KEPT_BYTES: Final = 32 << 20
"""Packed documents that are kept."""

MOST_SECONDS: Final = 60.0
"""Longest time that somebody waits for a document; the work goes on."""

MOST_WAITING: Final = 32
"""Different documents that may be in the making."""

_LEVEL: Final = 5
_THREADS: Final = 2
"""Python works on one at a time; the second one keeps small pages from waiting for a large one."""


class BusyError(TfprofError):
    """A document takes long, or too many are asked for; it can be asked for again."""


class Work:
    """Makes documents in threads.

    Args:
        most_seconds: Longest time that somebody waits.
        kept_bytes: Packed documents that are kept, the last ones asked for.
    """

    def __init__(self, most_seconds: float = MOST_SECONDS, kept_bytes: int = KEPT_BYTES) -> None:
        self._most_seconds, self._kept_bytes = most_seconds, kept_bytes
        self._pool = ThreadPoolExecutor(_THREADS, "tfprof-pages")
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._making: dict[Hashable, asyncio.Task[bytes]] = {}

    async def packed(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """A document, packed by gzip.

        Args:
            key: Says which it is; the same document is made once for all who wait for it.
            make: Makes it, in a thread.

        Raises:
            BusyError: It takes too long, or too many others do.
            TfprofError: What ``make`` raises.
        """
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        task = self._making.get(key)
        if task is None:
            if len(self._making) >= MOST_WAITING:
                raise BusyError("Too many pages are in the making; ask again in a moment.")
            task = asyncio.create_task(self._made(key, make))
            task.add_done_callback(_look_at)
            self._making[key] = task
        try:
            # Whoever stops waiting, be it a browser that went away, does not stop the work.
            return await asyncio.wait_for(asyncio.shield(task), self._most_seconds)
        except (asyncio.TimeoutError, TimeoutError):
            raise BusyError(
                f"This page takes longer than {self._most_seconds:g} s. The server goes on with "
                "it: reload in a moment."
            ) from None

    async def _made(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        loop = asyncio.get_running_loop()
        try:
            packed = await loop.run_in_executor(self._pool, lambda: _pack(make()))
            self._keep(key, packed)
            return packed
        finally:
            del self._making[key]

    def _keep(self, key: Hashable, packed: bytes) -> None:
        if len(packed) > self._kept_bytes:
            return
        self._kept[key] = packed
        while sum(map(len, self._kept.values())) > self._kept_bytes:
            self._kept.popitem(last=False)


def _pack(document: bytes) -> bytes:
    return gzip.compress(document, _LEVEL, mtime=0)


def _look_at(task: asyncio.Task[bytes]) -> None:
    """Nobody may be waiting any longer: then nobody is told of an error, which is no error."""
    if not task.cancelled():
        task.exception()
