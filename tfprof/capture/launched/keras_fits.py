"""Marks the batches of Keras' ``fit``, by the callback that programs may add themselves."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfprof.capture.launched.captures import Captures


def follow_keras(captures: Captures) -> None:
    """Follow Keras 3, which has just been imported; Keras 2 marks its batches itself."""
    keras: Any = sys.modules["keras"]
    if str(getattr(keras, "__version__", "2.")).startswith("2."):
        return
    [owner, *_] = [kind for kind in keras.Model.__mro__ if "fit" in vars(kind)]
    original = vars(owner)["fit"]
    signature = inspect.signature(original)

    @functools.wraps(original)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(self, *args, **kwargs)
            callbacks = _with_marks(given.arguments.get("callbacks"), captures)
        except Exception as error:
            captures.warn(f"batches of fit are not marked: {type(error).__name__}: {error}")
            return original(self, *args, **kwargs)
        given.arguments["callbacks"] = callbacks
        return original(*given.args, **given.kwargs)

    owner.fit = fit


def _with_marks(callbacks: Any, captures: Captures) -> Any:
    """The callbacks of a ``fit``, with one that marks; as they are if they mark themselves."""
    from tfprof.capture.keras_callback import KerasCallback

    keras: Any = sys.modules["keras"]
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return callbacks
    if callbacks is None:
        callbacks = []
    own = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
    if any(isinstance(one, KerasCallback) for one in own):
        return callbacks
    marks = KerasCallback(batches=None)
    marks.count_on(captures.steps.n_marked)
    return [*own, marks]
