"""Reads the file of a host, and rejects a file without any data of a capture."""

from __future__ import annotations

from typing import Any

from tfprof.captures.model.xspace import XSpace
from tfprof.captures.read.xspace import DAMAGED, read_xspace
from tfprof.captures.run.missing_hosts import check_not_empty
from tfprof.errors import MalformedProfileError


def read_capture(file: Any, memory_bytes: int | None = None) -> XSpace:
    """Read the file of a host. Arguments and errors as for ``read_xspace``.

    Raises:
        MalformedProfileError: Also if it is empty, or so damaged that no event is readable.
    """
    check_not_empty(file)
    space = read_xspace(file, memory_bytes=memory_bytes)
    damage = [notice for notice in space.notices if notice.code == DAMAGED]
    if damage and not any(len(plane.events) for plane in space.planes):
        raise MalformedProfileError(damage[0].text)
    return space
