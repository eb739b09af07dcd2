"""Watches calls of ``Session.run`` by replacing the method of TensorFlow's class, and traces some.

All observers share one replacement of ``BaseSession.run``. The last one to stop restores the
original, whatever the order in which they started.

There is one full trace at a time, which is TensorFlow's limit: with two at once, or within
``tf.profiler.experimental``, TensorFlow executes the run and then raises ``AlreadyExistsError``
instead of returning the result. A trace of the level ``SOFTWARE_TRACE`` is always possible; it
lacks the times of GPU kernels.
"""

from __future__ import annotations

import functools
import sys
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfprof.errors import MissingDependencyError

if TYPE_CHECKING:
    from tfprof.capture.graph_sessions.recorder import RunRecorder


_SOFTWARE_TRACE, _HARDWARE_TRACE, _FULL_TRACE = 1, 2, 3  # RunOptions.TraceLevel
_LOCK = threading.Lock()


class RunTrace:
    """One traced run, from before it begins until ``end`` or until no reference to it is left.

    Args:
        options: The caller's ``RunOptions`` or None; they are left as they are.

    Attributes:
        options: What to run with.
        is_full: Whether the run holds the times of GPU kernels.
    """

    _holder: weakref.ref[RunTrace] | None = None  # of the process

    def __init__(self, options: Any = None) -> None:
        self.options = _messages().RunOptions()
        if options is not None:
            self.options.CopyFrom(options)
        self._thread = threading.get_ident()
        asked_for = is_full_trace(options)
        with _LOCK:
            holder = self._current()
            if holder is None:
                self.is_full = asked_for or not _is_profiler_active()
            else:  # options of this thread may hold its own trace: that of a hook
                self.is_full = asked_for and holder._thread == self._thread
            if self.is_full and holder is None:
                RunTrace._holder = weakref.ref(self)
        self.options.trace_level = _FULL_TRACE if self.is_full else _SOFTWARE_TRACE

    def end(self) -> None:
        """Let others trace; repeated calls do nothing."""
        with _LOCK:
            if self._current() is self:
                RunTrace._holder = None

    @staticmethod
    def _current() -> RunTrace | None:
        return None if RunTrace._holder is None else RunTrace._holder()


def is_full_trace(options: Any) -> bool:
    """Whether these ``RunOptions`` (or None) request a full trace."""
    return getattr(options, "trace_level", 0) >= _HARDWARE_TRACE


def _is_profiler_active() -> bool:
    """Whether the program is within ``tf.profiler.experimental``."""
    profiler = sys.modules.get("tensorflow.python.profiler.profiler_v2")
    return getattr(profiler, "_profiler", None) is not None


class _Watch:
    def __init__(self, session_class: Any) -> None:
        self.session_class = session_class
        self.original = session_class.run
        self.observers: tuple[RunRecorder, ...] = ()  # replaced, never changed: read without lock
        self.replacement = _watched(self)


# The class is shared by the whole process, so changes of it must be, too.
_CLASS_LOCK = threading.Lock()


def watch_sessions(observer: RunRecorder) -> Callable[[], None]:
    """Pass each call of ``Session.run`` in this process, of all sessions, to an observer.

    Calls through ``Session.make_callable`` and ``partial_run`` are not observed.

    Returns:
        A function that ends it. Runs that have begun by then are still reported.

    Raises:
        MissingDependencyError: TensorFlow is not installed.
    """
    _tensorflow("ProfileContext")
    from tensorflow.python.client.session import BaseSession

    session_class: Any = BaseSession
    with _CLASS_LOCK:
        watch = getattr(session_class.run, "tfprof_watch", None)
        if watch is None:
            watch = _Watch(session_class)
            session_class.run = watch.replacement
        watch.observers = (*watch.observers, observer)
    return functools.partial(_stop, watch, observer)


def _stop(watch: _Watch, observer: RunRecorder) -> None:
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
        planned = []
        for observer in watch.observers:
            plan = observer.plan_run(self, fetches)
            if plan is not None:
                planned.append(plan)
        if not planned and not is_full_trace(options):  # most runs, which must cost nothing
            return original(self, fetches, feed_dict, options, run_metadata)
        trace = None
        if is_full_trace(options) or any(plan.traced for plan in planned):
            trace = RunTrace(options)
            options = trace.options
            if run_metadata is None:
                run_metadata = _messages().RunMetadata()
        try:
            result = original(self, fetches, feed_dict, options, run_metadata)
        finally:
            if trace is not None:
                trace.end()
        is_full = trace is not None and trace.is_full
        for plan in planned:
            plan.finished(self.graph, run_metadata if plan.traced else None, is_full)
        return result

    run.tfprof_watch = watch  # type: ignore[attr-defined]
    return run


def _messages() -> Any:
    from tensorflow.core.protobuf import config_pb2

    return config_pb2


def fetch_names(graph: Any, fetches: Any) -> frozenset[str]:
    """Names of the tensors and ops in a ``fetches`` argument, without repetition.

    Empty for wrong fetches: the run itself reports the error.
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
    return _tensorflow("ProfilerHook").compat.v1.train.SessionRunHook


def tracing_request(trace: RunTrace) -> Any:
    """The value that ``SessionRunHook.before_run`` returns to have the run traced."""
    train = _tensorflow("ProfilerHook").compat.v1.train
    return train.SessionRunArgs(fetches=None, options=trace.options)


def _tensorflow(name: str) -> Any:
    try:
        import tensorflow
    except ImportError as error:
        raise MissingDependencyError(
            f"{name} watches TensorFlow sessions, and TensorFlow cannot be imported; "
            "install it with: pip install 'tfprof[tf]'"
        ) from error
    return tensorflow
