"""Records some batches of a Keras training, for ``tfprof.keras.ProfilerCallback``."""

from __future__ import annotations

import os
import warnings
import weakref
from typing import Any

from tfprof.capture.eager.recorder import EagerRecorder
from tfprof.capture.eager.trace import profile_recording
from tfprof.capture.eager.train_function import TrainFunctionGuard, batch_range
from tfprof.errors import InputError, TfprofWarning
from tfprof.files.local_folder import local_folder
from tfprof.inputs.profiler import Profiler
from tfprof.options.parse import is_classic


class BatchRecorder:
    """Records a range of batches, each as a step of its number.

    An error never ends the training: it becomes one warning, and there is no profile.

    Args:
        batches: First and last batch, both recorded, counted from 1; or the only one.
        folder: Where ``profile_<last batch>`` goes, None for nowhere.
        classic: As for ``Profiler``.

    Attributes:
        profiler: The profile, once the last batch is over; None before.

    Raises:
        UsageError: ``batches`` is no such range, or the folder is an address of another machine.
    """

    def __init__(
        self,
        batches: int | tuple[int, int],
        folder: str | os.PathLike[str] | None,
        classic: bool | None,
    ) -> None:
        self._first, self._last = batch_range("steps", batches)
        self._folder = None if folder is None else local_folder(folder)
        self._classic = is_classic(classic)
        self._n_finished = 0
        self._recorder: EagerRecorder | None = None
        self._guard: TrainFunctionGuard | None = None
        self._at_end_of_fit: Any = None
        self._is_over = False
        self.profiler: Profiler | None = None

    def begin_batch(self, model: Any, fit: object | None = None) -> None:
        """A batch begins.

        Args:
            model: The model that is trained.
            fit: An object that lives as long as ``fit`` runs; recording ends with it.
        """
        number = self._n_finished + 1
        if self._is_over or not self._first <= number <= self._last:
            return
        try:
            if self._recorder is None:
                recorder = EagerRecorder()
                recorder.start()
                self._recorder = recorder
                if fit is not None:
                    self._at_end_of_fit = weakref.finalize(fit, self.end, model)
                    self._at_end_of_fit.atexit = False
            self._guard = TrainFunctionGuard(
                model, at_end_of_data=self._end_step, at_failure=lambda: self.end(model)
            )
            self._recorder.begin_step(number)
        except Exception as error:
            self._give_up(error)

    def end_batch(self, model: Any) -> None:
        """A batch is over; what runs until the next one begins is in no step."""
        self._n_finished += 1
        self._end_step()
        if self._n_finished >= self._last:
            self.end(model)

    def _end_step(self) -> None:
        self._release_guard()
        if self._recorder is not None:
            try:
                self._recorder.end_step()
            except Exception as error:
                self._give_up(error)

    def end_of_training(self, model: Any) -> None:
        """The training is over: end the recording, or warn that there is none."""
        if not self._is_over and self._recorder is None and self._n_finished < self._first:
            warnings.warn(
                "ProfilerCallback: nothing was recorded: the training ended after batch "
                f"{self._n_finished}, before the first of steps={(self._first, self._last)}; give "
                "a range that the training reaches",
                TfprofWarning,
                stacklevel=4,
            )
        self.end(model)

    def end(self, model: Any) -> None:
        """The training is over, or the last batch is, or a batch failed."""
        self._release()
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        self._is_over = True
        try:
            recording = recorder.stop()
            profile = profile_recording(recording, [model], classic=self._classic)
            self.profiler = profile.profiler
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

    def _release(self) -> None:
        """Undo what would outlive the recorder."""
        self._release_guard()
        if self._at_end_of_fit is not None:
            self._at_end_of_fit.detach()
            self._at_end_of_fit = None

    def _release_guard(self) -> None:
        if self._guard is not None:
            self._guard.release()
            self._guard = None

    def _give_up(self, error: Exception) -> None:
        """Warn once, and do nothing from then on."""
        self._is_over = True
        self._release()
        recorder, self._recorder = self._recorder, None
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
