"""When windows begin that no step decides: after a time, again and again, and by a key."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path

from tfprof.capture.launched.spec import RunSpec

REQUEST = "capture.request"
"""The file of the latest request in a state folder."""


def request_capture(state: Path, run: str) -> None:
    """Let all processes of a state folder begin a window now.

    Args:
        state: The state folder.
        run: Name of the run.

    Raises:
        OSError: The folder cannot be written.
    """
    path = state / REQUEST
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    unfinished.write_text(json.dumps({"run": run, "time": time.time()}), "utf-8")
    unfinished.replace(path)


def request_of(state: Path) -> tuple[float, str]:
    """The time and the run of the latest request; zero and empty if there is none."""
    with contextlib.suppress(
        OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError
    ):
        value = json.loads((state / REQUEST).read_text("utf-8"))
        return float(value["time"]), str(value["run"])
    return 0.0, ""


class Moments:
    """The moments of one process at which windows begin.

    Those of ``every`` are the same on all hosts: multiples of the interval since 1970.

    Args:
        spec: What to capture.
        run: Name of the run of the launch.
    """

    def __init__(self, spec: RunSpec, run: str) -> None:
        self._spec, self._run = spec, run
        self._is_after_due = spec.after is not None
        self._next = self._latest = 0.0
        if spec.every:
            self._next = (time.time() // spec.every + 1) * spec.every
        if spec.key:
            self._latest = time.time()

    def due(self, now: float, passed: float) -> list[str]:
        """Names of the runs that are due.

        Args:
            now: Seconds since 1970.
            passed: Seconds since the framework began.
        """
        runs = []
        spec = self._spec
        if self._is_after_due and passed >= (spec.after or 0.0):
            self._is_after_due = False
            runs.append(self._run)
        if spec.every and now >= self._next:
            runs.append(f"{self._run}_{time.strftime('%H%M%S', time.localtime(self._next))}")
            self._next = (now // spec.every + 1) * spec.every
        if spec.key:
            at, run = request_of(spec.state)
            if at > self._latest:
                self._latest = at
                runs.append(run)
        return runs
