"""Snappy, the compression of table blocks: the raw format, without frames."""

from __future__ import annotations

from typing import Final

_MOST_GROWTH: Final = 22
"""Largest expansion: a copy of three bytes stands for up to 64."""

_LITERAL, _SHORT_COPY, _COPY = 0, 1, 2


class SnappyError(ValueError):
    """The data are damaged; the message says where."""


def decompress(data: bytes) -> bytes:
    """Decompress data.

    Raises:
        SnappyError: They are damaged.

    Example:
        >>> decompress(bytes([6, 4, ord("a"), ord("b"), 1, 2]))
        b'ababab'
    """
    size, place = _varint(data)
    if size > _MOST_GROWTH * len(data):
        raise SnappyError(f"{len(data)} bytes cannot stand for {size}")
    out = bytearray()
    while place < len(data):
        place = _element(data, place, out)
        if len(out) > size:
            raise SnappyError(f"more than the {size} bytes in its header")
    if len(out) < size:
        raise SnappyError(f"{len(out)} bytes, not the {size} in its header")
    return bytes(out)


def _element(data: bytes, place: int, out: bytearray) -> int:
    """Append the bytes of one element; returns where the next element starts."""
    tag = data[place]
    kind, place = tag & 3, place + 1
    if kind == _LITERAL:
        length = (tag >> 2) + 1
        if length > 60:  # then it follows, in one to four bytes
            n_bytes = length - 60
            length = int.from_bytes(_part(data, place, n_bytes), "little") + 1
            place += n_bytes
        out += _part(data, place, length)
        return place + length
    if kind == _SHORT_COPY:
        length = (tag >> 2 & 7) + 4
        offset = (tag >> 5) << 8 | _part(data, place, 1)[0]
        place += 1
    else:
        n_bytes = 2 if kind == _COPY else 4
        length = (tag >> 2) + 1
        offset = int.from_bytes(_part(data, place, n_bytes), "little")
        place += n_bytes
    if not 0 < offset <= len(out):
        raise SnappyError(f"a copy from {offset} bytes before byte {len(out)}")
    start = len(out) - offset
    piece = out[start : start + length]
    # A copy may reach into what it writes: then the piece repeats.
    out += (piece * (length // len(piece) + 1))[:length]
    return place


def _part(data: bytes, place: int, length: int) -> bytes:
    part = data[place : place + length]
    if len(part) < length:
        raise SnappyError(f"cut off: {length} bytes wanted at byte {place} of {len(data)}")
    return part


def _varint(data: bytes) -> tuple[int, int]:
    """The number at the start, of at most 32 bits, and where it ends."""
    value = 0
    for place, byte in enumerate(data[:5]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, place + 1
    raise SnappyError("its size is not a 32-bit number")
