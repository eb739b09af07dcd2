"""Repeated short captures of this process, such as 5 of each 100 steps; the latest are kept."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from tfprof.capture import steps
from tfprof.capture.on_run import OnRun, hand_over
from tfprof.capture.session import Capture
from tfprof.core.text.wording import plural
from tfprof.errors import TfprofError, UsageError
from tfprof.files.kept_runs import KeptRuns
from tfprof.files.local_folder import local_folder
from tfprof.options.captures import CaptureOptions

_log = logging.getLogger("tfprof")


class Windows:
    """Captures of some steps at regular intervals, each a run of its own, ``step_000000100``.

    The number in the name of a run counts steps from 1, from the start of the windows. A window
    that cannot be captured, such as while another profiler records the process, is left out, and
    logged (logger ``tfprof``); the program goes on.

    Args:
        logdir: Log folder for the runs.
        every: Number of steps from the begin of one window to that of the next.
        length: Steps in a window.
        options: What to record; without delay, duration and name.
        most_runs: Number of runs to keep; the oldest are removed. None for all.
        most_bytes: Limit on the size of all of them; the latest always stays.
        on_run: Receives each run and the number of its first step, such as
            ``tfprof.trackers.log_to_mlflow``; the program waits for it. Its errors are logged.

    Attributes:
        options: What the next window records.

    Raises:
        UsageError: A number is invalid, or the folder is on another machine.
    """

    gives_way = False
    """Whether other windows may take their place."""

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        every: int = 100,
        length: int = 5,
        options: CaptureOptions | None = None,
        *,
        most_runs: int | None = 10,
        most_bytes: int | None = None,
        on_run: OnRun | None = None,
    ) -> None:
        for name, number in (("every", every), ("length", length)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise UsageError(f"{name}={number!r} must be a whole number from 1 on")
        if length >= every:
            raise UsageError(f"length={length} must be less than every={every}")
        self.options = CaptureOptions() if options is None else options
        if self.options.delay or self.options.duration or self.options.session_id:
            raise UsageError("windows are captured by steps: leave out delay, duration, session_id")
        self._logdir = local_folder(logdir)
        self._every, self._length = every, length
        self._kept, self._on_run = KeptRuns(most_runs, most_bytes), on_run
        self._lock = threading.RLock()
        self._n_begun, self._next, self._n_left = 0, every, 0
        self._is_over = False
        self._capture: Capture | None = None
        self._latest: Capture | None = None

    @property
    def latest(self) -> Capture | None:
        """The latest capture, with its ``run`` and ``notes``; None before the first is over."""
        return self._latest

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of the kept runs, the oldest first."""
        return self._kept.folders

    @property
    def is_at_edge(self) -> bool:
        """Whether the step that has begun is the first or the last one of a window."""
        return self._capture is not None and self._n_left in (1, self._length)

    def begin_step(self) -> None:
        """Begin a step, and a window if it is time."""
        self._n_begun += 1
        if self._n_begun >= self._next:
            self._begin()

    def end_step(self) -> None:
        """End a step, and the window if it is complete."""
        if self._capture is not None:
            self._n_left -= 1
            if self._n_left <= 0:
                self.end_window()

    def end_window(self) -> None:
        """End the open window, and save its recording so far."""
        with self._lock:
            capture, self._capture = self._capture, None
            if capture is None:
                return
            number = self._next - self._every
            wanted = self._logdir.absolute() / "plugins" / "profile" / capture.options.session_id
            before = _files(wanted)
            with _going_on("a window is lost"):
                capture.stop()
                self._latest = capture
                if capture.folder is not None:
                    new = _files(capture.folder) - (before if capture.folder == wanted else set())
                    self._kept.add(capture.folder, new)
        if capture.folder is not None:
            hand_over(capture, number, self._on_run)

    def stop(self) -> None:
        """End all windows, and save the recording of the last one so far."""
        if not self._is_over and self._n_begun < self._every:
            _log.warning(
                "nothing was captured: %s began, and the first window begins with step %d",
                plural(self._n_begun, "step"), self._every,
            )  # fmt: skip
        self._is_over = True
        steps.end_windows(self)
        self.end_window()

    def __enter__(self) -> Windows:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _begin(self) -> None:
        with self._lock:
            if self._n_begun < self._next or self._is_over or self._capture is not None:
                return  # another thread was faster
            number = self._n_begun
            self._next = number + self._every
            capture = Capture(self._logdir, replace(self.options, session_id=f"step_{number:09d}"))
            with _going_on(f"no window at step {number}"):
                capture.start()
                self._n_left, self._capture = self._length, capture


def every(
    logdir: str | os.PathLike[str],
    every: int = 100,
    length: int = 5,
    options: CaptureOptions | None = None,
    *,
    most_runs: int | None = 10,
    most_bytes: int | None = None,
    on_run: OnRun | None = None,
) -> Windows:
    """Capture some steps at regular intervals until ``stop()``, or the end of a block.

    The steps are those of ``tfprof.capture.step``. Arguments and errors as for ``Windows``.

    Raises:
        UsageError: There are windows in this process already.
    """
    windows = Windows(
        logdir, every, length, options, most_runs=most_runs, most_bytes=most_bytes, on_run=on_run
    )
    steps.begin_windows(windows)
    return windows


@contextmanager
def _going_on(what: str) -> Iterator[None]:
    """Log an error of a capture, and let the program go on."""
    try:
        yield
    except TfprofError as error:
        _log.warning("%s: %s", what, error)


def _files(folder: Path) -> set[Path]:
    try:
        return set(folder.iterdir())
    except OSError:
        return set()
