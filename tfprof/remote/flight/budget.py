"""A budget of runs a day, which all recorders of one log folder share.

Each run has an entry in the log folder, a file whose name is its size: entries need no lock, on
disks and in buckets, and stay when a recorder ends or a run is removed. An entry is made before its
run is written, and counts from then on, so that several recorders never exceed the budget.

Days are those of UTC by this machine's clock. If that jumps, another day has another budget: a jump
forth blocks nothing for long, and one back does not give a day's budget twice.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

from tfprof.core.text.units import human_memory
from tfprof.errors import InputError
from tfprof.files import small_files
from tfprof.files.remote.path import AnyPath
from tfprof.remote.flight.limits import Limits

FOLDER = (".tfprof", "budget")
_ENTRY = re.compile(r"(\d{1,19})-[0-9a-f]{16}", re.ASCII)
_MOST_DAYS = 400


class Budget:
    """Counts the runs of a day.

    Args:
        limits: What may be written in a day.
        logdir: The log folder.
        say: Receives remarks: when the budget is spent, and when it begins anew.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        limits: Limits,
        logdir: AnyPath,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._limits, self._say, self._clock = limits, say, clock
        self._folder = logdir.joinpath(*FOLDER)
        self._own: dict[str, int] = {}  # of today, if the folder does not answer
        self._spent_day = self._day = self._trouble = ""

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be written today; says so when another day has begun."""
        if not self._spent_day:
            return False
        if self._spent_day == self._today():
            return True
        self._spent_day = ""
        self._say(f"another day has begun: {self._limits} may be written again")
        return False

    def reserve(self, n_bytes: int, *, must: bool) -> str:
        """Make an entry for a run that is about to be written.

        Args:
            n_bytes: Its size at most.
            must: Whether it is written in any case, as on request; it counts nevertheless.

        Returns:
            The name of the entry; empty if the budget has no room for the run.
        """
        entry = f"{n_bytes}-{secrets.token_hex(8)}"
        today = self._today()
        self._put(today, entry, n_bytes)
        sizes = self._sizes(today)
        limits = self._limits
        is_over = (limits.runs is not None and len(sizes) > limits.runs) or (
            limits.n_bytes is not None and sum(sizes.values()) > limits.n_bytes
        )
        if not is_over or must:
            return entry
        self.cancel(entry)
        sizes.pop(entry, None)
        if self._spent_day != today:
            self._spent_day = today
            self._say(
                f"the budget of today ({limits}) has no room for another run of up to "
                f"{human_memory(n_bytes)}, after {human_memory(sum(sizes.values()))} in "
                f"{len(sizes)} run{'' if len(sizes) == 1 else 's'}. Slow steps and ends of "
                "programs are not written until it begins anew, at 00:00 UTC, in "
                f"{self._time_left()}; requests are"
            )
        return ""

    def settle(self, entry: str, n_bytes: int) -> None:
        """Replace the size of an entry by that of its written run."""
        actual = f"{n_bytes}-{entry.rpartition('-')[2]}"
        if actual != entry:
            self._put(self._day, actual, n_bytes)
            self.cancel(entry)

    def cancel(self, entry: str) -> None:
        """Remove the entry of a run that was not written."""
        self._own.pop(entry, None)
        try:
            small_files.remove(self._folder / self._day / entry)
        except InputError as error:
            self._note(error)

    def _today(self) -> str:
        return datetime.fromtimestamp(self._clock(), timezone.utc).strftime("%Y-%m-%d")

    def _time_left(self) -> str:
        now = datetime.fromtimestamp(self._clock(), timezone.utc)
        midnight = datetime(now.year, now.month, now.day, tzinfo=timezone.utc) + timedelta(1)
        minutes = int((midnight - now).total_seconds() // 60) + 1
        return f"{minutes // 60} h {minutes % 60} min"

    def _put(self, day: str, entry: str, n_bytes: int) -> None:
        if day != self._day:
            self._own.clear()
            self._day = day
            self._remove_old()
        self._own[entry] = n_bytes
        try:
            small_files.put(self._folder / day / entry, b"\n")
        except InputError as error:
            self._note(error)

    def _sizes(self, day: str) -> dict[str, int]:
        """Bytes of the day's runs, by entry."""
        try:
            names = small_files.held(self._folder / day)
        except InputError as error:
            self._note(error)
            names = {}
        listed = {name: int(match[1]) for name in names if (match := _ENTRY.fullmatch(name))}
        return {**listed, **self._own}

    def _remove_old(self) -> None:
        """Remove the entries of the first days; what a clock that jumped calls old may be today."""
        try:
            for day in sorted(small_files.held(self._folder))[:-_MOST_DAYS]:
                for entry in small_files.held(self._folder / day):
                    small_files.remove(self._folder / day / entry)
                if isinstance(self._folder, Path):
                    (self._folder / day).rmdir()
        except (InputError, OSError) as error:
            self._note(error)

    def _note(self, error: Exception) -> None:
        if not self._trouble:
            self._trouble = str(error)
            self._say(f"{error}. The budget of a day counts what this recorder writes alone")
