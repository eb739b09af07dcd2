"""Metrics of a flight recorder: an observer of its snapshots, and a server that is scraped."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from tfprof.remote.flight.watched import WatchedSnapshot
from tfprof.remote.metrics.exposition import (
    OPENMETRICS,
    PLAIN,
    Family,
    Histogram,
    exposition,
    is_open_wanted,
)
from tfprof.remote.metrics.families import State, families
from tfprof.remote.metrics.figures import figures_of
from tfprof.remote.metrics.server import MetricsServer, listening_address
from tfprof.remote.metrics.worker_totals import WorkerTotals

if TYPE_CHECKING:
    from tfprof.remote.flight import FlightRecorder, Saved

_log = logging.getLogger("tfprof")

_REST = 50.0
"""Rest after the figures of a snapshot, as a multiple of their CPU time: 2 % of a core, however
large snapshots are."""

_RECENT_SECONDS = 30.0
_END_SECONDS = 5.0


class Metrics:
    """Counts what a flight recorder sees, and serves it at ``/metrics``.

    Steps of every snapshot count. Shares need the whole account of time, which costs more, so only
    some snapshots are examined for them, in a thread of its own.

        metrics = Metrics("9090")
        recorder = FlightRecorder("localhost:6009", "logs", watch=metrics.watch)
        with metrics.of(recorder), recorder:
            for saved in recorder.events():
                metrics.saved(saved)

    Args:
        listen: A port of this machine, or ``HOST:PORT``; port 0 takes any free one.
        is_own_process: Whether the CPU time of this process is the recorder's.
        has_condition: Whether the recorder has a condition, so that slow steps are counted.

    Raises:
        UsageError: ``listen`` is not an address.
    """

    def __init__(
        self, listen: str | int, *, is_own_process: bool = True, has_condition: bool = False
    ) -> None:
        self._server = MetricsServer(listening_address(listen), self._answer)
        self._is_own_process, self._has_condition = is_own_process, has_condition
        self._recorder: FlightRecorder | None = None
        self._created, self._cpu_seconds = time.time(), time.process_time()
        self._changed = threading.Condition()
        self._workers: dict[str, WorkerTotals] = {}
        self._waiting: WatchedSnapshot | None = None
        self._next, self._is_over, self._is_busy = 0.0, False, False
        self._n_runs = self._n_failed = 0
        self._most: dict[tuple[str, ...], float] = {}
        self._thread = threading.Thread(target=self._examine, name="tfprof-figures", daemon=True)

    @property
    def url(self) -> str:
        """Address of the metrics; with its port from the start on."""
        return self._server.url

    @property
    def where(self) -> str:
        """The same, for users, and whether other machines may reach it."""
        others = "" if self._server.is_local else ", which other machines may reach"
        return f"{self.url}{others}"

    def of(self, recorder: FlightRecorder) -> Metrics:
        """Also serve what the recorder reports of its workers."""
        self._recorder = recorder
        return self

    def __enter__(self) -> Metrics:
        """Listen.

        Raises:
            UsageError: The address is in use, or not one of this machine.
        """
        self._server.start()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        self._thread.join(_END_SECONDS)
        self._server.stop()

    def watch(self, snapshot: WatchedSnapshot) -> None:
        """Count a snapshot; safe in any thread, and quick."""
        now = time.monotonic()
        with self._changed:
            totals = self._workers.setdefault(snapshot.address, WorkerTotals())
            totals.seen_at = now
            totals.add(snapshot)
            if snapshot.data and self._is_its_turn(totals, now):
                self._waiting = snapshot
                self._changed.notify_all()

    def saved(self, saved: Saved) -> None:
        """Count a run."""
        with self._changed:
            self._n_runs += bool(saved.folder)
            self._n_failed += bool(saved.trouble)

    def _is_its_turn(self, totals: WorkerTotals, now: float) -> bool:
        """Whether figures may cost again, and no worker has waited longer for them."""
        if self._waiting is not None or self._is_busy or now < self._next:
            return False
        return all(
            totals.examined_at <= other.examined_at
            for other in self._workers.values()
            if other.seen_at >= now - _RECENT_SECONDS
        )

    def _examine(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_over or self._waiting is not None)
                if self._is_over:
                    return
                snapshot, self._waiting, self._is_busy = self._waiting, None, True
            assert snapshot is not None
            before = time.thread_time()
            try:
                figures = figures_of(snapshot.data)
            except Exception:  # recording goes on whatever one snapshot holds
                _log.exception("a snapshot of %s has no figures", snapshot.address)
                figures = None
            rest = _REST * (time.thread_time() - before)
            with self._changed:
                now = time.monotonic()
                totals = self._workers[snapshot.address]
                totals.examined_at, self._next, self._is_busy = now, now + rest, False
                if figures is not None:
                    totals.add_figures(figures, snapshot)

    def _answer(self, accept: str) -> tuple[str, bytes]:
        is_open = is_open_wanted(accept)
        observed = {} if self._recorder is None else self._recorder.observed
        cpu = time.process_time() - self._cpu_seconds if self._is_own_process else None
        with self._changed:
            state = State(
                self._created, self._workers, observed, self._has_condition, self._n_runs,
                self._n_failed, cpu,
            )  # fmt: skip
            made = families(state)
            self._never_fall(made)
        return (OPENMETRICS if is_open else PLAIN), exposition(made, is_open=is_open)

    def _never_fall(self, made: Sequence[Family]) -> None:
        """Keep counters from falling by rounding, or when a clock was set back.

        Prometheus takes the least fall for a restart, and adds the whole count once more.
        """
        for family in made:
            for place, (labels, value) in enumerate(family.samples):
                if family.kind == "counter" and not isinstance(value, Histogram):
                    key = family.name, *labels.values()
                    self._most[key] = max(self._most.get(key, 0), value)
                    family.samples[place] = labels, self._most[key]
