"""The flight recorder of a hooked process: writes the seconds before a slow step."""

from __future__ import annotations

import sys
from typing import Any

from tfprof.capture.launched.messages import Launch
from tfprof.capture.launched.spec import RunSpec
from tfprof.capture.recorder import Recorder
from tfprof.core.text.wording import plural


class SlowSteps:
    """A recorder that has begun.

    Args:
        spec: Its condition, and how many runs it writes.
        framework: Whose profiler records; empty for the one in use.
        launch: Receives messages.

    Raises:
        TfprofError: It does not begin.
    """

    def __init__(self, spec: RunSpec, framework: str, launch: Launch) -> None:
        from dataclasses import replace

        self._launch, self._when = launch, spec.when
        self._n_reported = 0
        self._recorder = Recorder(
            spec.logdir, when=spec.when, count=spec.most_runs or 1,
            options=replace(spec.options, framework=framework),
        )  # fmt: skip
        self._recorder.__enter__()

    @property
    def is_over(self) -> bool:
        """Whether it has written all its runs."""
        return self._recorder.is_over

    def save(self, reason: str) -> None:
        """Write the kept seconds, soon."""
        self._recorder.save(reason, timeout=0.0)

    def report(self) -> None:
        """Report the runs since the last report."""
        runs = self._recorder.runs
        for saved in runs[self._n_reported :]:
            if saved.trouble:
                self._launch.warn(saved.trouble)
            if saved.folder:
                self._launch.saved(saved.folder, saved.reason)
        self._n_reported = len(runs)

    def end(self, *, is_at_exit: bool) -> None:
        """End it; at the end of a program that an exception has ended, write what is kept."""
        error: Any = getattr(sys, "last_value", None) if is_at_exit else None
        self._recorder.__exit__(type(error) if error else None, error, None)
        self.report()
        if not self._recorder.runs:
            n_steps = plural(self._recorder.n_steps, "step")
            self._launch.warn(
                f"nothing was captured: for none of the {n_steps} that were recorded, {self._when}"
            )
