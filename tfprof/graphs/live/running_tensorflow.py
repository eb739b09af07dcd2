"""The TensorFlow module, for running programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tfprof.errors import MissingDependencyError

_OWN_FOLDER = str(Path(__file__).parents[2]) + os.sep


def tensorflow_module() -> Any:
    """TensorFlow, imported if need be.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        import tensorflow
    except ImportError as error:
        raise MissingDependencyError(
            f"recording a TensorFlow program needs TensorFlow ({error}): pip install 'tfprof[tf]'"
        ) from error
    return tensorflow


def is_ours(file: str) -> bool:
    """Whether a source file is part of tfprof rather than of the user's program."""
    return file.startswith(_OWN_FOLDER)
