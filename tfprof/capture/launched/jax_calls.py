"""Follows JAX: calls of jitted functions, marks of steps, its runtime, and its own profiler.

``jax.jit`` returns an object of C++ whose calls pass by Python, so a call is seen only by an object
around it. ``JitCalls`` is one that stands for it in all else.
"""

from __future__ import annotations

import contextlib
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


def counted(jitted: Any, steps: LiveSteps, calls: Calls) -> Any:
    """What stands for a jitted function, and counts its calls.

    Each has a class of its own, whose ``__call__`` holds what it needs: an attribute of an object
    with ``__getattr__`` would take most of the time that a call may take.
    """
    begin = steps.begin_call
    n_cold = 0

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal n_cold
        if not steps.counts_calls or (inside and get_ident() in inside):
            return jitted(*args, **kwargs)
        if n_cold > WARM_CALLS:  # it is compiled, so no call of another function is within it
            begin(calls)
            return jitted(*args, **kwargs)
        n_cold += 1
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
    _follow_compiled(getattr(jax.stages, "Compiled", None), captures.steps)
    _follow_marks(jax.profiler, captures.steps)
    _follow_profiler(jax.profiler, captures)
    _follow_runtime(captures)


def _counting(make: Callable[..., Any], steps: LiveSteps) -> Callable[..., Any]:
    """A function like ``jax.jit`` whose results count their calls."""
    earlier: dict[tuple[Any, str], Calls] = {}

    def calls_of(jitted: Any) -> Calls:
        """Those of the same function, if it was jitted and called before: loops may do so."""
        name = str(getattr(jitted, "__name__", "") or "a function")
        key = getattr(getattr(jitted, "__wrapped__", None), "__code__", None), name
        calls = earlier.get(key)
        if calls is None or key[0] is None or not calls.n:
            calls = earlier[key] = Calls(name, "jax")
        return calls

    @functools.wraps(make)
    def counting(*args: Any, **kwargs: Any) -> Any:
        made = make(*args, **kwargs)
        if not args and isinstance(made, functools.partial):  # a decorator with arguments
            return functools.partial(counting, **kwargs)
        if not steps.counts_calls or not hasattr(made, "lower"):
            return made
        return counted(made, steps, calls_of(made))

    return counting


def _follow_compiled(kind: Any, steps: LiveSteps) -> None:
    """Count the calls of what ``jit(f).lower(x).compile()`` returns."""
    original = vars(kind or object).get("__call__")
    if original is None:
        return

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if steps.counts_calls and not (inside and get_ident() in inside):
            try:
                calls = self._tfprof_calls
            except AttributeError:
                calls = self._tfprof_calls = Calls(_name_of(self), "jax")
            steps.begin_call(calls)
        return original(self, *args, **kwargs)

    kind.__call__ = call


def _name_of(compiled: Any) -> str:
    """The name of the function in the program that is compiled."""
    with contextlib.suppress(Exception):
        [module, *_] = compiled.runtime_executable().hlo_modules()
        return str(module.name).removeprefix("jit_")
    return "a compiled function"


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
