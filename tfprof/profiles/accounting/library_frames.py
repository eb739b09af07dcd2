"""Which lines of a call stack are the user's, and which belong to libraries."""

from __future__ import annotations

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.frames import StackTable
from tfprof.core.columns.library_files import is_library_file

NO_FRAME = -1


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
