"""Lines of source files that a profile names: a few around each, and only of Python files.

A profile comes from a stranger, and names any file. So only what is called ``.py``, is an ordinary
file (no link) and stands at an absolute path is read, a few lines of it, and never much. A line is
shown only where the profile recorded its text and the file still has it there; where no text was
recorded, only of files below the folder that tfprof runs in. So nobody can have lines of other
files put into a report that is mailed back.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tfprof.columns.frames import Frame
from tfprof.text.tables import escaped

AROUND: Final = 2
"""Lines that are shown before and after a line."""

MAX_FILE_BYTES: Final = 2_000_000
MAX_FILES: Final = 200
MAX_LETTERS: Final = 300_000
"""Of all lines together."""
MAX_LINE: Final = 200


def source_texts(frames: Iterable[Frame], files: Sequence[str]) -> dict[int, dict[int, str]]:
    """The lines of frames, with some around them, where their files can be read.

    Args:
        frames: Lines, the most important ones first. What was recorded of a line is shown
            where its file is not there.
        files: Their files.

    Returns:
        By place in ``files`` and by line number, in order.
    """
    place_of = {path: place for place, path in enumerate(files)}
    wanted: dict[int, list[Frame]] = {}
    for frame in frames:
        wanted.setdefault(place_of[frame.file], []).append(frame)
    found: dict[int, dict[int, str]] = {}
    room = MAX_LETTERS
    for place, lines in list(wanted.items())[:MAX_FILES]:
        content = read_lines(files[place])
        is_near = Path(files[place]).is_relative_to(Path.cwd())
        texts: dict[int, str] = {}
        for frame in lines:
            here = frame.line_number
            recorded = _shown(frame.line_text)
            may_show = bool(recorded) or is_near
            if content is not None and may_show and _is_same(content, here, recorded):
                first = max(here - AROUND, 1)
                for number in range(first, min(here + AROUND, len(content)) + 1):
                    texts[number] = _shown(content[number - 1])
            elif recorded:
                texts[here] = recorded
        size = sum(map(len, texts.values()))
        if size > room:
            break
        room -= size
        if texts:
            found[place] = dict(sorted(texts.items()))
    return found


def _is_same(content: Sequence[str], number: int, recorded: str) -> bool:
    """Whether a file still has a line, and the same one as when it ran."""
    if not 0 < number <= len(content):
        return False
    return not recorded or _shown(content[number - 1]).strip() == recorded.strip()


def _shown(text: str) -> str:
    return escaped(text.rstrip().expandtabs(4)[:MAX_LINE])


def read_lines(path: str) -> list[str] | None:
    """The lines of a source file; None if it is none that may be read."""
    file = Path(path)
    if file.suffix != ".py" or not file.is_absolute() or "\0" in path:
        return None
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if file.is_symlink():
            return None
        with os.fdopen(os.open(path, flags), "rb") as content:
            status = os.fstat(content.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
                return None
            return content.read(MAX_FILE_BYTES).decode("utf-8", "replace").split("\n")
    except (OSError, ValueError):
        return None
