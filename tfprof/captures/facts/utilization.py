"""Model and hardware FLOPs utilization (MFU, HFU) of the steps of a run.

    MFU = float operations of the model in a step / (period of the step × peak rate of the devices)
    HFU = the same with all executed products, also those that are computed a second time

Float operations are those of products (``hlo/products.py``). They are counted run by run: each
event of an op stands for one run, so loops and branches count as often as they ran.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tfprof.captures.facts.model_flops import model_flops
from tfprof.captures.facts.peak_rates import Peak, peak_of
from tfprof.captures.facts.ran_ops import RanOp
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.step_work import PROCESSOR, StepWork, step_work
from tfprof.captures.facts.steps import RunSteps, Steps
from tfprof.captures.hlo.call_costs import CallCosts
from tfprof.captures.hlo.products import Product
from tfprof.captures.run.run import Host, Run
from tfprof.core.columns.columns import Int64Array, sums_by
from tfprof.core.text import how_to_capture
from tfprof.core.text.short_names import folded

Float64Array = np.ndarray[tuple[int], np.dtype[np.float64]]

USER: Final = "given by the user"


@dataclass(frozen=True, eq=False)
class OpWork:
    """An op in the counted steps, on all devices together.

    Attributes:
        op: The op.
        runs: Number of runs.
        self_ps: Their self time.
        model_flops: Float operations of one run that are work of the model.
    """

    op: RanOp
    runs: int
    self_ps: int
    model_flops: int

    @property
    def product_flops(self) -> int:
        """Float operations of the products of one run."""
        return sum(one.flops for one in self.op.products)


@dataclass(frozen=True, eq=False)
class Utilization:
    """What the steps computed, and what the devices could have.

    Attributes:
        steps: The counted steps.
        period_ps: Period of each on the host that the others wait for, shape (n steps,).
        model_flops: Float operations of the model in each step, all devices together, shape
            (n steps,).
        executed_flops: The same of all executed products.
        n_devices: Number of devices that ran ops.
        ops: The ops.
        types: Types of the operands of products, with their share of the executed products.
        peak: The peak rate of one device.
        unknown: Why float operations are unknown; empty if they are known.
        is_given: Whether the user gave the float operations of the model.
    """

    steps: RunSteps
    period_ps: Int64Array
    model_flops: Float64Array
    executed_flops: Float64Array
    n_devices: int
    ops: Sequence[OpWork]
    types: Sequence[tuple[str, float]]
    peak: Peak
    unknown: str
    is_given: bool

    @property
    def n_steps(self) -> int:
        """Number of counted steps."""
        return len(self.period_ps)

    @property
    def n_device_steps(self) -> int:
        """Steps of all devices, at least 1: sums divided by it are of a step on one device."""
        return max(self.n_steps * self.n_devices, 1)

    @property
    def period_s(self) -> float:
        """Mean period of a step in seconds; 0 without steps."""
        return float(self.period_ps.mean()) / 1e12 if self.n_steps else 0.0

    @property
    def uncounted_share(self) -> float:
        """Share of the self time of ops whose float operations are unknown or incomplete."""
        lacking = sum(one.self_ps for one in self.ops if not one.op.is_counted)
        return part(lacking, sum(one.self_ps for one in self.ops))

    @property
    def is_least(self) -> bool:
        """Whether the executed products are a lower bound, because some ops are not counted."""
        return any(not one.op.is_counted for one in self.ops)

    @property
    def nothing_counted(self) -> str:
        """Why no executed products are known; empty if all ops are counted."""
        return nothing_counted(self.ops)

    @property
    def reason(self) -> str:
        """Why there is no utilization; empty if there is one."""
        return self.unknown or self.peak.unknown

    def shares(self, flops: Float64Array) -> Float64Array | None:
        """Utilization by these float operations in each step, whose mean is that of all steps.

        Steps have different lengths, so a mean of their shares would not be the share of all.
        """
        if self.reason or not self.n_steps:
            return None
        able = self.period_ps / 1e12 * self.peak.flops_per_s * self.n_devices
        share = flops.sum() / able.sum()
        return np.asarray(share + (flops - share * able) / able.mean())

    @property
    def mfu(self) -> float | None:
        """Model FLOPs utilization; None if unknown."""
        shares = self.shares(self.model_flops)
        return None if shares is None else float(shares.mean())

    @property
    def hfu(self) -> float | None:
        """Hardware FLOPs utilization; None if unknown."""
        shares = self.shares(self.executed_flops)
        if shares is None or (self.is_given and not self.executed_flops.any()):
            return None
        return float(shares.mean())


def utilization_of(
    run: Run,
    *,
    host: str | None = None,
    step: Steps | None = None,
    device: str | None = None,
    costs: CallCosts | None = None,
    flops_per_step: float | None = None,
) -> Utilization:
    """The utilization of the typical steps, or of some steps.

    Args:
        run: The run.
        host: The devices of this host only.
        step: Only these steps.
        device: Peak rates, as ``tfprof flops --device`` takes them; None for what is known.
        costs: Costs of custom calls.
        flops_per_step: Float operations of the model in a step on all devices together, by the
            user's own count; None to count them.

    Raises:
        UsageError: There is no such host, step or device.
    """
    hosts = run.chosen(host)
    steps = run_steps(run)
    shown = steps.typical if step is None else steps.take(np.array(steps.places(step), np.int64))
    groups = {one.host.name: one.times.groups for one in shown.hosts}
    chosen = [one for one in hosts if one.name in groups]
    counted = _Sums(shown.n_steps, costs or CallCosts())
    for one in chosen:
        counted.add(one, step_work(one), groups[one.name])
    executed, model, ops = counted.all()
    types = _types(ops)
    is_given = flops_per_step is not None
    if flops_per_step is not None:
        model = np.full(shown.n_steps, float(flops_per_step))
    usual = types[0][0] if types else ""
    return Utilization(
        shown, shown.slowest_ps(), model, executed, counted.n_devices, ops, types,
        peak_of(chosen or hosts, usual, device),
        _unknown(shown, counted, ops, executed, is_given=is_given), is_given,
    )  # fmt: skip


def _unknown(
    steps: RunSteps, counted: _Sums, ops: Sequence[OpWork], executed: Float64Array, *,
    is_given: bool,
) -> str:  # fmt: skip
    if not steps.n_steps:
        return "no step was captured, so there is no period"
    if not steps.slowest_ps().sum():
        return "the steps take no time"
    if counted.overlap:
        return "steps overlap, so the period of one step is not known"
    if not ops:
        return _without_ops(steps)
    why = "" if is_given or executed.any() else nothing_counted(ops)
    return why and f"{why}; --flops-per-step gives those of the model"


def _without_ops(steps: RunSteps) -> str:
    if steps.has_ops:
        return "no op of these steps is in a compiled program, which would tell float operations"
    return f"no op was recorded in any step ({how_to_capture.OPS})"


def nothing_counted(ops: Sequence[OpWork]) -> str:
    """Why no float operations of products are known; empty if all ops are counted."""
    uncounted = (one for one in ops if not one.op.is_counted)
    longest = min(uncounted, key=lambda one: (-one.self_ps, *one.op[:5]), default=None)
    if longest is None:
        return ""
    return (
        f"no float operations of products are known ({folded(longest.op.name)} takes the most "
        f"time, and {longest.op.unknown})"
    )


class _Sums:
    """Work of the steps of a run, host by host."""

    def __init__(self, n_steps: int, costs: CallCosts) -> None:
        self._n_steps, self._costs = n_steps, costs
        self._numbers: dict[RanOp, int] = {}
        self._rows: list[tuple[Int64Array, ...]] = []
        self._devices: set[tuple[str, int]] = set()
        self.overlap = False

    @property
    def n_devices(self) -> int:
        """Number of devices with ops; processors of one machine count once."""
        return len(self._devices)

    def add(self, host: Host, work: StepWork, groups: Int64Array) -> None:
        """Add the work of a host in some steps, given by their groups in order."""
        numbers = [
            self._numbers.setdefault(_with_given_cost(op, self._costs), len(self._numbers))
            for op in work.ops
        ]
        order = np.argsort(groups, kind="stable")
        place = np.searchsorted(groups[order], work.group).clip(max=max(len(groups) - 1, 0))
        rows = np.flatnonzero(groups[order][place] == work.group) if len(groups) else place[:0]
        self._rows.append((
            np.array(numbers or [0], np.int64)[work.op[rows]], order[place[rows]],
            work.runs[rows], work.self_ps[rows],
        ))  # fmt: skip
        for device in np.unique(work.device[rows]).tolist():
            self._devices.add((host.machine if device == PROCESSOR else host.name, device))
        self.overlap |= work.overlap

    def all(self) -> tuple[Float64Array, Float64Array, list[OpWork]]:
        """Executed and model float operations of each step, and the ops."""
        nothing = np.zeros(0, np.int64)
        columns = [np.concatenate([nothing, *column]) for column in zip(*self._rows, strict=True)]
        op, step, runs, self_ps = columns or [nothing] * 4
        ops = list(self._numbers)
        did_run = np.zeros(len(ops), np.bool_)
        did_run[op] = True
        chosen = np.flatnonzero(did_run).tolist()
        of_model = np.zeros(len(ops))
        of_model[chosen] = model_flops([ops[number] for number in chosen])
        of_all = np.array([float(sum(one.flops for one in each.products)) for each in ops])
        executed, model = np.zeros(self._n_steps), np.zeros(self._n_steps)
        np.add.at(executed, step, of_all[op] * runs)
        np.add.at(model, step, of_model[op] * runs)
        total_runs, total_ps = (sums_by(op, values, len(ops)) for values in (runs, self_ps))
        works = [
            OpWork(ops[number], int(total_runs[number]), int(total_ps[number]),
                   int(of_model[number]))
            for number in chosen
        ]  # fmt: skip
        return executed, model, works


def _with_given_cost(op: RanOp, costs: CallCosts) -> RanOp:
    """The op with the cost that the user gave for it, which wins over every other."""
    if not costs.by_pattern:
        return op
    given = costs.of(op.call, op.name)
    if given is None:
        return op
    product = Product(given.flops, "", op.path, 0, is_backward=False)
    n_bytes = op.n_bytes if given.bytes is None else given.bytes
    return op._replace(
        products=(product,), flops=given.flops, n_bytes=n_bytes, source=USER, unknown=""
    )


def _types(ops: Sequence[OpWork]) -> list[tuple[str, float]]:
    """Types of operands with their share of the products, the largest first."""
    flops = Counter[str]()
    for one in ops:
        for product in one.op.products:
            flops[product.element_type] += product.flops * one.runs
    del flops[""]  # unknown
    ranked = sorted(flops.items(), key=lambda item: (-item[1], item[0]))
    return [(name, part(amount, sum(flops.values()))) for name, amount in ranked]
