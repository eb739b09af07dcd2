"""Kernels that ran on GPUs: launch shapes, registers, tensor cores, time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.found_by import FoundBy, found_by
from tfprof.captures.events.timeline.graph_ops import FOUND_BY
from tfprof.captures.events.timeline.names import GPU_PREFIX
from tfprof.captures.events.timeline.op_names import parse_op_name
from tfprof.captures.events.timeline.programs import HloKey, hlo_keys
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.rules import OURS, Rules
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.distinct import distinct_rows

_NS = 1000
"""Picoseconds of a nanosecond."""


class Kernel(NamedTuple):
    """The facts that all runs of a kernel for an op share, in the reference's order.

    Attributes:
        name: Demangled name.
        grid: Blocks of the grid, x, y, z.
        block: Threads of a block, x, y, z.
        registers: Registers of a thread.
        static_shared_bytes: Shared memory that the program declares.
        dynamic_shared_bytes: Shared memory that the launch requests.
        uses_tensor_cores: Whether it uses tensor cores, by its name.
        is_eligible: Whether the op could use tensor cores.
        op_name: The op that launched it; empty if unknown.
        found_by: How this op was found.
    """

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    static_shared_bytes: int
    dynamic_shared_bytes: int
    uses_tensor_cores: bool
    is_eligible: bool
    op_name: str
    found_by: FoundBy = ()


OpOfHlo = Callable[[HloKey], str | None]
"""The instruction of an event → name of the framework's op; None if unknown."""


class KernelTimes(NamedTuple):
    """Runs of a kernel.

    Attributes:
        kernel: The kernel.
        occupancy_percent: Theoretical occupancy, 0 if unknown.
        occurrences: Number of runs.
        total_ns: Time of all runs.
        min_ns: Shortest run.
        max_ns: Longest run.
    """

    kernel: Kernel
    occupancy_percent: float
    occurrences: int
    total_ns: int
    min_ns: int
    max_ns: int


def gpu_kernels(
    timeline: Timeline,
    op_of_hlo: OpOfHlo | None = None,
    *,
    rules: Rules = OURS,
) -> list[KernelTimes]:
    """All kernels of the GPUs of a host, those with the most time first.

    Args:
        timeline: The events.
        op_of_hlo: Returns the framework's op of an instruction; if unknown, ``tf_op`` counts.
        rules: Which names of kernels stand for tensor cores.
    """
    details = timeline.stat("kernel_details")
    gpus = np.array([plane.name.startswith(GPU_PREFIX) for plane in timeline.space.planes], bool)
    on_gpu = timeline.of_lines(lambda line: bool(gpus[line.plane]) and not line.is_derived)
    is_kernel = details.is_text() & on_gpu[details.events]
    is_kernel &= timeline.durations_ps[details.events] >= _NS
    is_kernel &= np.array([bool(text) for text in details.texts] or [False])[
        np.where(details.is_text(), details.values, 0)
    ]
    chosen = details.only(is_kernel)
    events = chosen.events
    if not len(events):
        return []
    op_stat, equation_stat = timeline.stat("tf_op"), timeline.stat("equation")
    ops = op_stat.texts_at(events)
    has_op = ops >= 0
    op_names = [parse_op_name(text).name for text in op_stat.texts]
    if op_of_hlo is not None:
        ops = _with_hlo(ops, op_names, timeline, events, op_of_hlo)
    if not rules.ignores_graphs:
        has_op = ops >= 0
    equations = equation_stat.texts_at(events)
    vendors, vendor_of = _vendors(timeline, events)
    columns = [timeline.kinds[events], chosen.values, ops, equations, has_op, vendor_of]
    ways = _ways(timeline, events, ops >= 0)
    columns.append(ways.place)
    distinct, _, place, _ = distinct_rows(columns)
    duration_ns = timeline.durations_ps[events] // _NS
    sums = _Sums(place, duration_ns, len(distinct))
    by_kernel: dict[Kernel, KernelTimes] = {}
    for row, (kind, text, op, equation, known, vendor, way) in enumerate(distinct.tolist()):
        kernel, occupancy = _kernel(
            timeline.names[kind],
            details.texts[text],
            op_names[op] if op >= 0 else "",
            equation_stat.texts[equation] if equation >= 0 else "",
            has_op=bool(known),
            vendor=vendors[vendor],
            rules=rules,
        )
        kernel = kernel._replace(found_by=ways.found_by[way])
        times = KernelTimes(kernel, occupancy, *sums.of(row))
        by_kernel[kernel] = _added(by_kernel[kernel], times) if kernel in by_kernel else times
    return sorted_kernels(by_kernel.values())


