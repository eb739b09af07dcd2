"""Records some batches of a Keras training, for ``tfprof.keras.ProfilerCallback``."""

from __future__ import annotations

import operator
import os
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tfprof.errors import InputError, TfprofWarning, UsageError
from tfprof.options.parse import is_classic
from tfprof.profiler import Profiler
from tfprof.recording.eager.recorder import EagerRecorder, end_of_data_errors
from tfprof.recording.eager.trace import profile_recording


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
        UsageError: ``batches`` is no such range.
    """

    def __init__(
        self,
        batches: int | tuple[int, int],
        folder: str | os.PathLike[str] | None,
        classic: bool | None,
    ) -> None:
        self._first, self._last = _batch_range(batches)
        self._folder = None if folder is None else Path(folder)
        self._classic = is_classic(classic)
        self._n_finished = 0
        self._recorder: EagerRecorder | None = None
        self._guard: _TrainFunctionGuard | None = None
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
            self._guard = _TrainFunctionGuard(
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


class _TrainFunctionGuard:
    """Calls back when a batch ends without Keras calling ``on_train_batch_end``."""

    def __init__(
        self, model: Any, *, at_end_of_data: Callable[[], None], at_failure: Callable[[], None]
    ) -> None:
        self._model = model
        self._original: Any = getattr(model, "train_function", None)
        self._at_end_of_data = at_end_of_data
        self._at_failure = at_failure
        self._guarded: Any = None
        if self._original is not None:
            self._guarded = self._call
            model.train_function = self._guarded

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._original(*args, **kwargs)
        except end_of_data_errors():  # there was no batch any more
            self._at_end_of_data()
            raise
        except BaseException:
            self._at_failure()
            raise

    def release(self) -> None:
        """Give the model its own function back, unless another one was set meanwhile."""
        if self._guarded is not None and self._model.train_function is self._guarded:
            self._model.train_function = self._original


def _batch_range(batches: int | tuple[int, int]) -> tuple[int, int]:
    pair = batches if isinstance(batches, (tuple, list)) else (batches, batches)
    try:
        first, last = (operator.index(number) for number in pair)
    except (TypeError, ValueError):
        first, last = 0, 0
    if not 1 <= first <= last:
        raise UsageError(
            f"steps={batches!r} must be the first and the last batch to record, such as (10, 20), "
            "or one batch; batches count from 1"
        )
    return first, last
