"""CRC-32C (Castagnoli), the checksum of checkpoints and event files, at NumPy's speed.

A checksum is a remainder of polynomials over GF(2): reading on by n bytes multiplies it by
``x ** 8n``, which is linear in its 32 bits. So words may be read in many lanes at once, each
lane taking every ``_LANES``-th word, and the lanes are added up in the end.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
Bytes = bytes | bytearray | memoryview

_POLYNOMIAL: Final = 0x82F63B78
"""Bits reversed: the lowest bit is the highest power."""

_ALL_ONES: Final = 0xFFFFFFFF
_MASK_DELTA: Final = 0xA282EAD8
_MAX_LANES: Final = 1 << 12
"""Words that are read at once; a power of two."""

_SMALL: Final = 1 << 10
"""Below so many bytes, starting NumPy takes longer than reading byte by byte."""


def crc32c(data: Bytes) -> int:
    """The checksum of data, an unsigned 32-bit number.

    Example:
        >>> hex(crc32c(b"123456789"))
        '0xe3069283'
    """
    if len(data) < _SMALL:
        crc = _ALL_ONES
        table = _byte_table()
        for byte in data:
            crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
        return crc ^ _ALL_ONES
    # The checksum of the data with a register of zeros, plus the result for a register of ones.
    return _remainder(data) ^ _shifted(_ALL_ONES, len(data)) ^ _ALL_ONES


def masked(crc: int) -> int:
    """The checksum as files store it, so that data with checksums in them have good ones, too."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ALL_ONES


def _remainder(data: Bytes) -> int:
    """The register after data, if it was zero before; leading zeros do not change that."""
    n_lanes = min(_MAX_LANES, 1 << (len(data) // 4).bit_length())
    head = len(data) % (4 * n_lanes)
    row = np.zeros(4 * n_lanes, np.uint8)
    row[4 * n_lanes - head :] = np.frombuffer(data, np.uint8, head)
    lanes: Words = row.view("<u4").astype(np.uint32)
    rows = np.frombuffer(data, "<u4", offset=head).reshape(-1, n_lanes)
    if len(rows):
        low, high = _half_word_tables(4 * n_lanes)
        for words in rows:
            halves = lanes.astype("<u4", copy=False).view("<u2")
            lanes = low.take(halves[::2])
            lanes ^= high.take(halves[1::2])
            lanes ^= words
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = _apply(_shift_tables(4 * half), lanes[:half]) ^ lanes[half:]
    return _shifted(int(lanes[0]), 4)


def _apply(tables: Words, words: Words) -> Words:
    """A linear function of each word, as the sum of those of its four bytes."""
    parts = words.astype("<u4", copy=False).view(np.uint8).reshape(-1, 4)
    result: Words = tables[0].take(parts[:, 0])
    for place in (1, 2, 3):
        result ^= tables[place].take(parts[:, place])
    return result


def _shifted(crc: int, n_bytes: int) -> int:
    """The register after so many zero bytes."""
    step = 0
    while n_bytes:
        if n_bytes & 1:
            tables = _shift_tables(1 << step)
            crc = int(_apply(tables, np.array([crc], np.uint32))[0])
        n_bytes >>= 1
        step += 1
    return crc


@cache
def _shift_tables(n_bytes: int) -> Words:
    """The result of 2^n zero bytes for each byte of a register, shape (4, 256)."""
    if n_bytes == 1:
        registers = np.arange(256, dtype=np.uint32)
        after = np.array(_byte_table(), np.uint32)
        return np.stack([after, *(registers << np.uint32(8 * place) for place in (0, 1, 2))])
    half = _shift_tables(n_bytes // 2)
    return np.stack([_apply(half, table) for table in half])


@cache
def _half_word_tables(n_bytes: int) -> tuple[Words, Words]:
    """The tables for each half of a register, each of shape (65536,): half as many look-ups."""
    tables = _shift_tables(n_bytes)
    low, high = (np.bitwise_xor.outer(tables[2 * h + 1], tables[2 * h]).ravel() for h in (0, 1))
    return low, high


@cache
def _byte_table() -> tuple[int, ...]:
    """What each byte leaves behind when it has left the register."""
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)  # noqa: PLW2901
        table.append(crc)
    return tuple(table)
