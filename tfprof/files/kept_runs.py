"""Keeps the latest runs that a program writes, and removes the oldest."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from tfprof.errors import InputError, UsageError
from tfprof.files.run_folder import RECORD_NAME, capture_files


class KeptRuns:
    """The runs of one writer, of which only the latest are kept.

    Only files that were given to ``add`` are removed, and folders that are empty then. The latest
    run always stays.

    Args:
        most_runs: How many runs to keep; None for all.
        most_bytes: How large all of them together may be; None for any size.

    Raises:
        UsageError: A limit is not a number above 0.
    """

    def __init__(self, most_runs: int | None = None, most_bytes: int | None = None) -> None:
        for name, limit in (("most_runs", most_runs), ("most_bytes", most_bytes)):
            if limit is not None and (not isinstance(limit, int) or limit < 1):
                raise UsageError(f"{name}={limit!r} must be a whole number from 1 on, or None")
        self._most_runs, self._most_bytes = most_runs, most_bytes
        self._runs: deque[tuple[Path, list[Path], int]] = deque()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The kept runs, the oldest first."""
        return tuple(folder for folder, _, _ in self._runs)

    def add(self, folder: Path, files: Iterable[Path]) -> None:
        """Add a new run, and remove the oldest ones beyond the limits.

        Args:
            folder: Its folder.
            files: What was written there.
        """
        own = sorted(files)
        self._runs.append((folder, own, sum(map(_size, own))))
        while len(self._runs) > 1 and self._are_too_many():
            self._remove(*self._runs.popleft()[:2])

    def _are_too_many(self) -> bool:
        if self._most_runs is not None and len(self._runs) > self._most_runs:
            return True
        total = sum(size for _, _, size in self._runs)
        return self._most_bytes is not None and total > self._most_bytes

    @staticmethod
    def _remove(folder: Path, files: Iterable[Path]) -> None:
        with contextlib.suppress(OSError, InputError):  # another program removed it or holds it
            for file in files:
                if file.name != RECORD_NAME:
                    file.unlink(missing_ok=True)
            if RECORD_NAME in {file.name for file in files} and not capture_files(folder):
                (folder / RECORD_NAME).unlink(missing_ok=True)
            folder.rmdir()


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
