"""zstd: of Python from 3.14 on, before that of the package ``zstandard``."""

from __future__ import annotations

import sys
from typing import Any

from tfprof.errors import MissingDependencyError

_LEVEL = 3
_LARGEST_WINDOW_LOG = 31
"""What ``zstd --long=31`` writes. Memory for it is only touched where data refer back so far."""


def error_class() -> type[Exception]:
    """The exception for damaged data.

    Raises:
        MissingDependencyError: Nothing for zstd is installed.
    """
    error: type[Exception] = _module().ZstdError
    return error


def decompressor() -> Any:
    """Unpacks one frame: with ``decompress``, ``eof`` and ``unused_data``, as those of ``lzma``.

    Raises:
        MissingDependencyError: Nothing for zstd is installed.
    """
    module = _module()
    if sys.version_info >= (3, 14):
        options = {module.DecompressionParameter.window_log_max: _LARGEST_WINDOW_LOG}
        return module.ZstdDecompressor(options=options)
    return module.ZstdDecompressor(max_window_size=1 << _LARGEST_WINDOW_LOG).decompressobj()


def compressor() -> Any:
    """Packs into one frame with a checksum: with ``compress`` and ``flush``, as that of ``lzma``.

    Raises:
        MissingDependencyError: Nothing for zstd is installed.
    """
    module = _module()
    if sys.version_info >= (3, 14):
        parameter = module.CompressionParameter
        options = {parameter.compression_level: _LEVEL, parameter.checksum_flag: 1}
        return module.ZstdCompressor(options=options)
    return module.ZstdCompressor(level=_LEVEL, write_checksum=True).compressobj()


def _module() -> Any:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            import zstandard as zstd
    except ImportError:
        raise MissingDependencyError(
            "zstd files (.zst) need the package 'zstandard', or Python 3.14; install it with: "
            "pip install 'tfprof[zstd]'. Or unpack the file with unzstd"
        ) from None
    return zstd
