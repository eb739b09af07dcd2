"""Reads files with progress, whole or in parts; writes them whole or not at all."""

from __future__ import annotations

import errno
import io
import mmap
import os
import stat
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, overload

from tfprof.core.progress import Progress
from tfprof.errors import InputError, TfprofError, UsageError
from tfprof.files.local_folder import local_folder
from tfprof.files.remote.path import AnyPath, RemotePath, as_path, named

if TYPE_CHECKING:
    from tfprof.files.spill import Room

PACKED_SUFFIXES = (".gz", ".xz", ".zst")
"""Endings of names whose files are packed when they are written."""

MAX_HELD_BYTES = (1 << 31) - 1
"""Most bytes to read into memory from a source of unknown size: the limit of a protobuf message."""

_LARGE_BYTES = 1 << 20
"""Files from this size on are read into their own memory mapping, or in parts."""

_CHUNK_BYTES = 1 << 23
_PART_BYTES = 1 << 16


@contextmanager
def opened(
    path: str | os.PathLike[str], watch: Progress | None = None, *, whole: bool = True
) -> Iterator[BinaryIO]:
    """A file that is open for reading; failures become our errors.

    Args:
        path: The file; one of another machine is fetched.
        watch: Receives the progress of fetching it.
        whole: Whether it will be read from begin to end; otherwise only the parts that are read
            are fetched.

    Raises:
        InputError: It cannot be read.
    """
    try:
        file = as_path(path)
        if not isinstance(file, RemotePath):
            stream: BinaryIO = file.open("rb")
        else:
            stream = file.open(watch=watch) if whole else file.open_parts()
        with stream:
            yield stream
    except (OSError, ValueError) as error:  # ValueError: a name that cannot be one
        if isinstance(error, TfprofError):
            raise
        raise unreadable(path, error) from error


