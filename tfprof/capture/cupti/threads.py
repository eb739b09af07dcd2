"""CUPTI's name for the thread of a line of the host.

CUPTI names threads by the lower 32 bits of their POSIX handle. Profilers of TensorFlow and JAX
number the lines of the host by threads, in one of two ways:

* up to about 2024 by those 32 bits, as a signed number;
* since then by the hash that the C++ library makes of the handle: MurmurHash64A of its 8 bytes.
  It is invertible.
"""

from __future__ import annotations

_BITS_64 = (1 << 64) - 1
_BITS_32 = (1 << 32) - 1
_FACTOR = 0xC6A4A7935BD1E995
_INVERSE = pow(_FACTOR, -1, 1 << 64)
_SEED = 0xC70F6907
_SHIFT = 47
_START = (_SEED ^ (8 * _FACTOR)) & _BITS_64


def handle_of_hash(number: int) -> int:
    """The handle that has a hash, signed or not."""
    mixed = _folded(_folded(number & _BITS_64) * _INVERSE & _BITS_64) * _INVERSE & _BITS_64
    return _folded((mixed ^ _START) * _INVERSE & _BITS_64) * _INVERSE & _BITS_64


def _folded(value: int) -> int:
    """Its own inverse, because the shift is longer than half of the bits."""
    return value ^ (value >> _SHIFT)


def thread_of_line(line_id: int) -> int:
    """The thread of a line, as CUPTI names it."""
    if -(1 << 31) <= line_id <= _BITS_32:
        return line_id & _BITS_32
    return handle_of_hash(line_id) & _BITS_32
