"""What changes with the code that runs, and so with what it makes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tfprof.core.version import __version__
from tfprof.files.watched_reads import state_of

_OF_PACKAGES: Final = ("site-packages", "dist-packages")


def code_folders() -> tuple[str, ...]:
    """Folders of code, each with a separator at its end."""
    others = (path for path in sys.path if path.endswith(_OF_PACKAGES))
    found = (str(Path(os.__file__).parent), str(_package()), *others)
    return tuple(f"{path}{os.sep}" for path in found)


def states_of_code() -> list[object]:
    """What changes with Python, with this package, and with the packages beside it."""
    folders = [state_of(path) for path in code_folders()]
    return [sys.version, __version__, *folders, *_states_below(str(_package()))]


def _package() -> Path:
    return Path(__file__).resolve().parents[1]


def _states_below(folder: str) -> Iterator[object]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not entry.is_dir():
                yield entry.name, entry.stat().st_size, entry.stat().st_mtime_ns
            elif entry.name != "__pycache__":
                yield from _states_below(entry.path)
