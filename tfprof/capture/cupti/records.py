"""CUPTI's records as plain values: nothing here needs a GPU or the bindings.

Records lie in CUPTI's buffer, and are processed inside a CUDA call of the program. There, only the
values of their attributes are copied, at once; they are interpreted when the recording is over.

Times are nanoseconds since 1970, as CUPTI's default clock has them on Linux.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

MEMORY_KINDS = (
    "unknown", "pageable", "pinned", "device", "array", "managed", "device_static",
    "managed_static",
)  # fmt: skip
"""Names of kinds of memory by their number."""

_DAY_NS = 86_400 * 10**9

_COPIES = {1: "MemcpyH2D", 2: "MemcpyD2H", 8: "MemcpyD2D", 9: "MemcpyH2H", 10: "MemcpyP2P"}
_OVERHEADS = {
    1: "driver compiler", 1 << 16: "buffer flush", 2 << 16: "instrumentation", 3 << 16: "resource",
    4 << 16: "loading of a module", 5 << 16: "loading of a function",
    6 << 16: "full command buffer", 7 << 16: "buffer request", 8 << 16: "start of unified memory",
}  # fmt: skip

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
        limits: Limits of the GPU.
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


class Kernel(NamedTuple):
    """A kernel that ran on a stream."""

    start_ns: int
    end_ns: int
    device: int
    context: int
    stream: int
    correlation: int
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    static_shared_bytes: int
    dynamic_shared_bytes: int

    def occupancy_percent(self, gpu: Gpu) -> float:
        """How much of a multiprocessor its blocks can fill, at most."""
        x, y, z = self.block
        shared_bytes = self.static_shared_bytes + self.dynamic_shared_bytes
        return occupancy_percent(gpu.limits, x * y * z, self.registers, shared_bytes)

    @property
    def details(self) -> str:
        """As TensorFlow writes the stat ``kernel_details``; without the occupancy."""
        grid, block = (",".join(map(str, size)) for size in (self.grid, self.block))
        return (
            f"regs:{self.registers} static_shared:{self.static_shared_bytes} "
            f"dynamic_shared:{self.dynamic_shared_bytes} grid:{grid} block:{block}"
        )


class Copy(NamedTuple):
    """A copy between memories."""

    start_ns: int
    end_ns: int
    device: int
    context: int
    stream: int
    correlation: int
    size_bytes: int
    kind: int
    source: int
    target: int
    is_async: bool

    @property
    def name(self) -> str:
        """``MemcpyH2D`` …, as TensorFlow calls it."""
        return _COPIES.get(self.kind, "MemcpyOther")

    @property
    def details(self) -> str:
        """As TensorFlow writes the stat ``memcpy_details``."""
        return (
            f"kind_src:{memory_kind(self.source)} kind_dst:{memory_kind(self.target)} "
            f"size:{self.size_bytes} dest:{self.device} async:{int(self.is_async)}"
        )


class Fill(NamedTuple):
    """Memory that was set to a value."""

    start_ns: int
    end_ns: int
    device: int
    context: int
    stream: int
    correlation: int
    size_bytes: int
    memory: int
    is_async: bool

    @property
    def name(self) -> str:
        """``Memset 3``, with the number of the kind of memory, as TensorFlow calls it."""
        return f"Memset {self.memory}"

    @property
    def details(self) -> str:
        """As TensorFlow writes the stat ``memset_details``."""
        kind = memory_kind(self.memory)
        return f"kind:{kind} num_bytes:{self.size_bytes} async:{int(self.is_async)}"


class Gpu(NamedTuple):
    """A GPU, as CUPTI describes it.

    Attributes:
        name: ``NVIDIA A100-SXM4-40GB``.
        n_cores: Multiprocessors.
        clock_khz: Clock of the cores.
        memory_bytes_per_s: Bandwidth of its memory.
        memory_bytes: Its memory.
        minor: Minor number of its compute capability; the major one is in ``limits``.
        limits: Of one multiprocessor.
    """

    name: str
    n_cores: int
    clock_khz: int
    memory_bytes_per_s: int
    memory_bytes: int
    minor: int
    limits: Multiprocessor


class Api(NamedTuple):
    """A call of CUDA's runtime or driver."""

    start_ns: int
    end_ns: int
    thread: int
    correlation: int
    name: str
    is_runtime: bool


