"""Which lines of a call stack are the user's, and which belong to libraries."""

from __future__ import annotations

import re

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.frames import StackTable

NO_FRAME = -1

_LIBRARY = re.compile(
    r"""
    (?:^|/)(?:site-packages|dist-packages)/
  | (?:^|/)lib/python\d+\.\d+/                  # the standard library
  | /python\d*/lib/                             # the same on Windows, C:\Python311\Lib
  | (?:^|/)tensorflow/(?:python|contrib|compiler|core|dtensor|lite|_api)/
  | (?:^|/)(?:keras|tf_keras)/src/
  | ^(?:tensorflow|tensorflow_estimator|keras|tf_keras|tf_slim)/   # recorded without a folder
  | ^<(?:frozen|attrs|decorator-gen|__array_function__)\b
  | __autograph_generated_file                  # a copy of a user's function, gone by now
    """,
    re.VERBOSE | re.IGNORECASE,
)


def is_library_file(file: str) -> bool:
    """Whether a recorded file belongs to Python, TensorFlow, Keras or an installed package.

    Code typed into a shell or a notebook (``<stdin>``, ``<ipython-input-…>``) is the user's.

    Example:
        >>> is_library_file("/usr/lib/python3.11/contextlib.py"), is_library_file("net/train.py")
        (True, False)
    """
    return _LIBRARY.search(file.replace("\\", "/")) is not None


def same_lines(stacks: StackTable) -> Int64Array:
    """The first frame with the same file, line and function for each frame, shape (n frames,).

    Frames of op logs may also differ in the text of the line and the start of the function.
    """
    first: dict[tuple[str, int, str], int] = {}
    frames = stacks.frames.values
    return np.array(
        [
            first.setdefault((frame.file, frame.line_number, frame.function), frame_id)
            for frame_id, frame in enumerate(frames)
        ],
        np.int64,
    )


def innermost_frames(stacks: StackTable) -> Int64Array:
    """Innermost frame of each stack, shape (n stacks,); ``NO_FRAME`` for the empty stack."""
    return np.array([frame for _, frame in stacks.rows.values], np.int64)


def innermost_user_frames(stacks: StackTable) -> Int64Array:
    """Innermost frame of each stack that is not a library's, shape (n stacks,).

    ``NO_FRAME`` if all frames are libraries'.
    """
    library = [is_library_file(frame.file) for frame in stacks.frames.values]
    frame_ids: list[int] = []
    for caller, frame in stacks.rows.values:  # callers come first
        if caller < 0:
            frame_ids.append(NO_FRAME)
        else:
            frame_ids.append(frame_ids[caller] if library[frame] else frame)
    return np.array(frame_ids, np.int64)
