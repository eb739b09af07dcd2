"""The captures of a process that ``tfprof run`` has hooked: when they begin and end."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfprof.capture import steps
from tfprof.capture.launched.call_marks import CallMarks, wait_for_jax
from tfprof.capture.launched.live_steps import NEVER, LiveSteps, inside
from tfprof.capture.launched.messages import Launch, why_nothing
from tfprof.capture.launched.requests import Moments
from tfprof.capture.launched.spec import AFTER_SECONDS, FIRST_STEP, N_STEPS, RunSpec
from tfprof.capture.launched.state import State
from tfprof.capture.launched.stuck import StuckMain, end_process
from tfprof.capture.termination import Termination, is_handled_here
from tfprof.files.hooked_processes import start_ticks

if TYPE_CHECKING:
    from tfprof.capture.launched.quiet_capture import QuietCapture
    from tfprof.capture.launched.slow_steps import SlowSteps
    from tfprof.capture.serving import ProfilerServer
    from tfprof.files.kept_runs import KeptRuns

_LOOK_SECONDS = 0.1
_WINDOW_SECONDS = 3.0
"""Length of a window of a program without steps."""
_LONGEST_SECONDS = 60.0
"""Longest window by steps."""
_START = "_start"
"""Added to the name of the run that a program without steps gets before it may begin some."""
_SLOW_SECONDS = 10.0
"""A program that has not reached the default window so long after its first step is slow."""
_FEW_STEPS = 2
_PATIENCE_SECONDS = (1.0, 60.0)
"""How long a window waits for the next step, in a program without steps and in one with steps."""
_MOST_RUNS = 10
_EXIT_SECONDS = 60.0
"""How long the end of the program waits for a profiler that another thread begins or ends."""


@dataclass(slots=True)
class _Window:
    """A window that is requested.

    Attributes:
        run: Name of its run.
        first: Step before which it begins; 0 for the next one.
        length: Number of its steps.
        since: When it was requested, by ``time.monotonic``.
    """

    run: str
    first: int
    length: int
    since: float


class Captures:
    """What is captured of this process.

    Nothing that fails here reaches the program: it becomes a message of the logger ``tfprof``.

    Args:
        spec: What to capture, and when.
        launch: What the processes of one launch share.

    Attributes:
        steps: The count of the program's steps.
    """

    def __init__(self, spec: RunSpec, launch: Launch) -> None:
        self._spec, self._launch = spec, launch
        self.steps = LiveSteps(self._step_is_due)
        self._state: State | None = None
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._began = self._called_at = 0.0
        self._framework = ""
        self._window: _Window | None = None
        self._capture: QuietCapture | None = None
        self._last, self._until = NEVER, NEVER
        self._recorder: SlowSteps | None = None
        self._server: ProfilerServer | None = None
        self._has_captured = self._has_failed = self._is_forked = self._has_start = False
        self._starter = 0  # the thread that starts a profiler or a server of tfprof
        self._marks = CallMarks()
        self._moments = Moments(spec, launch.run)
        self._kept: KeptRuns | None = None
        self._termination, self._stuck = Termination(self.end), StuckMain()
        if spec.steps is not None:
            first, last = spec.steps
            self._window = _Window(launch.run, first, last - first + 1, NEVER)
        elif spec.is_default:
            self._window = _Window(launch.run, FIRST_STEP, N_STEPS, NEVER)
        self._plan()

    def begin(self, framework: str) -> None:
        """A framework has been imported; the first one describes this process."""
        is_first, self._framework = not self._framework, framework
        if not is_first:
            return
        steps.begin_windows(self.steps)
        self._begin_process()
        atexit.register(self.end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave_to_parent)

    def runtime_began(self) -> None:
        """A framework has begun to compute, so that a server may start and time counts."""
        if self._thread is None and not self._over.is_set():
            if self._is_forked:
                self._is_forked = False
                self._begin_process()
                self._plan()
            self._began = time.monotonic()
            self._thread = threading.Thread(target=self._watch, name="tfprof-run", daemon=True)
            self._thread.start()

    def give_way(self, api: str) -> None:
        """End what is captured, because the program starts a profiler of its own."""
        if self._starter == threading.get_ident():
            return
        with self._lock, self._launch.going_on("what was recorded until then is lost"):
            if self._capture is None and self._recorder is None:
                return
            self._launch.warn(f"the program calls {api} itself, and there can be one recording at "
                              "a time: this one ends here")  # fmt: skip
            self._end_capture()
            self._end_recorder()
            self._plan()

    @contextlib.contextmanager
    def server_of_program(self, port: object) -> Iterator[None]:
        """While the program starts a server of JAX itself, of which there can be one."""
        is_own = self._starter == threading.get_ident()
        if not is_own and self._server is not None:
            self._spec = replace(self._spec, server=False)
            with self._launch.going_on("tfprof's own server goes on"):
                self._server.stop()
        yield
        if not is_own:
            self._spec = replace(self._spec, server=False)
            if isinstance(port, int) and self._state is not None:
                self._state.update(port=port)

    def warn(self, text: str) -> None:
        """Report a failure, with where it was."""
        self._launch.warn(text)

    def end(self) -> None:
        """The process ends: save what there is."""
        if self._over.is_set():
            return
        self._over.set()
        if not self._lock.acquire(timeout=_EXIT_SECONDS):
            self._launch.warn(f"a profiler does not end within {_EXIT_SECONDS:g} s, and what it "
                              "recorded is lost")  # fmt: skip
            return
        try:
            self.steps.due, self.steps.counts_calls = NEVER, False
            with self._launch.going_on("what was recorded is lost"):
                self._end_capture()
            with self._launch.going_on("what was recorded is lost"):
                self._end_recorder()
            if self._began and not (self._has_captured or self._has_failed):
                passed = time.monotonic() - self._began
                why = why_nothing(self._spec, self.steps.n, self.steps.what, passed)
                self._launch.warn(why)
            if self._state is not None:
                self._state.remove()
        finally:
            self._lock.release()
        # Python ends threads that come back from C++ then, which aborts the process.
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_EXIT_SECONDS)

    def _begin_process(self) -> None:
        self._launch.tell(event="framework", framework=self._framework)
        self._describe()
        if "multiprocessing.process" in sys.modules:  # whose children of fork skip atexit
            from multiprocessing import process, util

            if process.parent_process() is not None:
                util.Finalize(None, self.end, exitpriority=0)
        self._termination.install()
        if is_handled_here():
            self._stuck.install()

    def _describe(self) -> None:
        try:
            self._state = State(self._spec.state, self._framework, self._launch.run)
        except OSError as error:
            self._launch.warn(
                f"{self._spec.state}: cannot be written: {error.strerror or error}; other commands "
                "will not find this process"
            )
            return
        earlier = self._state.earlier
        is_same = earlier is not None and earlier.ticks == start_ticks(earlier.pid)
        if earlier is not None and earlier.is_capturing and is_same:
            self._launch.warn(
                "the program replaced itself (os.exec) during a capture, which is lost"
            )

    def _leave_to_parent(self) -> None:
        """In a child of ``fork``: the parent has the captures; this process has none.

        If it begins to compute later, it is followed as a process of its own.
        """
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._thread = self._capture = self._recorder = self._server = None
        if self._state is not None:
            self._state.leave_to_parent()
            self._state = None
        with contextlib.suppress(ValueError):
            if getattr(signal.getsignal(signal.SIGTERM), "__self__", None) is self._termination:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._stuck.remove()
        inside.clear()
        self.steps.n, self.steps.first_at, self._began = 0, None, 0.0
        self._is_forked = True
        self._last = self._until = NEVER
        self._plan()

    def _step_is_due(self) -> None:
        """In the thread of a step, before the step."""
        with self._lock, self._launch.going_on("this window is lost"):
            if self._capture is not None and self.steps.n > self._last:
                self._marks.end()
                wait_for_jax()
                self._end_capture()
            window = self._window
            if self._capture is None and window is not None and self.steps.n >= window.first:
                self._begin_capture(window, self.steps.n + window.length - 1)
            if self._capture is not None or self._recorder is not None:
                self._marks.begin(self.steps)
            self._plan()

    def _plan(self) -> None:
        """When the count of steps matters next."""
        if self._is_forked:  # until it computes itself
            self.steps.due = NEVER
        elif self._capture is not None:
            self.steps.due = self.steps.n + 1 if self._marks.is_open else self._last + 1
        elif self._recorder is not None and not self.steps.n_marked:
            leader = self.steps.leader
            is_jax = leader is None or leader.framework == "jax"
            self.steps.due = self.steps.n + 1 if is_jax else NEVER
        elif self._window is not None:
            self.steps.due = self._window.first
        else:
            self.steps.due = NEVER
            if not (self._spec.every or self._spec.key) and self._has_captured:
                self.steps.counts_calls = False

    def _begin_capture(self, window: _Window, last: float) -> None:
        self._window = None
        from tfprof.capture.launched.quiet_capture import QuietCapture

        name = self._file_host()
        capture = QuietCapture(self._spec, window.run, self._used_framework(), name, self.end)
        self._has_captured = True
        with self._starting():
            capture.start()
        limit = _LONGEST_SECONDS if last < NEVER else _WINDOW_SECONDS
        self._capture, self._last = capture, last
        self.steps.holds_leader = last < NEVER
        self._until = time.monotonic() + (self._spec.for_ or limit)
        if self._state is not None:
            self._state.update(is_capturing=True)

    def _end_capture(self) -> None:
        capture, self._capture = self._capture, None
        if capture is None:
            return
        self._last = self._until = NEVER
        self.steps.holds_leader = False
        if getattr(sys, "last_value", None) is not None:
            self._marks.end()  # the step that has failed
        # Otherwise the last mark is left out: what is not steps any more would be in it. It would
        # be recorded if it went before the recording ends.
        cut = self._marks.leave_out()
        if self._state is not None:
            self._state.update(is_capturing=False)
        try:
            capture.stop()
        except Exception:
            self._has_failed = True
            raise
        finally:
            del cut
        if capture.folder is not None:
            if self._spec.every:
                from tfprof.files.kept_runs import KeptRuns

                self._kept = self._kept or KeptRuns(self._spec.most_runs or _MOST_RUNS)
                self._kept.add(capture.folder, [capture.file])
            self._launch.saved(str(capture.folder))

    def _file_host(self) -> str:
        """The name of this process in a run, which may have several of one host."""
        if self._state is None:
            return ""
        process = self._state.process
        if process.rank is not None:
            return f"{process.host}_rank{process.rank}"
        return process.host if self._launch.is_main else f"{process.host}_{process.pid}"

    def _watch(self) -> None:
        """Looks after what does not depend on steps, in a thread."""
        with self._launch.going_on("it is not captured any more"):
            # Here, so that the step that begins the first window does not wait for it.
            import tfprof.capture.launched.quiet_capture  # noqa: F401

            time.sleep(_LOOK_SECONDS)  # the other framework of the program may begin, too
            if self._spec.server:
                self._serve()
            while not self._over.wait(_LOOK_SECONDS):
                now = time.monotonic()
                if self._stuck.is_due(now) and is_handled_here():
                    self.end()
                    end_process()
                # Not for ever: the main thread may hold it in a call of C.
                if self._lock.acquire(timeout=_LOOK_SECONDS):
                    try:
                        with self._launch.going_on("a window is lost"):
                            self._look(now)
                    finally:
                        self._lock.release()

    def _serve(self) -> None:
        from tfprof.capture.serving import serve_until_another

        self._starter = threading.get_ident()
        try:
            self._server = serve_until_another(self._used_framework())
        except Exception as error:
            self._launch.warn(f"no profiler server was started: {error}")
            return
        finally:
            self._starter = 0
        if self._state is not None:
            self._state.update(port=self._server.port, framework=self._server.framework.lower())

    def _look(self, now: float) -> None:
        if self._over.is_set():
            return
        if self._spec.when:
            self._look_at_slow_steps(now)
            self._plan()
            return
        for run in self._moments.due(time.time(), now - self._began):
            if self._capture is None and self._window is None:
                self._window = _Window(run, 0, self._spec.length, now)
        n, window = self.steps.n, self._window
        if inside:
            self._called_at = now
        if window is None or self._capture is not None:
            pass
        elif self._spec.is_default and window.since == NEVER:
            if self._is_warm(now):
                if n < _FEW_STEPS:  # a run of its own: other ranks may have steps already
                    self._has_start = True
                    self._begin_capture(replace(window, run=f"{window.run}{_START}"), NEVER)
                    self._window = window  # steps may come later, as after a long set-up
                else:
                    window.first, window.since = 0, now
        elif window.since < now - _PATIENCE_SECONDS[n > 0]:
            self._begin_capture(window, NEVER)
        if now > self._until:
            self.steps.due = NEVER
            self._end_capture()
        self._plan()

    def _is_warm(self, now: float) -> bool:
        """Whether first steps, which compile, are over; or there are none, or they are slow."""
        n, passed = self.steps.n, now - (self.steps.first_at or self._began)
        if n < _FEW_STEPS and self._has_start:
            return False
        if n == 0:
            return passed > AFTER_SECONDS
        if n < _FEW_STEPS:  # a call that set something up, or has all steps in it
            return now - max(self._called_at, self._began) > _SLOW_SECONDS
        return n >= FIRST_STEP or passed > _SLOW_SECONDS

    def _look_at_slow_steps(self, now: float) -> None:
        recorder = self._recorder
        if recorder is not None:
            for run in self._moments.due(time.time(), 0.0):
                recorder.save(f"key press, {run}")
            recorder.report()
            if recorder.is_over:
                self._end_recorder()
        elif not self._has_captured and self._is_warm(now):
            from tfprof.capture.launched.slow_steps import SlowSteps

            self._has_captured = True
            with self._starting():
                self._recorder = SlowSteps(self._spec, self._used_framework(), self._launch)

    def _end_recorder(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            self._marks.leave_out()
            recorder.end(is_at_exit=self._over.is_set())

    @contextlib.contextmanager
    def _starting(self) -> Iterator[None]:
        """While this thread starts a profiler or a server of tfprof."""
        self._starter = threading.get_ident()
        try:
            yield
        except Exception:
            self._has_failed = True
            raise
        finally:
            self._starter = 0

    def _used_framework(self) -> str:
        """The framework whose calls are the steps; empty if that is unknown."""
        leader = self.steps.leader
        return "" if leader is None or self.steps.n_marked else leader.framework
