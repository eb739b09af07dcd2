"""The ``memory_access_breakdown`` of TPU ops: bytes that an op reads and writes in each memory."""

from __future__ import annotations

from typing import Final, NamedTuple

from tfprof.core.wire.walk import LENGTH_DELIMITED, VARINT, walk

HBM: Final = 1
CMEM: Final = 2
VMEM: Final = 3
"""Memory spaces that the reference distinguishes; every other one also counts as on-chip."""

_READ: Final = 1
_WRITE: Final = 2


class MemoryAccess(NamedTuple):
    """The accesses of an op to one memory.

    Attributes:
        is_read: Whether it reads.
        is_write: Whether it writes; an unknown kind of access is neither.
        memory_space: 1 is HBM, 2 CMEM, 3 VMEM.
        n_bytes: Bytes in one execution.
    """

    is_read: bool
    is_write: bool
    memory_space: int
    n_bytes: int


def memory_accesses(data: bytes) -> list[MemoryAccess]:
    """The entries of a serialized ``MemoryAccessBreakdown``.

    Raises:
        WireError: The bytes are damaged.
    """
    view, accesses = memoryview(data), []
    for entry in walk(view):
        if entry.number == 1 and entry.wire_type == LENGTH_DELIMITED:
            stop = entry.offset + entry.value
            numbers = {
                field.number: field.value
                for field in walk(view, entry.offset, stop)
                if field.wire_type == VARINT
            }
            kind = numbers.get(1, 0)
            space, n_bytes = numbers.get(2, 0), numbers.get(3, 0)
            accesses.append(MemoryAccess(kind == _READ, kind == _WRITE, space, n_bytes))
    return accesses
