"""Tasks for workers of tests: they record what they read, and some files kill or delay them."""

import os
import time
from pathlib import Path

from tfprof.captures.hosts.dask_tasks import condensed as condensed_as_ever
from tfprof.captures.hosts.dask_tasks import merged

__all__ = ["condensed", "merged"]

PATIENCE_SECONDS = 60


def condensed(file, is_local, wanted):
    """The part of a file; ``deadly`` files kill their worker, ``slow`` ones wait for ``go``."""
    path = Path(file[1])
    with (path.parent / "reads.log").open("a") as log:
        log.write(f"{os.getpid()} {path.name}\n")
    if "deadly" in path.name:
        os._exit(1)
    if "slow" in path.name:
        last = time.monotonic() + PATIENCE_SECONDS
        while not (path.parent / "go").exists() and time.monotonic() < last:
            time.sleep(0.01)
    if "elsewhere" in path.name:
        file = (file[0], f"{file[1]}.gone", file[2])
    return condensed_as_ever(file, is_local, wanted)
