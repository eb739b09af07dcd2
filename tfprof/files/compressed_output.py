"""Compresses the content of a file if its name has the ending of a compressed one."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from tfprof.files import zstd

_GZIP_WINDOW: Final = 31
"""The largest window, with a gzip header (which zlib writes without a time)."""

_AT_ONCE_BYTES: Final = 1 << 20
"""Bytes to compress at once; Ctrl-C waits for that."""


def packed(chunks: Iterable[bytes], path: str) -> Iterator[bytes]:
    """The chunks as the content of a file: gzip for ``.gz``, xz for ``.xz``, zstd for ``.zst``.

    Otherwise they are unchanged. The same chunks always give the same bytes.

    Raises:
        MissingDependencyError: The package for zstd is not installed.
    """
    if path.endswith(".gz"):
        return _compressed(chunks, zlib.compressobj(6, zlib.DEFLATED, _GZIP_WINDOW))
    if path.endswith(".xz"):
        return _compressed(chunks, lzma.LZMACompressor())
    if path.endswith(".zst"):
        return _compressed(chunks, zstd.compressor())
    return iter(chunks)


def _compressed(chunks: Iterable[bytes], compressor: Any) -> Iterator[bytes]:
    for chunk in chunks:
        view = memoryview(chunk)
        for start in range(0, len(view), _AT_ONCE_BYTES):
            if made := compressor.compress(view[start : start + _AT_ONCE_BYTES]):
                yield made
    yield compressor.flush()
