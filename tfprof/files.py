"""Files: read with someone watching, written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from tfprof.errors import InputError, TfprofError, UsageError

_CHUNK_BYTES = 1 << 23


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


def read_file(path: str | os.PathLike[str], watch: Watch | None = None) -> bytes:
    """The content of a file.

    Args:
        path: The file.
        watch: Is told of each part that has been read.

    Raises:
        InputError: It can not be read.
    """
    try:
        with Path(path).open("rb") as stream:
            if watch is None:
                return stream.read()
            chunks = []
            while chunk := stream.read(_CHUNK_BYTES):
                watch.advance(len(chunk))
                chunks.append(chunk)
            return b"".join(chunks)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{os.fspath(path)}: cannot be read: {reason}. Check the path") from error


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
    """
    try:
        _write(Path(path).resolve(), chunks, overwrite)
    except (OSError, ValueError) as error:  # ValueError: a name that can not be one
        if isinstance(error, TfprofError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{os.fspath(path)}: cannot be written: {reason}") from error


def _write(path: Path, chunks: Iterable[bytes], overwrite: bool) -> None:
    if path.exists() and not path.is_file():  # there is no place to rename to
        with path.open("wb") as stream:
            stream.writelines(chunks)
        return
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
