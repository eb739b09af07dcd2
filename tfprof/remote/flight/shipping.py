"""Brings runs to a bucket, from a folder of this machine in which they lie until they arrive."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tfprof.core.text.units import human_memory
from tfprof.errors import InputError, TfprofError, UsageError
from tfprof.files import small_files
from tfprof.files.cache import cache_folder
from tfprof.files.remote.path import RemotePath
from tfprof.files.run_folder import UNFINISHED
from tfprof.remote.flight.retention import PIN
from tfprof.remote.staging import runs_of

OUTBOX = "TFPROF_OUTBOX"
AGAIN_SECONDS = 60.0
"""From one attempt to the next while the bucket refuses."""
_PATIENCE_SECONDS = 10.0
_LAST_SECONDS = 20.0
_LOCK = ".lock"
_WRITING = b"a recorder writes this run\n"


def outbox_of(logdir: RemotePath, environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of this machine for runs on their way to a log folder in a bucket.

    Raises:
        UsageError: There is no place for it.
    """
    folder = cache_folder(environ, OUTBOX, "outbox")
    if folder is None:
        raise UsageError(
            f"{logdir}: runs need a folder of this machine until the bucket has them; set {OUTBOX}"
        )
    return folder / hashlib.sha256(logdir.identity.encode()).hexdigest()[:16]


class Shipping:
    """Uploads finished runs in its own thread, and tries again what was refused.

    A run is in the bucket when all of its files are: until then a file ``.unfinished`` hides it
    from readers.

    Args:
        outbox: A log folder of this machine; runs that lie in it from before are uploaded, too.
        logdir: The log folder in the bucket.
        say: Receives remarks.
        again_seconds: From one attempt to the next while the bucket refuses.
    """

    def __init__(
        self,
        outbox: Path,
        logdir: RemotePath,
        say: Callable[[str], None],
        again_seconds: float = AGAIN_SECONDS,
    ) -> None:
        self._runs, self._target = runs_of(outbox), runs_of(logdir)
        self._say, self._again = say, again_seconds
        self._changed = threading.Condition()
        self._is_new = self._is_ending = False
        self._trouble = ""
        # Uploads may stand still; that must not keep the process.
        self._thread = threading.Thread(target=self._work, name="tfprof-upload", daemon=True)

    def start(self) -> None:
        """Begin, with what lies there from before."""
        if waiting := self._waiting():
            names = ", ".join(waiting[:3]) + (" …" if len(waiting) > 3 else "")
            self._say(f"{self._runs} still holds {names} for {self._target}: brought there now")
        self._thread.start()

    def bring(self, run: str) -> tuple[str, str]:
        """Upload a new run; waits for it a short time only.

        Returns:
            The folder of the run, and why it is not in the bucket yet; empty if it is.
        """
        with self._changed:
            self._is_new, self._trouble = True, ""
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._trouble or not self._lies_here(run), _PATIENCE_SECONDS
            )
            trouble = self._trouble or "the bucket is slow"
        if not self._lies_here(run):
            return str(self._target / run), ""
        return str(self._runs / run), self._left(trouble)

    def end(self) -> None:
        """Try a last time, for a limited time."""
        with self._changed:
            self._is_ending = True
            self._changed.notify_all()
        self._thread.join(_LAST_SECONDS)
        if self._waiting():
            self._say(self._left(self._trouble or "the bucket is slow"))

    def _left(self, trouble: str) -> str:
        names = self._waiting()
        size = sum(_n_bytes(file) for name in names for file in _files(self._runs / name))
        what = "1 run lies" if len(names) == 1 else f"{len(names)} runs lie"
        when = "by the next recorder of this log folder" if self._is_ending else "again and again"
        return (
            f"{what} in {self._runs} ({human_memory(size)}) and not in the bucket: {trouble}. They "
            f"are tried {when}; once the bucket takes them they are removed here"
        )

    def _lies_here(self, run: str) -> bool:
        return (self._runs / run).is_dir()

    def _waiting(self) -> list[str]:
        try:
            held = small_files.held(self._runs)
        except InputError:
            return []
        return sorted(name for name, (is_folder, _) in held.items()
                      if is_folder and not name.startswith("."))  # fmt: skip

    def _work(self) -> None:
        while True:
            trouble = self._upload_all()
            with self._changed:
                if trouble and trouble != self._trouble and not self._is_new:
                    self._say(self._left(trouble))
                self._trouble = trouble
                self._changed.notify_all()
                if self._is_ending:
                    return
                self._changed.wait_for(
                    lambda: self._is_new or self._is_ending, self._again if trouble else None
                )
                self._is_new = False

    def _upload_all(self) -> str:
        """Upload what lies here; returns why something cannot be."""
        try:
            with _alone(self._runs):
                return self._upload_each(self._waiting())
        except OSError as error:
            return f"{self._runs}: cannot be used: {error.strerror or error}"

    def _upload_each(self, names: list[str]) -> str:
        had_trouble = bool(self._trouble)
        for name in names:
            try:
                self._upload(name)
            except (TfprofError, OSError) as error:
                if self._lies_here(name):
                    return str(error)
            with self._changed:
                self._changed.notify_all()
        if names and had_trouble:
            self._say(f"{', '.join(names[:3])}{' …' if len(names) > 3 else ''}: in "
                      f"{self._target} now")  # fmt: skip
        return ""

    def _upload(self, name: str) -> None:
        here, there = self._runs / name, self._target / name
        small_files.put(there / UNFINISHED, _WRITING)
        for file in _files(here):
            small_files.put(there / file.name, file)
        small_files.remove(there / UNFINISHED)
        # The copy vanishes at once, so that what a kill leaves of it is not uploaded again.
        gone = here.with_name(f".{name[:100]}.{time.time_ns():016x}.tmp")
        with contextlib.suppress(FileNotFoundError):
            here.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other recorder uploads from this folder; the system ends a dead one's lock."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("ab") as file:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # ends when the file is closed
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _n_bytes(file: Path) -> int:
    """Its size; 0 if another recorder with this folder has just brought it."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _files(run: Path) -> list[Path]:
    try:
        return sorted(file for file in run.iterdir() if file.is_file() and file.name != PIN)
    except OSError:
        return []
