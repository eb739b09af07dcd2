"""The callback of ``tfprof.keras``: importing this module imports Keras."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from tfprof.capture.eager.keras_fit import backends, batch_range, callback_class
from tfprof.capture.eager.recorder import EagerRecorder
from tfprof.capture.eager.trace import profile_recording
from tfprof.errors import InputError, TfprofWarning, UsageError
from tfprof.files.local_folder import local_folder
from tfprof.inputs.profiler import Profiler
from tfprof.options.parse import is_classic

_Callback: Any = callback_class("ProfilerCallback")


class ProfilerCallback(_Callback):  # type: ignore[misc]  # Keras is untyped
    """Profiles some batches of ``fit``.

    Each batch is a step of the profile, with the batch's number. As in Keras' own
    ``profile_batch``, batches count from 1 over all epochs, and both ends of the range are
    recorded; with ``steps_per_execution`` a batch is what Keras runs at once. Work between
    batches, such as validation, is not recorded. The layers of the model are scopes of their
    names. See ``tfprof.trace`` for what a profile holds.

    An error here never ends the training: it becomes one ``TfprofWarning``. If ``fit`` ends
    early or raises, the profile holds what was recorded until then.

    Args:
        steps: First and last batch to record, or one batch.
        dir: Folder for the file ``profile_<last recorded batch>``, which
            ``Profiler.load`` reads; made if missing. None writes no file.
        classic: As for ``Profiler``.

    Raises:
        UsageError: ``steps`` is not such a range, the folder is on another machine, or Keras has
            another backend than TensorFlow.
    """

    def __init__(
        self,
        steps: int | tuple[int, int] = (10, 20),
        dir: str | os.PathLike[str] | None = None,
        *,
        classic: bool | None = None,
    ) -> None:
        super().__init__()
        known = backends()
        if "tensorflow" not in known:
            raise UsageError(
                f"ProfilerCallback: Keras runs on {known.pop()!r}, and only TensorFlow can be "
                "profiled; set KERAS_BACKEND=tensorflow"
            )
        self._first, self._last = batch_range("steps", steps)
        self._folder = None if dir is None else local_folder(dir)
        self._classic = is_classic(classic)
        self._recorder: EagerRecorder | None = None
        self._is_over = False
        self._profiler: Profiler | None = None

    @property
    def profiler(self) -> Profiler | None:
        """The profile; None until the last batch of the range is over, or ``fit`` is."""
        return self._profiler

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Start recording, if it is time."""
        number = self._n_finished + 1
        if self._is_over or not self._first <= number <= self._last:
            return
        try:
            if self._recorder is None:
                self._recorder = EagerRecorder()
                self._watch_fit(sys._getframe(1).f_locals.get("self"))  # lives as long as fit runs
            self._guard_batch()
            self._recorder.begin_step(number)
        except Exception as error:
            self._give_up(error)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Count the batch, and stop recording after the last one.

        What runs until the next one begins is in no step.
        """
        self._n_finished += 1
        self._end_step()
        if self._n_finished >= self._last:
            self._end()

    def on_train_end(self, logs: Any = None) -> None:
        """Stop recording, if the range was longer than the training."""
        if not self._is_over and self._recorder is None and self._n_finished < self._first:
            warnings.warn(
                "ProfilerCallback: nothing was recorded: the training ended after batch "
                f"{self._n_finished}, before the first of steps={(self._first, self._last)}; give "
                "a range that the training reaches",
                TfprofWarning,
                stacklevel=3,
            )
        self._end()

    def _end_step(self) -> None:
        self._guard.close()
        if self._recorder is not None:
            try:
                self._recorder.end_step()
            except Exception as error:
                self._give_up(error)

    def _end(self) -> None:
        """The training is over, or the last batch is, or a batch failed."""
        recorder = self._released()
        if recorder is None:
            return
        self._is_over = True
        try:
            recording = recorder.stop()
            profile = profile_recording(recording, [self.model], classic=self._classic)
            self._profiler = profile.profiler
            self._save(profile.profiler)
        except Exception as error:
            self._give_up(error)

    def _save(self, profiler: Profiler) -> None:
        if self._folder is None or not profiler.steps:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self._folder}: cannot be made: {error.strerror or error}"
            ) from error
        profiler.save(self._folder / f"profile_{profiler.steps[-1]}")

    def _released(self) -> EagerRecorder | None:
        """End the recording, and return it if there is one; nothing outlives it."""
        self._guard.close()
        self._forget_fit()
        recorder, self._recorder = self._recorder, None
        return recorder

    def _give_up(self, error: Exception) -> None:
        """Warn once, and do nothing from then on."""
        self._is_over = True
        recorder = self._released()
        if recorder is not None:
            try:
                recorder.stop()
            except Exception as second:
                error.__context__ = second
        warnings.warn(
            f"ProfilerCallback: the profile is incomplete, the training goes on: {error}",
            TfprofWarning,
            stacklevel=4,
        )


ProfilerCallback.__module__ = "tfprof.keras"
