"""A flight recorder: the last seconds of running programs, written when something happens."""

from __future__ import annotations

import json
import logging
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tfprof.errors import InputError, TfprofError, UsageError
from tfprof.options.captures import CaptureOptions
from tfprof.remote.addresses import addresses_of
from tfprof.remote.flight.conditions import condition
from tfprof.remote.flight.keeping import Kept, one_capture
from tfprof.remote.flight.sessions import LONGEST_INTERVAL_SECONDS
from tfprof.remote.flight.watched import Observed, Settings, WatchedWorker
from tfprof.remote.requests import Received
from tfprof.remote.service import load_grpc
from tfprof.remote.staging import Staging, new_run_name
from tfprof.remote.troubles import ServerError

_log = logging.getLogger("tfprof")

KEEP_SECONDS = 60.0
INTERVAL_SECONDS = 8.0
"""Snapshots are most of what recording costs; longer ones would seem to be nobody's too soon."""
MOST_BYTES = 1 << 30
_ANSWER_SECONDS = 30.0
_POLL_SECONDS = 0.02
_MOST_SECONDS = 86400.0
_MOST_REASONS = 5


@dataclass(frozen=True, slots=True)
class Saved:
    """The seconds around an event, as a run.

    Attributes:
        reason: What happened.
        time: When, in seconds since 1970.
        folder: The run's folder; empty if it could not be written, or there was nothing to write.
        seconds: How much time the run covers.
        files: Its files, one of each worker.
        trouble: Why it could not be written, or which workers are missing.
    """

    reason: str
    time: float
    folder: str
    seconds: float
    files: tuple[str, ...]
    trouble: str = ""

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