class _Ways(NamedTuple):
    """How the op of each kernel was found: places in ``found_by``, shape (n,)."""

    place: Int64Array
    found_by: list[FoundBy]


def _ways(timeline: Timeline, events: Int64Array, has_op: BoolArray) -> _Ways:
    told = timeline.stat(FOUND_BY).texts_at(events)
    distinct, _, place, _ = distinct_rows([told, has_op])
    return _Ways(place, found_by(timeline, events, place, distinct[:, 1] != 0))


def _vendors(timeline: Timeline, events: Int64Array) -> tuple[list[str], Int64Array]:
    """Vendors of the devices of the capture, and the place of each event's vendor among them."""
    written = [plane.own_stats().get("device_vendor") for plane in timeline.space.planes]
    vendors = [vendor if isinstance(vendor, str) else "" for vendor in written]
    planes = np.array([line.plane for line in timeline.lines], np.int64)
    return vendors, planes[timeline.lines_of(events)]


def _with_hlo(
    ops: Int64Array, op_names: list[str], timeline: Timeline, events: Int64Array, op_of_hlo: OpOfHlo
) -> Int64Array:
    """The op of each event: that of its instruction if it has one."""
    keys, place = hlo_keys(timeline, events)
    numbers = []
    for key in keys:
        name = None if key is None else op_of_hlo(key)
        if name is None:
            numbers.append(-1)
            continue
        numbers.append(len(op_names))
        op_names.append(name)
    kernel_of = np.array(numbers, np.int64)[place]
    return np.where(kernel_of >= 0, kernel_of, ops)


def sorted_kernels(kernels: Iterable[KernelTimes]) -> list[KernelTimes]:
    """Kernels with the most time first; of equal ones, the smaller key."""
    return sorted(kernels, key=lambda times: (-times.total_ns, times.kernel))


def merged_kernels(reports: Iterable[Iterable[KernelTimes]]) -> list[KernelTimes]:
    """Sum of the kernels of several hosts; equal ones add up."""
    by_kernel: dict[Kernel, KernelTimes] = {}
    for report in reports:
        for times in report:
            known = by_kernel.get(times.kernel)
            by_kernel[times.kernel] = times if known is None else _added(known, times)
    return sorted_kernels(by_kernel.values())


def _added(one: KernelTimes, other: KernelTimes) -> KernelTimes:
    return KernelTimes(
        one.kernel,
        one.occupancy_percent,
        one.occurrences + other.occurrences,
        one.total_ns + other.total_ns,
        min(one.min_ns, other.min_ns),
        max(one.max_ns, other.max_ns),
    )


class _Sums:
    """Number, sum, minimum and maximum of durations by row."""

    def __init__(self, place: Int64Array, duration_ns: Int64Array, size: int) -> None:
        self._count = np.bincount(place, minlength=size)
        self._total, self._most = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self._least = np.full(size, np.iinfo(np.int64).max)
        np.add.at(self._total, place, duration_ns)
        np.maximum.at(self._most, place, duration_ns)
        np.minimum.at(self._least, place, duration_ns)

    def of(self, row: int) -> tuple[int, int, int, int]:
        columns = (self._count, self._total, self._least, self._most)
        count, total, least, most = (int(column[row]) for column in columns)
        return count, total, least, most


_FIELD = re.compile(r"\b(\w+):(\S+)")


def _kernel(
    name: str,
    details: str,
    op_name: str,
    equation: str,
    *,
    has_op: bool,
    vendor: str,
    rules: Rules,
) -> tuple[Kernel, float]:
    """A kernel and its occupancy from ``kernel_details`` (``xplane_schema.h``)."""
    fields: dict[str, str] = dict(_FIELD.findall(details))
    amd = "" if rules.ignores_group_memory else fields.get("group_mem", "")
    static = _whole(fields.get("static_shared") or fields.get("shm") or amd)
    uses = uses_tensor_cores(name, vendor=vendor, rules=rules)
    eligible = has_op and (uses or is_eligible(op_name, equation, rules=rules))
    kernel = Kernel(
        name,
        _three(fields.get("grid", "")),
        _three(fields.get("block", "")),
        _whole(fields.get("regs", "0")),
        static,
        _whole(fields.get("dynamic_shared", "0")),
        uses,
        eligible,
        op_name,
    )
    occupancy = fields.get("occ_pct", "")
    return kernel, float(occupancy) if _DECIMAL.fullmatch(occupancy) else 0.0


_WHOLE = re.compile(r"[0-9]{1,18}")
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{0,20})?")


