"""zstd, as Python 3.14 or the package ``zstandard`` has it."""

from __future__ import annotations

import importlib.util
import sys

import pytest

needs_zstd = pytest.mark.skipif(
    sys.version_info < (3, 14) and importlib.util.find_spec("zstandard") is None,
    reason="needs zstandard",
)


def zst_compress(data: bytes) -> bytes:
    """One frame."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.compress(data)
    return pytest.importorskip("zstandard").ZstdCompressor(write_checksum=True).compress(data)


def zst_decompress(data: bytes) -> bytes:
    """The content of one frame."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.decompress(data)
    return pytest.importorskip("zstandard").ZstdDecompressor().decompressobj().decompress(data)
