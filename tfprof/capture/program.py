"""Captures of CUDA programs that use neither TensorFlow nor JAX: their steps, and named scopes."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from tfprof.capture.plane_writer import PlaneWriter
from tfprof.captures.events.timeline.names import HOST_PLANE, TASK_PLANE
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError
from tfprof.options.captures import CaptureOptions

_MOST_MARKS = 1 << 20
_NO_NAME = re.compile(r"[^A-Za-z0-9_./>-]")


class _Span(NamedTuple):
    """A step or a scope, on a thread."""

    start_ns: int
    end_ns: int
    thread: int
    name: str
    step: int | None


class _Marks:
    """Where marks of this process go; one program is captured at a time."""

    taken: list[_Span] | None = None


_marks = _Marks()


def is_recording() -> bool:
    """Whether marks are being recorded."""
    return _marks.taken is not None


class Mark:
    """A step of the program, or a scope if it has no number.

    Args:
        name: Its name.
        step_num: Number of the step.
    """

    __slots__ = ("_name", "_start_ns", "_step")

    def __init__(self, name: str, step_num: int | None = None) -> None:
        self._name, self._step = name, step_num

    def __enter__(self) -> None:
        self._start_ns = time.time_ns()

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        taken = _marks.taken
        if taken is not None and len(taken) < _MOST_MARKS:
            end_ns = max(time.time_ns(), self._start_ns)  # clocks may be set back
            thread = threading.get_ident() & 0xFFFFFFFF
            taken.append(_Span(self._start_ns, end_ns, thread, self._name, self._step))


class scope:  # noqa: N801  # reads as a function
    """Names the GPU work of a block: ``with tfprof.capture.scope("encoder/attention"):``.

    For programs without TensorFlow and JAX, which name their ops themselves: kernels that this
    thread launches in the block belong to an op of this name. The innermost scope counts. Without
    a recording, a scope costs less than a microsecond.

    Args:
        name: Name of the op, with slashes between its scopes. Characters that names of ops cannot
            have become underscores.
    """

    __slots__ = ("_mark", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._mark: Mark | None = None

    def __enter__(self) -> None:
        if _marks.taken is not None:
            # As JAX writes names of ops: the type after the colon is unknown.
            self._mark = Mark(f"{_NO_NAME.sub('_', str(self._name)) or '_'}:")
            self._mark.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        mark, self._mark = self._mark, None
        if mark is not None:
            mark.__exit__()


class CudaProgram:
    """Stands in for a framework's profiler (``frameworks.Framework``) where there is none."""

    name: str = "tfprof"
    unsupported: tuple[str, ...] = tuple(CaptureOptions().levels)

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._start_ns = 0

    def begin(self, folder: Path, options: CaptureOptions) -> None:
        """See ``Framework``."""
        self._folder, self._start_ns = folder, time.time_ns()
        _marks.taken = []

    def end(self, *, save: bool = True) -> None:
        """See ``Framework``."""
        taken, _marks.taken = _marks.taken or [], None
        if not save or self._folder is None:
            return
        date = time.strftime("%Y_%m_%d_%H_%M_%S")
        run = self._folder / "plugins" / "profile" / date
        run.mkdir(parents=True)
        host = socket.gethostname() or "localhost"
        space = _space(sorted(taken, key=str), host, self._start_ns, time.time_ns())
        name = host.replace("/", "_").replace(":", "_")
        (run / f"{name}.xplane.pb").write_bytes(space.SerializeToString(deterministic=True))

    def devices(self) -> list[str]:
        """See ``Framework``."""
        return []

    def serve(self, port: int) -> Callable[[], None] | None:
        """See ``Framework``."""
        raise UsageError("serve: without TensorFlow or JAX there is no profiler server")


def _space(spans: list[_Span], host: str, start_ns: int, stop_ns: int) -> pb.XSpace:
    """Marks as the lines of their threads."""
    space = pb.XSpace(hostnames=[host])
    plane = PlaneWriter(space.planes.add(name=HOST_PLANE), start_ns)
    for thread in sorted({span.thread for span in spans}):
        own = sorted(
            (span for span in spans if span.thread == thread and span.start_ns >= start_ns),
            key=lambda span: (span.start_ns, -span.end_ns),
        )
        line = plane.line(thread, f"Host Threads/{thread}", start_ns)
        for span in own:
            stats = {} if span.step is None else {"step_num": span.step, "_r": 1}
            plane.add(line, span.name, span.start_ns, span.end_ns, **stats)
    task = PlaneWriter(space.planes.add(name=TASK_PLANE), 0)
    task.describe(profile_start_time=start_ns, profile_stop_time=stop_ns)
    return space
