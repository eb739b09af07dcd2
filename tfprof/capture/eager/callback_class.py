"""The base class of Keras callbacks: for Keras 3, and for Keras 2 (``tf_keras``)."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from tfprof.errors import MissingDependencyError

_LIBRARIES = ("keras", "tf_keras")
KERAS_2_BACKEND = "tensorflow"


def callback_class(name: str) -> Any:
    """A base class that both releases of Keras accept.

    It derives from the ``Callback`` of the library that is loaded, preferably of Keras 3, and has
    the attributes that Keras 2 expects in addition.

    Args:
        name: The callback that needs it, for the message.

    Raises:
        MissingDependencyError: Neither is installed.
    """
    return type("Callback", (_ForKeras2, _library(name).callbacks.Callback), {})


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
    return KERAS_2_BACKEND if is_keras_2(model) else _backend(sys.modules["keras"])


def backends() -> set[str]:
    """The backends of the libraries that are loaded."""
    return {_backend(library) for library in _loaded()}


def _loaded() -> list[Any]:
    modules = [sys.modules.get(library) for library in _LIBRARIES]
    return [module for module in modules if module is not None]


def _backend(library: Any) -> str:
    return KERAS_2_BACKEND if _is_2(library) else str(library.backend.backend())


def _is_2(library: Any) -> bool:
    return str(getattr(library, "__version__", "")).startswith("2.")


class _ForKeras2:
    """What Keras 2 reads of each callback, beyond the methods of both."""

    _supports_tf_logs = True
    """Else Keras 2 would fetch the logs of each batch, and wait for the batch, for this alone."""

    def _implements_train_batch_hooks(self) -> bool:
        return True

    def _implements_test_batch_hooks(self) -> bool:
        return True

    def _implements_predict_batch_hooks(self) -> bool:
        return True
