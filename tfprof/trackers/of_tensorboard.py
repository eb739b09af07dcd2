"""Key figures of a run as scalars of TensorBoard, without its package or TensorFlow.

Fields of messages are those of ``tensorflow/core/util/event.proto`` and
``tensorflow/core/framework/summary.proto``.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from tfprof.captures.run.run import Run
from tfprof.core.wire.varints import encode_varint, length_delimited, length_delimited_tag
from tfprof.errors import InputError, UsageError
from tfprof.files.events import event_record
from tfprof.files.local_folder import local_folder
from tfprof.files.small_files import put
from tfprof.trackers.content import key_values, report_of

_VERSION: Final = b"brain.Event:2"
_WALL_TIME, _STEP, _SIMPLE_VALUE = b"\x09", b"\x10", b"\x15"
_FILE_VERSION, _SUMMARY = length_delimited_tag(3), length_delimited_tag(5)
_VALUE = _TAG = length_delimited_tag(1)


def log_to_tensorboard(
    run: Run, step: int | None = None, *, logdir: str | os.PathLike[str], with_report: bool = True
) -> Path:
    """Write key figures as scalars into ``LOGDIR/tfprof``, and the report beside them.

    The folder is one of its own because TensorBoard follows one event file of a folder at a time:
    the program's own scalars stay visible.

    Args:
        run: The captured run.
        step: The training's step, from 0; None is 0.
        logdir: A folder that TensorBoard shows.
        with_report: Whether to write the report, which takes longer to make than the figures, to
            ``LOGDIR/tfprof/report_STEP.html``.

    Returns:
        The folder.

    Raises:
        UsageError: The folder is on another machine, or the step is negative.
        InputError: The capture cannot be read, or the folder cannot be written.
    """
    number = 0 if step is None else step
    if number < 0:
        raise UsageError(f"step={number} must be 0 or more")
    folder = local_folder(logdir) / "tfprof"
    events = scalar_events(key_values(run), number, time.time())
    content = report_of(run) if with_report else ""
    if content:
        put(folder / f"report_{number}.html", content.encode())
    file = folder / _file_name()
    try:  # under its own name at once, as TensorBoard reads whatever has such an ending
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(events)
    except OSError as error:
        with contextlib.suppress(OSError):
            file.unlink()
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return folder


def scalar_events(values: Mapping[str, float], step: int, seconds: float) -> bytes:
    """The content of an event file: its version, and a summary with all values.

    Args:
        values: Numbers by tag; TensorBoard keeps them in single precision, in which those beyond
            3.4e38 are infinite.
        step: Their step.
        seconds: Their time, since 1970.
    """
    head = _WALL_TIME + struct.pack("<d", seconds)
    scalars = b"".join(
        length_delimited(
            _VALUE,
            length_delimited(_TAG, tag.encode()) + _SIMPLE_VALUE + _single(value),
        )
        for tag, value in values.items()
    )
    summary = head + _STEP + encode_varint(step) + length_delimited(_SUMMARY, scalars)
    return event_record(head + length_delimited(_FILE_VERSION, _VERSION)) + event_record(summary)


def _single(value: float) -> bytes:
    with np.errstate(over="ignore"):
        return bytes(np.float32(value).astype("<f4").tobytes())


def _file_name() -> str:
    """A new name; later ones come later in the order of names, in which TensorBoard reads."""
    seconds, nanos = divmod(time.time_ns(), 1_000_000_000)
    return f"events.out.tfevents.{seconds}.{nanos:09d}.{socket.gethostname()}.{os.getpid()}"
