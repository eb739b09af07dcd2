"""Fetches whole files: in blocks, several at once, into a copy that may be kept."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tfprof.errors import InputError
from tfprof.files.cache import Cache, key_of
from tfprof.files.remote.access import (
    THREADS,
    NoRangesError,
    ask,
    details,
    most_seconds,
    read_range,
    takes_many,
)
from tfprof.files.remote.details import Details
from tfprof.files.remote.settings import CACHE, settings
from tfprof.files.remote.troubles import TruncatedError

if TYPE_CHECKING:
    from tfprof.core.progress import Progress
    from tfprof.files.remote.path import RemotePath
import io
import os
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from tfprof.files.remote.path import RemotePath


BLOCK_BYTES = 8 << 20
"""Size of a request, and the most that is lost with a connection."""


def local_copy(path: RemotePath, watch: Progress | None = None) -> BinaryIO:
    """A copy of a file on this machine, open at its beginning: the cached one, if any.

    Args:
        path: The file.
        watch: Receives the number of bytes that are fetched.

    Raises:
        InputError: It cannot be fetched, or was written to meanwhile; or there is no room for it.
    """
    found = _file_of(path)
    chosen = settings()
    cache = key = None
    if found.mark and chosen.cache is not None:
        cache = Cache(chosen.cache, chosen.cache_bytes)
        key = key_of(path.identity, found.mark, found.size)
        kept = cache.opened(key)
        if kept is not None:
            return kept
    file = cache.unfinished() if cache is not None and cache.has_room_for(found.size or 0) else None
    if file is None or cache is None or key is None:
        copy = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        with _closed_on_error(copy):
            _fill(path, found, copy, watch)
            copy.seek(0)
        return copy
    name = Path(file.name)
    try:
        with _closed_on_error(file):
            _fill(path, found, file, watch)
            return cache.keep(file, key)
    except OSError as error:
        raise _no_room(path, name.parent, error) from error
    finally:
        with contextlib.suppress(OSError):
            name.unlink(missing_ok=True)


def _file_of(path: RemotePath) -> Details:
    """The server's details of a file.

    Raises:
        InputError: It is not there, or is a folder.
    """
    found = path.stat()
    if found.is_folder:
        raise InputError(f"{path}: cannot be read: is a folder. Name a file in it")
    return found


@contextlib.contextmanager
def _closed_on_error(file: Any) -> Any:
    try:
        yield
    except BaseException:
        file.close()
        raise


def _fill(path: RemotePath, found: Details, file: BinaryIO, watch: Progress | None) -> None:
    """Fetch all of a file.

    Raises:
        InputError: It cannot be fetched, or was written to meanwhile.
    """
    if watch is not None:
        watch.stage(f"fetching {path}")
        watch.expect(found.size or 0)
    try:
        if found.size is None or not found.has_ranges:
            raise NoRangesError
        _fill_in_blocks(path, found.size, file, watch)
    except NoRangesError:
        _fill_at_once(path, found.size, file, watch)
    now = details(path)
    if now is None or found.differs(now):
        path.known.forget()
        raise InputError(
            f"{path}: was written to while it was read. Read it again when it is complete"
        )


def _fill_in_blocks(path: RemotePath, size: int, file: BinaryIO, watch: Progress | None) -> None:
    """Fetch several blocks at once, each with its own retries."""
    lock, ended = threading.Lock(), threading.Event()

    def fetch(start: int) -> None:
        if ended.is_set():
            return
        block = read_range(path, start, min(start + BLOCK_BYTES, size), size, ended)
        with lock:
            file.seek(start)
            file.write(block)
            if watch is not None:
                watch.advance(len(block))

    if size:
        fetch(0)  # alone: the server may deny all, or have no ranges
    with ThreadPoolExecutor(THREADS if takes_many(path) else 1, "tfprof-fetch") as pool:
        jobs = [pool.submit(fetch, start) for start in range(BLOCK_BYTES, size, BLOCK_BYTES)]
        try:
            wait(jobs, return_when=FIRST_EXCEPTION)
        finally:
            ended.set()  # done, or failed: then the others need not try again
    for job in jobs:
        job.result()


def _fill_at_once(
    path: RemotePath, size: int | None, file: BinaryIO, watch: Progress | None
) -> None:
    """Fetch one stream, from the beginning again when it breaks."""

    def fetch(fs: Any, name: str) -> None:
        file.seek(0)
        file.truncate()
        fs.get_file(name, file, callback=_pace())
        n_bytes = file.tell()
        if size is not None and n_bytes != size:
            raise TruncatedError(f"{n_bytes} bytes came, of {size}")

    ask(path, fetch)
    if watch is not None:
        watch.advance(file.tell())


def _pace() -> Any:
    """fsspec's callback for a stream; ends one that is below the slowest rate."""
    from fsspec.callbacks import Callback

    class Pace(Callback):  # type: ignore[misc]  # Any
        def relative_update(self, inc: int = 1) -> None:
            super().relative_update(inc)
            if time.monotonic() - began > most_seconds(self.value):
                raise TimeoutError

    began = time.monotonic()
    return Pace()


def _no_room(path: RemotePath, folder: Path, error: OSError) -> InputError:
    return InputError(
        f"{path}: its copy cannot be written to {folder}: {error.strerror}. Make room, or name "
        f"another folder with {CACHE}; if that is empty, nothing is kept"
    )


_PART_BYTES = 1 << 18
_SMALL_BYTES = 1 << 20
"""Files up to this size are fetched whole, even to read a part."""


def parts_of(path: RemotePath) -> BinaryIO:
    """A file whose parts are fetched on reading; fetched whole if the server sends no parts.

    Raises:
        InputError: There is no such file.
    """
    found = _file_of(path)
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
