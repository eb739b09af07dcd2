"""Workers that a file lists, or a folder with a file for each process."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tfprof.errors import InputError, UsageError
from tfprof.remote.addresses import Address, address_of

_COMMENT = "#"
_STATE = ".tfprof"
"""Where ``tfprof run`` keeps the files of its processes in a log folder."""
_MOST_BYTES = 1 << 22
"""A list of a hundred thousand workers is smaller."""


def in_path(path: str | os.PathLike[str]) -> Callable[[], Sequence[Address]]:
    """The source for a file with an address a line, or for a folder of ``tfprof run``.

    It is read anew each time, so that programs may add and remove workers.
    """
    place = Path(path)

    def workers() -> Sequence[Address]:
        if not place.is_dir():
            return _in_file(place)
        state = place / _STATE
        return _in_folder(state if state.is_dir() else place)

    return workers


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
    """The addresses of the processes in a folder, by rank; other files are left alone.

    Each process has a file ``PID.json``, an object with its ``host`` and ``port``. One that cannot
    be read is left out: it may be in the making.
    """
    found: list[tuple[int, str, Address]] = []
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix == ".json")
    except OSError as error:
        raise _unreadable(folder, error) from error
    for file in files:
        try:
            process = json.loads(_text(file))
        except (ValueError, InputError):
            continue
        address = _address(process)
        if address is not None:
            rank = process.get("rank")
            found.append((rank if isinstance(rank, int) else 1 << 62, file.name, address))
    return list(dict.fromkeys(address for *_, address in sorted(found)))


def _address(process: Any) -> Address | None:
    """The address of a process; None if its file has none, such as before its server starts."""
    if not isinstance(process, dict):
        return None
    host, port = process.get("host"), process.get("port")
    if host == socket.gethostname():  # so that its memory is visible, whatever the name leads to
        host = "localhost"
    try:
        return address_of(f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}")
    except UsageError:
        return None


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
        "HOST:PORT on each line, or a folder of tfprof run"
    )
