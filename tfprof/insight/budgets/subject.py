"""The subject of a check: a capture, a profile, a graph, or a recording."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tfprof.captures.facts.steps import RunSteps
    from tfprof.captures.run.run import Run
    from tfprof.graphs.reports.report import FlopsReport
    from tfprof.inputs.opened import Opened
    from tfprof.inputs.profiler import Profiler


@dataclass(frozen=True, eq=False)
class Subject:
    """The subject of a check.

    Attributes:
        name: Its name in reports.
        profile: Its profile, or a function that makes it when the first limit needs it.
        run: Its capture; None for others.
        program: The path of a graph or a model, to count float operations and parameters; None
            for the profile.
        batch: First dimension of inputs, where the graph leaves it open.
        device: Peak rates for utilization; None for what is known.
        is_recording: Whether it was recorded in this process, with marks of ``tfprof.trace``.
    """

    name: str
    profile: Callable[[], Profiler]
    run: Run | None
    program: Any = None
    batch: int | None = None
    device: str | None = None
    is_recording: bool = False

    @cached_property
    def profiler(self) -> Profiler:
        """Its profile."""
        return self.profile()

    @property
    def counted(self) -> Any:
        """The program whose float operations and parameters are counted."""
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


def subject_of(
    opened: Opened,
    paths: Sequence[str | os.PathLike[str]],
    batch: int | None = None,
    device: str | None = None,
) -> Subject:
    """An opened run as the subject of a check.

    Args:
        opened: One run.
        paths: The paths given. A graph, alone or beside a capture, is counted from its file: so a
            SavedModel has its signatures, and ops count that XLA or a rewriter renamed.
        batch: As in ``Subject``.
        device: As in ``Subject``.

    Raises:
        InputError: It cannot be read, or holds nothing that can be checked.
    """
    from tfprof.inputs.resolve import Kind, resolve

    run = None if opened.run is None else opened.run()
    steps = () if run is not None else opened.views().steps
    parts = resolve(paths).others
    is_model = not steps and [one.kind for one in parts] == [Kind.GRAPH]
    program = parts[0].path if is_model else None
    return Subject(opened.name, opened.views, run, program, batch, device)
