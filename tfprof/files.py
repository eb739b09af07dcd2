"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from tfprof.errors import InputError, TfprofError, UsageError


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
