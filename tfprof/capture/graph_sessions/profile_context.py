"""``ProfileContext``, known from ``tf.contrib.tfprof``: profiles TF1 sessions while they run."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from tfprof.capture.graph_sessions.recorder import RunRecorder
from tfprof.capture.graph_sessions.session_runs import watch_sessions
from tfprof.errors import UsageError


class ProfileContext(RunRecorder):
    """Watches every ``Session.run`` of the process while it is active, and traces some.

        with tfprof.ProfileContext("/tmp/profiles", dump_steps=[100]) as context:
            train()
        context.profiler.profile_operations(options)

    Each call of ``run`` is one step, numbered from 0 in the order in which the calls begin, also
    those that initialise variables or fail. The calls return and raise the same as without the
    context. The caller's ``options`` do not change. The caller's ``run_metadata`` are filled, on
    traced steps also with the trace.

    Each graph that runs has its own profiler: see ``profiler`` and ``profilers``.

    Contexts may be nested, also in other threads, and left in any order; each watches all runs and
    counts its own steps. Calls through ``Session.make_callable`` and ``partial_run`` are not
    watched.

    An error in tracing, saving or profiling never ends the user's run: the first one of each kind
    is a ``TfprofWarning``, and all are in ``notices``.

    Entering raises ``MissingDependencyError`` without TensorFlow.
    """

    _stop: Callable[[], None] | None = None

    def __enter__(self) -> ProfileContext:
        if not self._enabled:
            return self
        if self._stop is not None:
            raise UsageError(
                "this ProfileContext is active already; make one for each `with` statement"
            )
        self._stop = watch_sessions(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        stop, self._stop = self._stop, None
        if stop is not None:
            stop()
