"""The levels of the tracers during a capture, as the capture itself states them."""

from __future__ import annotations

from tfprof.captures.events.timeline.names import TASK_PLANE
from tfprof.captures.model.xspace import XSpace
from tfprof.core.wire.message_fields import BrokenError, message_fields

HOST_LEVEL, DEVICE_LEVEL = "host_tracer_level", "device_tracer_level"
_LEVEL_FIELDS = {2: HOST_LEVEL, 3: DEVICE_LEVEL, 4: "python_tracer_level"}
"""Names by field number of the message ``ProfileOptions``."""

LEVELS = tuple(_LEVEL_FIELDS.values())


def recorded_levels(space: XSpace) -> dict[str, int] | None:
    """Read the levels of the tracers from a capture; None if it does not state them."""
    for plane in space.planes:
        if plane.name == TASK_PLANE:
            message = plane.own_stats().get("profile_options")
            if isinstance(message, bytes):
                return _levels(message)
    return None


def _levels(message: bytes) -> dict[str, int] | None:
    levels = dict.fromkeys(_LEVEL_FIELDS.values(), 0)  # zeros are not written
    data = memoryview(message)
    try:
        for field in message_fields(data, 0, len(data)):
            name = _LEVEL_FIELDS.get(field.tag >> 3)
            if name is not None:
                levels[name] = field.number
    except BrokenError:
        return None
    return levels
