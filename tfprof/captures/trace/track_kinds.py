"""What runs on a track, by its name and that of its process, so that viewers can choose tracks."""

from __future__ import annotations

import re
from typing import Final

from tfprof.captures.events.timeline.names import is_device

DEVICE: Final = "device"
HOST: Final = "host"
INPUT: Final = "input"
PYTHON: Final = "python"

_INPUT_THREADS = ("tf_data_", "tfdata_")
_PYTHON_PROCESS = "/host:python-tracer"
_PYTHON_THREAD = re.compile(r"python[\d.]*(?![^/-])")


def track_kind(process: str, name: str) -> str:
    """The kind of a track: ``device``, ``input`` (threads of tf.data), ``python`` or ``host``.

    Args:
        process: Name of its process; of several hosts in one trace, that of the host stands first.
        name: Its own name.
    """
    plane = process.rpartition(" ")[2]
    if is_device(plane):
        return DEVICE
    if name.startswith(_INPUT_THREADS):
        return INPUT
    if plane == _PYTHON_PROCESS or _PYTHON_THREAD.match(name):
        return PYTHON
    return HOST
