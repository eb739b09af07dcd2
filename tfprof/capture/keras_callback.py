"""The Keras callback: importing this module imports Keras."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tfprof.capture.eager.keras_fit import (
    backend_of,
    backends,
    batch_range,
    callback_class,
    is_keras_2,
)
from tfprof.capture.on_run import OnRun, hand_over
from tfprof.capture.session import Capture
from tfprof.capture.steps import step
from tfprof.capture.windows import Windows
from tfprof.captures.run.result import Note
from tfprof.errors import TfprofWarning, UsageError
from tfprof.files.local_folder import local_folder
from tfprof.options.captures import FRAMEWORKS, CaptureOptions

_Callback: Any = callback_class("KerasCallback")


class KerasCallback(_Callback):  # type: ignore[misc]  # Keras is untyped
    """Marks each batch of ``fit`` as a step, and captures some.

    For Keras 3 on TensorFlow or JAX, and for Keras 2 (``tf_keras``). Steps of Keras 3 have the
    numbers of their batches; Keras 2 marks steps itself, from 0 in each epoch. Batches of
    ``batches`` count from 1 over all epochs of this callback, and both ends of the range are
    captured; with ``steps_per_execution`` a batch is what Keras runs at once. Batches are marked
    also outside the range, for captures that are started elsewhere.

    An error here never ends the training: it becomes one ``TfprofWarning``, as does a training that
    ends before the first batch of the range. If ``fit`` ends early or raises, the capture is saved
    with what was recorded until then, and ``notes`` of the capture name the batches it lacks.

    Args:
        logdir: Folder for the run, as for ``Capture``. None keeps the capture in memory.
        batches: First and last batch to capture, or one batch; None only marks them.
        options: What to record.
        every: Instead of ``batches``, capture some batches out of each ``every``, as
            ``tfprof.capture.every`` does; each time is a run of its own.
        length: Number of batches each time.
        most_runs: Number of these runs to keep.
        most_bytes: Limit on the size of all of them.
        on_run: Receives each run and the number of its first batch, such as
            ``tfprof.trackers.log_to_mlflow``; the training waits for it. Its errors are logged.

    Raises:
        UsageError: ``batches`` is not such a range, the folder is on another machine, or Keras has
            another backend than TensorFlow or JAX.
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str] | None = None,
        batches: int | tuple[int, int] | None = (10, 15),
        options: CaptureOptions | None = None,
        *,
        every: int | None = None,
        length: int = 5,
        most_runs: int | None = 10,
        most_bytes: int | None = None,
        on_run: OnRun | None = None,
    ) -> None:
        super().__init__()
        known = backends()
        if known.isdisjoint(FRAMEWORKS):
            raise UsageError(
                f"KerasCallback: Keras runs on {known.pop()!r}, which is not captured; set "
                "KERAS_BACKEND to tensorflow or jax"
            )
        self._windows: Windows | None = None
        if every is not None:
            if logdir is None:
                raise UsageError("KerasCallback: every needs a log folder for its runs")
            self._windows = Windows(
                logdir, every, length, options, most_runs=most_runs, most_bytes=most_bytes,
                on_run=on_run,
            )  # fmt: skip
            batches = None
        self._first, self._last = (0, 0) if batches is None else batch_range("batches", batches)
        self._logdir = None if logdir is None else local_folder(logdir)
        self._options = CaptureOptions() if options is None else options
        self._batches, self._every, self._on_run = batches, every or 0, on_run
        self._is_guarded = self._is_keras_2 = False
        self._step: step | None = None
        self._capture: Capture | None = None

    @property
    def capture(self) -> Capture | None:
        """The capture, with its ``run`` and ``notes``; None until its first batch begins.

        With ``every``, the latest that is over.
        """
        return self._capture if self._windows is None else self._windows.latest

    def set_model(self, model: Any) -> None:
        """Keras names the model: its backend's profiler records, unless the options name one."""
        super().set_model(model)
        backend = backend_of(model)
        self._is_keras_2 = is_keras_2(model)
        self._is_guarded = backend == "tensorflow"  # elsewhere data are fetched between batches
        if not self._options.framework and backend in FRAMEWORKS:
            self._options = replace(self._options, framework=backend)
            if self._windows is not None:
                self._windows.options = self._options

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Start the capture, if it is time, and begin a step."""
        number = self._n_finished + 1
        self._end_step()
        if self._first <= number <= self._last and self._capture is None:
            self._capture = Capture(self._logdir, self._options)
            with self._going_on("nothing is captured"):
                self._capture.start()
                self._watch_fit(sys._getframe(1).f_locals.get("self"))  # lives as long as fit runs
        if self._windows is not None:
            if self._at_end_of_fit is None:
                self._watch_fit(sys._getframe(1).f_locals.get("self"))
            self._windows.begin_step()
        if self._is_keras_2 and not self._is_at_edge(number):
            return
        mark = step(batch if self._is_keras_2 else number)
        mark.__enter__()
        if not mark.is_recorded:
            return
        self._step = mark
        if self._is_guarded:
            self._guard_batch()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """End the step, and the capture after its last one."""
        self._n_finished += 1
        self._end_step()
        if self._windows is not None:
            self._windows.end_step()
        elif self._n_finished == self._last:
            self._end()

    def on_train_end(self, logs: Any = None) -> None:
        """End the capture, and name the batches that the training did not reach."""
        ended = f"the training ended after batch {self._n_finished}, before"
        wanted = f"batches={self._batches!r}" if self._windows is None else f"every={self._every}"
        if self._n_finished < (self._first if self._windows is None else self._every):
            warnings.warn(
                f"KerasCallback: nothing was captured: {ended} the first of {wanted}; give a range "
                "that the training reaches",
                TfprofWarning,
                stacklevel=3,
            )
        elif self._capture is not None and self._capture.is_active:
            self._capture.add_note(
                Note("warning", f"{ended} the last of batches={self._batches!r}, so the capture "
                     "holds fewer batches than were requested")
            )  # fmt: skip
        self._end()

    def _is_at_edge(self, number: int) -> bool:
        """Whether the capture begins or ends in a batch, so that the mark of Keras 2 is cut."""
        if self._windows is not None:
            return self._windows.is_at_edge
        return number in (self._first, self._last)

    def _end_step(self) -> None:
        self._guard.close()
        mark, self._step = self._step, None
        if mark is not None:
            mark.__exit__()

    def _end(self) -> None:
        self._end_step()
        if self._at_end_of_fit is not None:
            self._forget_fit()
            with self._going_on("the capture is lost"):
                if self._windows is not None:
                    self._windows.end_window()
                elif self._capture is not None:
                    self._capture.stop()
                    hand_over(self._capture, self._first, self._on_run)

    @staticmethod
    @contextlib.contextmanager
    def _going_on(what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            said = f"KerasCallback: {what}, the training goes on: {error}"
            warnings.warn(said, TfprofWarning, stacklevel=5)
