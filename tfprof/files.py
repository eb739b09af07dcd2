"""Files: mapped or read with someone watching, written whole or not at all."""

from __future__ import annotations

import mmap
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from tfprof.errors import InputError, TfprofError, UsageError

PACKED_SUFFIXES = (".gz", ".xz", ".zst")
"""Endings of names whose files are packed when they are written."""

MAX_HELD_BYTES = (1 << 31) - 1
"""What is taken into memory of data whose size nobody knows beforehand: what one protobuf message
may have."""

_MAPPED_BYTES = 1 << 20
"""Files from this size on are mapped; to read smaller ones is faster."""

_CHUNK_BYTES = 1 << 23
_TOUCHED_BYTES = 1 << 20


class Watch(Protocol):
    """Is told how far long work has come."""

    def stage(self, what: str) -> None:
        """Work of another kind begins, such as ``"reading run_meta.pb"``."""

    def expect(self, n_bytes: int) -> None:
        """So many more bytes are to be read."""

    def advance(self, n_bytes: int) -> None:
        """So many bytes more have been read."""


class Unwatched:
    """Nobody watches."""

    def stage(self, what: str) -> None:
        """Nothing to do."""

    def expect(self, n_bytes: int) -> None:
        """Nothing to do."""

    def advance(self, n_bytes: int) -> None:
        """Nothing to do."""


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that is open for reading; what fails in reading it becomes an error of ours.

    Raises:
        InputError: It can not be read.
    """
    try:
        with Path(path).open("rb") as stream:
            yield stream
    except (OSError, ValueError) as error:  # ValueError: a name that can not be one
        if isinstance(error, TfprofError):
            raise
        raise _unreadable(path, error) from error


def _unreadable(path: str | os.PathLike[str], error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or error
    return InputError(f"{os.fspath(path)}: cannot be read: {reason}. Check the path")


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether there is such a folder; where that can not be told, reading the path says why."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def is_ordinary_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is such a file and no device or pipe; otherwise as ``is_folder``."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def entries(folder: str | os.PathLike[str]) -> list[Path]:
    """What a folder holds, by name.

    Raises:
        InputError: It can not be read.
    """
    try:
        return sorted(Path(folder).iterdir())
    except OSError as error:
        raise _unreadable(folder, error) from error


def read_file(path: str | os.PathLike[str], watch: Watch | None = None) -> bytes | memoryview:
    """The content of a file; a large one is mapped, see ``content_of``.

    Args:
        path: The file.
        watch: Is told of each part that has been read.

    Raises:
        InputError: It can not be read, or more than 2 GiB come out of a pipe.
    """
    with opened(path) as stream:
        return content_of(stream, os.fspath(path), watch)


def content_of(stream: BinaryIO, label: str, watch: Watch | None = None) -> bytes | memoryview:
    """What a file that was just opened holds.

    A large file is mapped: it takes no memory of its own and may be of any size. It must not be
    cut as long as the view is in use, and what has to stay for longer should be copied.

    Args:
        stream: The file.
        label: What to call it in errors.
        watch: Is told of each part that has been read; the parts of a map are then touched.

    Raises:
        InputError: More than 2 GiB come out of a pipe.
        OSError: It can not be read.
    """
    state = os.fstat(stream.fileno())
    if not stat.S_ISREG(state.st_mode) or state.st_size < _MAPPED_BYTES:
        return _read(stream, label, watch)
    view = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    if watch is not None and not isinstance(watch, Unwatched):
        for start in range(0, len(view), _TOUCHED_BYTES):
            part = view[start : start + _TOUCHED_BYTES]
            bytes(part[:: mmap.PAGESIZE])  # brings it into memory, as its reader will need it
            watch.advance(len(part))
    return view


def _read(stream: BinaryIO, label: str, watch: Watch | None) -> bytes:
    """What a stream holds.

    Raises:
        InputError: That is more than 2 GiB.
    """
    chunks: list[bytes] = []
    n_bytes = 0
    while chunk := stream.read(_CHUNK_BYTES):
        chunks.append(chunk)
        n_bytes += len(chunk)
        if watch is not None:
            watch.advance(len(chunk))
        if n_bytes > MAX_HELD_BYTES:
            raise InputError(
                f"{label}: no ordinary file, and more than {MAX_HELD_BYTES} bytes (2 GiB) come "
                "out of it; write them to a file and give that"
            )
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def write_file(path: str | os.PathLike[str], chunks: Iterable[bytes], *, overwrite: bool) -> None:
    """Write a file beside its place, then move it there.

    If anything fails, also in making the chunks, nothing is left behind and a file that was
    there before keeps its content. Links are followed; a device or a pipe is written to.

    Args:
        path: The file; its folder must exist.
        chunks: The content, which is never held as a whole.
        overwrite: Whether an existing file may be replaced.

    Raises:
        UsageError: The file exists and was not to be replaced.
        InputError: It can not be written.
        BrokenPipeError: Whoever read the pipe has gone away.
    """
    try:
        _write(Path(path), chunks, overwrite)
    except (OSError, ValueError) as error:  # ValueError: a name that can not be one
        if isinstance(error, (TfprofError, BrokenPipeError)):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{os.fspath(path)}: cannot be written: {reason}") from error


def _write(path: Path, chunks: Iterable[bytes], overwrite: bool) -> None:
    if path.exists() and not path.is_file():  # there is no place to rename to
        with path.open("wb") as stream:
            stream.writelines(chunks)
        return
    path = path.resolve()
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.writelines(chunks)
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o777)
        if path.exists() and not overwrite:
            raise UsageError(f"{path}: exists already; --force overwrites it")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
