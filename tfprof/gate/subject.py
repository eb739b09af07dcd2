"""What is checked: a capture, a profile, a graph, or a recording, with the metrics it tells."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.gate.budget import Limit
from tfprof.gate.measurement import Measurement, Missing

if TYPE_CHECKING:
    from tfprof.captures.facts.steps import RunSteps
    from tfprof.captures.run.run import Run
    from tfprof.graphs.reports.report import FlopsReport
    from tfprof.pages.opened import Opened
    from tfprof.profiler import Profiler


@dataclass(frozen=True, eq=False)
class Subject:
    """What is checked.

    Attributes:
        name: Its name in reports.
        profile: Makes its profile, or has it; it is not asked before a limit needs it.
        run: Its capture; None if it is none.
        program: What float operations and parameters are counted of, the path of a graph or a
            model; None is the profile.
        batch: First dimension of inputs, where the graph leaves it open.
        is_recording: It was recorded in this process, with marks of ``tfprof.trace``.
    """

    name: str
    profile: Callable[[], Profiler]
    run: Run | None
    program: Any = None
    batch: int | None = None
    is_recording: bool = False

    @cached_property
    def profiler(self) -> Profiler:
        """Its profile."""
        return self.profile()

    @property
    def counted(self) -> Any:
        """What float operations and parameters are counted of."""
        return self.profiler if self.program is None else self.program

    @cached_property
    def report(self) -> FlopsReport:
        """Its float operations, counted once."""
        from tfprof.graphs.reports.flops import flops

        return flops(self.counted, batch=self.batch)

    @cached_property
    def steps(self) -> RunSteps:
        """The steps of its capture; of a recording only those in which an op ran."""
        from tfprof.captures.facts.run_steps import run_steps

        assert self.run is not None
        steps = run_steps(self.run)
        if not self.is_recording:
            return steps
        ran = set(map(str, self.profiler.steps))
        kept = [n for n, name in enumerate(steps.names) if name.rpartition(" ")[2] in ran]
        return steps.take(np.array(kept, np.int64))

    def measure(self, limit: Limit) -> Measurement:
        """The value of what a limit is for."""
        from tfprof.gate import capture_metrics, profile_metrics, static_metrics

        name, pattern = limit.metric.name, limit.pattern
        if name in ("op_time", "scope_time"):
            return profile_metrics.time_of(self, pattern, of_scopes=name == "scope_time")
        of_capture: dict[str, Callable[[Run], Measurement]] = {
            "traces": lambda run: capture_metrics.traces(run, self.profiler, pattern),
            "retraces": lambda run: capture_metrics.retraces(run, self.profiler, pattern),
            "compilations": capture_metrics.compilations,
            "step_time": lambda _: capture_metrics.step_time(self.steps, self.profiler),
            "input_share": lambda run: capture_metrics.input_share(run, self.steps),
            "idle_share": lambda _: capture_metrics.idle_share(self.steps),
            "peak_memory": capture_metrics.peak_memory,
        }
        of_profile: dict[str, Callable[[], Measurement]] = {
            "step_time": lambda: profile_metrics.step_time(self.profiler),
            "peak_memory": lambda: profile_metrics.peak_memory(self.profiler),
            "float_operations": lambda: static_metrics.float_operations(self),
            "parameters": lambda: static_metrics.parameters(self),
            "ops": lambda: static_metrics.n_ops(self),
        }
        if self.run is not None and name in of_capture:
            return of_capture[name](self.run)
        if name in of_profile:
            return of_profile[name]()
        return Missing("only a capture of the TensorFlow 2 profiler (*.xplane.pb) tells it")


def subject_of(
    opened: Opened, paths: Sequence[str | os.PathLike[str]], batch: int | None = None
) -> Subject:
    """What was opened, as something to check.

    Args:
        opened: One run.
        paths: What was named. A graph, alone or beside a capture, is counted from its file: so a
            SavedModel has its signatures, and ops count that XLA or a rewriter has renamed.
        batch: As in ``Subject``.

    Raises:
        InputError: It cannot be read, or holds nothing that can be checked.
    """
    from tfprof.errors import EmptyProfileError
    from tfprof.files.remote.path import named
    from tfprof.files.run_folder import is_capture

    if opened.profiler is None:
        raise EmptyProfileError(
            f"{opened.source}: holds only what older tools answered, or a trace; give a capture, a "
            "profile or a graph"
        )
    profile = opened.profiler
    run = None if opened.run is None else opened.run()
    parts = [named(path) for path in paths if not is_capture(path)]
    program = None
    if len(parts) == 1 and (run is not None or not profile().steps) and _is_model(parts[0]):
        program = parts[0]
    return Subject(opened.name, profile, run, program, batch)


_OF_CAPTURES = frozenset(
    ("traces", "retraces", "compilations", "step_time", "input_share", "idle_share", "peak_memory",
     "op_time", "scope_time")
)  # fmt: skip


def measured(run: Run, limits: Sequence[Limit]) -> None:
    """Measure what only captures tell: which facts of hosts some limits need.

    Args:
        run: The run.
        limits: The limits.
    """
    from tfprof.pages.opened import opened_run

    subject = subject_of(opened_run(run), ())
    for limit in limits:
        if limit.metric.name in _OF_CAPTURES:
            subject.measure(limit)


def _is_model(path: str) -> bool:
    """Whether a path is a graph or a SavedModel itself, not a folder with one in it."""
    from tfprof.files.disk import is_ordinary_file
    from tfprof.files.run_files import is_run_folder, look_at
    from tfprof.files.sniff import Format

    if not is_ordinary_file(path):
        return not is_run_folder(path)
    return look_at(path).found.format not in (Format.PROFILE, Format.EVENTS)
