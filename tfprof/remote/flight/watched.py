"""One worker: its session, its last seconds, and its steps."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tfprof.errors import TfprofError
from tfprof.options.captures import CaptureOptions
from tfprof.remote.addresses import Address
from tfprof.remote.flight.conditions import Condition
from tfprof.remote.flight.events import Event
from tfprof.remote.flight.history import MOST_KINDS, History, StepSeen, Window
from tfprof.remote.flight.keeping import Ring
from tfprof.remote.flight.observed import Observed
from tfprof.remote.flight.overhead import N_PAIRS, Overhead, overhead, whole_marks
from tfprof.remote.flight.pacing import Pace
from tfprof.remote.flight.program_memory import MemoryLimitError, MemoryWatch
from tfprof.remote.flight.sessions import LONGEST_INTERVAL_SECONDS, TAKEN, Session, Snapshot
from tfprof.remote.flight.snapshots import Look, Times, look
from tfprof.remote.flight.step_range import (
    Place,
    StepRange,
    place_after,
    seconds_to_snapshot,
    would_cut,
)
from tfprof.remote.service import Stop, pauses
from tfprof.remote.troubles import ServerError

_CONNECT_SECONDS = 5.0
_LONGEST_CAPTURE_SECONDS = 2.0
_MEMORY_SECONDS = 0.5
_FLUSH_SECONDS, _FLUSH_ANSWERS = 2.0, 3.0
_ONLY_TIMES = frozenset[str]()


_log = logging.getLogger("tfprof")


@dataclass(frozen=True, slots=True)
class Settings:
    """How workers are recorded; see ``FlightRecorder``."""

    keep_seconds: float
    interval_seconds: float
    when: Condition | None
    options: CaptureOptions
    most_bytes: int
    overhead_seconds: float
    retries: int
    answer_seconds: float
    most_program_bytes: int | None
    say: Callable[[str], None]
    watch: Callable[[WatchedSnapshot], None] | None = None
    steps: StepRange | None = None
    writes_silent: bool = True


@dataclass(frozen=True, slots=True)
class WatchedSnapshot:
    """A snapshot of a worker, for observers such as metrics.

    Attributes:
        address: Its server.
        data: A serialized XSpace; empty if the program did nothing.
        look: What was read of it.
        steps: Steps that ended in it, those that earlier snapshots have cut included.
        begin_ns: Since 1970, by this machine's clock.
        end_ns: Likewise.
    """

    address: str
    data: bytes
    look: Look
    steps: tuple[StepSeen, ...]
    begin_ns: int
    end_ns: int


class WatchedWorker:
    """Records one worker in its own thread, and again after it comes back.

    Args:
        address: Its server.
        settings: How.
        tell: Receives the events.
    """

    def __init__(self, address: Address, settings: Settings, tell: Callable[[Event], None]) -> None:
        self.address, self._settings, self._tell = address, settings, tell
        self._stop, self._wake = Stop(), threading.Event()
        self._changed = threading.Condition()
        self.ring = Ring(settings.keep_seconds, settings.most_bytes)
        self._history = History()
        self._pace = Pace(settings.interval_seconds)
        self._reported: dict[str, StepSeen] = {}
        self._span_ns: tuple[int, int] | None = None
        self._observed_ns = self._n_snapshots = self._n_slow = 0
        self.n_unclear = self.n_damaged = 0
        self._paused_seconds = self._gone_seconds = self._lost_at = 0.0
        self._n_asked = self._n_answered = 0
        self._answer_seconds = self._asked = 0.0
        self._overhead: Overhead | None = None
        self._way = "continuous"
        self._memory = MemoryWatch(address, settings.most_program_bytes, settings.say)
        self.has_cleared = self.has_begun = False
        self.is_settled = self.is_recording = self._is_limited = self._is_gone = False
        self.trouble = self._code = ""
        self.place: Place | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, in the background, or again after the worker was given up."""
        self._thread = threading.Thread(target=self._run, name=f"tfprof-record-{self.address}")
        self._thread.start()

    def stop(self) -> None:
        """End the session, in the background."""
        self._stop.now()
        self._wake.set()

    def join(self) -> None:
        """Wait until the session has ended."""
        if self._thread is not None:
            self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether the worker is being recorded, or may be again."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def may_come_back(self) -> bool:
        """Whether another attempt may succeed after this worker was given up.

        It would end a program at its limit of memory, or disturb another recorder.
        """
        return not self._is_limited and self._code != TAKEN

    @property
    def observed(self) -> Observed:
        """How much was recorded so far."""
        first, last = self._span_ns or (0, 0)
        percent = 100 * self._observed_ns / (last - first) if last > first else 0.0
        return Observed(
            self._way, (last - first) / 1e9, min(percent, 100.0), self._paused_seconds,
            self._gone_seconds, self._n_snapshots, self._history.n_steps, self.n_unclear,
            self.ring.n_bytes, self._pace.seconds, self._memory.now, self._memory.before,
            self._overhead, self.trouble, self._is_limited, self._n_slow, self._is_gone,
        )  # fmt: skip

    def wait_settled(self, timeout_seconds: float) -> bool:
        """Whether recording has begun, or the first attempts have failed."""
        with self._changed:
            return self._changed.wait_for(lambda: self.is_settled, timeout_seconds)

    def ask(self) -> Callable[[], bool]:
        """Take a snapshot now; the result waits for it, and is whether it arrived.

        A snapshot that is under way does not count, as it ends before now. The wait ends when the
        worker is no longer recorded, and soon after the usual time of a snapshot, so that a worker
        that hangs delays no other.
        """
        with self._changed:
            self._n_asked += 1
            number = self._n_asked
        self._wake.set()
        limit = min(
            max(_FLUSH_SECONDS, _FLUSH_ANSWERS * self._answer_seconds),
            self._settings.answer_seconds,
        )
        until = time.monotonic() + limit

        def wait() -> bool:
            with self._changed:
                return self._changed.wait_for(
                    lambda: self._n_answered >= number or not self.is_recording,
                    max(0.0, until - time.monotonic()),
                )

        return wait

    def _run(self) -> None:
        waits, retries = pauses(), self._settings.retries
        try:
            while not self._stop.is_set:
                may_pass, has_recorded = self._session(retries)
                retries = 0
                if has_recorded:
                    waits = pauses()
                if not may_pass or self._stop.wait(next(waits)):
                    break
        finally:
            self._settle(is_recording=False)

    def _session(self, retries: int) -> tuple[bool, bool]:
        """Run one session; returns whether another may follow, and whether this one began."""
        session = Session(
            self.address, self._settings.options, self._stop, self._settings.answer_seconds,
            self._settings.most_bytes,
        )  # fmt: skip
        may_pass, before = True, self._n_snapshots
        try:
            self._begin(session, retries)
            if self.has_begun:
                self._resume()
            else:
                self.has_begun, self.trouble = True, ""
                self._settle(is_recording=True)
                if self._settings.overhead_seconds:
                    self._overhead = Overhead(trouble="the program ended before")
                    self._overhead = self._measured(session)
                    self._settings.say(f"{self.address}: {self._overhead}")
            self._record(session)
        except (ServerError, TfprofError) as error:
            if self._stop.is_set:
                if not self.has_begun and isinstance(error, ServerError) and error.code == TAKEN:
                    self.trouble = str(error)
            else:
                self._code = error.code if isinstance(error, ServerError) else ""
                hangs = self._code == "DEADLINE_EXCEEDED"
                has_begun = self.has_begun and self._code != TAKEN
                may_pass = isinstance(error, ServerError) and (hangs or has_begun or error.may_pass)
                self._is_limited = isinstance(error, MemoryLimitError)
                self._is_gone |= self._code == "UNAVAILABLE" or session.is_lost
                self._lost(str(error))
        except Exception as error:  # what it sends is hostile, and a thread would end unseen
            _log.exception("%s: a snapshot could not be evaluated", self.address)
            self._lost(f"its data cannot be evaluated ({type(error).__name__}: {error}); it is "
                       "tried again. Please report this as a bug of tfprof")  # fmt: skip
        finally:
            session.close()
        return may_pass, self._n_snapshots > before

    def _resume(self) -> None:
        """Go on after the program hung, or with a new one, whose step numbers start again."""
        now = time.monotonic()
        self._gone_seconds += now - self._lost_at
        self._lost_at = now
        if self._is_gone:
            self._history, self._reported, self._is_gone = History(), {}, False
            self.ring.next_program()
        else:
            self._history = self._history.interrupted()

    def _lost(self, trouble: str) -> None:
        was_recording, self.trouble = self.is_recording, trouble
        if was_recording:  # before the state shows that recording has stopped
            self._lost_at = time.monotonic()
            if self._is_gone or self._settings.writes_silent:
                self._happened(f"{self.address} ended: {trouble}")
        self._settle(is_recording=False)

    def _settle(self, *, is_recording: bool) -> None:
        with self._changed:
            self.is_recording, self.is_settled = is_recording, True
            self._changed.notify_all()

    def _begin(self, session: Session, retries: int) -> None:
        for attempt, pause in zip(range(retries + 1), pauses(), strict=False):
            try:
                held = self._memory.found()
                session.begin(_CONNECT_SECONDS)
                break
            except ServerError as error:
                is_last = not error.may_pass or attempt == retries
                if is_last or self._stop.wait(pause):
                    raise
        if self._memory.before is None or not self.is_recording:
            self._memory.begin(held)
        self._asked = time.monotonic()
        self._way, self.has_cleared = session.way, self.has_cleared or session.has_cleared

    def _record(self, session: Session) -> None:
        while not self._stop.is_set:
            if session.way == "continuous":
                self._wait()
            self._wake.clear()
            if self._stop.is_set:
                return
            n_asked = self._n_asked
            try:
                taken = self._take(session)
                if session.way == "captures":  # which record until they are answered
                    n_asked = self._n_asked
                self._judge(*taken)
                self._answer(n_asked)
            except ServerError as error:
                is_busy = error.may_pass and not error.code  # another capture in between
                if error.code != "NOT_FOUND" and not is_busy:
                    raise
                if is_busy:
                    self._stop.wait(self._settings.interval_seconds)
                self._begin(session, self._settings.retries)  # another client has ended it
                self._history = self._history.interrupted()
            self._memory.check()

    def _answer(self, n_asked: int) -> None:
        with self._changed:
            self._n_answered = n_asked
            self._changed.notify_all()

    def _wait(self) -> None:
        """Wait for the next snapshot; less if the program's memory grows, or reaches its limit.

        The server records again while it answers, so time counts from the request. It rests at
        least as long as an answer takes.
        """
        seconds, wanted = self._pace.seconds, self._settings.steps
        rest = min(self._answer_seconds, seconds)
        if wanted is not None and self._span_ns is not None:
            seconds = seconds_to_snapshot(self.place, wanted, self._span_ns[1], seconds)
            seconds = min(seconds, LONGEST_INTERVAL_SECONDS)
        self._wait_until(max(self._asked + seconds, time.monotonic() + rest))
        if wanted is None or self._span_ns is None or self._wake.is_set():
            return
        now_ns = self._span_ns[1] + round((time.monotonic() - self._asked) * 1e9)
        if would_cut(self.place, wanted, now_ns):
            seconds = seconds_to_snapshot(self.place, wanted, now_ns, 0.0)
            until = min(time.monotonic() + seconds, self._asked + LONGEST_INTERVAL_SECONDS)
            self._wait_until(until)

    def _wait_until(self, until: float) -> None:
        while (left := until - time.monotonic()) > 0:
            if self._wake.wait(min(left, _MEMORY_SECONDS)) or self._memory.needs_a_look():
                return

    def _take(self, session: Session) -> tuple[bytes, Look, Window]:
        names = self._settings.when.names if self._settings.when is not None else _ONLY_TIMES
        self._asked = time.monotonic()
        taken = session.snapshot(min(self._pace.seconds, _LONGEST_CAPTURE_SECONDS))
        seen = look(taken.data, names, may_guess=not self._history.are_marked)
        begin_ns, end_ns = self._keep(taken, seen.times, is_damaged=bool(seen.damage))
        if seen.damage and not self.n_damaged:
            self._settings.say(f"{self.address}: a snapshot is not kept: {seen.damage}")
        self.n_damaged += bool(seen.damage)
        covered = (end_ns - begin_ns) / 1e9
        self._pace.add(len(taken.data), covered, self._history.usual_seconds)
        return taken.data, seen, Window(seen.steps, begin_ns, end_ns, taken.seconds)

    def _keep(self, taken: Snapshot, times: Times | None, *, is_damaged: bool) -> tuple[int, int]:
        if times is None:  # by our clock then
            passed_ns = time.monotonic_ns() - taken.begin_ns
            times = Times(time.time_ns() - passed_ns, time.time_ns())
        begin_ns, end_ns = self.ring.placed(times, taken.begin_ns, time.monotonic_ns())
        if taken.data and not is_damaged:
            self.ring.add(taken.data, begin_ns, end_ns)
        first = self._span_ns[0] if self._span_ns is not None else begin_ns
        self._span_ns = (first, max(end_ns, begin_ns + 1))
        self._observed_ns += end_ns - begin_ns
        self._answer_seconds = taken.seconds
        return begin_ns, end_ns

    def _judge(self, data: bytes, seen: Look, window: Window) -> None:
        """Report the steps for which the condition holds."""
        if not self.is_recording:
            self.trouble = ""
            self._settings.say(f"{self.address}: recorded again")
        self._history, steps = self._history.after(window)
        self._find_place(window)
        if self._settings.watch is not None:
            ended = tuple(step for step in steps if not step.is_open)
            self._settings.watch(WatchedSnapshot(
                str(self.address), data, seen, ended, window.start_ns, window.stop_ns
            ))  # fmt: skip
        when = self._settings.when
        if when is not None:
            shares = {
                "input_share": seen.input_share, "idle_share": seen.idle_share,
                "memory": seen.memory,
            }  # fmt: skip
            for step in steps:
                self._judge_step(step, when, shares)
            if not len(seen.steps) and when(shares):
                self.ring.hold(window.start_ns)
                self._happened(f"{self.address}: {when}", is_condition=True)
        with self._changed:
            self._n_snapshots += 1
        self._settle(is_recording=True)

    def _find_place(self, window: Window) -> None:
        """Note where the program is in its steps, and keep the ones to be written."""
        if self._settings.steps is None:
            return
        before = self.place
        self.place = place_after(before, window.steps, window.start_ns, self._settings.steps)
        is_first = before is None or before.begin_ns is None
        if is_first and self.place is not None and self.place.begin_ns is not None:
            self.ring.hold(self.place.begin_ns)

    def _judge_step(
        self, step: StepSeen, when: Condition, shares: Mapping[str, float | None]
    ) -> None:
        holds = [
            when({**step.before, **shares, "step_time": seconds})
            for seconds in {step.seconds, step.least}
        ]
        if not all(holds):
            self.n_unclear += any(holds) and not step.is_open
            return
        before = self._reported.get(step.kind)
        if len(self._reported) > MOST_KINDS:
            self._reported.clear()
        self._reported[step.kind] = step
        is_end = before is not None and step.is_same(before)
        if before is not None and is_end:
            if step.is_open or not before.is_open:
                return
            self._settings.say(f"{self.address}: {step}")  # how long it took in the end
        else:
            self.ring.hold(step.begin_ns)
            self._n_slow += 1
        text = f"{step} on {self.address}: {when}"
        self._happened(text, step, is_condition=True, is_end=is_end)

    def _happened(
        self, text: str, step: StepSeen | None = None, *, is_condition: bool = False,
        is_end: bool = False,
    ) -> None:  # fmt: skip
        program = self.ring.program
        self._tell(Event(text, str(self.address), step, is_condition, is_end, program))

    def _measured(self, session: Session) -> Overhead:
        """Compare step times with and without a session; snapshots taken meanwhile are kept."""
        if session.way != "continuous":
            return Overhead(trouble="the server has no continuous profiling")
        seconds = self._settings.overhead_seconds / (2 * N_PAIRS + 1)
        windows = []
        for number in range(N_PAIRS + 1):
            if number:
                paused = time.monotonic()
                session.end()
                if self._stop.wait(seconds):
                    break
                self._begin(session, self._settings.retries)
                self._paused_seconds += time.monotonic() - paused
                self._history = self._history.interrupted()
            if self._stop.wait(seconds):
                break
            n_asked = self._n_asked
            data, seen, window = self._take(session)
            windows.append(whole_marks(seen.steps, window.start_ns))
            self._judge(data, seen, window)
            self._answer(n_asked)
        return overhead(windows)
