"""A flight recorder: writes the last seconds of running programs when something happens."""

from __future__ import annotations

import json
import logging
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from tfprof.errors import InputError, TfprofError, UsageError
from tfprof.options.captures import CaptureOptions
from tfprof.remote.addresses import addresses_of
from tfprof.remote.flight.conditions import condition
from tfprof.remote.flight.events import Event, Saved, notes_of, reason_of, steps_of, with_ends
from tfprof.remote.flight.keeping import Kept, one_capture
from tfprof.remote.flight.observed import Observed
from tfprof.remote.flight.sessions import LONGEST_INTERVAL_SECONDS
from tfprof.remote.flight.watched import Settings, WatchedSnapshot, WatchedWorker
from tfprof.remote.requests import Received
from tfprof.remote.service import load_grpc
from tfprof.remote.staging import Staging, new_run_name
from tfprof.remote.troubles import ServerError

_log = logging.getLogger("tfprof")

KEEP_SECONDS = 60.0
INTERVAL_SECONDS = 8.0
"""Snapshots are most of the cost of recording, but a session with a longer interval would soon
look abandoned."""
COOLDOWN_SECONDS = 10.0
MOST_RUNS = 100
MOST_BYTES = 1 << 30
_ANSWER_SECONDS = 30.0
_POLL_SECONDS = 0.2
_MOST_SECONDS = 86400.0


