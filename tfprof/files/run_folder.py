"""Finds captured runs: ``LOGDIR/[train/]plugins/profile/RUN/HOST.xplane.pb``."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath

from tfprof.core.text.units import some
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.files.disk import entries, is_folder, is_ordinary_file, list_ahead, walk
from tfprof.files.remote.path import AnyPath, as_path

_FILE = re.compile(r"(?P<host>.+)\.xplane\.pb(\.gz|\.xz|\.zst)?", re.DOTALL)

RECORD_NAME = "capture.json"
"""Name of the record of a run's captures, which lies beside them."""

UNFINISHED = ".unfinished"
"""Name of a file that hides a run while its files are brought to a bucket, or removed there, one
after the other."""

_PROFILES = ("plugins", "profile")

_MOST_NAMED = 5

_DEEPEST = 8
"""Depth of folders below a log folder in which to look for runs."""


def host_name(path: str | os.PathLike[str]) -> str:
    """Name of a host's file up to ``.xplane.pb``."""
    name = as_path(path).name
    match = _FILE.fullmatch(name)
    return name if match is None else match["host"]


def capture_files(folder: AnyPath) -> list[AnyPath]:
    """The captures of a run folder, one for each host, by name.

    There are none while the run is incomplete. If a file exists both packed and unpacked, only the
    unpacked one is used.

    Raises:
        InputError: The folder cannot be read.
    """
    files: dict[str, AnyPath] = {}
    inside = entries(folder)
    if any(path.name == UNFINISHED for path in inside):
        return []
    for path in inside:
        match = _FILE.fullmatch(path.name)
        if match is not None and is_ordinary_file(path):
            files.setdefault(match["host"], path)
    return [files[host] for host in sorted(files)]


def gone_files(folder: AnyPath) -> list[Path]:
    """Broken links in a run folder with names of captures.

    Raises:
        InputError: The folder cannot be read.
    """
    return [
        path for path in entries(folder)
        if isinstance(path, Path)  # other machines show no links
        and _FILE.fullmatch(path.name) and path.is_symlink()
        and not is_ordinary_file(path) and not is_folder(path)
    ]  # fmt: skip


def is_capture_name(path: str | os.PathLike[str]) -> bool:
    """Whether a file has the name of a capture."""
    return _FILE.fullmatch(as_path(path).name) is not None


def holds_captures(folder: AnyPath) -> bool:
    """Whether a folder is a log folder, or holds captures.

    Deeper folders than those of a log folder count if a folder has no files of its own.

    Raises:
        InputError: It cannot be read.
    """
    inside = entries(folder)
    has_files = any(map(is_ordinary_file, inside))
    if capture_files(folder) or (not has_files and runs(folder)):
        return True
    return any(is_folder(each.joinpath(*_PROFILES)) for each in (folder, *inside))


def runs(folder: AnyPath) -> dict[str, AnyPath]:
    """Run folders of a log folder, in the order of their names.

    The name of a run is the path from the log folder to the folder that holds ``plugins``, plus the
    name of its folder. Without a folder ``plugins/profile``, runs are the folders below that hold
    captures, named by their relative paths.
    """
    by_name: dict[str, AnyPath] = {}
    loose: dict[str, AnyPath] = {}
    for here, folders, _ in walk(folder):
        folders.sort()
        way: PurePath = here.relative_to(folder)  # type: ignore[arg-type]  # both of one machine
        if len(way.parts) >= _DEEPEST:
            folders.clear()
        if here.parts[-2:] == _PROFILES:
            list_ahead([here / name for name in folders])
            for name in folders:
                if capture_files(here / name):
                    by_name[str(way.parent.parent / name)] = here / name
            folders.clear()
        elif here != folder and capture_files(here):
            loose[str(way)] = here
            folders.clear()
    by_name = by_name or loose
    return dict(sorted(by_name.items(), key=lambda item: (item[1].name, item[0])))


def run_files(folder: AnyPath, run: str | None) -> tuple[str, list[AnyPath], list[str]]:
    """The files of a run.

    Args:
        folder: A run folder, or a log folder.
        run: Name of a run in a log folder; by default the latest.

    Returns:
        The name of the run, its files, and the names of the other runs.

    Raises:
        EmptyProfileError: There is no capture.
        UsageError: There is no such run; or a folder with several runs is not a log folder, so
            that none is the latest, and none was chosen.
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
        is_log = known[run].parent.parts[-2:] == _PROFILES  # where names tell the time
        if len(known) > 1 and not is_log:
            raise UsageError(
                f"{folder}: {len(known)} folders with captures lie below it: "
                f"{some(list(known), _MOST_NAMED)}; give one of them, or choose it with --run NAME"
            )
    if run not in known:
        raise UsageError(f"{folder}: no run {run!r}; it has: {', '.join(known)}")
    others = [name for name in known if name != run]
    return run, capture_files(known[run]), others
