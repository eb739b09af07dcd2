"""Storage of long columns: in memory up to a budget, beyond it in unnamed files.

Such a file never has a name, so nothing is left of it however the process ends. Its space on the
disk is reserved at once: a full disk is an error here, and not at a later access to a page. The
system keeps its pages in memory while there is some to spare.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import threading
import weakref
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from tfprof.core.text.units import human_memory
from tfprof.errors import InputError

_NOT_SUPPORTED = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
_WRITTEN_AT_ONCE = 1 << 20

_SMALL_BYTES = 1 << 16
"""Smaller columns stay in memory: a file costs more."""


class Room:
    """Storage for the columns of one reader. Threads may share it.

    Args:
        memory_bytes: Memory limit of the whole computation; None for no limit. A third of it is
            for columns that stay, the rest for intermediate results.
        folder: Folder for files; by default that of the system, ``TMPDIR``.

    Example:
        >>> room = Room(memory_bytes=0)
        >>> column = room.empty(100_000, np.int32)
        >>> room.n_spilled_bytes
        400000
    """

    def __init__(
        self, memory_bytes: int | None = None, folder: str | os.PathLike[str] | None = None
    ) -> None:
        self._left = None if memory_bytes is None else memory_bytes // 3
        self._folder = folder
        self._lock = threading.RLock()  # its holder may free a column, which takes it again
        self.n_spilled_bytes = 0

    def empty(self, n_rows: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A column with any content.

        Raises:
            InputError: It must be in a file, and the disk is full.
        """
        size = n_rows * np.dtype(dtype).itemsize
        if self._fits(size):
            column = np.empty(n_rows, dtype)
            self._count(column, size)
            return column
        return np.frombuffer(self._mapped(size), dtype)

    def kept(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A column that stays: the same array, or a copy in a file. Errors as for ``empty``."""
        if self._left is None or column.nbytes < _SMALL_BYTES or _is_mapped(column):
            return column
        if self._fits(column.nbytes):
            self._count(column, column.nbytes)
            return column
        moved = self.empty(column.size, column.dtype).reshape(column.shape)
        moved[...] = column
        return moved

    def bytes(self, size: int) -> memoryview | None:
        """Zeros in a file; None if they fit in memory. Errors as for ``empty``."""
        return None if self._fits(size, is_counted=False) else memoryview(self._mapped(size))

    def _fits(self, size: int, *, is_counted: bool = True) -> bool:
        if self._left is None or size < _SMALL_BYTES:
            return True
        with self._lock:
            if size > self._left:
                return False
            if is_counted:
                self._left -= size
            return True

    def _count(self, column: npt.NDArray[Any], size: int) -> None:
        """Return the memory of a column to the budget once it is freed."""
        if self._left is not None and size >= _SMALL_BYTES:
            weakref.finalize(column, self._give_back, size).atexit = False

    def _give_back(self, size: int) -> None:
        with self._lock:
            assert self._left is not None
            self._left += size

    def _mapped(self, size: int) -> mmap.mmap:
        """A file of that size as memory."""
        import tempfile  # most captures fit in memory

        folder = os.fspath(self._folder) if self._folder is not None else tempfile.gettempdir()
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                _take(file, size)
                mapped = mmap.mmap(file.fileno(), size)
        except OSError as error:
            raise InputError(_no_room(folder, size, error)) from error
        with self._lock:
            self.n_spilled_bytes += size
        return mapped


def _take(file: IO[bytes], size: int) -> None:
    """Reserve space for a file on the disk."""
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except (AttributeError, OSError) as error:
        if getattr(error, "errno", errno.ENOSYS) not in _NOT_SUPPORTED:
            raise
        zeros = bytes(min(size, _WRITTEN_AT_ONCE))
        for start in range(0, size, _WRITTEN_AT_ONCE):
            file.write(zeros[: size - start])
        file.flush()


def _is_mapped(column: npt.NDArray[Any]) -> bool:
    base: Any = column
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(getattr(base, "obj", base), mmap.mmap)


def _no_room(folder: str, size: int, error: OSError) -> str:
    try:
        free = f"; {human_memory(shutil.disk_usage(Path(folder)).free)} are free there"
    except OSError:
        free = ""
    reason = error.strerror or error
    return (
        f"{folder}: no room for {human_memory(size)} of columns that do not fit into --memory: "
        f"{reason}{free}. Set TMPDIR to a folder on a disk with more room, or give more memory"
    )
