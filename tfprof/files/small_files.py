"""Writes and lists small numbers of files, on this machine or in a bucket, in the same way."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from tfprof.errors import InputError
from tfprof.files.remote.path import AnyPath, RemotePath
from tfprof.files.removal import remove_surely


def put(path: AnyPath, content: bytes | Path) -> None:
    """Write a file, which appears as a whole, and replaces another one.

    Args:
        path: Where; folders are made.
        content: Its bytes, or a file of this machine that has them.

    Raises:
        InputError: It cannot be written.
    """
    if isinstance(path, RemotePath):
        from tfprof.files.remote.access import upload

        upload(path, content)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        try:
            unfinished.write_bytes(content.read_bytes() if isinstance(content, Path) else content)
            os.replace(unfinished, path)  # noqa: PTH105 - of two names, as Path.replace
        finally:
            remove_surely(unfinished)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def remove(path: AnyPath) -> None:
    """Remove a file; one that does not exist is as good.

    Raises:
        InputError: It cannot be removed.
    """
    if isinstance(path, RemotePath):
        from tfprof.files.remote.access import delete

        delete(path)
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be removed: {error.strerror or error}") from error


def held(folder: AnyPath) -> dict[str, tuple[bool, int]]:
    """What a folder holds now, by name: whether each is a folder, and its bytes.

    A folder that does not exist holds nothing.

    Raises:
        InputError: It cannot be read.
    """
    if isinstance(folder, RemotePath):
        now = RemotePath(folder.address)  # whose answers are not those of before
        if now.details() is None:
            return {}
        return {name: (one.is_folder, one.size or 0) for name, one in now.listing().items()}
    found = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    found[entry.name] = entry.is_dir(), entry.stat().st_size
                except FileNotFoundError:  # removed meanwhile
                    continue
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror or error}") from error
    return found
