"""Callbacks of Keras' ``fit``, for Keras 3 and for Keras 2 (``tf_keras``): when batches end."""

from __future__ import annotations

import contextlib
import importlib
import operator
import sys
import weakref
from collections.abc import Callable
from typing import Any

from tfprof.errors import MissingDependencyError, UsageError
from tfprof.graphs.live.running_tensorflow import tensorflow_module

_LIBRARIES = ("keras", "tf_keras")
_KERAS_2_BACKEND = "tensorflow"


def callback_class(name: str) -> Any:
    """The base class of the callbacks: ``_EndsWithFit``, and what both releases of Keras expect.

    It derives from the ``Callback`` of the library that is loaded, preferably of Keras 3.

    Args:
        name: The callback that needs it, for the message.

    Raises:
        MissingDependencyError: Neither is installed.
    """
    return type("Callback", (_EndsWithFit, _library(name).callbacks.Callback), {})


def _library(name: str) -> Any:
    loaded = _loaded()
    if loaded:
        return loaded[0]
    errors = []
    for library in _LIBRARIES:
        try:
            return importlib.import_module(library)
        except ImportError as error:
            errors.append(str(error))
    raise MissingDependencyError(
        f"{name} needs Keras with TensorFlow or JAX ({errors[0]}): pip install 'tfprof[tf]'"
    )


def is_keras_2(model: Any) -> bool:
    """Whether a model is one of Keras 2, which marks each batch of ``fit`` as a step itself."""
    roots = [one.__module__.partition(".")[0] for one in type(model).__mro__]
    library = next((root for root in roots if root in _LIBRARIES), "")
    return _is_2(sys.modules.get(library))


def backend_of(model: Any) -> str:
    """The backend that trains a model: Keras 2 has TensorFlow alone."""
    return _KERAS_2_BACKEND if is_keras_2(model) else _backend(sys.modules["keras"])


def backends() -> set[str]:
    """The backends of the libraries that are loaded."""
    return {_backend(library) for library in _loaded()}


def _loaded() -> list[Any]:
    return list(filter(None, map(sys.modules.get, _LIBRARIES)))


def _backend(library: Any) -> str:
    return _KERAS_2_BACKEND if _is_2(library) else str(library.backend.backend())


def _is_2(library: Any) -> bool:
    return str(getattr(library, "__version__", "")).startswith("2.")


class _EndsWithFit:
    """A callback that ends its steps and recordings when ``fit`` ends in any way.

    Subclasses have the methods ``_end_step``, for a batch, and ``_end``, for all of it.
    """

    model: Any
    _end_step: Callable[[], None]
    _end: Callable[[], None]

    _supports_tf_logs = True
    """Tells Keras 2 not to fetch the logs of each batch, which would wait for the batch."""

    def _implements_train_batch_hooks(self) -> bool:  # Keras 2 asks each callback
        return True

    _implements_test_batch_hooks = _implements_predict_batch_hooks = _implements_train_batch_hooks

    def __init__(self) -> None:
        super().__init__()
        self._n_finished = 0
        self._guard = contextlib.ExitStack()
        self._at_end_of_fit: Any = None

    def count_on(self, n_finished: int) -> None:
        """Number batches from this many on, which earlier calls of ``fit`` had."""
        self._n_finished = n_finished

    def _watch_fit(self, fit: object) -> None:
        """End with an object that lives as long as ``fit`` runs."""
        if fit is not None:
            self._at_end_of_fit = weakref.finalize(fit, self._end)
            self._at_end_of_fit.atexit = False  # captures save themselves then

    def _forget_fit(self) -> None:
        if self._at_end_of_fit is not None:
            self._at_end_of_fit.detach()
            self._at_end_of_fit = None

    def _guard_batch(self) -> None:
        """End, too, if the batch does so without Keras calling ``on_train_batch_end``.

        ``self._guard.close()`` gives the model its own function back, unless another was set.
        """
        model, original = self.model, getattr(self.model, "train_function", None)
        if original is None:
            return

        def guarded(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            except (StopIteration, tensorflow_module().errors.OutOfRangeError):
                self._end_step()  # there was no batch any more
                raise
            except BaseException:
                self._end()
                raise

        def release() -> None:
            if model.train_function is guarded:
                model.train_function = original

        model.train_function = guarded
        self._guard.callback(release)


def batch_range(name: str, batches: int | tuple[int, int]) -> tuple[int, int]:
    """First and last batch of an option, both counted from 1.

    Args:
        name: The option's name.
        batches: Its value: the pair, or the only batch.

    Raises:
        UsageError: It is not such a range.
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
