"""The captures of a process that ``tfprof run`` has hooked: when they begin and end."""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tfprof.capture import steps
from tfprof.capture.launched.live_steps import NEVER, LiveSteps, inside
from tfprof.capture.launched.requests import Moments
from tfprof.capture.launched.spec import AFTER_SECONDS, FIRST_STEP, N_STEPS, RunSpec
from tfprof.capture.launched.state import State, rank_of
from tfprof.capture.termination import Termination
from tfprof.files.hooked_processes import start_ticks

if TYPE_CHECKING:
    from tfprof.capture.launched.quiet_capture import QuietCapture
    from tfprof.capture.recorder import Recorder
    from tfprof.capture.serving import ProfilerServer
    from tfprof.files.kept_runs import KeptRuns

_log = logging.getLogger("tfprof")

_LOOK_SECONDS = 0.1
_WINDOW_SECONDS = 3.0
"""Length of a window of a program without steps."""
_LONGEST_SECONDS = 60.0
"""Longest window by steps."""
_SLOW_SECONDS = 10.0
"""A program that has not reached the default window so long after its first step is slow."""
_FEW_STEPS = 2
_PATIENCE_SECONDS = (1.0, 60.0)
"""How long a window waits for the next step, in a program without steps and in one with steps."""
_MOST_RUNS = 10


