"""Follows TensorFlow: calls of ``tf.function``, marks of steps, its runtime, and its profiler."""

from __future__ import annotations

import functools
import sys
from threading import get_ident
from typing import TYPE_CHECKING, Any

from tfprof.capture.launched.live_steps import Calls, LiveSteps, inside, is_own_mark

if TYPE_CHECKING:
    from tfprof.capture.launched.captures import Captures


def follow_tensorflow(captures: Captures) -> None:
    """Follow TensorFlow, which has just been imported."""
    tensorflow: Any = sys.modules["tensorflow"]
    _follow_calls(type(tensorflow.function(_nothing)), captures.steps)
    _follow_marks(tensorflow.profiler.experimental.Trace, captures.steps)
    _follow_profiler(tensorflow.profiler.experimental, captures)
    _follow_runtime(captures)


def _nothing() -> None:
    pass


def _follow_calls(kind: Any, steps: LiveSteps) -> None:
    original = kind.__call__

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        thread = get_ident()
        if thread in inside or not steps.counts_calls:
            return original(self, *args, **kwargs)
        inside.add(thread)
        try:
            try:
                calls = self._tfprof_calls
            except AttributeError:
                name = str(getattr(self, "_name", "") or "a function")
                calls = self._tfprof_calls = Calls(name, "tensorflow")
            steps.begin_call(calls)
            return original(self, *args, **kwargs)
        finally:
            inside.discard(thread)

    kind.__call__ = call


def _follow_marks(kind: Any, steps: LiveSteps) -> None:
    original = kind.__init__

    @functools.wraps(original)
    def begin(self: Any, name: Any, **kwargs: Any) -> None:
        if "step_num" in kwargs and not is_own_mark():
            steps.marked("tf.profiler.experimental.Trace")
        original(self, name, **kwargs)

    kind.__init__ = begin


def _follow_profiler(profiler: Any, captures: Captures) -> None:
    """The program's own use of TensorFlow's profiler comes first."""
    original = profiler.start

    @functools.wraps(original)
    def start(*args: Any, **kwargs: Any) -> Any:
        captures.give_way("tf.profiler.experimental.start")
        return original(*args, **kwargs)

    inner = sys.modules.get("tensorflow.python.profiler.profiler_v2")
    for module in filter(None, (profiler, inner)):
        module.start = start


def _follow_runtime(captures: Captures) -> None:
    """TensorFlow has begun when its eager context has devices.

    Until then programs choose devices, and launchers fork.
    """
    context: Any = getattr(sys.modules.get("tensorflow.python.eager.context"), "Context", None)
    original = getattr(context, "ensure_initialized", None)
    if original is None:
        captures.runtime_began()
        return

    @functools.wraps(original)
    def ensure(self: Any) -> Any:
        made = original(self)
        context.ensure_initialized = original
        captures.runtime_began()
        return made

    context.ensure_initialized = ensure
    session: Any = getattr(sys.modules.get("tensorflow.python.client.session"), "BaseSession", None)
    if session is not None:
        _follow_sessions(session, captures)


def _follow_sessions(session: Any, captures: Captures) -> None:
    """Sessions of TensorFlow 1 compute without an eager context."""
    original = session.__init__

    @functools.wraps(original)
    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        session.__init__ = original
        captures.runtime_began()

    session.__init__ = begin
