"""Writes several files that belong together: a folder gets all of them, or none."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tfprof.errors import InputError, TfprofError, UsageError


@contextmanager
def written_together(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """A hidden folder to write in; at the end of the block, its files move into another folder.

    A folder that does not exist appears at once, with all files. If the block raises, or the
    process receives a signal that can be handled, nothing is left behind, and files that were
    there keep their content. Links are followed.

    Args:
        folder: Where the files belong; folders above it are made.
        overwrite: Whether files of the same names may be replaced.

    Raises:
        UsageError: A file of the same name exists, and must not be replaced.
        InputError: The folder cannot be written.
    """
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    beside = folder if folder.exists() else folder.parent
    hidden = beside / f".{folder.name[:100]}.{secrets.token_hex(8)}.tmp"
    files = hidden / "files"  # so deep that no program takes them for those of a run
    try:
        files.mkdir(parents=True)
        yield files
        _move(files, folder, overwrite)
    except OSError as error:
        if isinstance(error, TfprofError):
            raise
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        try:
            _clear(hidden, new)
        except BaseException:  # a signal has come meanwhile
            _clear(hidden, new)
            raise


def _move(files: Path, folder: Path, overwrite: bool) -> None:
    if not folder.exists():
        files.rename(folder)
        return
    moves = [(path, (folder / path.name).resolve()) for path in sorted(files.iterdir())]
    taken = [target for _, target in moves if target.exists()]
    if taken and not overwrite:
        raise UsageError(f"{taken[0]}: exists already; --force overwrites it")
    for path, target in moves:
        if target.exists():
            path.chmod(target.stat().st_mode & 0o777)
        shutil.move(path, target)


def _clear(hidden: Path, new: Sequence[Path]) -> None:
    """Remove the hidden folder, and new folders that are still empty, the innermost first."""
    shutil.rmtree(hidden, ignore_errors=True)
    for each in new:
        with suppress(OSError):
            each.rmdir()
