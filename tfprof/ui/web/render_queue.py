"""Makes the server's documents: each one once for all requests, and keeps the latest."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from typing import Final

from tfprof.errors import TfprofError

KEPT_BYTES: Final = 32 << 20
"""Most bytes of packed documents to keep."""

MOST_SECONDS: Final = 60.0
"""Longest wait of a request for a document; the work goes on afterwards."""

MOST_WAITING: Final = 1024
"""Most documents to make or queue at once: as many as a server has connections."""

_THREADS: Final = 2
"""Python works on one at a time; the second one keeps small pages from waiting for a large one."""


class BusyError(TfprofError):
    """A document takes long, or too many are queued; the request can be repeated."""


class RenderQueue:
    """Makes documents in threads, which do not keep the program from ending.

    Args:
        most_seconds: Longest wait of a request.
        kept_bytes: Most bytes of packed documents to keep; the latest requests stay.
    """

    def __init__(self, most_seconds: float = MOST_SECONDS, kept_bytes: int = KEPT_BYTES) -> None:
        self._most_seconds, self._kept_bytes = most_seconds, kept_bytes
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._is_closed = False
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._making: dict[Hashable, Future[bytes]] = {}

    async def packed(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """A packed document.

        Args:
            key: Identifies it; the same document is made once for all requests.
            make: Makes and packs it, in a thread.

        Raises:
            BusyError: It takes too long, or too many others do.
            TfprofError: What ``make`` raises.
        """
        future = asyncio.wrap_future(self.begin(key, make))
        future.add_done_callback(_look_at)
        try:
            # A request that stops waiting, such as of a closed browser, does not stop the work.
            return await asyncio.wait_for(asyncio.shield(future), self._most_seconds)
        except (asyncio.TimeoutError, TimeoutError):
            raise self._slow() from None

    def packed_in_thread(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """``packed`` for servers that answer each request in a thread of its own."""
        try:
            return self.begin(key, make).result(self._most_seconds)
        except FutureTimeoutError:
            raise self._slow() from None

    def _slow(self) -> BusyError:
        return BusyError(
            f"This page takes longer than {self._most_seconds:g} s. The server goes on with it: "
            "reload in a moment."
        )

    def begin(self, key: Hashable, make: Callable[[], bytes]) -> Future[bytes]:
        """Begin to make a document, unless it is kept or in progress; from any thread.

        Raises:
            BusyError: Too many others are queued.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                future: Future[bytes] = Future()
                future.set_result(self._kept[key])
                return future
            if key in self._making:
                return self._making[key]
            if len(self._making) >= MOST_WAITING:
                raise BusyError("Too many pages are in the making; ask again in a moment.")
            future = self._making[key] = Future()
            self._jobs.put(partial(self._make, key, make, future))
            if len(self._threads) < _THREADS:
                thread = threading.Thread(target=self._work, name="tfprof-pages", daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def _make(self, key: Hashable, make: Callable[[], bytes], future: Future[bytes]) -> None:
        try:
            packed = make()
        except Exception as error:
            with self._lock:
                del self._making[key]
            future.set_exception(error)
            return
        with self._lock:
            del self._making[key]
            self._keep(key, packed)
        future.set_result(packed)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None and not self._is_closed:
            job()

    def close(self, wait_seconds: float) -> bool:
        """Begin no more documents; returns whether those in the making are done in time.

        Args:
            wait_seconds: How long to wait for them.
        """
        self._is_closed = True
        for _ in self._threads:
            self._jobs.put(None)  # wakes it
        end = time.monotonic() + wait_seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _keep(self, key: Hashable, packed: bytes) -> None:
        if len(packed) > self._kept_bytes:
            return
        self._kept[key] = packed
        while sum(map(len, self._kept.values())) > self._kept_bytes:
            self._kept.popitem(last=False)


def _look_at(future: asyncio.Future[bytes]) -> None:
    """Retrieve an error, as its request may have stopped waiting."""
    if not future.cancelled():
        future.exception()
