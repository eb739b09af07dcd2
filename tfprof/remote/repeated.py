"""Repeats a capture at intervals, and limits how many are kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from tfprof.errors import InputError, UsageError
from tfprof.files.kept_runs import KeptRuns
from tfprof.files.run_folder import RECORD_NAME
from tfprof.remote.workers import RemoteCapture


def repeated(
    take: Callable[[], RemoteCapture],
    interval: float,
    times: int | None,
    kept: KeptRuns,
    *,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> Iterator[RemoteCapture | InputError]:
    """Capture at every multiple of an interval; multiples that pass meanwhile are skipped.

    Args:
        take: Captures once.
        interval: Seconds from the beginning of one to that of the next.
        times: How often; None until the caller ends it.
        kept: Removes the oldest runs.
        clock: Seconds that never go back.
        wait: Waits so many seconds.

    Yields:
        Each capture, or the error: the programs may be back next time.

    Raises:
        UsageError: The interval is not above 0, or ``times`` below 1.
    """
    if not interval > 0:
        raise UsageError(f"option every={interval:g} s must be above 0")
    if times is not None and times < 1:
        raise UsageError(f"option count={times} must be from 1 on")
    began = clock()
    for number in count(1):
        try:
            captured = take()
        except InputError as error:
            yield error
        else:
            folder = Path(captured.folder)
            paths = [Path(worker.path) for worker in captured.workers if worker.path]
            kept.add(folder, [*paths, folder / RECORD_NAME])
            yield captured
        if number == times:
            return
        behind = (clock() - began) % interval
        wait(interval - behind)