class FlightRecorder:
    """Records programs with a profiler server continuously, and keeps the last seconds.

    Use it as a context: sessions begin on entry and always end on exit. In between, ``events``
    waits for events:

        with FlightRecorder("localhost:6009", "logs", when="step_time > 3 * median") as recorder:
            for saved in recorder.events():
                print(saved.reason, saved.folder)

    Once written, snapshots are dropped: the next run holds what happened since.

    Args:
        addresses: ``HOST:PORT`` of each worker; commas separate several.
        logdir: Log folder; each event becomes ``plugins/profile/RUN`` in it.
        keep_seconds: How many seconds are kept, rounded up to whole snapshots.
        when: A condition on steps, such as ``step_time > 3 * median``; see
            ``tfprof.remote.flight.conditions``.
        after_seconds: How many seconds after an event are written, too.
        interval_seconds: Longest time between snapshots; it is shorter while snapshots are large,
            because the program's memory grows with them.
        options: What to record.
        count: Number of runs after which recording ends; None for no limit.
        for_seconds: Time after which recording ends; None for no limit.
        most_bytes: Most bytes to keep of a worker; the oldest seconds are dropped first.
        overhead_seconds: Time at the start in which steps with and without a session are
            compared; 0 skips that.
        retries: Further attempts to begin with a worker.
        answer_seconds: How long a server may take for a snapshot before it counts as hung.
        cooldown_seconds: Shortest time between two runs of the condition; the second one has all
            slow steps in between.
        most_runs: Most runs that the condition may write.
        most_program_bytes: Resident memory at which recording of a program stops, where it is
            visible; None for no limit.
        restart_seconds: How long to wait for programs to come back when none is left.
        say: Receives remarks, such as the cost of recording.
        watch: Receives every snapshot, in the thread of its worker; it must be quick and not
            raise.
        writes_silent: Write a run when a worker does not answer in time; not if a ``HangWatch``
            judges that.

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
        cooldown_seconds: float = COOLDOWN_SECONDS,
        most_runs: int = MOST_RUNS,
        most_program_bytes: int | None = None,
        restart_seconds: float = 0.0,
        say: Callable[[str], None] = _log.info,
        watch: Callable[[WatchedSnapshot], None] | None = None,
        writes_silent: bool = True,
    ) -> None:
        for name, seconds, least, most in (
            ("keep", keep_seconds, 0.1, _MOST_SECONDS),
            ("after", after_seconds, 0.0, _MOST_SECONDS),
            ("interval", interval_seconds, 0.05, LONGEST_INTERVAL_SECONDS),
            ("for", for_seconds, 0.0, float("inf")),
            ("overhead-check", overhead_seconds, 0.0, _MOST_SECONDS),
            ("cooldown", cooldown_seconds, 0.0, _MOST_SECONDS),
            ("restart-wait", restart_seconds, 0.0, _MOST_SECONDS),
        ):
            if seconds is not None and not least <= seconds <= most:
                span = f"from {least:g} to {most:g} s"
                raise UsageError(f"option {name}={seconds:g} s must be {span}")
        if count is not None and count < 1:
            raise UsageError(f"option count={count} must be 1 or more")
        if most_runs < 1:
            raise UsageError(f"option most_runs={most_runs} must be 1 or more")
        if most_program_bytes is not None and most_program_bytes < 1:
            raise UsageError(f"option most_program_bytes={most_program_bytes} must be above 0")
        if most_bytes < 1 or retries < 0:
            raise UsageError("options most_bytes and retries must not be negative")
        if options is not None and (options.delay or options.duration or options.session_id):
            raise UsageError("options delay, duration and session_id are not for flight recorders")
        settings = Settings(
            keep_seconds, interval_seconds, condition(when) if when else None,
            options or CaptureOptions(), most_bytes, overhead_seconds, retries, answer_seconds,
            most_program_bytes, say, watch, writes_silent,
        )  # fmt: skip
        self._logdir, self._after, self._say = logdir, after_seconds, say
        self._count, self._for, self._restart = count, for_seconds, restart_seconds
        self._cooldown, self._most_runs = cooldown_seconds, most_runs
        self._told: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._held: list[Event] = []  # for the condition, in its cool-down
        self._next_write = 0.0
        self._n_written = self._n_left_out = 0
        load_grpc()
        self._workers = [
            WatchedWorker(address, settings, self._told.put) for address in addresses_of(addresses)
        ]
        self._is_stopped, self._judges = False, settings.when is not None
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
            while not self._is_stopped and not all(
                each.wait_settled(_POLL_SECONDS) for each in self._workers
            ):
                pass
            if not self._is_stopped and not any(each.has_begun for each in self._workers):
                reasons = "\n".join(f"  {each.address}: {each.trouble}" for each in self._workers)
                raise InputError(f"no worker can be recorded:\n{reasons}")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def save(self, reason: str, beside: Mapping[str, str] | None = None) -> None:
        """Make ``events`` write a run now; safe in any thread or signal handler.

        Args:
            reason: Why.
            beside: Texts to write beside the captures, by the names of their files.
        """
        self._told.put(Event(reason, beside=beside or {}))

    def keep_from(self, address: str, begin_ns: int | None) -> None:
        """Keep what a worker did from a moment on, however old it becomes; None ends that.

        Args:
            address: The worker's.
            begin_ns: The moment, as in ``WatchedSnapshot``.
        """
        for worker in self._workers:
            if str(worker.address) == address:
                worker.ring.from_ns = begin_ns

    def stop(self) -> None:
        """Make ``events`` end; safe in any thread or signal handler."""
        self._is_stopped = True
        self._told.put(_WAKE)

    @property
    def observed(self) -> dict[str, Observed]:
        """How much was recorded of each worker so far, by its address."""
        return {str(worker.address): worker.observed for worker in self._workers}

    @property
    def cpu_percent(self) -> float:
        """CPU time of this process since the start, as a share of one core."""
        passed = time.monotonic() - self._start
        return 100 * (time.process_time() - self._cpu_seconds) / passed if passed > 0 else 0.0

    @property
    def remarks(self) -> list[str]:
        """Remarks for users about the recording of the workers."""
        said = []
        for worker in self._workers:
            if worker.has_begun and worker.observed.way == "captures":
                said.append(f"{worker.address} has no continuous profiling: short captures follow "
                            "each other, and what happens between them is lost")  # fmt: skip
            if worker.has_cleared:
                said.append(f"{worker.address} had a session of a recorder that is gone; it was "
                            "ended")  # fmt: skip
            if worker.n_unclear:
                said.append(f"{worker.address}: of {worker.n_unclear} steps that snapshots have "
                            "cut, or that ran while nothing was recorded, it is not known whether "
                            "they were slow: the time between steps differs as much; mark them "
                            "with tfprof.capture.step")  # fmt: skip
            if not worker.has_begun and worker.trouble:
                said.append(f"{worker.address} is not recorded: {worker.trouble}")
            if worker.ring.was_short:
                said.append(f"{worker.address}: less time is kept than requested, because "
                            "the snapshots are too large")  # fmt: skip
            if worker.ring.n_jumps:
                said.append(f"{worker.address}: its clock jumped; times of the run count on")
        return said

    def events(self) -> Iterator[Saved]:
        """Wait for events, and write a run for each.

        Ends when no worker is left, after ``count`` events or ``for_seconds``, and after
        ``stop``; slow steps that are still waiting are written at the end. The end of a worker
        is an event, too.
        """
        until = None if self._for is None else self._start + self._for
        n_saved = 0
        while n_saved != self._count and (happened := self._next(until)):
            yield (saved := self._saved(happened))
            n_saved += bool(saved.folder)
        while n_saved != self._count and (rest := self._rest()):
            yield (saved := self._written(rest, time.time()))
            n_saved += bool(saved.folder)
            if saved.trouble:
                return

    def _next(self, until: float | None) -> list[Event]:
        """Events to write now; none at the end."""
        alone_since = None
        while not self._is_stopped:
            now = time.monotonic()
            if self._held and now >= self._next_write:
                return self._let_go()
            if not any(worker.is_recording for worker in self._workers) and self._told.empty():
                alone_since = now if alone_since is None else alone_since
                may_return = any(worker.is_alive for worker in self._workers)
                if not may_return or now >= alone_since + self._restart:
                    return []
            else:
                alone_since = None
            if until is not None and now >= until:
                return []
            waits = [_POLL_SECONDS, *([] if until is None else [until - now])]
            try:
                event = self._told.get(timeout=max(0.0, min(waits)))
            except queue.Empty:
                continue
            if event is not _WAKE and self._is_due(event):
                return [*self._let_go(), event]
        return []

    def _is_due(self, event: Event) -> bool:
        """Whether to write an event at once; otherwise it waits, or is left out."""
        if event.is_end:
            self._held = with_ends([*self._held, event])
            return False
        if not event.is_condition:
            return True
        if self._n_written >= self._most_runs:
            if not self._n_left_out:
                self._say(f"{self._n_written} runs were written for the condition, which is the "
                          "limit: it writes no more")  # fmt: skip
            self._n_left_out += 1
            return False
        self._held.append(event)
        return False

    def _let_go(self) -> list[Event]:
        held, self._held = self._held, []
        return held

    def _saved(self, happened: list[Event]) -> Saved:
        """Wait for ``after_seconds``, and write."""
        when = time.time()
        until = time.monotonic() + self._after
        while (left := until - time.monotonic()) > 0 and not self._is_stopped:
            if not any(worker.is_recording for worker in self._workers):
                break
            try:
                happened.append(self._told.get(timeout=min(left, _POLL_SECONDS)))
            except queue.Empty:
                continue
        # A hang is long over its last data, and one that hangs would delay its run.
        late = [] if all(event.beside for event in happened) else self._flush()
        return self._written([*happened, *self._all_told()], when, late)

    def _rest(self) -> list[Event]:
        """Slow steps that are still unwritten at the end, up to the last moment."""
        if self._judges:
            self._flush()
        due = [event for event in self._all_told() if event is not _WAKE and self._is_due(event)]
        return [*self._let_go(), *due]

    def _flush(self) -> list[str]:
        """Take a snapshot of all workers at once; returns those that do not answer in time."""
        asked = [(worker, worker.ask()) for worker in self._workers if worker.is_recording]
        return [str(worker.address) for worker, wait in asked if not wait()]

    def _all_told(self) -> list[Event]:
        told = []
        while not self._told.empty():
            told.append(self._told.get())
        return told

    def _written(self, happened: list[Event], when: float, late: Sequence[str] = ()) -> Saved:
        taken = {worker: worker.ring.taken() for worker in self._workers}
        kept = {worker: each for worker, each in taken.items() if each}
        programs = {str(worker.address): each[0].program for worker, each in kept.items()}
        events, later = list[Event](), list[Event]()
        for event in happened:
            if event is not _WAKE:
                is_later = event.program > programs.get(event.address, event.program)
                (later if is_later else events).append(event)
        events = with_ends(events)
        if any(event.is_condition for event in events):
            self._n_written += 1
        self._next_write = time.monotonic() + self._cooldown
        spans = {
            str(worker.address): [(each.begin_ns, each.end_ns) for each in snapshots]
            for worker, snapshots in kept.items()
        }
        steps = steps_of(events, spans)
        notes = notes_of(steps, spans, late)
        seconds = max(((each[-1][1] - each[0][0]) / 1e9 for each in spans.values()), default=0.0)
        texts = tuple(chain(*notes.values()))
        beside = {name: text for event in events for name, text in event.beside.items()}
        saved = Saved(reason_of(events), when, "", seconds, (), "", steps, texts, beside)
        if not kept:
            return saved
        try:
            folder, files, troubles = self._write(kept, saved, notes)
        except (InputError, ServerError, OSError) as error:
            for worker, snapshots in kept.items():
                worker.ring.give_back(snapshots)
            return replace(saved, trouble=f"it could not be written: {error}")
        for snapshots in kept.values():
            for each in snapshots:
                each.drop()
        for event in later:  # of a program that has come back since: the next run is about it
            self._told.put(event)
        return replace(saved, folder=folder, files=tuple(files), trouble="; ".join(troubles))

    def _write(
        self,
        kept: dict[WatchedWorker, list[Kept]],
        saved: Saved,
        notes: Mapping[str, Sequence[str]],
    ) -> tuple[str, list[str], list[str]]:
        files, troubles = [], []
        with Staging(self._logdir, new_run_name(self._logdir, None)) as staging:
            for worker, snapshots in kept.items():
                try:
                    data = one_capture(snapshots, notes.get(str(worker.address), ()))
                except TfprofError as error:
                    troubles.append(f"{worker.address}: {error}")
                    continue
                whole = Received((memoryview(data),), False, ())
                files.append(staging.keep(worker.address, whole))
            if not files:
                raise InputError("; ".join(troubles))
            about = saved.to_dict()
            about = {name: about[name] for name in ("reason", "time", "steps", "notes")}
            about["seconds"] = round(saved.seconds, 3)
            staging.note("record.json", json.dumps(about, indent=1) + "\n")
            for name, text in saved.beside.items():
                staging.note(name, text)
            folder = staging.finish(is_named=False)
        return folder, files, troubles

    def _end(self) -> None:
        """End all sessions; this takes a few seconds, even after Ctrl-C."""
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


_WAKE = Event("")
"""Ends a wait."""
