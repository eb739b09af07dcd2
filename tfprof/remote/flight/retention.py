"""Removes the oldest runs of flight recorders from a log folder, and no other files.

A run is a recorder's if its ``record.json`` states that. A file ``keep`` in it keeps it for good.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tfprof.core.text.units import human_memory
from tfprof.errors import InputError
from tfprof.files import small_files
from tfprof.files.disk import read_file
from tfprof.files.remote.path import AnyPath
from tfprof.files.run_folder import UNFINISHED
from tfprof.remote.flight.limits import Limits

RECORD = "record.json"
WRITER = "tfprof record"
PIN = "keep"
REMOVING = b"a recorder removes this run\n"
_DAY_SECONDS = 86400.0


class OldRun(NamedTuple):
    """A run that a recorder has written.

    Attributes:
        folder: Its folder.
        time: When, in seconds since 1970.
        n_bytes: Its size.
    """

    folder: AnyPath
    time: float
    n_bytes: int


def superfluous(runs: Iterable[OldRun], limits: Limits, now: float) -> list[OldRun]:
    """The runs beyond the limits, the oldest first; the latest one always stays.

    Args:
        runs: All runs that may be removed.
        limits: What to keep.
        now: Seconds since 1970. A clock that is behind keeps more.
    """
    latest_first = sorted(runs, key=lambda run: (run.time, str(run.folder)), reverse=True)
    n_bytes, found = 0, list[OldRun]()
    for place, run in enumerate(latest_first):
        n_bytes += run.n_bytes
        is_too_old = limits.days is not None and now - run.time > limits.days * _DAY_SECONDS
        is_too_many = limits.runs is not None and place >= limits.runs
        is_too_large = limits.n_bytes is not None and n_bytes > limits.n_bytes
        if place and (is_too_old or is_too_many or is_too_large):
            found.append(run)
    return found[::-1]


class Retention:
    """Keeps a log folder within limits.

    Args:
        limits: What to keep.
        runs_folder: The folder of the runs.
        say: Receives remarks on what was removed, or could not be.
    """

    def __init__(self, limits: Limits, runs_folder: AnyPath, say: Callable[[str], None]) -> None:
        self._limits, self._folder, self._say = limits, runs_folder, say
        self._times: dict[str, float | None] = {}  # by the name of the run
        self._started = time.time(), time.monotonic()
        self._trouble = ""

    def apply(self) -> None:
        """Remove what is beyond the limits; troubles are remarks."""
        try:
            extra = superfluous(self._runs(), self._limits, self._now())
            for run in extra:
                _remove(run.folder)
                self._times.pop(run.folder.name, None)
        except (InputError, OSError) as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                self._say(f"old runs cannot be removed: {error}")
            return
        self._trouble = ""
        if extra:
            names = ", ".join(run.folder.name for run in extra[:3])
            more = f" and {len(extra) - 3} more" if len(extra) > 3 else ""
            size = human_memory(sum(run.n_bytes for run in extra))
            self._say(f"removed {names}{more} ({size}): the limit is {self._limits}")

    def _now(self) -> float:
        """Seconds since 1970; a clock that jumped ahead must not make all runs old."""
        began, at = self._started
        return min(time.time(), began + time.monotonic() - at)

    def _runs(self) -> list[OldRun]:
        found, seen = list[OldRun](), set[str]()
        for name, (is_folder, _) in small_files.held(self._folder).items():
            if not is_folder or name.startswith("."):
                continue
            files = small_files.held(self._folder / name)
            if PIN in files or RECORD not in files or not self._may_go(name, files):
                continue
            seen.add(name)
            if (when := self._time(name)) is not None:
                n_bytes = sum(size for _, size in files.values())
                found.append(OldRun(self._folder / name, when, n_bytes))
        self._times = {name: when for name, when in self._times.items() if name in seen}
        return found

    def _may_go(self, name: str, files: Iterable[str]) -> bool:
        """Whether a run is complete, or a recorder was removing it when it ended."""
        if UNFINISHED not in files:
            return True
        return bytes(read_file(self._folder / name / UNFINISHED)) == REMOVING

    def _time(self, name: str) -> float | None:
        """When a recorder wrote a run; None if its record is not a recorder's."""
        if name not in self._times:
            self._times[name] = _written_at(bytes(read_file(self._folder / name / RECORD)))
        return self._times[name]


def _written_at(record: bytes) -> float | None:
    try:
        about: Any = json.loads(record)
        is_ours = isinstance(about, dict) and about.get("writer") == WRITER
        when = about.get("time") if is_ours else None
        return float(when) if isinstance(when, (int, float)) else None
    except (ValueError, OverflowError, RecursionError):
        return None


def _remove(folder: AnyPath) -> None:
    """Remove a run, which vanishes for readers at once."""
    if isinstance(folder, Path):
        gone = folder.with_name(f".{folder.name[:100]}.{secrets.token_hex(8)}.tmp")
        with contextlib.suppress(FileNotFoundError):  # another recorder was quicker
            os.rename(folder, gone)  # noqa: PTH104 - of a folder
            shutil.rmtree(gone, ignore_errors=True)
        return
    files = set(small_files.held(folder)) - {UNFINISHED, RECORD}
    small_files.put(folder / UNFINISHED, REMOVING)
    for name in (*sorted(files), RECORD, UNFINISHED):  # what a killed recorder leaves is found
        small_files.remove(folder / name)
