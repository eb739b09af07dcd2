"""Writes captures: a run appears in its log folder at once and whole."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from pathlib import Path

from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Run, open_run
from tfprof.errors import InputError

_STAGING = ".tfprof-capture-"
_ENDING = ".xplane.pb"


def writable(logdir: Path) -> Path:
    """Make a log folder, and check that it is writable.

    Returns:
        Its absolute path, which stays valid if the program changes its folder.

    Raises:
        InputError: It cannot be made or written.
    """
    try:
        logdir.mkdir(parents=True, exist_ok=True)
        Path(tempfile.mkdtemp(prefix=_STAGING, dir=logdir)).rmdir()
    except OSError as error:
        raise InputError(
            f"{logdir}: no capture can be written there: {error.strerror or error}"
        ) from error
    return logdir.absolute()


def staging_folder(logdir: Path | None) -> Path:
    """A name for a folder, on the disk of the log folder if there is one; it is not made yet.

    The profilers make it when they write.
    """
    folder = Path(tempfile.mkdtemp(prefix=_STAGING, dir=logdir))
    folder.rmdir()  # so that a killed program leaves nothing
    return folder.absolute()


def kept(
    staging: Path, logdir: Path | None, session_id: str, file_host: str = ""
) -> tuple[Run, str, Path | None, list[Note]]:
    """Move a profiler's file to its place, and read it.

    Args:
        staging: Folder in which the profiler wrote.
        logdir: The log folder; None for memory.
        session_id: Name of the run; empty for the profiler's own.
        file_host: Name of this host in the run; empty for the profiler's own.

    Returns:
        The run, the name of this host in it, the run's folder, and remarks.

    Raises:
        InputError: The profiler has written nothing.
    """
    runs = sorted(staging.glob("plugins/profile/*"))
    files = [path for run in runs for path in run.glob(f"*{_ENDING}")]
    if len(files) != 1:
        raise InputError(
            f"the profiler wrote {len(files)} captures instead of one; make sure that the disk "
            "has room, and capture again"
        )
    if file_host:
        files = [_renamed(runs[0], files[0].name.removesuffix(_ENDING), file_host)]
    host = files[0].name.removesuffix(_ENDING)
    if logdir is None:
        return open_run(files[0]), host, None, []
    profiles = logdir / "plugins" / "profile"
    profiles.mkdir(parents=True, exist_ok=True)
    wanted = name = session_id or runs[0].name
    again = 2
    while not _moved(runs[0], profiles / name, may_join=bool(session_id)):
        name, again = f"{wanted}_{again}", again + 1
    notes = []
    if session_id and name != wanted:
        notes.append(
            Note("info", f"the run is named {name!r}, because {wanted!r} has a capture of this "
                 "host already")
        )  # fmt: skip
    return open_run(profiles / name), host, profiles / name, notes


def _renamed(run: Path, host: str, file_host: str) -> Path:
    """Give a host another name in its files, also in those beside the capture; returns that."""
    for path in list(run.glob(f"{glob.escape(host)}.*")):
        path.rename(run / (file_host + path.name.removeprefix(host)))
    return run / f"{file_host}{_ENDING}"


def _moved(run: Path, target: Path, *, may_join: bool) -> bool:
    """Move a run's folder, or its files beside those of other hosts; False if it is taken."""
    if not target.exists():
        try:
            os.rename(run, target)  # noqa: PTH104  # which fails if another program was faster
            return True
        except OSError:
            if not target.exists():
                raise
    if not may_join or any((target / path.name).exists() for path in run.iterdir()):
        return False
    for path in run.iterdir():
        shutil.move(path, target / path.name)
    return True
