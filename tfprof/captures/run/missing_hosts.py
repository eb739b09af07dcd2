"""Which hosts a run lacks, or has twice, before any capture is read.

Nothing is left out silently: each answer is a list of notes with the names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tfprof.captures.run.gathered_notes import gathered
from tfprof.captures.run.result import Note
from tfprof.errors import TfprofError
from tfprof.files.disk import opened, read_file
from tfprof.files.run_folder import RECORD_NAME, gone_files, host_name
from tfprof.files.same_content import same_content
from tfprof.files.sniff import Format, check_expected, packed_format

_HEAD_BYTES = 1 << 16


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
        *gathered(_missing("its file is a link to a file that is gone", name) for name in gone),
        *gathered(
            _missing(f"{RECORD_NAME} counts it, but its file is gone", name) for name in lost
        ),
        *[Note("warning", f"not captured, so no result includes it: {why}") for why in troubles],
    ]


def _missing(why: str, name: str) -> Note:
    return Note("warning", f"missing, so no result includes it: {why}", name)


def usable_files(files: Sequence[Any]) -> tuple[list[Any], list[Note]]:
    """The files of a run without empty ones and copies, and notes on these.

    Times are in nanoseconds: no two hosts have the same bytes, but files are copied under other
    names. What is no path is left alone, and what is not even the beginning of a capture is left to
    whoever reads it.

    Args:
        files: Paths, or sources of other kinds.
    """
    paths = [Path(file) for file in files if isinstance(file, (str, Path))]
    empty = {path for path in paths if _is_empty(path)}
    if len(empty) == len(files):  # an empty file alone is a capture of nothing
        return list(files), []
    copies = {
        path: first for path, first in same_content(paths).items() if _begins_as_capture(first)
    }
    kept, notes = [], []
    for file in files:
        path = Path(file) if isinstance(file, (str, Path)) else None
        if path in empty:
            said = (
                "is empty, so no result includes it: it was not written to its end, or not "
                "copied; copy or record it again"
            )
            notes.append(Note("warning", said, host_name(path)))
        elif path in copies:
            first = host_name(copies[path])
            said = f"has the same bytes as {first}, so it is left out: it is a copy"
            notes.append(Note("warning", said, host_name(path)))
        else:
            kept.append(file)
    return kept, gathered(notes)


def _is_empty(path: Path) -> bool:
    try:
        return path.is_file() and not path.stat().st_size
    except (OSError, ValueError):  # whoever reads it says why
        return False


def _begins_as_capture(path: Path) -> bool:
    """Whether a file may be one: copies of a page that says no are no copies of a capture."""
    try:
        with opened(path) as stream:
            head = stream.read(_HEAD_BYTES)
        return packed_format(head) is not None or not check_expected(
            memoryview(head), Format.XSPACE, str(path)
        )
    except TfprofError:
        return False


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