@dataclass(frozen=True, slots=True)
class Launch:
    """What the processes of one launch share.

    Attributes:
        run: Name of their run.
        journal: File in which the command reads what they did; empty without the command.
        pid: Number of the command's process; without it, of the first process.
    """

    run: str
    journal: str = ""
    pid: int = 0

    @property
    def is_main(self) -> bool:
        """Whether this process is the program itself, not one that it has started."""
        from multiprocessing import process

        own = os.getppid() if self.journal else os.getpid()
        return own == self.pid and process.parent_process() is None


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
        self._began = 0.0
        self._framework = ""
        self._window: _Window | None = None
        self._capture: QuietCapture | None = None
        self._last, self._until = NEVER, NEVER
        self._recorder: Recorder | None = None
        self._server: ProfilerServer | None = None
        self._is_starting = self._has_captured = self._has_failed = self._is_forked = False
        self._own_step: steps.step | None = None
        self._own_thread = 0
        self._moments = Moments(spec, launch.run)
        self._kept: KeptRuns | None = None
        self._termination = Termination(self.end)
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
            self._began = time.monotonic()
            self._thread = threading.Thread(target=self._watch, name="tfprof-run", daemon=True)
            self._thread.start()

    def give_way(self, api: str) -> None:
        """End what is captured, because the program starts a profiler of its own."""
        if self._is_starting or (self._capture is None and self._recorder is None):
            return
        self.warn(f"the program calls {api} itself, and there can be one recording at a time: "
                  "this one ends here")  # fmt: skip
        with self._lock, self._going_on("what was recorded until then is lost"):
            self._end_capture()
            self._end_recorder()
            self._plan()

    @contextlib.contextmanager
    def server_of_program(self, port: object) -> Iterator[None]:
        """While the program starts a server of JAX itself, of which there can be one."""
        is_own = self._is_starting
        if not is_own and self._server is not None:
            self._spec = replace(self._spec, server=False)
            with self._going_on("tfprof's own server goes on"):
                self._server.stop()
        yield
        if not is_own:
            self._spec = replace(self._spec, server=False)
            if isinstance(port, int) and self._state is not None:
                self._state.update(port=port)

    def warn(self, text: str) -> None:
        """Report a failure, with where it was."""
        if self._launch.journal:
            self._tell(event="trouble", text=text)  # which the command prints at once
            return
        rank = rank_of(os.environ)
        where = f"process {os.getpid()}" if rank is None else f"rank {rank}"
        _log.warning("tfprof run: %s: %s", where, text)

    def end(self) -> None:
        """The process ends: save what there is."""
        if self._over.is_set():
            return
        self._over.set()
        with self._lock:
            self.steps.due, self.steps.counts_calls = NEVER, False
            with self._going_on("what was recorded is lost"):
                self._end_capture()
            with self._going_on("what was recorded is lost"):
                self._end_recorder()
            self._report_nothing()
            if self._state is not None:
                self._state.remove()
        self._tell(event="end", steps=self.steps.n, what=self.steps.what)

    def _begin_process(self) -> None:
        self._tell(event="framework", framework=self._framework)
        self._describe()
        if "multiprocessing.process" in sys.modules:  # whose children of fork skip atexit
            from multiprocessing import process, util

            if process.parent_process() is not None:
                util.Finalize(None, self.end, exitpriority=0)
        self._termination.install()

    def _describe(self) -> None:
        try:
            self._state = State(self._spec.state, self._framework, self._launch.run)
        except OSError as error:
            self.warn(f"{self._spec.state}: cannot be written: {error.strerror or error}; other "
                      "commands will not find this process")  # fmt: skip
            return
        earlier = self._state.earlier
        is_same = earlier is not None and earlier.ticks == start_ticks(earlier.pid)
        if earlier is not None and earlier.is_capturing and is_same:
            self.warn("the program replaced itself (os.exec) during a capture, which is lost")

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
        inside.clear()
        self.steps.n, self.steps.first_at, self._began = 0, None, 0.0
        self._is_forked = True
        self._last = self._until = NEVER
        self._plan()

    def _step_is_due(self) -> None:
        """In the thread of a step, before the step."""
        with self._lock, self._going_on("this window is lost"):
            if self._capture is not None and self.steps.n > self._last:
                self._end_mark()
                _wait_for_jax()
                self._end_capture()
            window = self._window
            if self._capture is None and window is not None and self.steps.n >= window.first:
                self._begin_capture(window, self.steps.n + window.length - 1)
            if self._capture is not None or self._recorder is not None:
                self._mark()
            self._plan()

    def _mark(self) -> None:
        """Mark a step from a call of a jitted function to its next call, while this is recorded.

        The runtime of JAX records no calls that the analysis could take for steps; that of
        TensorFlow does.
        """
        self._end_mark()
        leader = self.steps.leader
        if leader is None or leader.framework != "jax" or self.steps.n_marked:
            return
        self._own_step = steps.step(self.steps.n, leader.name)
        self._own_step.begin()
        self._own_thread = threading.get_ident()

    def _end_mark(self) -> None:
        """End the mark in its thread; another thread leaves it out, as would a cut."""
        mark, self._own_step = self._own_step, None
        if mark is not None and self._own_thread == threading.get_ident():
            mark.__exit__()

    def _plan(self) -> None:
        """When the count of steps matters next."""
        if self._capture is not None:
            self.steps.due = self._last + 1 if self._own_step is None else self.steps.n + 1
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
        leader = self.steps.leader
        framework = leader.framework if leader is not None and not self.steps.n_marked else ""
        from tfprof.capture.launched.quiet_capture import QuietCapture

        capture = QuietCapture(self._spec, window.run, framework, self._file_host(), self.end)
        self._has_captured = self._is_starting = True
        try:
            capture.start()
        except Exception:
            self._has_failed = True
            raise
        finally:
            self._is_starting = False
        limit = _LONGEST_SECONDS if last < NEVER else _WINDOW_SECONDS
        self._capture, self._last = capture, last
        self._until = time.monotonic() + (self._spec.for_ or limit)
        if self._state is not None:
            self._state.update(is_capturing=True)

    def _end_capture(self) -> None:
        capture, self._capture = self._capture, None
        if capture is None:
            return
        self._last = self._until = NEVER
        if getattr(sys, "last_value", None) is not None:
            self._end_mark()  # the step that has failed
        # Otherwise the last mark is left out: what is not steps any more would be in it. It would
        # be recorded if it went before the recording ends.
        cut, self._own_step = self._own_step, None
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
            self._saved(str(capture.folder))

    def _saved(self, folder: str, reason: str = "") -> None:
        self._tell(event="run", folder=folder, reason=reason)
        if not self._launch.journal and not rank_of(os.environ):
            _log.warning("tfprof run: written: %s; next: tfprof overview %s", folder, folder)

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
        with self._going_on("it is not captured any more"):
            # Here, so that the step that begins the first window does not wait for it.
            import tfprof.capture.launched.quiet_capture  # noqa: F401

            time.sleep(_LOOK_SECONDS)  # the other framework of the program may begin, too
            if self._spec.server:
                self._serve()
            while not self._over.wait(_LOOK_SECONDS):
                with self._lock, self._going_on("a window is lost"):
                    self._look(time.monotonic())

    def _serve(self) -> None:
        from tfprof.capture.serving import serve_until_another

        self._is_starting = True
        try:
            self._server = serve_until_another()
        except Exception as error:
            self.warn(f"no profiler server was started: {error}")
            return
        finally:
            self._is_starting = False
        if self._state is not None:
            self._state.update(port=self._server.port, framework=self._server.framework.lower())

    def _look(self, now: float) -> None:
        if self._over.is_set():
            return
        if self._spec.when:
            if self._recorder is not None:
                self._look_at_recorder(self._recorder)
            elif not self._has_captured and self._is_warm(now):
                self._record()
            self._plan()
            return
        for run in self._moments.due(time.time(), now - self._began):
            if self._capture is None and self._window is None:
                self._window = _Window(run, 0, self._spec.length, now)
        n, window = self.steps.n, self._window
        if self._spec.is_default and window is not None and window.since == NEVER:
            if self._is_warm(now):
                if n == 0:
                    self._begin_capture(window, NEVER)
                else:
                    window.first = 0
        elif window is not None and window.since < now - _PATIENCE_SECONDS[n > 0]:
            self._begin_capture(window, NEVER)
        if now > self._until:
            self.steps.due = NEVER
            self._end_capture()
        self._plan()

    def _is_warm(self, now: float) -> bool:
        """Whether first steps, which compile, are over; or there are none, or they are slow."""
        n, passed = self.steps.n, now - (self.steps.first_at or self._began)
        if n == 0:
            return passed > AFTER_SECONDS
        return n >= FIRST_STEP or (n >= _FEW_STEPS and passed > _SLOW_SECONDS)

    def _record(self) -> None:
        from tfprof.capture.recorder import Recorder

        self._is_starting = self._has_captured = True
        self._n_recorded = 0
        try:
            recorder = Recorder(
                self._spec.logdir, when=self._spec.when, options=self._spec.options,
                count=self._spec.most_runs or 1,
            )  # fmt: skip
            self._recorder = recorder.__enter__()
        except Exception as error:
            self._has_failed = True
            self.warn(f"the flight recorder of when={self._spec.when!r} did not start: {error}")
        finally:
            self._is_starting = False

    def _look_at_recorder(self, recorder: Recorder) -> None:
        for run in self._moments.due(time.time(), 0.0):
            recorder.save(f"key press, {run}", timeout=0.0)
        self._report_recorded(recorder)
        if recorder.is_over:
            self._end_recorder()

    def _report_recorded(self, recorder: Recorder) -> None:
        for saved in recorder.runs[self._n_recorded :]:
            if saved.trouble:
                self.warn(saved.trouble)
            if saved.folder:
                self._saved(saved.folder, saved.reason)
        self._n_recorded = len(recorder.runs)

    def _end_recorder(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        self._own_step = None
        error: Any = getattr(sys, "last_value", None) if self._over.is_set() else None
        recorder.__exit__(type(error) if error else None, error, None)
        self._report_recorded(recorder)

    def _report_nothing(self) -> None:
        """Say why nothing was captured, and what to do."""
        if self._has_captured or self._has_failed or not self._began:
            return
        n, what = self.steps.n, self.steps.what
        begun = f"after {n} steps ({what})" if n else "without a step"
        if self._spec.steps is not None:
            first = self._spec.steps[0]
            self.warn(f"nothing was captured: the program ended {begun}, before step {first}. "
                      + (f"Take earlier ones, such as --steps {max(1, n // 2)}:{n}" if n > 1 else
                         "Capture by time: --after 1s --for 2s"))  # fmt: skip
        elif self._spec.is_default:
            self.warn(f"nothing was captured: the program ended {begun}, before step {FIRST_STEP}. "
                      + (f"Take earlier ones: --steps 2:{n}" if n > 1 else
                         "Capture it from its start: --after 0s"))  # fmt: skip
        elif self._spec.after is not None or self._spec.every:
            self.warn(f"nothing was captured: the program ended {begun}, "
                      f"{time.monotonic() - self._began:.1f} s after its framework began, before "
                      "the first window; let it begin earlier")  # fmt: skip

    @contextlib.contextmanager
    def _going_on(self, what: str) -> Iterator[None]:
        """Nothing that fails ends the program."""
        try:
            yield
        except Exception as error:
            self.warn(f"{what}, and the program goes on: {error}")

    def _tell(self, **event: Any) -> None:
        """Write a line for the command."""
        if not self._launch.journal:
            return
        line = json.dumps({"pid": os.getpid(), "rank": rank_of(os.environ), **event}) + "\n"
        with contextlib.suppress(OSError):
            number = os.open(self._launch.journal, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(number, line.encode())
            finally:
                os.close(number)


def _wait_for_jax() -> None:
    """Wait for what steps of JAX have started: calls return before, and the trace would lack it."""
    jax: Any = sys.modules.get("jax")
    for array in [] if jax is None else jax.live_arrays():
        with contextlib.suppress(Exception):  # donated, or of a computation that failed
            array.block_until_ready()
