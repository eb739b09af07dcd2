"""The captured runs in some paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfprof.cli.fleet_options import Reading, read_hosts
from tfprof.cli.progress import progress
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run


class CapturedRuns:
    """The runs in some paths; each is read once, when it is first needed.

    Args:
        paths: A log folder, a run folder, or the files of a run.
        reading: How hosts are read.
    """

    def __init__(self, paths: Sequence[str], reading: Reading = (None, None)) -> None:
        self.paths, self._reading = tuple(paths), reading
        self._read: dict[str | None, Run] = {}

    def run(self, name: str | None = None) -> Run:
        """A run by its name; None is the latest. Errors are those of ``read_run``."""
        if name not in self._read:
            self._read[name] = read_hosts(self.paths, name, self._reading)
        return self._read[name]


def read_run(paths: Sequence[str], run: str | None) -> Run:
    """A run by its name; None is the latest.

    Raises:
        UsageError: There are no paths, or no such run.
        InputError: It cannot be read.
    """
    if not paths:
        raise UsageError(
            "nothing to read: give a log folder, a run folder or the .xplane.pb files of a run"
        )
    from tfprof.captures.run.run import open_run

    with progress() as watch:
        watch.stage(f"reading {paths[0]}")
        return open_run(list(paths), run=run)
