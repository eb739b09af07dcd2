"""Paths that start with a typed text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def paths_with_prefix(typed: str) -> Iterator[str]:
    """Paths that start with a text, sorted; folders end with a slash.

    Hidden files are listed only if the typed name starts with a dot; ``~`` is the user's home.
    """
    folder, slash, start = typed.rpartition("/")
    try:
        with os.scandir(Path(folder + slash or ".").expanduser()) as entries:
            files = [(entry.name, entry.is_dir()) for entry in entries]
    except (OSError, ValueError, RuntimeError):
        return
    for name, is_folder in sorted(files):
        if name.startswith(start) and (start or not name.startswith(".")):
            yield f"{folder}{slash}{name}{'/' if is_folder else ''}"
