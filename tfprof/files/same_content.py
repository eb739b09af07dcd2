"""Finds files with equal content without reading all of them."""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path

_SAMPLE_BYTES = 1 << 12
_CHUNK_BYTES = 1 << 20


def same_content(files: Iterable[Path]) -> dict[Path, Path]:
    """Copies, each with the first file of the same content.

    Only files of one size are opened, and only those whose first, middle and last bytes are the
    same are read whole. A file that cannot be read equals none.

    Args:
        files: The files, in the order in which one is the first.
    """
    copies: dict[Path, Path] = {}
    for same_size in _alike(files, lambda file: file.stat().st_size or None):
        for same_sample in _alike(same_size, _sample):
            for first, *others in _alike(same_sample, _digest):
                copies.update(dict.fromkeys(others, first))
    return copies


def _alike(files: Iterable[Path], key: Callable[[Path], Hashable]) -> list[Sequence[Path]]:
    """Groups of two and more files with the same key; None is not a key."""
    groups: dict[Hashable, list[Path]] = defaultdict(list)
    for file in files:
        try:
            groups[key(file)].append(file)
        except (OSError, ValueError):  # reading the file later reports the reason
            continue
    return [group for found, group in groups.items() if found is not None and len(group) > 1]


def _sample(file: Path) -> bytes:
    """Some bytes: captures begin alike, but their times differ soon."""
    with file.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        parts = []
        for place in (0, size // 2, max(0, size - _SAMPLE_BYTES)):
            stream.seek(place)
            parts.append(stream.read(_SAMPLE_BYTES))
    return b"".join(parts)


def _digest(file: Path) -> bytes:
    digest = hashlib.blake2b()
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.digest()
