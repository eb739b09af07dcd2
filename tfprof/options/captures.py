"""What a capture records, and when, be it made in the program or from outside."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

from tfprof.errors import UsageError

_HIGHEST = {"host_tracer_level": 3, "device_tracer_level": 9, "python_tracer_level": 1}
"""Devices may define levels above 1, and those that do not take all of them as 1; so 9 leaves room
for all, in a program and from outside."""
_MOST_SECONDS = 86400.0
OPS_LEVEL = 2
"""The level of the host's tracer from which on ops are recorded."""
FRAMEWORKS = ("tensorflow", "jax")
NO_FRAMEWORK = "none"
GPU_TRACERS = ("framework", "cupti")


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """What a capture records, and when: in the program itself, or through a profiler server.

    Attributes:
        host_tracer_level: 0 records nothing of the host, 1 step markers and what is critical, 2
            also ops, tf.data and allocations, 3 also details of the runtime.
        device_tracer_level: 1 records GPUs and TPUs, 0 does not. Some devices have more levels, up
            to 9; others take these as 1.
        python_tracer_level: 1 records each call of a Python function, which gives many events.
        delay: Seconds from the start until recording begins; the program goes on meanwhile. From
            outside all workers whose clocks agree begin at the same moment.
        duration: Seconds after which recording ends by itself; None records until it is stopped,
            which only the program itself can do.
        session_id: Name of the run's folder; empty for the date and time. Workers that use one
            name write one run.
        gpu_tracer: The tracer of NVIDIA GPUs: ``framework``, the profiler of TensorFlow or JAX; or
            ``cupti``, tfprof itself through cupti-python (extra ``gpu``), while that profiler
            records the host only. Only in the program itself.
        framework: ``tensorflow`` or ``jax``, whose profiler records; empty for the one that the
            program uses; ``none`` for a program of neither, whose GPUs ``cupti`` records. Only in
            the program itself.

    Raises:
        UsageError: A value is invalid.
    """

    host_tracer_level: int = 2
    device_tracer_level: int = 1
    python_tracer_level: int = 0
    delay: float = 0.0
    duration: float | None = None
    session_id: str = ""
    framework: str = ""
    gpu_tracer: str = GPU_TRACERS[0]

    def __post_init__(self) -> None:
        for name, highest in _HIGHEST.items():
            object.__setattr__(self, name, _level(name, getattr(self, name), highest))
        if not _is_time(self.delay) or self.delay < 0:
            raise UsageError(f"delay={self.delay!r} must be a number of seconds from 0 to a day")
        if self.duration is not None and not (_is_time(self.duration) and self.duration > 0):
            raise UsageError(
                f"duration={self.duration!r} must be a number of seconds above 0, up to a day, or "
                "None"
            )
        if self.session_id and not is_folder_name(self.session_id):
            raise UsageError(
                f"session_id={self.session_id!r} must be a name for a folder, without slashes"
            )
        if self.framework not in ("", *FRAMEWORKS, NO_FRAMEWORK):
            known = ", ".join((*FRAMEWORKS, NO_FRAMEWORK))
            raise UsageError(f"framework={self.framework!r} must be one of {known}, or empty")
        if self.gpu_tracer not in GPU_TRACERS:
            raise UsageError(
                f"gpu_tracer={self.gpu_tracer!r} must be one of {', '.join(GPU_TRACERS)}"
            )
        if self.framework == NO_FRAMEWORK and self.gpu_tracer != "cupti":
            raise UsageError(
                f"framework={self.framework!r} has no profiler, so it needs gpu_tracer='cupti'"
            )

    @property
    def levels(self) -> dict[str, int]:
        """The levels of the tracers, by the names of their options."""
        return {name: getattr(self, name) for name in _HIGHEST}


def _level(name: str, level: object, highest: int) -> int:
    try:
        number = operator.index(level)  # type: ignore[arg-type]  # the error says that it is none
    except TypeError:
        number = -1
    if not 0 <= number <= highest:
        raise UsageError(f"{name}={level!r} must be a whole number from 0 to {highest}")
    return number


def _is_time(seconds: object) -> bool:
    return (
        isinstance(seconds, (int, float))
        and not isinstance(seconds, bool)
        and math.isfinite(seconds)
        and seconds <= _MOST_SECONDS
    )


def is_folder_name(name: object) -> bool:
    """Whether a run can have this name, which becomes that of a folder."""
    return (
        isinstance(name, str)
        and name != ""
        and name not in (".", "..")
        and not any(each in "/\\\0" or ord(each) < ord(" ") for each in name)
    )
