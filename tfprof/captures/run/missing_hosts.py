"""Finds hosts that a run lacks, or has twice, before it reads any file.

It leaves out nothing silently: each answer is a list of notes with the names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tfprof.captures.run.capture_record import record_of
from tfprof.captures.run.result import Note
from tfprof.errors import MalformedProfileError
from tfprof.files.remote.path import AnyPath, is_remote
from tfprof.files.run_folder import RECORD_NAME, gone_files, host_name
from tfprof.files.same_content import same_content


def absent_hosts(folder: AnyPath, files: Iterable[AnyPath]) -> list[Note]:
    """Write notes on hosts that belong to a run, but have no file.

    These are links to files that are gone, hosts that ``capture.json`` counts, and workers that it
    lists as not captured.

    Args:
        folder: The folder of the run.
        files: The existing files.
    """
    there = {host_name(file) for file in files}
    gone = [name for name in map(host_name, gone_files(folder)) if name not in there]
    counted, troubles = _recorded(folder)
    lost = [name for name in counted if name not in there and name not in gone]
    return [
        *[_missing("its file is a link to a file that is gone", name) for name in gone],
        *[_missing(f"{RECORD_NAME} counts it, but its file is gone", name) for name in lost],
        *[Note("warning", f"not captured, so no result includes it: {why}") for why in troubles],
    ]


def _missing(why: str, name: str) -> Note:
    return Note("warning", f"missing, so no result includes it: {why}", name)


class Copy(NamedTuple):
    """A file with the same bytes as another one.

    Attributes:
        path: Its path.
        first_path: Path of the other file.
        first: Place of the other file among the files that are not copies.
    """

    path: Path
    first_path: Path
    first: int

    @property
    def label(self) -> str:
        """Name that its host would have."""
        return host_name(self.path)


def without_copies(files: Sequence[Any]) -> tuple[list[Any], list[Copy]]:
    """Separate the files of a run from copies, which have the same bytes as another file.

    Times in a file are in nanoseconds, so no two hosts have the same bytes. But users copy files
    under other names.

    Args:
        files: Paths, or sources of other kinds, which never count as copies.
    """
    first_of = same_content(path for path in map(_local, files) if path is not None)
    kept: list[Any] = []
    copies: list[Copy] = []
    places: dict[Path, int] = {}
    for file in files:
        path = _local(file)
        first = None if path is None else first_of.get(path)
        if path is not None and first is not None:
            copies.append(Copy(path, first, places[first]))
            continue
        if path is not None:
            places[path] = len(kept)
        kept.append(file)
    return kept, copies


def _local(file: Any) -> Path | None:
    """Path of a file on this machine. Files elsewhere are not read for a mere comparison."""
    return Path(file) if isinstance(file, (str, Path)) and not is_remote(file) else None


def copy_note(copy: Copy, first: str) -> Note:
    """Write the note on a host that is left out because its file is a copy of the first one's."""
    said = f"has the same bytes as {first}, so it is left out: it is a copy"
    return Note("warning", said, copy.label)


def check_not_empty(file: Any) -> None:
    """Check that a file has any bytes; even a capture of nothing has some.

    Raises:
        MalformedProfileError: The file is empty.
    """
    path = _local(file)
    if path is not None:
        try:
            is_empty = path.is_file() and not path.stat().st_size
        except (OSError, ValueError):  # reading it reports why
            return
        if is_empty:
            raise MalformedProfileError(
                f"{file}: is empty. It was not written to its end, or not copied; copy or record "
                "it again"
            )


def _recorded(folder: AnyPath) -> tuple[list[str], list[str]]:
    """Hosts that have arrived, and why others have not, according to ``capture.json``."""
    document = record_of(folder)
    try:
        hosts = [str(each["host"]) for each in document["hosts"]]
        return hosts, [
            str(each["message"]) for each in document["missing"]
            if each["severity"] == "error" and not each["host"]
        ]  # fmt: skip
    except (TypeError, KeyError):  # the file has another version
        return [], []
