"""The batches of Keras' ``fit``: which to record, and where one ends."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tfprof.capture.eager.recorder import end_of_data_errors
from tfprof.errors import UsageError


class TrainFunctionGuard:
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


def batch_range(name: str, batches: int | tuple[int, int]) -> tuple[int, int]:
    """First and last batch of an option, both counted from 1.

    Args:
        name: The option's name.
        batches: Its value: the pair, or the only batch.

    Raises:
        UsageError: It is no such range.
    """
    pair = batches if isinstance(batches, (tuple, list)) else (batches, batches)
    try:
        first, last = (operator.index(number) for number in pair)
    except (TypeError, ValueError):
        first, last = 0, 0
    if not 1 <= first <= last:
        raise UsageError(
            f"{name}={batches!r} must be the first and the last batch to record, such as (10, 20), "
            "or one batch; batches count from 1"
        )
    return first, last
