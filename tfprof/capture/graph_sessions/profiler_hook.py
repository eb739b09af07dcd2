"""A hook that profiles ``MonitoredSession`` and all else that accepts a ``SessionRunHook``."""

from __future__ import annotations

import functools
import threading
from typing import Any

from tfprof.capture.graph_sessions.recorder import RecordedRun, RunRecorder
from tfprof.capture.graph_sessions.session_runs import (
    RunTrace,
    is_full_trace,
    session_run_hook,
    tracing_request,
)


class ProfilerHook(RunRecorder):
    """A ``tf.compat.v1.train.SessionRunHook`` that traces some runs of the session it is given to.

        hook = tfprof.ProfilerHook("/tmp/profiles", dump_steps=[100])
        with tf.compat.v1.train.MonitoredTrainingSession(hooks=[hook]) as session:
            while not session.should_stop():
                session.run(train)
        hook.profiler.profile_operations(options)

    Arguments and methods are those of ``ProfileContext``. Steps are the runs that the hook
    watches, numbered from 0. The global step would not do: a training that continues from a
    checkpoint would never reach step 100, and with several workers the global step skips numbers.
    Runs that initialise, restore or save are not watched and not counted.

    On traced steps TensorFlow writes the trace level into the ``options`` that the caller passes to
    ``MonitoredSession.run``; pass new ones to each run.

    Raises:
        MissingDependencyError: TensorFlow is not installed.
    """

    _running: dict[int, tuple[RecordedRun, RunTrace | None]]

    def __new__(cls, *args: Any, **kwargs: Any) -> ProfilerHook:
        """Make an instance that is also one of TensorFlow's class, which is imported only now."""
        own: Any = cls
        hook: Any = super().__new__(_with_tensorflow(own))
        hook._running = {}  # by thread
        return hook  # type: ignore[no-any-return]

    def before_run(self, run_context: Any) -> Any:
        """Request a trace if this run is to be traced (``SessionRunHook``)."""
        self._take_running()  # TensorFlow does not report a run that failed
        if not self._enabled:
            return None
        plan = self.plan_run(run_context.session, run_context.original_args.fetches)
        if plan is None:
            return None
        trace = RunTrace() if plan.traced else None
        self._running[threading.get_ident()] = plan, trace
        return tracing_request(trace) if trace else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Process the trace (``SessionRunHook``)."""
        plan = self._take_running()
        if plan is not None:
            metadata = run_values.run_metadata if plan.traced else None
            plan.finished(run_context.session.graph, metadata, is_full_trace(run_values.options))

    def _take_running(self) -> RecordedRun | None:
        """The recorded run that this thread began last; None if it is not recorded."""
        plan, trace = self._running.pop(threading.get_ident(), (None, None))
        if trace is not None:
            trace.end()
        return plan


@functools.cache
def _with_tensorflow(cls: Any) -> Any:
    """The class as a subclass of TensorFlow's ``SessionRunHook``."""
    base = session_run_hook()
    if issubclass(cls, base):
        return cls
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    return type(cls.__name__, (cls, base), names)
