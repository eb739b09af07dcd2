"""Workers that a file lists, or a folder with a file for each process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tfprof.errors import InputError, UsageError
from tfprof.files.hooked_processes import processes
from tfprof.remote.addresses import Address, address_of

_COMMENT = "#"
_MOST_BYTES = 1 << 22
"""A list of a hundred thousand workers is smaller."""


@dataclass(frozen=True, slots=True)
class InPath:
    """The source for a file with an address a line, or for a folder of ``tfprof run``.

    It is read anew each time, so that programs may add and remove workers.

    Attributes:
        path: The file or folder.
        seconds: From one look to the next; a look costs little.
    """

    path: Path
    seconds: float = 2.0

    def __call__(self) -> Sequence[Address]:
        """See ``Source``."""
        return _in_folder(self.path) if self.path.is_dir() else _in_file(self.path)


def in_path(path: str | os.PathLike[str]) -> InPath:
    """The source for a file, or for a folder of ``tfprof run --server``."""
    return InPath(Path(path))


def _in_file(file: Path) -> list[Address]:
    """The addresses in a file, one a line; text after ``#`` is a comment.

    Raises:
        InputError: It cannot be read, or a line is not an address.
    """
    found: list[Address] = []
    for number, line in enumerate(_text(file).splitlines(), 1):
        text = line.partition(_COMMENT)[0].strip()
        if not text:
            continue
        try:
            found.append(address_of(text))
        except UsageError as error:
            raise InputError(f"{file}:{number}: {error}") from error
    return list(dict.fromkeys(found))


def _in_folder(folder: Path) -> list[Address]:
    """The addresses of the processes of ``tfprof run``, by rank; those that are gone are left out.

    Processes of this machine are at ``localhost``, so that their memory is visible.
    """
    found = []
    for each in processes(folder):
        if each.port and each.is_alive is not False:
            host = "localhost" if each.is_here else each.host
            found.append(Address(host, each.port))
    return list(dict.fromkeys(found))


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise _unreadable(file, error) from error
    if len(data) > _MOST_BYTES:
        raise InputError(f"{file}: has more than {_MOST_BYTES >> 20} MiB, too much for a list of "
                         "workers; give a file with HOST:PORT on each line")  # fmt: skip
    return data.decode("utf-8", "replace")


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"{path}: the list of workers cannot be read: {error.strerror or error}. Give a file with "
        "HOST:PORT on each line, or a folder of tfprof run --server"
    )