class FlightRecorder:
    """Records programs that run a profiler server, all the time, and keeps the last seconds.

    Used as a context: sessions begin when it is entered, and are handed back when it is left,
    whatever happens. In between ``events`` waits for what happens:

        with FlightRecorder("localhost:6009", "logs", when="step_time > 3 * median") as recorder:
            for saved in recorder.events():
                print(saved.reason, saved.folder)

    What was written is kept no longer: the next run has what happened since.

    Args:
        addresses: ``HOST:PORT`` of each worker; commas separate several.
        logdir: Log folder; each event becomes ``plugins/profile/RUN`` in it.
        keep_seconds: How much is kept, to the next snapshot.
        when: A condition on steps, such as ``step_time > 3 * median``; see
            ``tfprof.remote.flight.conditions``.
        after_seconds: How much of what follows an event is kept, too.
        interval_seconds: From one snapshot to the next.
        options: What is recorded.
        count: Number of runs after which it ends; None goes on.
        for_seconds: Time after which it ends; None goes on.
        most_bytes: How much is kept of a worker at most; older seconds go first.
        overhead_seconds: Time at the start in which steps with and without a session are
            compared; 0 leaves that out.
        retries: Further attempts to begin with a worker.
        answer_seconds: How long a server may take for a snapshot; then it hangs.
        say: Is called with what recording costs, once that is known.

    Raises:
        UsageError: An argument is wrong.
        MissingDependencyError: grpcio is not installed.
    """

    def __init__(
        self,
        addresses: str | Sequence[str],
        logdir: str | Path,
        *,
        keep_seconds: float = KEEP_SECONDS,
        when: str | None = None,
        after_seconds: float = 0.0,
        interval_seconds: float = INTERVAL_SECONDS,
        options: CaptureOptions | None = None,
        count: int | None = None,
        for_seconds: float | None = None,
        most_bytes: int = MOST_BYTES,
        overhead_seconds: float = 0.0,
        retries: int = 3,
        answer_seconds: float = _ANSWER_SECONDS,
        say: Callable[[str], None] = _log.info,
    ) -> None:
        for name, seconds, least, most in (
            ("keep", keep_seconds, 0.1, _MOST_SECONDS),
            ("after", after_seconds, 0.0, _MOST_SECONDS),
            ("interval", interval_seconds, 0.05, LONGEST_INTERVAL_SECONDS),
            ("for", for_seconds, 0.0, float("inf")),
            ("overhead-check", overhead_seconds, 0.0, _MOST_SECONDS),
        ):
            if seconds is not None and not least <= seconds <= most:
                span = f"from {least:g} to {most:g} s"
                raise UsageError(f"option {name}={seconds:g} s must be {span}")
        if count is not None and count < 1:
            raise UsageError(f"option count={count} must be 1 or more")
        if most_bytes < 1 or retries < 0:
            raise UsageError("options most_bytes and retries must not be negative")
        if options is not None and (options.delay or options.duration or options.session_id):
            raise UsageError("options delay, duration and session_id are not for flight recorders")
        settings = Settings(
            keep_seconds, interval_seconds, condition(when) if when else None,
            options or CaptureOptions(), most_bytes, overhead_seconds, retries, answer_seconds, say,
        )  # fmt: skip
        self._logdir, self._after = logdir, after_seconds
        self._count, self._for, self._answer = count, for_seconds, answer_seconds
        self._told: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        load_grpc()
        self._workers = [
            WatchedWorker(address, settings, self._told.put, lambda: self._told.put(None))
            for address in addresses_of(addresses)
        ]
        self._reported: set[WatchedWorker] = set()
        self._is_stopped = False
        self._cpu_seconds = self._start = 0.0

    def __enter__(self) -> FlightRecorder:
        """Begin.

        Raises:
            InputError: The folder cannot be written, or no worker can be recorded.
        """
        with Staging(self._logdir, new_run_name(self._logdir, None)):
            pass  # before anything is recorded
        self._cpu_seconds, self._start = time.process_time(), time.monotonic()
        try:
            for worker in self._workers:
                worker.start()
            while not self._is_stopped and any(
                each.is_alive and not each.has_begun for each in self._workers
            ):
                time.sleep(_POLL_SECONDS)
            if not self._is_stopped and not any(each.has_begun for each in self._workers):
                reasons = "\n".join(f"  {each.address}: {each.trouble}" for each in self._workers)
                raise InputError(f"no worker can be recorded:\n{reasons}")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def save(self, reason: str) -> None:
        """Let ``events`` write what is kept; may be called from any thread or signal handler."""
        self._told.put(reason)

    def stop(self) -> None:
        """Let ``events`` end; may be called from any thread or signal handler."""
        self._is_stopped = True
        self._told.put(None)

    @property
    def observed(self) -> dict[str, Observed]:
        """What was recorded of each worker so far, by its address."""
        return {str(worker.address): worker.observed for worker in self._workers}

    @property
    def cpu_percent(self) -> float:
        """CPU time that this process took since the start, of one core."""
        passed = time.monotonic() - self._start
        return 100 * (time.process_time() - self._cpu_seconds) / passed if passed > 0 else 0.0

    @property
    def remarks(self) -> list[str]:
        """What users should know about how the workers are recorded."""
        said = []
        for worker in self._workers:
            if worker.has_begun and worker.observed.way == "captures":
                said.append(f"{worker.address} has no continuous profiling: short captures follow "
                            "each other, and what happens between them is lost")  # fmt: skip
            if worker.has_cleared:
                said.append(f"{worker.address} had a session of a recorder that is gone; it was "
                            "ended")  # fmt: skip
            if not worker.has_begun and worker.trouble:
                said.append(f"{worker.address} is not recorded: {worker.trouble}")
            if worker.ring.was_short:
                said.append(f"{worker.address}: less time is kept than was asked for, because "
                            "the snapshots are too large")  # fmt: skip
            if worker.ring.n_jumps:
                said.append(f"{worker.address}: its clock jumped; times of the run count on")
        return said

    def events(self) -> Iterator[Saved]:
        """Wait for what happens, and write a run for each event.

        Ends when no worker is left, after ``count`` events or ``for_seconds``, and after
        ``stop``. That a worker ends is an event, too.
        """
        until = None if self._for is None else self._start + self._for
        n_saved = 0
        while not self._is_stopped:
            reason = self._next_reason(until)
            if reason is None:
                break
            yield (saved := self._saved(reason))
            n_saved += bool(saved.folder)
            if n_saved == self._count:
                break

    def _next_reason(self, until: float | None) -> str | None:
        """The reason of the next event; None at the end."""
        while not self._is_stopped:
            if all(worker.is_over for worker in self._workers) and self._told.empty():
                return self._an_end()
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return None
            try:
                told = self._told.get(timeout=left)
            except queue.Empty:
                return None
            reason = told if told is not None else self._an_end()
            if reason is not None:
                return reason
        return None

    def _an_end(self) -> str | None:
        """That a worker which was recorded has ended; each once."""
        for worker in self._workers:
            if worker.trouble and worker.has_begun and worker not in self._reported:
                self._reported.add(worker)
                return f"{worker.address} ended: {worker.trouble}"
        return None

    def _saved(self, reason: str) -> Saved:
        """Wait for what follows an event, and write."""
        when = time.time()
        reasons = [reason]
        until = time.monotonic() + self._after
        while (left := until - time.monotonic()) > 0 and not self._is_stopped:
            if not any(worker.is_recording for worker in self._workers):
                break
            try:
                told = self._told.get(timeout=left)
            except queue.Empty:
                break
            reasons += [each for each in [told if told is not None else self._an_end()] if each]
        for worker in self._workers:
            if worker.is_recording:
                worker.flush(self._answer)
        while not self._told.empty():  # of the same seconds
            told = self._told.get()
            reasons += [each for each in [told if told is not None else self._an_end()] if each]
        text = "; ".join(dict.fromkeys(reasons[:_MOST_REASONS]))
        return self._written(text, when)

    def _written(self, reason: str, when: float) -> Saved:
        taken = {worker: worker.ring.taken() for worker in self._workers}
        kept = {worker: each for worker, each in taken.items() if each}
        if not kept:
            return Saved(reason, when, "", 0.0, ())
        seconds = max((each[-1].end_ns - each[0].begin_ns) / 1e9 for each in kept.values())
        try:
            folder, files, troubles = self._write(kept, reason, when, seconds)
        except (InputError, ServerError, OSError) as error:
            for worker, snapshots in kept.items():
                worker.ring.give_back(snapshots)
            return Saved(reason, when, "", seconds, (), f"it could not be written: {error}")
        for snapshots in kept.values():
            for each in snapshots:
                each.drop()
        return Saved(reason, when, folder, seconds, tuple(files), "; ".join(troubles))

    def _write(
        self, kept: dict[WatchedWorker, list[Kept]], reason: str, when: float, seconds: float
    ) -> tuple[str, list[str], list[str]]:
        files, troubles = [], []
        with Staging(self._logdir, new_run_name(self._logdir, None)) as staging:
            for worker, snapshots in kept.items():
                try:
                    data = one_capture(snapshots)
                except TfprofError as error:
                    troubles.append(f"{worker.address}: {error}")
                    continue
                whole = Received((memoryview(data),), False, ())
                files.append(staging.keep(worker.address, whole))
            if not files:
                raise InputError("; ".join(troubles))
            about = {"reason": reason, "time": when, "seconds": round(seconds, 3)}
            staging.note("record.json", json.dumps(about, indent=1) + "\n")
            folder = staging.finish(is_named=False)
        return folder, files, troubles

    def _end(self) -> None:
        """Hand all sessions back; whoever is in a hurry still waits for that, a few seconds."""
        interrupt = None
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            while worker.is_alive:
                try:
                    worker.join()
                except KeyboardInterrupt as error:
                    interrupt = error
            worker.ring.close()
        if interrupt is not None:
            raise interrupt
