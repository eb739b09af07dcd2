"""Reads ``capture.json``, which a capture writes beside the files of its run."""

from __future__ import annotations

import json
from typing import Any

from tfprof.captures.run.result import Note
from tfprof.errors import InputError
from tfprof.files.disk import read_file
from tfprof.files.remote.path import AnyPath
from tfprof.files.run_folder import RECORD_NAME


def record_of(folder: AnyPath) -> dict[str, Any]:
    """Read the record of a run; empty if it is missing, damaged or unreadable."""
    path = folder / RECORD_NAME
    try:
        document: Any = json.loads(bytes(read_file(path))) if path.is_file() else {}
    except (OSError, ValueError, RecursionError, InputError):
        return {}
    return document if isinstance(document, dict) else {}


def notes_at_capture(folder: AnyPath, host: str) -> list[Note]:
    """Notes on what a host lacked during its capture; a damaged record yields none."""
    try:
        notes = [Note(**each) for each in record_of(folder).get("missing", ())]
    except TypeError:
        return []
    texts = [note for note in notes if {type(note.severity), type(note.message)} == {str}]
    return [note for note in texts if note.host == host]
