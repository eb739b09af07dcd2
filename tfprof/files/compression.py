"""Compressed files, unpacked piece by piece: gzip, xz and zstd, recognized by their first bytes."""

from __future__ import annotations

import functools
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeAlias

from tfprof.core.progress import Progress
from tfprof.errors import MalformedProfileError
from tfprof.files import zstd
from tfprof.files.disk import MAX_HELD_BYTES
from tfprof.files.sniff import Format, packed_format

_READ_BYTES = 1 << 20
_LARGEST_PIECE = 1 << 16
_SMALLEST_PIECE = 512
_PIECE_SHARE = 64
"""A piece is so small a part of what was read before it that it unpacks to about what the limit
leaves room for: to 16 MiB at first, as zeros are 30,000 times as long as zstd makes them."""

_MOST_RATIO = 500
_MOST_OF_SMALL = 1 << 24
"""Larger content is at most so many times as long as its file: recordings are 3 to 60 times."""

_GZIP_WINDOW = 31
"""The largest window, behind a gzip header."""

_TOOLS = {Format.GZIP: "gunzip", Format.XZ: "unxz", Format.ZSTD: "unzstd"}

_Codec: TypeAlias = tuple[Callable[[], Any], type[Exception]]
"""Makes the decompressor of one gzip member, xz stream or zstd frame; what damage raises."""


def decompressed(data: bytes, label: str) -> bytes:
    """The data, unpacked if they are compressed.

    Args:
        data: Compressed or not.
        label: What to call them in errors.

    Raises:
        MalformedProfileError: They are damaged, or too large to be unpacked into memory.
        MissingDependencyError: A package is missing.
    """
    packing = packed_format(data)
    return data if packing is None else unpack(io.BytesIO(data), packing, label)


def unpack(stream: BinaryIO, packing: Format, label: str, watch: Progress | None = None) -> bytes:
    """The content of a compressed stream, up to 2 GiB.

    Args:
        stream: The compressed data, from their beginning.
        packing: How they are compressed.
        label: What to call them in errors.
        watch: Receives the number of bytes read of the stream.

    Raises:
        MalformedProfileError: They are damaged, or too large to be unpacked into memory.
        MissingDependencyError: A package is missing.
        OSError: The stream cannot be read.
    """
    return _unpack(stream, packing, label, watch)[0]


def unpack_head(stream: BinaryIO, packing: Format, label: str, size: int) -> tuple[bytes, bool]:
    """At least the first ``size`` bytes of the content, and whether that is all.

    Arguments and errors as for ``unpack``; damage behind these bytes is not noticed.
    """
    return _unpack(stream, packing, label, None, enough=size)


def _unpack(
    stream: BinaryIO, packing: Format, label: str, watch: Progress | None, enough: int | None = None
) -> tuple[bytes, bool]:
    """The content of a stream, or as much of it as needed; and whether that is all."""
    make, damage = _codec(packing)
    held = io.BytesIO()
    pieces = _Pieces(stream, watch)
    try:
        for part in _parts(pieces, make):
            held.write(part)
            if enough is not None and held.tell() >= enough:
                return held.getvalue(), False
            most = min(MAX_HELD_BYTES, _MOST_OF_SMALL + _MOST_RATIO * pieces.n_bytes)
            if held.tell() > most:
                raise _too_large(label, packing, pieces.n_bytes, f"over {most} bytes")
    except (damage, EOFError) as error:
        raise MalformedProfileError(
            f"{label}: the compressed data are damaged: {error}. Copy the file again"
        ) from error
    except MemoryError as error:
        size = f"over {held.tell()} bytes, for which there is no room"
        raise _too_large(label, packing, pieces.n_bytes, size) from error
    return held.getvalue(), True


def _codec(packing: Format) -> _Codec:
    if packing is Format.GZIP:
        return functools.partial(zlib.decompressobj, _GZIP_WINDOW), zlib.error
    if packing is Format.XZ:
        return lzma.LZMADecompressor, lzma.LZMAError
    return zstd.decompressor, zstd.error_class()


class _Pieces:
    """A stream in pieces that are small enough to be unpacked at once.

    Attributes:
        n_bytes: Bytes in the pieces so far.
    """

    def __init__(self, stream: BinaryIO, watch: Progress | None) -> None:
        self._stream, self._watch = stream, watch
        self.n_bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self._stream.read(_READ_BYTES):
            if self._watch is not None:
                self._watch.advance(len(chunk))
            start = 0
            while start < len(chunk):
                size = min(max(self.n_bytes // _PIECE_SHARE, _SMALLEST_PIECE), _LARGEST_PIECE)
                piece = chunk[start : start + size]
                start += size
                self.n_bytes += len(piece)
                yield piece


def _parts(pieces: _Pieces, make: Callable[[], Any]) -> Iterator[bytes]:
    """The content of all members; zeros between them are padding. A cut member: ``EOFError``."""
    member: Any = None
    for piece in pieces:
        rest = piece if member is not None else piece.lstrip(b"\0")
        while rest:
            member = member or make()
            yield member.decompress(rest)
            rest = b""
            if member.eof:
                rest, member = member.unused_data.lstrip(b"\0"), None
    if member is not None:
        raise EOFError(f"they end at byte {pieces.n_bytes}, too early")


def _too_large(label: str, packing: Format, n_packed: int, size: str) -> MalformedProfileError:
    return MalformedProfileError(
        f"{label}: too large to be unpacked into memory: the first {n_packed} bytes of this "
        f"{packing.value} unpack to {size}. If that is right, unpack it with {_TOOLS[packing]} "
        "and give the unpacked file; if not, copy it again"
    )
