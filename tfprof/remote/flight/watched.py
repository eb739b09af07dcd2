"""One worker: its session, its last seconds, and its steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfprof.errors import TfprofError
from tfprof.options.captures import CaptureOptions
from tfprof.remote.addresses import Address
from tfprof.remote.flight.conditions import Condition
from tfprof.remote.flight.history import StepHistory
from tfprof.remote.flight.keeping import Ring
from tfprof.remote.flight.overhead import N_PAIRS, Overhead, overhead
from tfprof.remote.flight.sessions import Session, Snapshot
from tfprof.remote.flight.snapshots import NO_STEPS, Look, Steps, Times, look
from tfprof.remote.service import Stop
from tfprof.remote.troubles import ServerError

_CONNECT_SECONDS = 5.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 8.0
_LONGEST_CAPTURE_SECONDS = 2.0
_ONLY_TIMES = frozenset[str]()
_STEPS = frozenset({"step_time", "median", "mean", "p99"})


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
    say: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Observed:
    """What was recorded of a worker so far.

    Attributes:
        way: ``continuous``, or ``captures`` where the server has no continuous profiling.
        seconds: From the first moment to the last.
        percent: Share of them in which a session recorded.
        n_snapshots: How often the server was asked.
        n_steps: Whole steps that were seen.
        n_bytes: Bytes that are kept now.
        overhead: What recording costs the program; None if it was not measured.
        trouble: Why it is not recorded any more; empty if it is.
    """

    way: str
    seconds: float
    percent: float
    n_snapshots: int
    n_steps: int
    n_bytes: int
    overhead: Overhead | None
    trouble: str

    @property
    def unit(self) -> str:
        """What was asked for, for people."""
        return "captures" if self.way == "captures" else "snapshots"


class WatchedWorker:
    """Records one worker in a thread of its own.

    Args:
        address: Its server.
        settings: How.
        tell: Is called with a reason when the condition holds.
        ended: Is called when the worker cannot be recorded any more.
    """

    def __init__(
        self,
        address: Address,
        settings: Settings,
        tell: Callable[[str], None],
        ended: Callable[[], None],
    ) -> None:
        self.address, self._settings = address, settings
        self._tell, self._ended = tell, ended
        self._stop, self._wake = Stop(), threading.Event()
        self._taken = threading.Condition()
        self.ring = Ring(settings.keep_seconds, settings.most_bytes)
        self._history = StepHistory()
        self._begun = threading.Event()
        self._span_ns: tuple[int, int] | None = None
        self._observed_ns = self._n_snapshots = 0
        self._overhead: Overhead | None = None
        self._way = "continuous"
        self.has_cleared = False
        self.is_over = False
        self.trouble = ""
        self._thread = threading.Thread(target=self._run, name=f"tfprof-record-{address}")

    def start(self) -> None:
        """Begin, in the background."""
        self._thread.start()

    def stop(self) -> None:
        """Hand the session back, in the background."""
        self._stop.now()
        self._wake.set()

    def join(self) -> None:
        """Wait until the session is handed back."""
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether it is recorded, or about to be."""
        return self._thread.is_alive()

    @property
    def has_begun(self) -> bool:
        """Whether it has been recorded at all."""
        return self._begun.is_set()

    @property
    def observed(self) -> Observed:
        """What was recorded so far."""
        first, last = self._span_ns or (0, 0)
        percent = 100 * self._observed_ns / (last - first) if last > first else 0.0
        return Observed(
            self._way, (last - first) / 1e9, min(percent, 100.0), self._n_snapshots,
            self._history.n_steps, self.ring.n_bytes, self._overhead, self.trouble,
        )  # fmt: skip

    def flush(self, timeout_seconds: float) -> None:
        """Take a snapshot now, and wait for it as long as the worker lives."""
        with self._taken:
            before = self._n_snapshots
            self._wake.set()
            self._taken.wait_for(
                lambda: self._n_snapshots > before or not self.is_recording, timeout_seconds
            )

    @property
    def is_recording(self) -> bool:
        """Whether its session goes on."""
        return self.has_begun and not self.is_over and not self.trouble

    def _run(self) -> None:
        session = Session(
            self.address, self._settings.options, self._stop, self._settings.answer_seconds
        )
        try:
            self._begin(session)
            self._begun.set()
            if self._settings.overhead_seconds:
                self._overhead = self._measured(session)
                self._settings.say(f"{self.address}: {self._overhead}")
            self._record(session)
        except (ServerError, TfprofError) as error:
            if not self._stop.is_set:
                self.trouble = str(error)
        finally:
            try:
                session.close()
            finally:
                with self._taken:
                    self.is_over = True
                    self._taken.notify_all()
                self._ended()

    def _begin(self, session: Session) -> None:
        pause = _FIRST_PAUSE_SECONDS
        for attempt in range(self._settings.retries + 1):
            try:
                session.begin(_CONNECT_SECONDS)
                break
            except ServerError as error:
                is_last = not error.may_pass or attempt == self._settings.retries
                if is_last or self._stop.wait(pause):
                    raise
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        self._way, self.has_cleared = session.way, session.has_cleared

    def _record(self, session: Session) -> None:
        interval = self._settings.interval_seconds
        while not self._stop.is_set:
            if session.way == "continuous":
                self._wake.wait(interval)
            self._wake.clear()
            if self._stop.is_set:
                return
            try:
                self._judge(*self._take(session))
            except ServerError as error:
                is_busy = error.may_pass and not error.code  # somebody captures in between
                if error.code != "NOT_FOUND" and not is_busy:
                    raise
                if is_busy:
                    self._stop.wait(interval)
                self._begin(session)  # somebody has ended it

    def _take(self, session: Session) -> tuple[Look, int, int, float]:
        names = self._settings.when.names if self._settings.when is not None else _ONLY_TIMES
        taken = session.snapshot(min(self._settings.interval_seconds, _LONGEST_CAPTURE_SECONDS))
        seen = look(taken.data, names, may_guess=not self._history.are_marked)
        begin_ns, end_ns = self._keep(taken, seen.times)
        return seen, begin_ns, end_ns, taken.seconds

    def _keep(self, taken: Snapshot, times: Times | None) -> tuple[int, int]:
        if times is None:  # by our clock then
            passed_ns = time.monotonic_ns() - taken.begin_ns
            times = Times(time.time_ns() - passed_ns, time.time_ns())
        begin_ns, end_ns = self.ring.placed(times, taken.begin_ns)
        if taken.data:
            self.ring.add(taken.data, begin_ns, end_ns)
        first = self._span_ns[0] if self._span_ns is not None else begin_ns
        self._span_ns = (first, max(end_ns, begin_ns + 1))
        self._observed_ns += end_ns - begin_ns
        with self._taken:
            self._n_snapshots += 1
            self._taken.notify_all()
        return begin_ns, end_ns

    def _judge(self, seen: Look, begin_ns: int, end_ns: int, answer_seconds: float) -> None:
        """Find the slowest step for which the condition holds, if there is any."""
        before = self._history.baseline(seen.steps)
        steps = self._history.add(seen.steps, begin_ns, end_ns, before["median"], answer_seconds)
        when = self._settings.when
        if when is None:
            return
        values: dict[str, float | None] = {
            **before, "input_share": seen.input_share, "idle_share": seen.idle_share,
            "memory": seen.memory,
        }  # fmt: skip
        held = [step for step in steps if when({**values, "step_time": step.seconds})]
        if held:
            slowest = max(held, key=lambda step: step.seconds)
            for step in held:
                self._history.told(step)
            self._tell(f"{slowest} on {self.address}: {when}")
        elif not steps and when(values):
            self._tell(f"{self.address}: {when}")

    def _measured(self, session: Session) -> Overhead:
        """Compare times with and without a session; what is recorded meanwhile is kept."""
        if session.way != "continuous":
            return Overhead(trouble="the server has no continuous profiling")
        seconds = self._settings.overhead_seconds / (2 * N_PAIRS + 1)
        windows = []
        for number in range(N_PAIRS + 1):
            if number:
                session.end()
                if self._stop.wait(seconds):
                    break
                self._begin(session)
            if self._stop.wait(seconds):
                break
            taken = session.snapshot(seconds)
            seen = look(taken.data)
            begin_ns, end_ns = self._keep(taken, seen.times)
            windows.append(_marked(seen.steps, begin_ns))
            steps = seen.steps
            self._history.add(steps if steps.are_marked else NO_STEPS, begin_ns, end_ns, None)
        self._span_ns, self._observed_ns = None, 0  # times without a session are no loss
        return overhead(windows)


def _marked(steps: Steps, begin_ns: int) -> tuple[np.ndarray, np.ndarray]:
    if not steps.are_marked:
        steps = NO_STEPS
    return steps.numbers, steps.starts_ns + begin_ns
