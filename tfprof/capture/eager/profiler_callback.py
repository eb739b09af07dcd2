"""The callback of ``tfprof.keras``: profiles some batches of ``fit``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from tfprof.capture.eager.batches import BatchRecorder
from tfprof.capture.eager.callback_class import backends, callback_class
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.inputs.profiler import Profiler


def profiler_callback(module: str) -> type:
    """The class, for a module; Keras is imported."""
    base: Any = callback_class("ProfilerCallback")

    class ProfilerCallback(base):  # type: ignore[misc]  # Keras is untyped
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
            UsageError: ``steps`` is no such range, or Keras has another backend than TensorFlow.
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
            self._batches = BatchRecorder(steps, dir, classic)

        @property
        def profiler(self) -> Profiler | None:
            """The profile; None until the last batch of the range is over, or ``fit`` is."""
            return self._batches.profiler

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            """Start recording, if it is time."""
            callbacks = sys._getframe(1).f_locals.get("self")  # lives as long as fit runs
            self._batches.begin_batch(self.model, callbacks)

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            """Count the batch, and stop recording after the last one."""
            self._batches.end_batch(self.model)

        def on_train_end(self, logs: Any = None) -> None:
            """Stop recording, if the range was longer than the training."""
            self._batches.end_of_training(self.model)

    ProfilerCallback.__module__ = module
    ProfilerCallback.__qualname__ = "ProfilerCallback"
    return ProfilerCallback
