"""Follows JAX: calls of jitted functions, marks of steps, its runtime, and its own profiler.

``jax.jit`` returns an object of C++ whose calls pass by Python, so a call is seen only by an object
around it. ``JitCalls`` is one that stands for it in all else.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from threading import get_ident
from typing import TYPE_CHECKING, Any, cast

from tfprof.capture.launched.live_steps import (
    WARM_CALLS,
    Calls,
    LiveSteps,
    inside,
    is_own_mark,
)

if TYPE_CHECKING:
    from tfprof.capture.launched.captures import Captures

_MAKERS = ("jit", "pmap")


class JitCalls:  # noqa: D101  # its docstring is that of the function
    __slots__ = ("__weakref__", "_tfprof_calls", "_tfprof_jitted")

    def __init__(self, jitted: Any, calls: Calls) -> None:
        object.__setattr__(self, "_tfprof_jitted", jitted)
        object.__setattr__(self, "_tfprof_calls", calls)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(cast(Any, self), instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tfprof_jitted, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._tfprof_jitted, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._tfprof_jitted, name)

    def __dir__(self) -> list[str]:
        return dir(self._tfprof_jitted)

    def __repr__(self) -> str:
        return repr(self._tfprof_jitted)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._tfprof_jitted.__reduce_ex__(protocol)

    @property
    def __class__(self) -> Any:  # isinstance finds the type that it stands for
        return type(self._tfprof_jitted)

    @__class__.setter
    def __class__(self, kind: Any) -> None:
        raise TypeError("the class of a jitted function cannot be changed")

    @property
    def __doc__(self) -> Any:  # type: ignore[override]
        return self._tfprof_jitted.__doc__

    @property
    def __module__(self) -> Any:  # type: ignore[override]
        return self._tfprof_jitted.__module__


def counted(jitted: Any, steps: LiveSteps) -> Any:
    """What stands for a jitted function, and counts its calls.

    Each has a class of its own, whose ``__call__`` holds what it needs: an attribute of an object
    with ``__getattr__`` would take most of the time that a call may take.
    """
    calls = Calls(str(getattr(jitted, "__name__", "") or "a function"), "jax")
    begin = steps.begin_call

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not steps.counts_calls or (inside and get_ident() in inside):
            return jitted(*args, **kwargs)
        if calls.n > WARM_CALLS:  # it is compiled, so no call of another function is within it
            begin(calls)
            return jitted(*args, **kwargs)
        thread = get_ident()
        inside.add(thread)
        try:
            begin(calls)
            return jitted(*args, **kwargs)
        finally:
            inside.discard(thread)

    # A new class has a docstring and a module of its own, in the way of those it stands for.
    own = {name: vars(JitCalls)[name] for name in ("__doc__", "__module__")}
    kind = type(type(jitted).__name__, (JitCalls,), {"__slots__": (), "__call__": call, **own})
    return kind(jitted, calls)


def follow_jax(captures: Captures) -> None:
    """Follow JAX, which has just been imported."""
    jax: Any = sys.modules["jax"]
    for name in _MAKERS:
        if hasattr(jax, name):
            setattr(jax, name, _counting(getattr(jax, name), captures.steps))
    _follow_marks(jax.profiler, captures.steps)
    _follow_profiler(jax.profiler, captures)
    _follow_runtime(captures)


def _counting(make: Callable[..., Any], steps: LiveSteps) -> Callable[..., Any]:
    """A function like ``jax.jit`` whose results count their calls."""

    @functools.wraps(make)
    def counting(*args: Any, **kwargs: Any) -> Any:
        made = make(*args, **kwargs)
        if not args and isinstance(made, functools.partial):  # a decorator with arguments
            return functools.partial(counting, **kwargs)
        return counted(made, steps) if hasattr(made, "lower") else made

    return counting


def _follow_marks(profiler: Any, steps: LiveSteps) -> None:
    kind = profiler.StepTraceAnnotation
    original = kind.__init__

    @functools.wraps(original)
    def begin(self: Any, name: Any, **kwargs: Any) -> None:
        if not is_own_mark():
            steps.marked("jax.profiler.StepTraceAnnotation")
        original(self, name, **kwargs)

    kind.__init__ = begin


def _follow_profiler(profiler: Any, captures: Captures) -> None:
    """The program's own use of JAX's profiler comes first."""
    start_trace, start_server = profiler.start_trace, profiler.start_server

    @functools.wraps(start_trace)
    def start(*args: Any, **kwargs: Any) -> Any:
        captures.give_way("jax.profiler.start_trace")
        return start_trace(*args, **kwargs)

    @functools.wraps(start_server)
    def serve(*args: Any, **kwargs: Any) -> Any:
        port = args[0] if args else kwargs.get("port")
        with captures.server_of_program(port):
            return start_server(*args, **kwargs)

    inner = sys.modules.get("jax._src.profiler")
    for module in filter(None, (profiler, inner)):
        module.start_trace, module.start_server = start, serve


def _follow_runtime(captures: Captures) -> None:
    """JAX has begun when it has made its first backend.

    Until then programs choose platforms and join clusters, which a server would forestall.
    """
    bridge: Any = sys.modules.get("jax._src.xla_bridge")
    original = getattr(bridge, "_init_backend", None)
    if original is None:  # another release of JAX: the first look at its backends is later
        captures.runtime_began()
        return

    @functools.wraps(original)
    def init(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        captures.runtime_began()
        return made

    bridge._init_backend = init