def _whole(text: str) -> int:
    return int(text) if _WHOLE.fullmatch(text) else 0


def _three(text: str) -> tuple[int, int, int]:
    """Numbers of an ``x,y,z``; missing ones are 1."""
    numbers = [_whole(part) for part in text.split(",")[:3] if part]
    x, y, z = (*numbers, 1, 1, 1)[:3]
    return x, y, z


_NVIDIA_NAMES = (
    "16816", "c1688", "conv1x1", "conv2d_c1_k1", "dgrad_1x1_stride_2x2", "direct_group",
    "first_layer_wgrad_kernel", "h1688", "h884", "hmma", "i16832", "i8816", "s884", "s1688",
    "xmma_gemm", "xmma_implicit_gemm", "xmma_sparse_conv", "xmma_sparse_gemm",
    "xmma_warp_specialized_implicit_gemm",
)  # fmt: skip
"""Parts of names that the reference uses to find kernels of Volta to Ampere."""

_NEWER_NAMES = ("gmma", "tensorop", "nvjet_", "_mma_", "utcmma", "tcgen05", "gemm_fusion_dot")
"""Parts of names for Hopper (``sm90_…gmma``, ``wgmma``), CUTLASS, Blackwell, and XLA's own."""

_AMD_NAMES = (
    "mfma", "wmma", "_xdl", "gtcx", "gemm_fusion", "moe_gemm", "moe_mxgemm", "aiter", "attn_fwd",
    "bwd_kernel_d", "TileFmhaShape<", "TileFmhaBwdShape<",
)  # fmt: skip
"""Parts of names of AMD's kernels that use matrix instructions."""

_AMD_TILE = re.compile(r"_MI\d+x\d+x\d+")
"""Kernels of AMD's Tensile that use matrix instructions (``Cijk_…_MI16x16x16x1_…``)."""

NVIDIA, AMD = "Nvidia", "AMD"
"""Values of ``device_vendor``."""


def uses_tensor_cores(kernel: str, *, vendor: str = "", rules: Rules = OURS) -> bool:
    """Whether a kernel uses tensor cores, or AMD's matrix cores, by its name.

    Args:
        kernel: Its name.
        vendor: Vendor of the device; if empty, names of both vendors count.
        rules: Whether names of newer devices, and of an unknown vendor, count.
    """
    is_amd, is_nvidia = vendor == AMD, vendor == NVIDIA
    if not (rules.ignores_newer_tensor_cores or is_amd or is_nvidia):
        is_amd = is_nvidia = True
    if is_amd and (any(part in kernel for part in _AMD_NAMES) or _AMD_TILE.search(kernel)):
        return True
    if not is_nvidia:
        return False
    newer = () if rules.ignores_newer_tensor_cores else _NEWER_NAMES
    return any(part in kernel for part in (*_NVIDIA_NAMES, *newer))


_ELIGIBLE_ENDS = (
    "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D", "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput", "/MatMul",
    "FusedMatMul", "/CudnnRNN", "XlaDot", "XlaDotV2",
)  # fmt: skip
_ELIGIBLE_PARTS = (
    "BatchMatMul", "CudnnRNNV", "CudnnRNNForward", "CudnnRNNBackprop", "dot_general",
    "conv_general_dilated",
)  # fmt: skip

_EQUATION = re.compile(r"[^,>]+,[^,>]+->[^,>]*")
_NUMBER_AT_END = re.compile(r"_\d+$")


def is_eligible(op_name: str, equation: str = "", *, rules: Rules = OURS) -> bool:
    """Whether an op could use tensor cores (``kernel_stats_utils.cc``).

    Args:
        op_name: Name of the op, without its type.
        equation: Equation of an einsum.
        rules: Whether ``MatMul_1``, and ``MatMul`` without a scope, count.
    """
    name = op_name if rules.needs_scope_of_matmul else "/" + _NUMBER_AT_END.sub("", op_name)
    return (
        name.endswith(_ELIGIBLE_ENDS)
        or any(part in name for part in _ELIGIBLE_PARTS)
        or _EQUATION.fullmatch(equation) is not None
    )


def tensor_core_share(kernels: Iterable[KernelTimes]) -> dict[str, tuple[int, int]]:
    """Time on tensor cores, and total kernel time, of each op, in ns."""
    by_op: dict[str, tuple[int, int]] = {}
    for times in kernels:
        on_cores, total = by_op.get(times.kernel.op_name, (0, 0))
        more = times.total_ns if times.kernel.uses_tensor_cores else 0
        by_op[times.kernel.op_name] = (on_cores + more, total + times.total_ns)
    return by_op
