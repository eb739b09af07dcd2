"""Writes runs into a log folder on this machine or in a bucket, within its limits."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tfprof.errors import InputError, TfprofError
from tfprof.files import small_files
from tfprof.files.remote.path import RemotePath, as_path
from tfprof.remote.addresses import Address
from tfprof.remote.flight.budget import Budget
from tfprof.remote.flight.events import Saved
from tfprof.remote.flight.limits import Limits
from tfprof.remote.flight.retention import RECORD, WRITER, Retention
from tfprof.remote.flight.shipping import Shipping, outbox_of
from tfprof.remote.requests import Received
from tfprof.remote.staging import Staging, new_run_name, runs_of

Captures = Mapping[Address, Callable[[], tuple[bytes, Sequence[str]]]]
"""What makes the capture of each worker, a serialized XSpace, and notes on what it lacks; one at a
time is in memory."""


class RunWriter:
    """Writes the runs of one recorder; a context manager.

    Args:
        logdir: The log folder: a path, or the URL of a bucket.
        budget: What may be written in a day, by all recorders of the log folder.
        retain: What to keep of the recorders' runs.
        say: Receives remarks.

    Raises:
        UsageError: The folder is wrong.
    """

    def __init__(
        self, logdir: str | Path, budget: Limits | None, retain: Limits | None,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        place = as_path(logdir)
        self._place, self._say = place, say
        self._local: str | Path = logdir
        self._shipping: Shipping | None = None
        if isinstance(place, RemotePath):
            self._local = outbox_of(place)
            self._shipping = Shipping(self._local, place, say)
        self._budget = Budget(budget, place, say) if budget is not None else None
        self._retention = Retention(retain, runs_of(place), say) if retain is not None else None

    def __enter__(self) -> RunWriter:
        """Check that the folder can be written; a bucket that refuses now is a remark.

        Raises:
            InputError: It cannot be written.
            MissingDependencyError: A package for this kind of bucket is not installed.
        """
        with Staging(self._local, new_run_name(self._local, None)):
            pass
        if self._shipping is not None and isinstance(self._place, RemotePath):
            probe = self._place / f".tfprof-{new_run_name(self._local, None)}"
            try:
                small_files.put(probe, b"\n")
                small_files.remove(probe)
            except InputError as error:
                self._say(f"{error}. Runs stay in {self._local} until the bucket takes them")
            self._shipping.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Bring what is left to the bucket, for a limited time."""
        if self._shipping is not None:
            self._shipping.end()

    @property
    def is_spent(self) -> bool:
        """Whether the budget of today has no more room."""
        return self._budget is not None and self._budget.is_spent

    def write(
        self, captures: Captures, saved: Saved, most_bytes: int, *, must: bool
    ) -> Saved | None:
        """Write a run.

        Args:
            captures: What it holds.
            saved: What is known about it.
            most_bytes: Its size at most.
            must: Whether to write it even if the budget has no room.

        Returns:
            With its folder; None if the budget has no room.

        Raises:
            InputError: It cannot be written.
        """
        entry = self._budget.reserve(most_bytes, must=must) if self._budget is not None else ""
        if self._budget is not None and not entry:
            return None
        try:
            done, n_bytes = self._write(captures, saved)
        except BaseException:
            if self._budget is not None:
                self._budget.cancel(entry)
            raise
        if self._budget is not None:
            self._budget.settle(entry, n_bytes)
        if self._shipping is not None:
            folder, left = self._shipping.bring(Path(done.folder).name)
            done = replace(done, folder=folder, notes=(*done.notes, *([left] if left else [])))
        if self._retention is not None:
            self._retention.apply()
        return done

    def _write(self, captures: Captures, saved: Saved) -> tuple[Saved, int]:
        files, troubles, notes, n_bytes = [], [], [*saved.notes], 0
        with Staging(self._local, self._name()) as staging:
            for address, make in captures.items():
                try:
                    data, lacks = make()
                except TfprofError as error:
                    troubles.append(f"{address}: {error}")
                    continue
                files.append(staging.keep(address, Received((memoryview(data),), False, ())))
                notes += [f"{address}: {lack}" for lack in lacks]
                n_bytes += len(data)
            if not files:
                raise InputError("; ".join(troubles))
            saved = replace(saved, notes=tuple(notes))
            about = saved.to_dict()
            about = {name: about[name] for name in ("reason", "time", "steps", "notes")}
            about |= {"seconds": round(saved.seconds, 3), "writer": WRITER}
            staging.note(RECORD, json.dumps(about, indent=1) + "\n")
            for name, text in saved.beside.items():
                staging.note(name, text)
            folder = staging.finish(is_named=False)
        done = replace(saved, folder=folder, files=tuple(files), trouble="; ".join(troubles))
        return done, n_bytes

    def _name(self) -> str:
        """The name of a new run; in a bucket no other recorder can choose the same one."""
        name = new_run_name(self._local, None)
        return f"{name}_{secrets.token_hex(3)}" if self._shipping is not None else name
