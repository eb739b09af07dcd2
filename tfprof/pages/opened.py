"""What was opened to be looked at: captured runs and profiles, each read when it is first asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run
    from tfprof.pages.trace.model import TraceModel
    from tfprof.profiler import Profiler

T = TypeVar("T")


class Once(Generic[T]):
    """A value that is made when it is first asked for, also when several threads ask.

    Args:
        make: Makes it; what it raises is raised each time, and it is tried again.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.RLock()
        self._made: tuple[T] | None = None

    def __call__(self) -> T:
        """The value."""
        with self._lock:
            if self._made is None:
                self._made = (self._make(),)
            return self._made[0]


@dataclass(frozen=True, eq=False)
class Opened:
    """One run: a capture of the TensorFlow 2 profiler, a profile, or what serves as both.

    Attributes:
        name: Its name in addresses, unique among those that are open: a folder of a log folder,
            or the name of a file.
        source: What was read, for people: paths, as they were given.
        run: The captured run; None if it is none.
        profiler: The profile with its views; None if there can be none.
        trace: A trace of another program, which is shown as it is; None if it is none.
    """

    name: str
    source: str
    run: Once[Run] | None = None
    profiler: Once[Profiler] | None = None
    trace: Once[TraceModel] | None = None


def opened_run(run: Run, source: str = "") -> Opened:
    """A captured run that has been read; its views are made when they are asked for."""
    from tfprof.profiler import Profiler

    return Opened(
        run.name or "run",
        source or run.name or ", ".join(host.name for host in run.hosts),
        Once(lambda: run),
        Once(lambda: Profiler.from_xspace(run)),
    )


def opened_profiler(profiler: Profiler, source: str = "") -> Opened:
    """A profile that has been read."""
    return Opened("profile", source, None, Once(lambda: profiler))
