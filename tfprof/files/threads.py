"""How many threads read."""

from __future__ import annotations

import os

from tfprof.errors import UsageError

MOST = 4
"""The most threads that are used by default: more are not faster."""


def number_of_threads(threads: int | None) -> int:
    """The given number, or else that of ``TFPROF_THREADS``, or else one for each core.

    Raises:
        UsageError: It is not a number from 1 on.
    """
    if threads is None:
        wanted = os.environ.get("TFPROF_THREADS", "")
        if not wanted:
            return min(MOST, os.cpu_count() or 1)
        if not wanted.isdecimal() or int(wanted) < 1:
            raise UsageError(f"TFPROF_THREADS must be a number from 1 on; got {wanted!r}")
        return int(wanted)
    if threads < 1:
        raise UsageError(f"threads must be 1 or more; got {threads}")
    return threads
