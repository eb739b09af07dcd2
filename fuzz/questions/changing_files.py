"""Files that are cut or written anew while they are read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from fuzz.case import Question
from tfprof.captures.read import xspace
from tfprof.core.progress import NoProgress
from tfprof.errors import TfprofError
from tfprof.files import disk as files
from tfprof.files.events import read_events
from tfprof.files.open import LoadedFile
from tfprof.files.sniff import sniff

_LARGE_BYTES = 1 << 15
"""From this size on files are read here in the ways of large ones."""


def _read_changing(path: Path) -> None:
    """The first byte of the file says when it changes, and whether it is cut."""
    data = path.read_bytes()
    when, cut = (data[0] >> 1, data[0] & 1) if data else (0, 0)
    path.write_bytes(data * (1 + _LARGE_BYTES // max(1, len(data))))

    def change() -> None:
        with path.open("r+b") as stream:
            stream.write(data[::-1])
            if cut:
                stream.truncate(when << 8)

    with mock.patch.multiple(files, _LARGE_BYTES=_LARGE_BYTES, _CHUNK_BYTES=1 << 12):
        with path.open("rb") as stream:
            try:
                content = files.content_of(stream, "x", _Changing(when >> 4, change))
            except TfprofError:
                content = path.read_bytes()
        with contextlib.suppress(TfprofError):
            xspace.read_xspace(LoadedFile("x", content))
        with path.open("rb") as stream:
            parts = files.file_parts(stream, "x")
            for read in (sniff, _and_then(change, sniff), read_events):
                with contextlib.suppress(TfprofError):
                    read(parts)


def _and_then(change: Callable[[], None], read: Callable[..., object]) -> Callable[..., object]:
    def both(parts: object) -> object:
        change()
        return read(parts)

    return both


class _Changing(NoProgress):
    """Changes a file when so many parts of it have been read."""

    def __init__(self, n_parts: int, change: Callable[[], None]) -> None:
        self._left, self._change = n_parts, change

    def advance(self, n_bytes: int) -> None:
        self._left -= 1
        if self._left == 0:
            self._change()


QUESTIONS = (Question("file that changes", frozenset({"xspace"}), _read_changing, "files"),)
