"""Which hosts a run lacks, or has twice, before any file is read.

Nothing is left out silently: each answer is a list of notes with the names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tfprof.captures.run.result import Note
from tfprof.errors import MalformedProfileError
from tfprof.files.disk import read_file
from tfprof.files.run_folder import RECORD_NAME, gone_files, host_name
from tfprof.files.same_content import same_content


def absent_hosts(folder: Path, files: Iterable[Path]) -> list[Note]:
    """Notes on hosts that belong to a run, but have no file.

    These are links to files that are gone, hosts that ``capture.json`` counts, and workers that
    it says were not captured.

    Args:
        folder: The folder of the run.
        files: The files that are there.
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


class Copies:
    """Which files of a run have the bytes of another one.

    Times are in nanoseconds: no two hosts have the same bytes, but files are copied under other
    names. What is no path is never a copy.

    Args:
        files: Paths, or sources of other kinds.
    """

    def __init__(self, files: Sequence[Any]) -> None:
        paths = [Path(file) for file in files if isinstance(file, (str, Path))]
        self._first = same_content(paths)

    def first_of(self, file: Any) -> Path | None:
        """The file that a file is a copy of."""
        return self._first.get(Path(file)) if isinstance(file, (str, Path)) else None


def copy_note(name: str, first: Path) -> Note:
    """That a host is left out because its file is a copy."""
    said = f"has the same bytes as {host_name(first)}, so it is left out: it is a copy"
    return Note("warning", said, name)


def check_not_empty(file: Any) -> None:
    """Whether a file has any bytes; a capture of nothing has some.

    Raises:
        MalformedProfileError: It has none.
    """
    if isinstance(file, (str, Path)):
        try:
            is_empty = Path(file).is_file() and not Path(file).stat().st_size
        except (OSError, ValueError):  # whoever reads it says why
            return
        if is_empty:
            raise MalformedProfileError(
                f"{file}: is empty. It was not written to its end, or not copied; copy or record "
                "it again"
            )


def _recorded(folder: Path) -> tuple[list[str], list[str]]:
    """Hosts that have arrived, and why others have not, as ``capture.json`` says."""
    path = folder / RECORD_NAME
    if not path.is_file():
        return [], []
    try:
        document: Any = json.loads(bytes(read_file(path)))
        hosts = [str(each["host"]) for each in document["hosts"]]
        missing = document["missing"]
        return hosts, [
            str(each["message"]) for each in missing
            if each["severity"] == "error" and not each["host"]
        ]  # fmt: skip
    except (ValueError, TypeError, KeyError, RecursionError):  # damaged, or of another version
        return [], []
