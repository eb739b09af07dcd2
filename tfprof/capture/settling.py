"""Waits for other threads to rest before a profiler is stopped."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

_MOST_SECONDS = 0.1
_BETWEEN_LOOKS_SECONDS = 0.002
_QUIET_LOOKS = 2
"""One look may meet a thread between two pieces of work."""

_TASKS = Path("/proc/self/task")
_STATE_BEHIND = b") "
"""The name of a thread stands in parentheses, and may hold some."""


def settle() -> None:
    """Wait until the other threads of this process rest, a tenth of a second at most.

    Threads pass on a result before their own events end, and the profiler loses events that have
    not ended when it stops. If the system does not report the states of threads, or some always
    run, the wait takes the whole tenth.
    """
    end = time.monotonic() + _MOST_SECONDS
    n_quiet = 0
    while n_quiet < _QUIET_LOOKS:
        left = end - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(_BETWEEN_LOOKS_SECONDS, left))
        n_quiet = 0 if _another_thread_runs() else n_quiet + 1


def _another_thread_runs() -> bool:
    """Whether one runs or waits for a processor; True if unknown."""
    own = str(threading.get_native_id())
    try:
        others = [task for task in _TASKS.iterdir() if task.name != own]
    except OSError:
        return True
    for task in others:
        with contextlib.suppress(OSError):  # it has ended
            if (task / "stat").read_bytes().rpartition(_STATE_BEHIND)[2][:1] in (b"R", b"D"):
                return True
    return False
