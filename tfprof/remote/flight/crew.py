"""The workers of a flight recorder; those of a source come and go."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from tfprof.errors import InputError, TfprofError
from tfprof.remote.addresses import Address, addresses_of
from tfprof.remote.discovery.source import Source
from tfprof.remote.flight.watched import WatchedWorker

FOLLOW_SECONDS = 10.0
"""From one look at the source to the next."""
_AGAIN_SECONDS = 60.0
"""After so long a listed worker that was given up is tried again."""
_LOOKS_WITHOUT = 2
"""A worker that so many looks in a row do not list is gone: files may be read half written."""


class Crew:
    """Records workers, and follows the source that lists them.

    Attributes:
        workers: All workers now; replaced as a whole, so that every thread may go through it.

    Args:
        workers: Their addresses, or their source.
        make: Makes a worker, which is not started.
        keep_seconds: How long the snapshots of a worker that has left are kept.
        follow_seconds: From one look at the source to the next; None for what suits the source.
        say: Receives remarks.

    Raises:
        UsageError: The list of addresses is wrong.
    """

    def __init__(
        self,
        workers: str | Sequence[str] | Source,
        make: Callable[[Address], WatchedWorker],
        *,
        keep_seconds: float,
        follow_seconds: float | None,
        say: Callable[[str], None],
    ) -> None:
        self._source = workers if callable(workers) else None
        self._make, self._say = make, say
        suited = getattr(workers, "seconds", FOLLOW_SECONDS)
        self._keep, self._pause = keep_seconds, follow_seconds or suited
        self._stop = threading.Event()
        self._trouble = ""
        self._unlisted: dict[Address, tuple[int, float]] = {}  # looks without it, since when
        self._ended: dict[Address, float] = {}
        listed = [] if callable(workers) else addresses_of(workers)
        self.workers: tuple[WatchedWorker, ...] = tuple(map(make, listed))
        # A source may stand still, as a network's folder does; that must not keep the process.
        self._thread = threading.Thread(target=self._follow, name="tfprof-follow", daemon=True)

    @property
    def may_grow(self) -> bool:
        """Whether other workers may come."""
        return self._source is not None

    def start(self) -> None:
        """Begin with all workers, in the background.

        Raises:
            TfprofError: The source does not answer; later this is a remark.
        """
        if self._source is not None:
            self.workers = tuple(map(self._make, dict.fromkeys(self._source())))
            self._thread.start()
        for worker in self.workers:
            worker.start()

    def stop(self) -> None:
        """End all sessions, in the background."""
        self._stop.set()
        for worker in self.workers:
            worker.stop()

    def _follow(self) -> None:
        assert self._source is not None
        while not self._stop.wait(self._pause):
            try:
                listed = self._source()
            except TfprofError as error:
                self._note(str(error))
                continue
            except Exception as error:  # of the user's own source: recording goes on
                self._note(f"the source of workers fails with {type(error).__name__}: {error}")
                continue
            if not self._stop.is_set():
                self._note("")
                self.update(list(dict.fromkeys(listed)), time.monotonic())

    def _note(self, trouble: str) -> None:
        if trouble and trouble != self._trouble:
            self._say(f"{trouble}. Workers that are known are still recorded")
        elif self._trouble and not trouble:
            self._say("the list of workers can be read again")
        self._trouble = trouble

    def update(self, listed: Sequence[Address], now: float) -> None:
        """Begin with workers that are new in the list, and end with those that left it.

        Args:
            listed: All addresses.
            now: Seconds that never go back.
        """
        known = {worker.address for worker in self.workers}
        for address in [*self._unlisted]:
            if address in listed:
                del self._unlisted[address]
        stays = [worker for worker in self.workers if self._stays(worker, listed, now)]
        for address in listed:
            if address not in known:
                worker = self._make(address)
                worker.start()
                stays.append(worker)
                self._say(f"{address}: found")
        self.workers = tuple(stays)
        if self._stop.is_set():  # meanwhile
            self.stop()

    def _stays(self, worker: WatchedWorker, listed: Sequence[Address], now: float) -> bool:
        address = worker.address
        if address in listed:
            self._retry(worker, now)
            return True
        looks, since = self._unlisted.get(address, (0, now))
        self._unlisted[address] = (looks + 1, since)
        if looks + 1 == _LOOKS_WITHOUT:
            worker.stop()
        if worker.is_alive or now - since < self._keep:
            return True
        del self._unlisted[address]
        self._ended.pop(address, None)
        self._say(f"{address}: no longer listed; {worker.observed}")
        worker.ring.close()
        return False

    def _retry(self, worker: WatchedWorker, now: float) -> None:
        """Try a worker again that was given up: another program may be there by now."""
        if worker.is_alive or not worker.may_come_back:
            self._ended.pop(worker.address, None)
        elif now - self._ended.setdefault(worker.address, now) >= _AGAIN_SECONDS:
            worker.start()


def none_recorded(workers: Sequence[WatchedWorker]) -> InputError:
    """The error if no worker can be recorded."""
    reasons = "\n".join(f"  {each.address}: {each.trouble}" for each in workers)
    return InputError(f"no worker can be recorded:\n{reasons}")
