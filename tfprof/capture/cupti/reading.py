"""What is read of each kind of CUPTI's records, and what becomes of it.

Records lie in CUPTI's buffer, and are met inside a CUDA call of the program: there only the values
of their attributes are taken, in one go; what they mean is worked out when the recording is over.
"""

from __future__ import annotations

from typing import Any

from tfprof.capture.cupti.occupancy import Multiprocessor
from tfprof.capture.cupti.records import Api, Copy, Fill, Gpu, Kernel, Overhead, Records

Row = tuple[Any, ...]

_PEER_COPY, _KIND_OF_COPY = 10, 7
_KBYTES = 1000
_THREAD_BITS = (1 << 32) - 1
_IS_ASYNC = 1

_PLACE = ("start", "end", "device_id", "context_id", "stream_id", "correlation_id")
_CALL = ("start", "end", "thread_id", "correlation_id", "cbid")
_COPY = (*_PLACE, "bytes", "copy_kind", "src_kind", "dst_kind", "flags_")

FIELDS: dict[str, tuple[str, ...]] = {
    "DEVICE": (
        "id", "name", "num_multiprocessors", "core_clock_rate", "global_memory_bandwidth",
        "global_memory_size", "compute_capability_minor", "compute_capability_major",
        "max_registers_per_multiprocessor", "max_shared_memory_per_multiprocessor",
        "max_warps_per_multiprocessor", "max_blocks_per_multiprocessor",
    ),
    "CONCURRENT_KERNEL": (
        *_PLACE, "name", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z",
        "registers_per_thread", "static_shared_memory", "dynamic_shared_memory",
    ),
    "MEMCPY": _COPY,
    "MEMCPY2": _COPY,
    "MEMSET": (*_PLACE, "bytes", "memory_kind", "flags_"),
    "RUNTIME": _CALL,
    "DRIVER": _CALL,
    "OVERHEAD": ("start", "end", "overhead_kind"),
}  # fmt: skip
"""Attributes by kind; only such as the oldest layout of a record has."""


def add_row(records: Records, kind: str, row: Row) -> None:
    """Add what a record said.

    Raises:
        TypeError: A value is not a number.
        ValueError: Likewise.
    """
    if kind == "CONCURRENT_KERNEL":
        place, name, shape = row[:6], row[6], tuple(map(int, row[7:]))
        made = (*map(int, place), str(name), shape[:3], shape[3:6], *shape[6:])
        records.activities.append(Kernel._make(made))
    elif kind in ("MEMCPY", "MEMCPY2"):
        *numbers, flags = map(int, row)
        if kind == "MEMCPY2":
            numbers[_KIND_OF_COPY] = _PEER_COPY
        records.activities.append(Copy._make((*numbers, bool(flags & _IS_ASYNC))))
    elif kind == "MEMSET":
        *numbers, flags = map(int, row)
        records.activities.append(Fill._make((*numbers, bool(flags & _IS_ASYNC))))
    elif kind in ("RUNTIME", "DRIVER"):
        start, end, thread, correlation, number = map(int, row)
        thread &= _THREAD_BITS
        records.calls.append(Api(start, end, thread, correlation, str(number), kind == "RUNTIME"))
    elif kind == "OVERHEAD":
        records.overheads.append(Overhead(*map(int, row)))
    else:
        number, name, *rest = row
        cores, clock, bandwidth, memory_bytes, minor, *limits = map(int, rest)
        records.gpus[int(number)] = Gpu(
            str(name), cores, clock, bandwidth * _KBYTES, memory_bytes, minor,
            Multiprocessor(*limits),
        )  # fmt: skip