def unreadable(path: str | os.PathLike[str], error: Exception) -> InputError:
    """The error for a path that the system cannot read."""
    reason = getattr(error, "strerror", None) or error
    return InputError(f"{named(path)}: cannot be read: {reason}. Check the path")


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether there is such a folder; False if that is unknown: reading the path says why.

    Raises:
        InputError: It is on another machine, which denies the answer or does not give it.
    """
    try:
        return as_path(path).is_dir()
    except (OSError, ValueError):
        return False


def size_of(path: str | os.PathLike[str]) -> int:
    """Bytes of a file; 0 if unknown."""
    try:
        file = as_path(path)
        state = file.state() if isinstance(file, RemotePath) else file.stat()
        return state.st_size or 0
    except (InputError, OSError, ValueError):
        return 0


def is_ordinary_file(path: str | os.PathLike[str]) -> bool:
    """Whether it is a regular file, not a device or pipe; otherwise as ``is_folder``."""
    try:
        return as_path(path).is_file()
    except (OSError, ValueError):
        return False


def refuse_pipe(path: str | os.PathLike[str]) -> None:
    """Refuse a pipe, for what reads a file more than once: the second look would wait for ever.

    Raises:
        InputError: It is one.
    """
    file = as_path(path)
    with suppress(OSError, ValueError):  # reading it reports why
        if isinstance(file, Path) and file.is_fifo():
            raise InputError(f"{file}: is a pipe, and is read more than once. Write it into a file")


def entries(folder: str | os.PathLike[str]) -> list[AnyPath]:
    """The content of a folder, sorted by name.

    Raises:
        InputError: It cannot be read.
    """
    try:
        return sorted(as_path(folder).iterdir())
    except OSError as error:
        raise unreadable(folder, error) from error


def walk(folder: str | os.PathLike[str]) -> Iterator[tuple[AnyPath, list[str], list[str]]]:
    """As ``os.walk``: folders, and the names of what they hold.

    Raises:
        InputError: A folder of another machine cannot be read.
    """
    top = as_path(folder)
    if isinstance(top, RemotePath):
        yield from top.walk()
        return
    for parent, folders, files in os.walk(top):
        yield Path(parent), folders, files


def list_ahead(folders: Sequence[AnyPath]) -> None:
    """Prepare to list folders: several of another machine are requested at once."""
    remote = [folder for folder in folders if isinstance(folder, RemotePath)]
    if len(remote) > 1:
        from tfprof.files.remote.access import list_several

        list_several(remote)


def files_below(folder: str | os.PathLike[str]) -> list[AnyPath]:
    """The files in a folder, at any depth, by name.

    Raises:
        InputError: A folder of another machine cannot be read.
    """
    top = as_path(folder)
    if isinstance(top, RemotePath):
        return sorted(below / name for below, _, names in top.walk() for name in names)
    return sorted(path for path in top.rglob("*") if path.is_file())


def state_of(path: str | os.PathLike[str]) -> Hashable:
    """The size of a file, and a mark that changes with its content.

    Raises:
        InputError: It is on another machine, and cannot be reached.
        OSError: It is on this machine, and cannot be read.
    """
    file = as_path(path)
    if isinstance(file, RemotePath):
        return file.state()
    now = file.stat()
    return now.st_size, now.st_mtime_ns


def read_file(
    path: str | os.PathLike[str], watch: Progress | None = None, room: Room | None = None
) -> bytes | memoryview:
    """The content of a file, see ``content_of``.

    Args:
        path: The file.
        watch: Receives the size of each part that has been read.
        room: Where a large file is to be held; by default in memory.

    Raises:
        InputError: It cannot be read, was written to meanwhile, is larger than the memory, or
            more than 2 GiB come out of a pipe.
    """
    with opened(path, watch) as stream:
        return content_of(stream, named(path), watch, room)


def content_of(
    stream: BinaryIO, label: str, watch: Progress | None = None, room: Room | None = None
) -> bytes | memoryview:
    """The content of a newly opened file.

    It is a copy, never a memory map: access to a map of a file that was cut ends the process by a
    signal. Holes of a sparse file take no memory.

    Args:
        stream: The file.
        label: What to call it in errors.
        watch: Receives the size of each part that has been read.
        room: Where a large file is to be held; by default in memory.

    Raises:
        InputError: It was written to meanwhile, is larger than the memory, or more than 2 GiB
            come out of a pipe.
        OSError: It cannot be read.
    """
    state = os.fstat(stream.fileno())
    if not stat.S_ISREG(state.st_mode) or state.st_size < _LARGE_BYTES:
        return _read(stream, label, watch)
    in_file = None if room is None else room.bytes(state.st_size)
    content = _room_for(state.st_size, label) if in_file is None else in_file
    at = stop = done = 0
    with open(stream.fileno(), "rb", buffering=0, closefd=False) as raw:
        for start, stop in _written_parts(raw.fileno(), state.st_size):
            at = raw.seek(start)
            while n_read := raw.readinto(content[at : min(at + _CHUNK_BYTES, stop)]):
                at += n_read
                if watch is not None:
                    watch.advance(at - done)  # with the hole before it
                done = at
            if at < stop:  # the file ends here now
                break
        now = os.fstat(raw.fileno())
    if at < stop or (now.st_size, now.st_mtime_ns) != (state.st_size, state.st_mtime_ns):
        raise InputError(
            f"{label}: was written to while it was read. Read it again when it is complete"
        )
    if watch is not None:
        watch.advance(len(content) - done)
    return content.toreadonly()


def _room_for(size: int, label: str) -> memoryview:
    """Zeros, which take memory only where something is written."""
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if os.name == "posix" else {}
    try:
        room = mmap.mmap(-1, size, **private)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"{label}: its {size} bytes are more than there is memory for. Read it on a machine "
            "that has more, or record less at once"
        ) from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # kernels may lack it; pages of 4 KiB cost a second for each GiB
            room.madvise(mmap.MADV_HUGEPAGE)
    return memoryview(room)


def forget(content: memoryview, start: int, stop: int) -> None:
    """Free the memory of a part that is not needed any more; it may then read as zeros.

    Args:
        content: The whole result of ``content_of``.
        start: First byte of the part.
        stop: One past its last byte.
    """
    room = content.obj
    if not isinstance(room, mmap.mmap) or not hasattr(mmap, "MADV_REMOVE"):
        return
    first = start + -start % mmap.PAGESIZE
    length = stop - stop % mmap.PAGESIZE - first
    if length <= 0:
        return
    with suppress(OSError):  # of a file the room on the disk, too
        room.madvise(mmap.MADV_REMOVE, first, length)
        return
    room.madvise(mmap.MADV_DONTNEED, first, length)


def _written_parts(number: int, size: int) -> Iterator[tuple[int, int]]:
    """Parts of a file between its holes; one part where the system does not report holes."""
    start = stop = 0
    while stop < size:
        try:
            start = os.lseek(number, stop, os.SEEK_DATA)
            stop = min(os.lseek(number, start, os.SEEK_HOLE), size)
        except (OSError, AttributeError) as error:
            if getattr(error, "errno", None) != errno.ENXIO:  # a hole up to the end
                yield stop, size
            return
        yield start, stop


class FileParts:
    """A large file as bytes, of which only the parts in use are read.

    It takes an index, or a slice without a step, as bytes do. The file may change; each access
    returns the current content. It must stay open.

    Args:
        stream: The file.
        label: What to call it in errors.

    Raises:
        InputError: The file became shorter than it was at first.
        OSError: It cannot be read.
    """

    def __init__(self, stream: BinaryIO, label: str) -> None:
        self._stream, self._label = stream, label
        self._size = stream.seek(0, os.SEEK_END)
        self._held, self._held_from = b"", 0

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> bytes: ...

    def __getitem__(self, place: int | slice) -> int | bytes:
        if isinstance(place, slice):
            start, stop, _ = place.indices(self._size)
            return self._part(start, max(start, stop))
        at = range(self._size)[place] - self._held_from
        if not 0 <= at < len(self._held):
            self._held_from += at
            stop = min(self._held_from + _PART_BYTES, self._size)
            self._held, at = self._part(self._held_from, stop), 0
        return self._held[at]

    def _part(self, start: int, stop: int) -> bytes:
        self._stream.seek(start)
        data = self._stream.read(stop - start)
        if len(data) < stop - start:
            raise InputError(
                f"{self._label}: became shorter while it was read. Read it again when it is "
                "complete"
            )
        return data


def file_parts(
    stream: BinaryIO, label: str, watch: Progress | None = None
) -> bytes | memoryview | FileParts:
    """The content of a newly opened file, to read a little of it.

    Arguments and errors as for ``content_of``; a large file is read in parts, on access.
    """
    try:
        state = os.fstat(stream.fileno())
    except io.UnsupportedOperation:  # only parts of it are on this machine
        return FileParts(stream, label)
    if stat.S_ISREG(state.st_mode) and state.st_size >= _LARGE_BYTES:
        return FileParts(stream, label)
    return content_of(stream, label, watch)


def _read(stream: BinaryIO, label: str, watch: Progress | None) -> bytes:
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
        UsageError: The file exists and must not be replaced, or is on another machine.
        InputError: It cannot be written.
        BrokenPipeError: The reader of the pipe has gone away.
    """
    try:
        _write(local_folder(path), chunks, overwrite)
    except (OSError, ValueError) as error:  # ValueError: a name that cannot be one
        if isinstance(error, (TfprofError, BrokenPipeError)):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{os.fspath(path)}: cannot be written: {reason}") from error


def _write(path: Path, chunks: Iterable[bytes], overwrite: bool) -> None:
    if path.exists() and not path.is_file():  # there is no place to rename to
        with path.open("wb") as stream:
            stream.writelines(chunks)
        return
    import secrets  # not for what only reads

    path = Path(os.path.realpath(path))
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
