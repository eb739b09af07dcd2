"""Files of which only what is read is fetched, to look at what they are."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, BinaryIO, cast

from tfprof.errors import InputError
from tfprof.files.remote.access import NoRangesError, read_range
from tfprof.files.remote.fetch import local_copy
from tfprof.files.remote.path import missing

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from tfprof.files.remote.path import RemotePath

_PART_BYTES = 1 << 18
_SMALL_BYTES = 1 << 20
"""Files up to this size are fetched whole, once, also to be looked at."""


def parts_of(path: RemotePath) -> BinaryIO:
    """A file, of which parts are fetched as they are read; all, where the server has no parts.

    Raises:
        InputError: There is no such file.
    """
    found = path.details()
    if found is None:
        raise missing(path)
    if found.is_folder:
        raise InputError(f"{path}: cannot be read: is a folder. Name a file in it")
    if found.size is None or found.size <= _SMALL_BYTES or not found.has_ranges:
        return local_copy(path)
    return cast(BinaryIO, io.BufferedReader(_Parts(path, found.size), _PART_BYTES))


class _Parts(io.RawIOBase):
    """Reads ranges of a file; errors of reading are those of ``read_range``."""

    def __init__(self, path: RemotePath, size: int) -> None:
        self._path, self._size, self._at = path, size, 0
        self._copy: BinaryIO | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        room = memoryview(buffer).cast("B")
        stop = min(self._at + len(room), self._size)
        part = self._part(self._at, stop) if stop > self._at else b""
        room[: len(part)] = part
        self._at += len(part)
        return len(part)

    def close(self) -> None:
        if self._copy is not None:
            self._copy.close()
        super().close()

    def _part(self, start: int, stop: int) -> bytes:
        if self._copy is None:
            try:
                return read_range(self._path, start, stop, self._size)
            except NoRangesError:
                self._copy = local_copy(self._path)
        self._copy.seek(start)
        return self._copy.read(stop - start)
