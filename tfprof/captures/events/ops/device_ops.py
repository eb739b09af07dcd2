"""Ops of devices: those of the framework on GPUs, and those of XLA's programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tfprof.captures.events.ops.found_by import FoundBy, united
from tfprof.captures.events.timeline.programs import HloKey, program_title


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that ops move, by memory.

    Attributes:
        all_bytes: All bytes read and written.
        main_bytes: Those of the main memory (HBM).
        by_space: Memory space, bytes read and bytes written, if the device states them.
    """

    all_bytes: int = 0
    main_bytes: int = 0
    by_space: tuple[tuple[int, int, int], ...] = ()

    @property
    def hbm_bytes(self) -> int:
        """Bytes of the main memory; all bytes, if the capture does not state the memory."""
        return self.main_bytes if self.by_space or self.main_bytes else self.all_bytes

    def __add__(self, other: Traffic) -> Traffic:
        if not (self.by_space or other.by_space):  # all ops except those of TPUs
            all_bytes, main_bytes = self.all_bytes, self.main_bytes
            return Traffic(all_bytes + other.all_bytes, main_bytes + other.main_bytes)
        spaces: dict[int, list[int]] = {}
        for space, read, written in (*self.by_space, *other.by_space):
            known = spaces.setdefault(space, [0, 0])
            known[0] += read
            known[1] += written
        return Traffic(
            self.all_bytes + other.all_bytes,
            self.main_bytes + other.main_bytes,
            tuple((space, *amounts) for space, amounts in sorted(spaces.items())),  # type: ignore[misc]
        )


class OpKey(NamedTuple):
    """Key of an op of a device.

    Attributes:
        program_id: The compiled program, unsigned; None for ops outside of programs.
        name: Name of the instruction; of an op without program, its name and its kernel's.
        module: Name of the program: hosts may use one number for different programs.
    """

    program_id: int | None
    name: str
    module: str = ""

    @property
    def program(self) -> str:
        """Title of the program, ``module(id)``; empty without one."""
        return program_title(self.program_id, self.module)

    @property
    def instruction(self) -> HloKey:
        """Its instruction, as events name it."""
        return HloKey(self.program_id, self.module, self.name)


WITHOUT_OP = "kernels_without_op"
"""Category of kernels without an op in the capture."""

UNKNOWN = "unknown"
"""Category of instructions whose program the capture lacks."""

_OUTSIDE = (":XlaSendToHost", ":XlaRecvFromHost")


@dataclass(frozen=True, slots=True)
class DeviceOp:
    """An op with the time and cost of all its runs.

    Attributes:
        key: Its key.
        category: ``convolution fusion``; of an op without program its type.
        provenance: The framework's op behind it, ``scope/name:Type``; empty if unknown.
        expression: The instruction as text.
        deduplicated_name: Name of the equal instruction that represents it.
        source: File, line and call stack of the code that created it.
        occurrences: Number of runs.
        op_runs: Number of runs of the framework's op behind it, with this kernel or others; 0 if
            unknown.
        time_ps: Time of all runs.
        self_ps: Their self time.
        normalized_ps: Their time at the device's nominal clock.
        flops: Float operations of all runs, in the device's count.
        model_flops: Float operations in the model's count.
        traffic: Bytes of all runs.
        is_eager: Whether any run was eager.
        is_known: Whether its program is known, and so its cost.
        is_asynchronous: Whether it only starts its work, or waits for it: its time is not that of
            the work, whose rate is therefore unknown.
        children: Ops inside a fusion.
        found_by: How it was found to be the op of its kernels.
    """

    key: OpKey
    category: str = ""
    provenance: str = ""
    expression: str = ""
    deduplicated_name: str = ""
    source: tuple[str, int, str] = ("", 0, "")
    occurrences: int = 0
    op_runs: int = 0
    time_ps: int = 0
    self_ps: int = 0
    normalized_ps: int = 0
    flops: int = 0
    model_flops: int = 0
    traffic: Traffic = field(default_factory=Traffic)
    is_eager: bool = False
    is_known: bool = True
    is_asynchronous: bool = False
    children: tuple[DeviceOp, ...] = ()
    found_by: FoundBy = ()

    @property
    def has_known_cost(self) -> bool:
        """Whether its float operations and bytes are known; those of a bare kernel are not."""
        return bool(self.flops or self.traffic.all_bytes or (self.is_known and self.expression))

    @property
    def work_ps(self) -> int:
        """Time of its work; 0 if that is unknown."""
        return 0 if self.is_asynchronous else self.time_ps

    @property
    def has_known_rates(self) -> bool:
        """Whether both its cost and the time of its work are known."""
        return self.has_known_cost and not self.is_asynchronous

    @property
    def is_outside_compilation(self) -> bool:
        """Whether it sends data to the host or receives data from it in the middle of a program."""
        sends = "send-done" in self.expression and "is_host_transfer=true" in self.expression
        return self.provenance.endswith(_OUTSIDE) or sends

    def plus(self, other: DeviceOp) -> DeviceOp:
        """The sum with the same op on another device or host."""
        return replace(
            self,
            occurrences=self.occurrences + other.occurrences,
            op_runs=self.op_runs + other.op_runs,
            time_ps=self.time_ps + other.time_ps,
            self_ps=self.self_ps + other.self_ps,
            normalized_ps=self.normalized_ps + other.normalized_ps,
            flops=self.flops + other.flops,
            model_flops=self.model_flops + other.model_flops,
            traffic=self.traffic + other.traffic,
            is_eager=self.is_eager or other.is_eager,
            is_known=self.is_known and other.is_known,
            found_by=united((self.found_by, other.found_by)),
        )


@dataclass(frozen=True, slots=True)
class DeviceOps:
    """Ops of the devices of one or more hosts.

    Attributes:
        ops: The ops, with distinct keys, in order of first appearance.
        total_ps: Time from the first op of each device to its last.
        idle_ps: The part of it that no op covers.
    """

    ops: tuple[DeviceOp, ...] = ()
    total_ps: int = 0
    idle_ps: int = 0

    @property
    def self_ps(self) -> int:
        """Self time of all ops: the basis of all shares of ops."""
        return sum(op.self_ps for op in self.ops)

    @property
    def busy_ps(self) -> int:
        """Total time without idle time."""
        return self.total_ps - self.idle_ps


def merged(parts: Iterable[DeviceOps]) -> DeviceOps:
    """Sum of the ops of several devices."""
    by_key: dict[OpKey, DeviceOp] = {}
    total = idle = 0
    for part in parts:
        total, idle = total + part.total_ps, idle + part.idle_ps
        for op in part.ops:
            known = by_key.get(op.key)
            by_key[op.key] = op if known is None else known.plus(op)
    return DeviceOps(tuple(by_key.values()), total, idle)


def of_runs(op: DeviceOp, runs: int, time_ps: int, self_ps: int, *, is_eager: bool) -> DeviceOp:
    """An op with the cost of one run → the op with the cost and time of all its runs."""
    traffic = op.traffic
    return replace(
        op,
        occurrences=runs,
        time_ps=time_ps,
        self_ps=self_ps,
        normalized_ps=time_ps,
        flops=op.flops * runs,
        model_flops=op.model_flops * runs,
        traffic=Traffic(
            traffic.all_bytes * runs,
            traffic.main_bytes * runs,
            tuple(
                (space, read * runs, written * runs) for space, read, written in traffic.by_space
            ),
        ),
        is_eager=is_eager,
    )
