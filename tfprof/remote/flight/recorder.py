"""A flight recorder: writes the last seconds of running programs when something happens."""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from tfprof.errors import UsageError
from tfprof.options.captures import CaptureOptions
from tfprof.remote.discovery.source import Source
from tfprof.remote.flight.conditions import condition
from tfprof.remote.flight.crew import Crew, none_recorded
from tfprof.remote.flight.events import Event, Saved, with_ends
from tfprof.remote.flight.limits import Limits
from tfprof.remote.flight.observed import Observed
from tfprof.remote.flight.remarks import remarks_on
from tfprof.remote.flight.run_making import RunMaker, places
from tfprof.remote.flight.sessions import LONGEST_INTERVAL_SECONDS
from tfprof.remote.flight.step_range import StepRange, StepsAwaited
from tfprof.remote.flight.watched import Settings, WatchedSnapshot, WatchedWorker
from tfprof.remote.flight.writing import RunWriter
from tfprof.remote.service import load_grpc

_log = logging.getLogger("tfprof")

KEEP_SECONDS = 60.0
INTERVAL_SECONDS = 8.0
"""Snapshots are most of the cost of recording, but a session with a longer interval would soon
look abandoned."""
COOLDOWN_SECONDS = 10.0
MOST_RUNS = 100
MOST_BYTES = 1 << 30
_ANSWER_SECONDS = 30.0
_POLL_SECONDS, _SETTLE_SECONDS = 0.2, 0.02
_START_SECONDS = 2.0
"""Once a worker is recorded, the others may take so long until events are written."""
_MOST_HELD = 10_000
"""Events that wait for a run; with more of them no run would be readable."""
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
        addresses: ``HOST:PORT`` of each worker; commas separate several. Or a source of
            addresses (``tfprof.remote.discovery``), which the recorder follows.
        logdir: Log folder, also one in a bucket; each event becomes ``plugins/profile/RUN`` in it.
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
        most_runs: Most runs that the condition may write; None for no limit.
        most_program_bytes: Resident memory at which recording of a program stops, where it is
            visible; None for no limit.
        restart_seconds: How long to wait for programs to come back when none is left; None waits
            for ever with a source, and not at all with addresses.
        budget: What may be written in a day, by all recorders of the log folder; what is requested
            counts, but is written in any case.
        retain: What to keep of the runs of recorders in the log folder; None removes none.
        steps: Write the run of these steps of all workers, once they have ended everywhere; without
            a condition, recording ends then.
        follow_seconds: From one look at the source to the next; None for every 2 s at files, and
            every 10 s at others.
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
        addresses: str | Sequence[str] | Source,
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
        most_runs: int | None = MOST_RUNS,
        most_program_bytes: int | None = None,
        restart_seconds: float | None = None,
        budget: Limits | None = None,
        retain: Limits | None = None,
        steps: StepRange | None = None,
        follow_seconds: float | None = None,
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
            ("follow", follow_seconds, 0.05, _MOST_SECONDS),
        ):
            if seconds is not None and not least <= seconds <= most:
                span = f"from {least:g} to {most:g} s"
                raise UsageError(f"option {name}={seconds:g} s must be {span}")
        if count is not None and count < 1:
            raise UsageError(f"option count={count} must be 1 or more")
        if most_runs is not None and most_runs < 1:
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
            most_program_bytes, say, watch, steps, writes_silent,
        )  # fmt: skip
        self._after, self._say = after_seconds, say
        self._count, self._for = count, for_seconds
        is_followed = callable(addresses) and restart_seconds is None
        self._restart = float("inf") if is_followed else restart_seconds or 0.0
        self._cooldown, self._most_runs = cooldown_seconds, most_runs
        self._told: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._held: list[Event] = []  # for the condition, in its cool-down
        self._ends: dict[str, float] = {}  # when each worker has ended, by its address
        self._next_write = 0.0
        self._n_written = self._n_left_out = 0
        self._awaited = StepsAwaited(steps) if steps is not None else None
        load_grpc()
        self._writer = RunWriter(logdir, budget, retain, say)
        self._maker = RunMaker(self._writer, self._told.put)
        self._crew = Crew(
            addresses, partial(WatchedWorker, settings=settings, tell=self._told.put),
            keep_seconds=keep_seconds, follow_seconds=follow_seconds, say=say,
        )  # fmt: skip
        self._is_stopped, self._judges = False, settings.when is not None
        self._cpu_seconds = self._start = 0.0

    @property
    def _workers(self) -> tuple[WatchedWorker, ...]:
        return self._crew.workers

    def __enter__(self) -> FlightRecorder:
        """Begin.

        Raises:
            InputError: The folder cannot be written, the source of workers does not answer, or
                none of the listed workers can be recorded.
        """
        self._writer.__enter__()  # before anything is recorded
        self._cpu_seconds, self._start = time.process_time(), time.monotonic()
        try:
            self._crew.start()
            while not self._is_stopped and not self._is_settled():
                time.sleep(_SETTLE_SECONDS)
            is_over = self._is_stopped or self._crew.may_grow
            if not is_over and not any(each.has_begun for each in self._workers):
                raise none_recorded(self._workers)
        except BaseException:
            self._end()
            raise
        return self

    def _is_settled(self) -> bool:
        """Whether all workers have begun or failed; one is enough after a while."""
        if all(worker.is_settled for worker in self._workers):
            return True
        is_late = time.monotonic() - self._start > _START_SECONDS
        return is_late and any(worker.has_begun for worker in self._workers)

    def __exit__(self, *_: object) -> None:
        self._end()

    def save(
        self, reason: str, beside: Mapping[str, str] | None = None,
        last: Mapping[str, bytes] | None = None,
    ) -> None:  # fmt: skip
        """Make ``events`` write a run now; safe in any thread or signal handler.

        Args:
            reason: Why.
            beside: Texts to write beside the captures, by the names of their files.
            last: For workers of which nothing is kept, by address: an earlier snapshot to write.
        """
        self._told.put(Event(reason, beside=beside or {}, last=last or {}))

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
        return [text for worker in self._workers for text in remarks_on(worker)]

    def events(self) -> Iterator[Saved]:
        """Wait for events, and write a run for each.

        Ends when no worker is left, after ``count`` events or ``for_seconds``, and after
        ``stop``; slow steps that are still waiting are written at the end. The end of a worker
        is an event, too.
        """
        until = None if self._for is None else self._start + self._for
        n_saved = 0
        for saved in self._all_saved(until):
            n_saved += bool(saved.folder)
            yield saved
            if n_saved == self._count:
                return

    def _all_saved(self, until: float | None) -> Iterator[Saved]:
        while happened := self._next(until):
            if happened[0].is_range:
                yield from self._written_steps()
                if not self._judges:
                    return
            else:
                yield from self._saved(happened)
        if self._judges or self._awaited is not None or not self._told.empty():
            self._flush()
        if self._awaited is not None:  # what there is of the steps
            yield from self._written_steps()
        while rest := self._rest():  # again for a program that has come back, without a snapshot
            for saved in self._written(rest, time.time()):
                yield saved
                if saved.trouble:
                    return

    def _next(self, until: float | None) -> list[Event]:
        """Events to write now; none at the end."""
        alone_since = None
        while not self._is_stopped:
            now = time.monotonic()
            if self._writer.is_spent:
                self._leave_out()
            if self._held and now >= self._next_write:
                return self._let_go()
            if self._awaited is not None and self._awaited.is_due(places(self._workers), now):
                return [Event(str(self._awaited.wanted), is_range=True)]
            if not any(worker.is_recording for worker in self._workers) and self._told.empty():
                alone_since = now if alone_since is None else alone_since
                may_return = self._crew.may_grow or any(each.is_alive for each in self._workers)
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
            if event.is_request or self._is_first_end(event):
                return True
            self._held.append(event)
            return False
        if self._most_runs is not None and self._n_written >= self._most_runs:
            if not self._n_left_out:
                self._say(f"{self._n_written} runs were written for the condition, which is the "
                          "limit: it writes no more")  # fmt: skip
            self._n_left_out += 1
            self._leave_out()
            return False
        if len(self._held) < _MOST_HELD:
            self._held.append(event)
        return False

    def _is_first_end(self, event: Event) -> bool:
        """Whether a worker has not ended just before; one that ends again and again waits."""
        now, before = time.monotonic(), self._ends.get(event.address)
        self._ends[event.address] = now
        return before is None or now >= before + self._cooldown

    def _leave_out(self) -> None:
        """Write nothing for the condition, and keep no more for it than usual."""
        if self._held or self._n_left_out:
            self._held = []
            for worker in self._workers:
                worker.ring.release()

    def _let_go(self) -> list[Event]:
        held, self._held = self._held, []
        return held

    def _saved(self, happened: list[Event]) -> list[Saved]:
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
        """What is not written yet at the end."""
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

    def _written(
        self, happened: Sequence[Event], when: float, late: Sequence[str] = ()
    ) -> list[Saved]:
        """Write a run of all that is kept, and begin the cool-down."""
        self._next_write = time.monotonic() + self._cooldown
        events = [event for event in happened if event is not _WAKE]
        done = self._maker.of_all(self._workers, events, when, late)
        is_written = any(saved.folder for saved in done)
        self._n_written += is_written and any(event.is_condition for event in events)
        return done

    def _written_steps(self) -> list[Saved]:
        """Write the run of the steps that were awaited; what is kept stays for other runs."""
        assert self._awaited is not None
        awaited, self._awaited = self._awaited, None
        return self._maker.of_steps(self._workers, awaited)

    def _end(self) -> None:
        """End all sessions; this takes a few seconds, even after Ctrl-C."""
        interrupt = None
        self._crew.stop()
        for worker in self._workers:
            while worker.is_alive:
                try:
                    worker.join()
                except KeyboardInterrupt as error:
                    interrupt = error
            worker.ring.close()
        self._writer.__exit__()
        if interrupt is not None:
            raise interrupt


_WAKE = Event("")
"""Ends a wait."""
