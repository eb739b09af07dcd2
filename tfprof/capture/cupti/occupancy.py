"""How many of the warps of a multiprocessor a kernel's launch can fill, at most."""

from __future__ import annotations

from typing import NamedTuple

_WARP_THREADS = 32
_REGISTER_UNIT = 256
_WARP_UNIT = 4
_SHARED_UNIT, _OLD_SHARED_UNIT = 128, 256
_RESERVED_SHARED_BYTES = 1024


class Multiprocessor(NamedTuple):
    """Limits of one multiprocessor of a GPU.

    Attributes:
        capability: Compute capability of the GPU, major.
        registers: 32-bit registers.
        shared_bytes: Shared memory.
        warps: Warps at a time.
        blocks: Blocks at a time.
    """

    capability: int
    registers: int
    shared_bytes: int
    warps: int
    blocks: int


def occupancy_percent(
    limits: Multiprocessor, n_threads: int, registers: int, shared_bytes: int
) -> float:
    """Theoretical occupancy, 0 if the launch or the limits make no sense.

    Args:
        limits: Of the GPU.
        n_threads: Threads of a block.
        registers: Registers of a thread.
        shared_bytes: Shared memory of a block.
    """
    if n_threads <= 0 or min(limits) <= 0:
        return 0.0
    n_warps = -(-n_threads // _WARP_THREADS)
    is_new = limits.capability >= 8
    shared_unit = _SHARED_UNIT if is_new else _OLD_SHARED_UNIT
    shared = _up(shared_bytes + (_RESERVED_SHARED_BYTES if is_new else 0), shared_unit)
    blocks = min(limits.blocks, limits.warps // n_warps)
    if registers > 0:
        fitting = limits.registers // _up(registers * _WARP_THREADS, _REGISTER_UNIT)
        blocks = min(blocks, fitting // _WARP_UNIT * _WARP_UNIT // n_warps)
    if shared > 0:
        blocks = min(blocks, limits.shared_bytes // shared)
    return 100.0 * blocks * n_warps / limits.warps


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
