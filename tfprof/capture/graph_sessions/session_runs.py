"""Watches calls of ``Session.run`` by replacing the method of TensorFlow's class.

All observers share one replacement of ``BaseSession.run``. The last one to stop restores the
original, whatever the order in which they started.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Protocol

from tfprof.capture.graph_sessions.run_traces import RunTrace, is_full_trace
from tfprof.errors import MissingDependencyError


class PlannedRun(Protocol):
    """A run whose end an observer is notified of."""

    @property
    def traced(self) -> bool:
        """Whether the run is to be traced."""

    def finished(self, graph: Any, run_metadata: Any, is_full: bool) -> None:
        """Called after a run that raised nothing.

        Args:
            graph: The graph that ran.
            run_metadata: The trace; None if not ``traced``.
            is_full: Whether the trace holds the times of GPU kernels.
        """


class RunObserver(Protocol):
    """Observes runs; an exception would reach the user's call of ``Session.run``."""

    def plan_run(self, session: Any, fetches: Any) -> PlannedRun | None:
        """Called before each run; None if it may run as it is."""


class _Watch:
    def __init__(self, session_class: Any) -> None:
        self.session_class = session_class
        self.original = session_class.run
        self.observers: tuple[RunObserver, ...] = ()  # replaced, never changed: read without lock
        self.replacement = _watched(self)


# The class is shared by the whole process, so changes of it must be, too.
_CLASS_LOCK = threading.Lock()


def watch_sessions(observer: RunObserver) -> Callable[[], None]:
    """Let an observer see each call of ``Session.run`` in this process, of all sessions.

    Calls made through ``Session.make_callable`` and ``partial_run`` are not seen.

    Returns:
        A function that ends it. Runs that have begun by then are still reported.

    Raises:
        MissingDependencyError: TensorFlow is not installed.
    """
    session_class = _base_session()
    with _CLASS_LOCK:
        watch = getattr(session_class.run, "tfprof_watch", None)
        if watch is None:
            watch = _Watch(session_class)
            session_class.run = watch.replacement
        watch.observers = (*watch.observers, observer)
    return functools.partial(_stop, watch, observer)


def _stop(watch: _Watch, observer: RunObserver) -> None:
    with _CLASS_LOCK:
        watch.observers = tuple(other for other in watch.observers if other is not observer)
        # Where other code has replaced our replacement, ours stays below it and only
        # passes calls on.
        if not watch.observers and watch.session_class.run is watch.replacement:
            watch.session_class.run = watch.original


def _watched(watch: _Watch) -> Callable[..., Any]:
    original = watch.original

    @functools.wraps(original)
    def run(
        self: Any,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        planned: list[PlannedRun] = []
        for observer in watch.observers:
            plan = observer.plan_run(self, fetches)
            if plan is not None:
                planned.append(plan)
        if not planned and not is_full_trace(options):
            return original(self, fetches, feed_dict, options, run_metadata)
        if is_full_trace(options) or any(plan.traced for plan in planned):
            trace = RunTrace(options)
            run_metadata = _new_run_metadata() if run_metadata is None else run_metadata
            try:
                result = original(self, fetches, feed_dict, trace.options, run_metadata)
            finally:
                trace.end()
            is_full = trace.is_full
        else:
            result = original(self, fetches, feed_dict, options, run_metadata)
            is_full = False
        for plan in planned:
            plan.finished(self.graph, run_metadata if plan.traced else None, is_full)
        return result

    run.tfprof_watch = watch  # type: ignore[attr-defined]
    return run


def _new_run_metadata() -> Any:
    from tensorflow.core.protobuf.config_pb2 import RunMetadata

    return RunMetadata()


def fetch_names(graph: Any, fetches: Any) -> frozenset[str]:
    """Names of the tensors and ops that a ``fetches`` argument means, without repetition.

    Empty for wrong fetches: the run itself will say what is wrong.
    """
    from tensorflow.python.client import session

    try:
        with graph.as_default():
            mapper = session._FetchMapper.for_fetch(fetches)
            return frozenset(element.name for element in mapper.unique_fetches())
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
        return frozenset()


def session_run_hook() -> Any:
    """The class ``tf.compat.v1.train.SessionRunHook``.

    Raises:
        MissingDependencyError: TensorFlow is not installed.
    """
    try:
        import tensorflow
    except ImportError as error:
        raise _missing("ProfilerHook") from error
    return tensorflow.compat.v1.train.SessionRunHook


def tracing_request(trace: RunTrace) -> Any:
    """The value that ``SessionRunHook.before_run`` returns to have the run traced."""
    import tensorflow

    return tensorflow.compat.v1.train.SessionRunArgs(fetches=None, options=trace.options)


def _base_session() -> Any:
    try:
        from tensorflow.python.client.session import BaseSession
    except ImportError as error:
        raise _missing("ProfileContext") from error
    return BaseSession


def _missing(name: str) -> MissingDependencyError:
    return MissingDependencyError(
        f"{name} watches TensorFlow sessions, and TensorFlow cannot be imported; "
        "install it with: pip install 'tfprof[tf]'"
    )
