"""Where captured runs lie: ``LOGDIR/[train/]plugins/profile/RUN/HOST.xplane.pb``."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tfprof.errors import EmptyProfileError, InputError, UsageError
from tfprof.files import entries, is_folder, is_ordinary_file

_FILE = re.compile(r"(?P<host>.+)\.xplane\.pb(\.gz|\.xz|\.zst)?", re.DOTALL)

_PROFILES = ("plugins", "profile")

_DEEPEST = 8
"""Folders below a log folder in which runs are looked for."""


def host_name(path: str | os.PathLike[str]) -> str:
    """Name of a host's file up to ``.xplane.pb``."""
    name = Path(path).name
    found = _FILE.fullmatch(name)
    return name if found is None else found["host"]


def capture_files(folder: Path) -> list[Path]:
    """The captures of a run folder, one for each host, by name.

    A file that is there packed and unpacked is taken once, unpacked.

    Raises:
        InputError: The folder can not be read.
    """
    files: dict[str, Path] = {}
    for path in entries(folder):
        found = _FILE.fullmatch(path.name)
        if found is not None and is_ordinary_file(path):
            files.setdefault(found["host"], path)
    return [files[host] for host in sorted(files)]


def is_capture(path: str | os.PathLike[str]) -> bool:
    """Whether a file is named as captures are, or a folder is a log folder or holds some."""
    named = Path(path)
    if not is_folder(named):
        return is_ordinary_file(named) and _FILE.fullmatch(named.name) is not None
    try:
        inside = (named, *entries(named))
        return bool(capture_files(named)) or any(
            is_folder(folder.joinpath(*_PROFILES)) for folder in inside
        )
    except InputError:  # whoever reads it says what is wrong
        return False


def runs(folder: Path) -> dict[str, Path]:
    """Run folders of a log folder, in the order of their names.

    A run is called as its path from the log folder to the folder that holds ``plugins``, and the
    name of the run.
    """
    found: dict[str, Path] = {}
    for parent, folders, _ in os.walk(folder):
        here = Path(parent)
        folders.sort()
        if len(here.relative_to(folder).parts) >= _DEEPEST:
            folders.clear()
        if here.parts[-2:] == _PROFILES:
            prefix = here.parent.parent.relative_to(folder) if _is_inside(here, folder) else Path()
            for name in folders:
                if capture_files(here / name):
                    found[str(prefix / name)] = here / name
            folders.clear()
    return dict(sorted(found.items(), key=lambda item: (item[1].name, item[0])))


def _is_inside(profiles: Path, folder: Path) -> bool:
    """Whether the folder that holds ``plugins`` is the log folder or lies in it."""
    return len(profiles.relative_to(folder).parts) >= len(_PROFILES)


def run_files(folder: Path, run: str | None) -> tuple[str, list[Path], list[str]]:
    """The files of a run.

    Args:
        folder: A run folder, or a log folder.
        run: Which run of a log folder; by default the latest.

    Returns:
        The name of the run, its files, and the names of the other runs.

    Raises:
        EmptyProfileError: There is no capture.
        UsageError: There is no such run.
    """
    files = capture_files(folder)
    if files and run is None:
        return folder.name, files, []
    known = runs(folder)
    if files and not known:
        raise UsageError(
            f"{folder}: holds the captures of one run, so that there is no run {run!r} to choose; "
            "leave it out"
        )
    if not known:
        raise EmptyProfileError(
            f"{folder}: holds no capture; one is called HOST.xplane.pb and lies in "
            "plugins/profile/RUN of the log folder. Was the profiler stopped?"
        )
    if run is None:
        run = next(reversed(known))
    if run not in known:
        raise UsageError(f"{folder}: no run {run!r}; it has: {', '.join(known)}")
    others = [name for name in known if name != run]
    return run, capture_files(known[run]), others
