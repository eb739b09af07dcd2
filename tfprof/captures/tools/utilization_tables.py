"""Tables of utilization: the formula with all of its numbers, scopes, and calls of other code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.utilization import OpWork, Utilization
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text, timed_by
from tfprof.captures.run.table import Cell, Table

NO_SCOPE: Final = "(no scope)"

UTILIZATION_COLUMNS = timed_by(
    "both",
    amount("mfu", "MFU", "fraction",
           "model FLOPs utilization: model FLOPs ÷ (period × peak rate × devices)"),
    amount("hfu", "HFU", "fraction",
           "hardware FLOPs utilization: executed FLOPs ÷ (period × peak rate × devices)"),
    text("bound", "Exactness", "at least: the cost of some ops is unknown, so both are lower "
         "bounds; exact: every op is counted"),
    count("model_flops", "Model FLOPs", "float operations of products in a step on all devices, "
          "without what is computed a second time"),
    text("model_flops_source", "Counted by", "who counted them"),
    count("executed_flops", "Executed FLOPs", "float operations of all products that ran in a "
          "step, on all devices"),
    count("other_flops", "Other FLOPs", "float operations in a step outside of products, such as "
          "sums and activations; they count in neither"),
    amount("uncounted", "Uncounted", "fraction",
           "part of the self time of ops whose float operations are unknown"),
    amount("period_ms", "Period", "ms", "from the start of a step to that of the next, on average"),
    count("steps", "Steps", "steps that count"),
    count("devices", "Devices", "devices that ran ops in them; processors of a machine are one"),
    amount("peak", "Peak rate", "gflops_per_s", "the most that one device can do"),
    text("precision", "Precision", "the precision of the peak rate"),
    text("operands", "Operands", "element types of the operands of products, with their share of "
         "the executed FLOPs"),
    text("peak_kind", "Peak rate by", "given by the user; table of the vendor; device, in the "
         "capture; or measured on the same machine"),
    text("peak_source", "Its source", "where the peak rate comes from"),
    amount("bandwidth", "Bandwidth", "gb_per_s", "the most that the memory of one device can do"),
    amount("tokens_per_s", "Tokens/s", "per_s", "tokens per second, from --tokens-per-step"),
    amount("tokens_per_s_device", "Tokens/s/device", "per_s", "the same by device"),
    amount("examples_per_s", "Examples/s", "per_s", "examples per second, from "
           "--examples-per-step"),
    amount("examples_per_s_device", "Examples/s/device", "per_s", "the same by device"),
)  # fmt: skip

SCOPE_COLUMNS = timed_by(
    "device",
    text("scope", "Scope", "name scope in the program"),
    amount("self_ms", "Self time", "ms", "time of its ops in a step, on one device"),
    amount("roofline_ms", "At peak rates", "ms", "the time that its ops would take if each reached "
           "the peak rate of the device, or of its memory"),
    amount("gap_ms", "Gap", "ms", "the difference, without ops whose cost is unknown"),
    amount("efficiency", "Of the speed of light", "fraction",
           "time at peak rates as part of the self time of the same ops"),
    text("bound_by", "Bound by", "what most of the time at peak rates is for: Compute or Memory"),
    amount("unknown_ms", "Unknown cost", "ms", "self time of ops whose cost is unknown"),
    count("executed_flops", "Executed FLOPs", "float operations of its products in a step, on one "
          "device"),
    amount("bytes", "Bytes", "bytes", "bytes that it moves in the main memory in a step, on one "
           "device"),
)  # fmt: skip

CALL_COLUMNS = timed_by(
    "device",
    text("call", "Call", "function that is called, or kernel that no compiled program holds"),
    text("op", "Op", "name of the instruction, or of the kernel",
         links=("hlo-stats", "kernel-stats")),
    text("program", "Program", "compiled program; empty for kernels without one"),
    shared.OCCURRENCES,
    amount("self_ms", "Self time", "ms", "time of its runs in a step, on one device"),
    amount("share", "Share", "fraction", "part of the self time of all ops"),
    count("flops", "FLOPs/run", "float operations of one run; empty if unknown"),
    amount("bytes", "Bytes/run", "bytes", "bytes that one run moves; empty if unknown"),
    text("source", "Cost by", "who states its cost"),
    text("unknown", "Why unknown", "why its cost is unknown"),
)  # fmt: skip

_BOOKKEEPING: Final = re.compile(
    r"p?jit\(.*\)|while|body|cond|closed_call|checkpoint|remat\d*|rematted_computation|"
    r"shard_map|pjit|custom_jvp_call|custom_vjp_call(_jaxpr)?|core_call|xla_call"
)
"""Parts of op names that JAX adds for itself."""


def scope_of_path(path: str) -> str:
    """The name scopes of an op, without its own name and without parts that JAX adds.

    >>> scope_of_path("jit(step)/while/body/closed_call/checkpoint/layer/mlp/dot_general")
    'layer/mlp'
    """
    parts = [one for one in path.split("/")[:-1] if one and not _BOOKKEEPING.fullmatch(one)]
    parts = [one for one in parts if "->" not in one]  # einsum writes its formula as a scope
    return "/".join(parts) or NO_SCOPE


def utilization_table(found: Utilization, tokens: float | None, examples: float | None) -> Table:
    """One row: MFU and HFU, with everything that they are made of."""
    n_steps, peak = max(found.n_steps, 1), found.peak
    is_known = not found.unknown
    executed = float(found.executed_flops.mean()) if found.n_steps else 0.0
    all_flops = sum(one.op.flops * one.runs for one in found.ops) / n_steps
    rates: list[Cell] = []
    for each in (tokens, examples):
        per_s = each / found.period_s if each is not None and found.period_s else None
        rates += [per_s, None if per_s is None else part(per_s, found.n_devices) or None]
    cells: tuple[Cell, ...] = (
        found.mfu, found.hfu, ("at least" if found.is_least else "exact") if is_known else None,
        round(float(found.model_flops.mean())) if is_known else None,
        ("the user" if found.is_given else "the ops that ran") if is_known else None,
        round(executed) if is_known and executed else None,
        round(max(all_flops - executed, 0.0)) if is_known else None,
        found.uncounted_share if found.ops else None,
        found.period_s * 1e3 if found.n_steps else None, found.n_steps, found.n_devices,
        peak.flops_per_s / 1e9 or None, peak.precision or None,
        ", ".join(f"{name} {share:.0%}" for name, share in found.types) or None,
        peak.kind or None, peak.source or None, peak.bytes_per_s / 1e9 or None,
        *rates,
    )  # fmt: skip
    return Table("mfu", UTILIZATION_COLUMNS, [cells], title="MFU and HFU")


@dataclass(slots=True)
class Scope:
    """The ops of a scope; times in ps, sums over all steps and devices.

    Attributes:
        name: Its name.
        known_ps: Self time of ops with known cost.
        unknown_ps: Self time of the others.
        compute_ps: Time at peak rates of ops that computation limits.
        memory_ps: The same of ops that memory limits.
        flops: Float operations of products.
        n_bytes: Bytes moved.
    """

    name: str
    known_ps: int = 0
    unknown_ps: int = 0
    compute_ps: float = 0.0
    memory_ps: float = 0.0
    flops: int = 0
    n_bytes: int = 0

    @property
    def roofline_ps(self) -> float:
        """The time at peak rates."""
        return self.compute_ps + self.memory_ps

    @property
    def gap_ps(self) -> float:
        """The time above that; not below 0."""
        return max(self.known_ps - self.roofline_ps, 0.0)

    def add(self, one: OpWork, found: Utilization) -> None:
        """Add an op."""
        op = one.op
        if op.is_counted:
            self.known_ps += one.self_ps
            compute_ps = part(op.flops * one.runs * 1e12, found.peak.flops_per_s)
            memory_ps = part(op.n_bytes * one.runs * 1e12, found.peak.bytes_per_s)
            if compute_ps >= memory_ps:
                self.compute_ps += compute_ps
            else:
                self.memory_ps += memory_ps
        else:
            self.unknown_ps += one.self_ps
        self.flops += one.product_flops * one.runs
        self.n_bytes += op.n_bytes * one.runs


def scopes_of(found: Utilization) -> list[Scope]:
    """The scopes with ops, the largest gap first, or the longest time if peak rates are unknown."""
    scopes: dict[str, Scope] = {}
    # Sums of fractions depend on their order, which is not that of the file.
    for one in sorted(found.ops, key=lambda one: (one.op.path, one.op.name, one.self_ps)):
        name = scope_of_path(one.op.path)
        scopes.setdefault(name, Scope(name)).add(one, found)
    return sorted(
        scopes.values(), key=lambda one: (-one.gap_ps, -one.known_ps - one.unknown_ps, one.name)
    )


def scope_table(found: Utilization, scopes: Iterable[Scope]) -> Table:
    """Time of scopes beside the time at peak rates."""
    per = found.n_device_steps
    has_roof = has_roofline(found)
    rows: list[tuple[Cell, ...]] = [
        (
            one.name, (one.known_ps + one.unknown_ps) / per / 1e9,
            *(_against_roofline(one, per) if has_roof and one.known_ps else (None,) * 4),
            one.unknown_ps / per / 1e9, round(one.flops / per), round(one.n_bytes / per),
        )
        for one in scopes
    ]  # fmt: skip
    return Table("scopes", SCOPE_COLUMNS, rows, title="Scopes, and the speed of light")


def has_roofline(found: Utilization) -> bool:
    """Whether both peak rates are known."""
    return bool(found.peak.flops_per_s and found.peak.bytes_per_s)


def _against_roofline(one: Scope, per: int) -> tuple[Cell, ...]:
    limit = "Compute" if one.compute_ps >= one.memory_ps else "Memory"
    return (
        one.roofline_ps / per / 1e9, one.gap_ps / per / 1e9, part(one.roofline_ps, one.known_ps),
        limit if one.roofline_ps else None,
    )  # fmt: skip


def call_table(found: Utilization) -> Table:
    """Calls of code outside of the program, and other ops whose cost is unknown."""
    chosen = [one for one in found.ops if one.op.call or not one.op.is_counted]
    chosen.sort(key=lambda one: (-one.self_ps, one.op.program, one.op.name))
    total_ps = sum(one.self_ps for one in found.ops)
    per = found.n_device_steps
    rows = [_call_row(one, total_ps, per) for one in chosen]
    return Table("calls", CALL_COLUMNS, rows, title="Calls of other code, and unknown costs")


def _call_row(one: OpWork, total_ps: int, per: int) -> tuple[Cell, ...]:
    op, is_known = one.op, one.op.is_counted
    return (
        op.call or op.category, op.name, op.program or None, one.runs, one.self_ps / per / 1e9,
        part(one.self_ps, total_ps), one.product_flops if is_known else None,
        op.n_bytes if is_known else None, op.source or None, op.unknown or None,
    )  # fmt: skip


def operands_text(types: Sequence[tuple[str, float]]) -> str:
    """The element types of most products: ``f32``, ``bf16 and f32``; empty if unknown."""
    return " and ".join(name for name, share in types if share >= 0.1)