class Overhead(NamedTuple):
    """Time that CUPTI or the driver took for themselves."""

    start_ns: int
    end_ns: int
    kind: int

    @property
    def name(self) -> str:
        """Its cause."""
        return _OVERHEADS.get(self.kind, f"overhead {self.kind}")


Activity = Kernel | Copy | Fill

T = TypeVar("T", bound=Any)


@dataclass
class Records:
    """All records of a session.

    Attributes:
        activities: Kernels, copies and fills, in the order of their buffers.
        calls: Calls of CUDA.
        overheads: Times of CUPTI itself.
        gpus: Descriptions of the GPUs, by their ordinals.
        n_dropped: Records for which CUPTI had no room.
        n_unread: Records that could not be read; ``problem`` is the first reason.
        n_without_time: Activities without times from CUPTI; they are in no track.
        problem: Why a record could not be read.
    """

    activities: list[Activity] = field(default_factory=list)
    calls: list[Api] = field(default_factory=list)
    overheads: list[Overhead] = field(default_factory=list)
    gpus: dict[int, Gpu] = field(default_factory=dict)
    n_dropped: int = 0
    n_unread: int = 0
    n_without_time: int = 0
    problem: str = ""

    def keep_outer_calls(self) -> None:
        """Leave out calls of the driver inside those of the runtime, which are made of them.

        CUPTI records both. That of the runtime stays: the program called it, users know its name,
        and its time contains that of the other. Activities with the number of a call that is left
        out get that of the call around it. Calls of the driver without a runtime, such as those of
        XLA and Triton, stay.
        """
        outer_of = _outer_calls(self.calls)
        if not outer_of:
            return
        around = {call.correlation: outer.correlation for call, outer in outer_of.items()}
        self.calls = [call for call in self.calls if call not in outer_of]
        self.activities = [
            one._replace(correlation=around.get(one.correlation, one.correlation))
            for one in self.activities
        ]

    def launches(self) -> dict[int, Api]:
        """The call that issued each activity, by correlation id.

        Of several it is the first, but that of the runtime wins.
        """
        in_order = sorted(self.calls, key=lambda call: not call.is_runtime)
        return {call.correlation: call for call in reversed(in_order)}

    def timed(self) -> list[Activity]:
        """Activities that have times, in order."""
        return with_times(self.activities)


def _outer_calls(calls: Iterable[Api]) -> dict[Api, Api]:
    """The call of the runtime around each call of the driver that has one."""
    found: dict[Api, Api] = {}
    by_number: dict[int, Api] = {}
    open_calls: dict[int, Api] = {}  # by thread
    in_order = sorted(calls, key=lambda call: (call.start_ns, -call.end_ns, not call.is_runtime))
    for call in in_order:
        if call.is_runtime:
            by_number[call.correlation] = call
            known = open_calls.get(call.thread)
            if known is None or call.end_ns > known.end_ns:
                open_calls[call.thread] = call
            continue
        outer = open_calls.get(call.thread)
        if outer is not None and call.end_ns <= outer.end_ns:
            found[call] = outer
    for call in in_order:
        if not call.is_runtime and call not in found and call.correlation in by_number:
            found[call] = by_number[call.correlation]
    return found


def with_times(rows: Iterable[T]) -> list[T]:
    """Activities with times, in order; times a day away from most others count as invalid."""
    timed = sorted(
        (one for one in rows if 0 < one.start_ns <= one.end_ns < one.start_ns + _DAY_NS),
        key=lambda one: (one.start_ns, one.end_ns, type(one).__name__, one),
    )
    middle_ns = timed[len(timed) // 2].start_ns if timed else 0
    return [one for one in timed if abs(one.start_ns - middle_ns) < _DAY_NS]


def memory_kind(number: int) -> str:
    """Name of a kind of memory."""
    return MEMORY_KINDS[number] if 0 <= number < len(MEMORY_KINDS) else "unknown"


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
    """Add the values of a record.

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
