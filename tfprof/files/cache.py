"""A folder of cached files within a bound; the least recently used is removed first.

A file is kept as ``KEY-SIZE-CRC``. The key is a digest of what the content depends on, so that it
reveals nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from tfprof.errors import UsageError
from tfprof.files.removal import remove_surely

_READ_BYTES = 1 << 22
_LEFT_BEHIND_S = 24 * 3600.0
"""Older unfinished files belong to processes that were killed."""

_UNFINISHED = ".unfinished"
_ENTRY = re.compile(r"\w+-(?P<size>\d{1,18})-(?P<crc>[0-9a-f]{8})", re.ASCII)


class Cache:
    """A folder of files; several processes may use it.

    Args:
        folder: The folder, which is made when it is needed.
        most_bytes: How large all files together may be.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder, self._most_bytes = folder, most_bytes

    @property
    def folder(self) -> str:
        """The folder, with a separator at its end."""
        return f"{os.path.abspath(self._folder)}{os.sep}"  # noqa: PTH100

    def opened(self, key: str) -> BinaryIO | None:
        """A cached file, if it is there and undamaged."""
        for entry, name in self._entries(key):
            with contextlib.suppress(OSError), contextlib.ExitStack() as closing:
                stream = closing.enter_context(entry.open("rb"))
                now = os.fstat(stream.fileno())
                if now.st_size == int(name["size"]) and _crc(stream) == int(name["crc"], 16):
                    os.utime(entry, ns=(time.time_ns(), now.st_mtime_ns))
                    closing.pop_all()
                    return stream
            with contextlib.suppress(OSError):  # damaged: it is fetched anew
                entry.unlink()
        return None

    def unfinished(self) -> BinaryIO | None:
        """A new file to fill; None if there is no place for it."""
        import tempfile  # not for what only looks something up

        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return tempfile.NamedTemporaryFile(  # type: ignore[return-value]
                "w+b", dir=self._folder, suffix=_UNFINISHED, delete=False
            )
        except OSError:
            return None

    def keep(self, file: BinaryIO, key: str) -> BinaryIO:
        """Add a complete file to the cache, and open it.

        Raises:
            OSError: It cannot be kept.
        """
        file.flush()
        size, crc = file.seek(0, os.SEEK_END), _crc(file)
        file.close()
        finished = Path(file.name)
        entry = self._folder / f"{key}-{size}-{crc:08x}"
        stream = finished.open("rb")  # now: another process may remove the entry at once
        try:
            finished.replace(entry)
        except PermissionError:  # of Windows, which moves no open files
            stream.close()
            finished.replace(entry)
            stream = entry.open("rb")
        except BaseException:
            stream.close()
            raise
        self._remove_oldest()
        return stream

    def content(self, key: str) -> bytes | None:
        """The content of a cached file, if it is there and undamaged."""
        stream = self.opened(key)
        if stream is None:
            return None
        with stream:
            return stream.read()

    def keep_content(self, content: bytes, key: str) -> None:
        """Add a content to the cache, if there is a place for it."""
        # Its name is known before it is there, so that a signal leaves nothing.
        path = self._folder / f"{secrets.token_hex(8)}{_UNFINISHED}"
        with contextlib.suppress(OSError):  # of a full disk
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                with path.open("xb+") as file:
                    file.write(content)
                    self.keep(file, key).close()
            finally:
                remove_surely(path)

    def forget(self, key: str) -> None:
        """Remove a cached file, if it is there."""
        for entry, _ in self._entries(key):
            with contextlib.suppress(OSError):  # another process removed it or reads it
                entry.unlink()

    def has_room_for(self, size: int) -> bool:
        """Whether a file may be kept."""
        return size <= self._most_bytes

    def _entries(self, key: str = "*") -> Iterator[tuple[Path, re.Match[str]]]:
        """Cached files, and the parts of their names."""
        for path in sorted(self._folder.glob(f"{key}-*-*")):
            name = _ENTRY.fullmatch(path.name)
            if name is not None:
                yield path, name

    def _remove_oldest(self) -> None:
        """Remove the least recently used files, and abandoned ones."""
        for path in self._folder.glob(f"*{_UNFINISHED}"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _LEFT_BEHIND_S:
                    path.unlink()
        found: list[tuple[int, Path, int]] = []
        for entry, _ in self._entries():
            with contextlib.suppress(OSError):
                state = entry.stat()
                found.append((state.st_atime_ns, entry, state.st_size))
        total = sum(size for _, _, size in found)
        for _, entry, size in sorted(found):
            if total <= self._most_bytes:
                break
            with contextlib.suppress(OSError):  # another process removed it or reads it
                entry.unlink()
            total -= size


def cache_folder(environ: Mapping[str, str], variable: str, name: str) -> Path | None:
    """Folder of a cache; None for no cache.

    Args:
        environ: The environment.
        variable: Variable that names another folder; empty for no cache.
        name: Name of the folder in the user's caches.

    Raises:
        UsageError: The variable names a home folder that does not exist.
    """
    chosen = environ.get(variable)
    try:
        if chosen is not None:
            return Path(chosen).expanduser() if chosen else None
        base = environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
        is_given = os.path.isabs(base)  # noqa: PTH117 - of a text that may be empty
        return (Path(base) if is_given else Path.home() / ".cache") / "tfprof" / name
    except RuntimeError as error:  # the home folder is unknown
        if chosen is None:
            return None
        raise UsageError(
            f"{variable}={chosen}: there is no such home folder; name another folder, or leave it "
            "empty to keep nothing"
        ) from error


def key_of(address: str, mark: str, size: int | None) -> str:
    """The cache key of a file.

    Args:
        address: Its address, without user name and password.
        mark: The server's mark of its content.
        size: Bytes.
    """
    return _digest("\0".join((address, mark, str(size))))


def digest_of(question: object) -> str:
    """The cache key of a question whose ``repr`` tells it from all others."""
    return _digest(repr(question))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:40]


def _crc(stream: BinaryIO) -> int:
    """The checksum of a file; leaves it at its beginning."""
    crc = 0
    stream.seek(0)
    while piece := stream.read(_READ_BYTES):
        crc = zlib.crc32(piece, crc)
    stream.seek(0)
    return crc
