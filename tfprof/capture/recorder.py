"""A flight recorder in the program that it records, through the program's own profiler server."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from tfprof.capture.serving import ProfilerServer, running_server, serve
from tfprof.errors import UsageError
from tfprof.options.captures import CaptureOptions

if TYPE_CHECKING:
    from tfprof.remote.flight import FlightRecorder, Saved
    from tfprof.remote.metrics import Metrics

_log = logging.getLogger("tfprof")

_WRITING_SECONDS = 60.0


class Recorder:
    """Keeps the last seconds of this program, and writes them as a run when something happens.

        with tfprof.capture.Recorder("logs", keep=60, when="step_time > 3 * median") as recorder:
            for number, batch in enumerate(batches):
                with tfprof.capture.step(number):
                    train(batch)

    A run is written for each slow step, by ``save``, and when an exception leaves the block. It
    needs grpcio: threads of this process call the program's profiler server, which ``serve``
    starts if there is none.

    Args:
        logdir: Log folder; each event becomes ``plugins/profile/RUN`` in it.
        keep: How many seconds to keep.
        when: A condition on steps, as for ``tfprof record --when``; None writes only on request.
        after: How many seconds after an event to keep, too.
        interval: Seconds from one snapshot to the next.
        options: What to record, and by which framework.
        metrics: Serve figures for Prometheus at this port of this machine, or at ``HOST:PORT``; 0
            takes any free port. An address in use is logged, and the program goes on.
        count: Number of runs after which recording ends; None for no limit.

    Raises:
        UsageError: An argument is wrong.
        MissingDependencyError: grpcio or the framework is not installed.
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        *,
        keep: float = 60.0,
        when: str | None = None,
        after: float = 0.0,
        interval: float = 8.0,
        options: CaptureOptions | None = None,
        metrics: str | int | None = None,
        count: int | None = None,
    ) -> None:
        self._count = count
        self._logdir, self._options = os.fspath(logdir), options or CaptureOptions()
        self._keep, self._when, self._after, self._interval = keep, when, after, interval
        self._server: ProfilerServer | None = None
        self._flight: FlightRecorder | None = None
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()
        self._runs: list[Saved] = []
        self._is_over = True
        self._listen, self._ending = metrics, ExitStack()
        self._metrics_url: str | None = None
        self._metrics = self._new_metrics()
        self._make(port=1)  # finds what is wrong before anything starts

    @property
    def is_over(self) -> bool:
        """Whether it does not record: before its block, after it, and after ``count`` runs."""
        return self._is_over

    @property
    def runs(self) -> tuple[Saved, ...]:
        """The runs so far, with their reasons."""
        return tuple(self._runs)

    @property
    def metrics_url(self) -> str | None:
        """Where metrics are served; None if they are not."""
        return self._metrics_url

    @property
    def n_steps(self) -> int:
        """Number of steps that it has recorded so far."""
        return sum(each.n_steps for each in self._flight.observed.values()) if self._flight else 0

    def save(self, reason: str, *, timeout: float | None = None) -> Saved | None:
        """Write the kept seconds now.

        Args:
            reason: A description of the event.
            timeout: Seconds to wait for the run; None waits for ``after`` and another minute.

        Returns:
            The written run; None if that takes longer.

        Raises:
            UsageError: It does not record.
        """
        if self._flight is None or self._is_over:
            raise UsageError("the recorder is not recording: use it inside its block")
        limit = self._after + _WRITING_SECONDS if timeout is None else timeout
        with self._changed:
            n_before = len(self._runs)
            self._flight.save(reason)
            self._changed.wait_for(
                lambda: self._is_over or self._with_reason(reason, n_before), limit
            )
            return self._with_reason(reason, n_before)

    def __enter__(self) -> Recorder:
        """Begin.

        Raises:
            UsageError: Something else records this process.
            InputError: The folder cannot be written, or the server does not answer.
        """
        self._server = running_server() or serve(0, self._options.framework)
        self._metrics = self._new_metrics()
        self._flight = self._make(self._server.port)
        with ExitStack() as ending:
            if self._metrics is not None:
                self._metrics_url = _served(self._metrics.of(self._flight), ending)
            ending.enter_context(self._flight)
            self._ending = ending.pop_all()
        self._is_over = False
        self._thread = threading.Thread(target=self._write, name="tfprof-recorder")
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._flight is not None and self._thread is not None
        try:
            if isinstance(error, Exception) and not self._is_over:
                self.save(f"{type(error).__name__}: {error}")
        finally:
            self._flight.stop()
            self._thread.join()
            self._ending.close()

    def _new_metrics(self) -> Metrics | None:
        if self._listen is None:
            return None
        from tfprof.remote.metrics import Metrics

        has_condition = self._when is not None
        return Metrics(self._listen, is_own_process=False, has_condition=has_condition)

    def _make(self, port: int) -> FlightRecorder:
        from tfprof.remote.flight import FlightRecorder

        return FlightRecorder(
            f"localhost:{port}", self._logdir, keep_seconds=self._keep, when=self._when,
            after_seconds=self._after, interval_seconds=self._interval,
            options=replace(self._options, framework=""), count=self._count,
            watch=None if self._metrics is None else self._metrics.watch,
        )  # fmt: skip

    def _with_reason(self, reason: str, n_before: int) -> Saved | None:
        return next((run for run in self._runs[n_before:] if reason in run.reason), None)

    def _write(self) -> None:
        assert self._flight is not None
        try:
            for saved in self._flight.events():
                said = saved.trouble or saved.folder or "nothing was recorded since the last run"
                _log.warning("%s: %s", saved.reason, said)
                if self._metrics is not None:
                    self._metrics.saved(saved)
                with self._changed:
                    self._runs.append(saved)
                    self._changed.notify_all()
        finally:
            with self._changed:
                self._is_over = True
                self._changed.notify_all()


def _served(metrics: Metrics, ending: ExitStack) -> str | None:
    """Where metrics are served until the end; None if the address is in use.

    Ranks of a job on one machine have the same port, and go on without metrics.
    """
    try:
        ending.enter_context(metrics)
    except UsageError as error:
        _log.warning("there are no metrics: %s", error)
        return None
    _log.info("metrics: %s", metrics.where)
    return metrics.url
