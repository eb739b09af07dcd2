"""The TensorFlow module of a running program, and helpers for tracing it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
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


_COLOR = re.compile(r"\x1b\[[\d;]*m")
_LONGEST = 300


@contextlib.contextmanager
def apart_from_graphs() -> Iterator[None]:
    """Trace without adding ops to the default graph outside."""
    from tensorflow.python.eager import context

    # Not init_scope: gradient tapes would not record in it.
    with context.eager_mode() if runs_eagerly() else contextlib.nullcontext():
        yield


def runs_eagerly() -> bool:
    """Whether TensorFlow executes eagerly outside of graphs."""
    from tensorflow.python.eager import context

    return bool(context.default_execution_mode == context.EAGER_MODE)


def main_line(error: Exception) -> str:
    """The main line of an error message of Keras or AutoGraph."""
    lines = [line.strip() for line in _COLOR.sub("", str(error)).splitlines()]
    lines = [line for line in lines if line]
    ends = [place for place, line in enumerate(lines) if "rguments received by" in line]
    lines = lines[: ends[0]] if ends and ends[0] else lines
    if not lines:
        return "no message"
    if lines[0] == "in user code:":
        return lines[-1][:_LONGEST]
    wrapped = len(lines) > 1 and lines[0].startswith("Exception encountered")
    return lines[wrapped][:_LONGEST]
