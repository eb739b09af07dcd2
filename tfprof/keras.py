"""Profiling of Keras trainings.

    import tfprof.keras

    callback = tfprof.keras.ProfilerCallback(steps=(10, 20), dir="profiles")
    model.fit(data, callbacks=[callback])
    print(callback.profiler.report("scope"))

Keras is imported when ``ProfilerCallback`` is first used.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ProfilerCallback"]  # noqa: F822  # made at first use


def __getattr__(name: str) -> Any:
    if name != "ProfilerCallback":
        raise AttributeError(f"module 'tfprof.keras' has no attribute {name!r}")
    from tfprof.capture.eager.profiler_callback import ProfilerCallback

    globals()[name] = ProfilerCallback
    return ProfilerCallback


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
