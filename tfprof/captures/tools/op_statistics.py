"""Op stats: the framework's ops on host and device, by self time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from tfprof.captures.events.ops.device_ops import WITHOUT_OP, Traffic
from tfprof.captures.events.ops.found_by import FoundBy
from tfprof.captures.events.ops.framework_ops import FrameworkOp, framework_ops
from tfprof.captures.events.ops.gpu_kernels import tensor_core_share
from tfprof.captures.events.ops.host_ops import IDLE
from tfprof.captures.facts.bound_by import bound_by, run_peaks
from tfprof.captures.facts.device_op_db import asynchronous_work, device_ops
from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.host_devices import mixed_devices
from tfprof.captures.facts.host_op_db import host_ops
from tfprof.captures.facts.one_step import of_step
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.steps import Steps
from tfprof.captures.facts.training import is_backward, programs_train
from tfprof.captures.rules import OURS
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, text, timed_by
from tfprof.captures.run.result import Chart, Note, ToolResult, pie, scope_of
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Column, Table
from tfprof.captures.tools.found_by_column import with_found_by
from tfprof.captures.tools.gpu_kernels import host_kernels
from tfprof.core.text.claims import Claim, scoped
from tfprof.core.text.units import milliseconds

MOST_CLASSIC = 500
_CHARTED = 10

TIME_COLUMNS = timed_by(
    "of the row",
    shared.RANK,
    text("host_or_device", "Host/device", "where the op ran: Host or Device"),
    text("type", "Operation Type", "op type", links=("trace",)),
    text("operation", "Operation Name", "name of the op; IDLE is the time without any",
         links=("kernel-stats", "hlo-stats", "trace")),
    replace(shared.OCCURRENCES, label="#Occurrences"),
    shared.TOTAL_TIME,
    shared.AVG_TIME,
    replace(shared.TOTAL_SELF_TIME, label="Total self-time (us)"),
    replace(shared.AVG_SELF_TIME, label="Avg. self-time (us)"),
    amount("device_total_self_time_percent", "Total self-time on Device (%)", "fraction",
           "part of the self time of all rows of devices"),
    amount("device_cumulative_total_self_time_percent", "Cumulative total-self time on Device (%)",
           "fraction", "the same, of this row and those above it"),
    amount("host_total_self_time_percent", "Total self-time on Host (%)", "fraction",
           "part of the self time of all rows of hosts"),
    amount("Host_cumulative_total_self_time_percent", "Cumulative total-self time on Host (%)",
           "fraction", "the same, of this row and those above it"),
)  # fmt: skip
"""What ran, how often and for how long; results of old versions also have these columns."""

COLUMNS = timed_by(
    "of the row",
    *TIME_COLUMNS,
    amount("measured_flop_rate", "Normalized FLOP Rate (FLOPs/s)", "gflops_per_s",
           "float operations per time; empty if the cost is unknown"),
    shared.MODEL_FLOP_RATE,
    replace(shared.MEMORY_BW, label="Measured Memory BW (GBytes/Sec)"),
    replace(shared.INTENSITY, label="Operational Intensity (FLOPs/Byte)"),
    amount("gpu_tensorcore_utilization", "GPU TensorCore utilization", "fraction",
           "part of its kernels' time in kernels that use tensor cores"),
    shared.BOUND_BY,
    text("eager", "Execution mode",
         "Eager if one of its runs was outside a compiled function, else Function"),
)  # fmt: skip

_TENSOR_CORES = "gpu_tensorcore_utilization"


class Op(NamedTuple):
    """An op before the sorting of rows."""

    on_device: bool
    name: str
    type: str
    occurrences: int
    time_ps: int
    self_ps: int
    is_eager: bool
    flops: int = 0
    model_flops: int = 0
    traffic: Traffic = Traffic()
    program: str = ""
    found_by: FoundBy = ()
    is_asynchronous: bool = False

    @property
    def work_ps(self) -> int:
        """Time of its work; 0 if that is unknown."""
        return 0 if self.is_asynchronous else self.time_ps


def all_host_ops(hosts: Sequence[Host]) -> list[Op]:
    """Collect ops on the threads of several hosts, then ``IDLE`` for the time without an op."""
    times = host_ops.together(hosts)
    columns = zip(
        times.ops, times.occurrences.tolist(), times.time_ps.tolist(), times.self_ps.tolist(),
        times.is_eager.tolist(), strict=True,
    )  # fmt: skip
    ops = [
        Op(False, op.name, op.type, count, time, own, eager, program=op.program)
        for op, count, time, own, eager in columns
    ]
    return [*ops, Op(False, IDLE, IDLE, 0, times.idle_ps, times.idle_ps, is_eager=False)]


def all_device_ops(hosts: Sequence[Host]) -> tuple[list[Op], int]:
    """Collect device ops of several hosts, then ``IDLE``, and the time of all devices, ps."""
    whole = device_ops.together(hosts)
    rules = hosts[0].rules if hosts else OURS
    rows = [_device_op(op) for op in framework_ops(whole.ops, rules=rules)]
    if whole.total_ps:
        rows.append(Op(True, IDLE, IDLE, 0, whole.idle_ps, whole.idle_ps, is_eager=False))
    return rows, whole.total_ps


def _device_op(op: FrameworkOp) -> Op:
    return Op(
        True, op.name, op.type or "Unknown", op.occurrences, op.time_ps, op.self_ps, op.is_eager,
        op.flops, op.model_flops, op.traffic, op.program, op.found_by, op.is_asynchronous,
    )  # fmt: skip


def in_order(ops: Iterable[Op]) -> list[Op]:
    """Sort ops by self time, the largest first; equal ones by name."""
    return sorted(ops, key=lambda op: (-op.self_ps, op.name))


def op_stats(
    run: Run, *, host: str | None = None, step: Steps | None = None, classic: bool = False
) -> ToolResult:
    """List the framework's ops on host and device.

    Args:
        run: The run.
        host: Only this host.
        step: Only the step with this number, or the steps with these numbers.
        classic: The reference's numbers: 500 rows each of host and device, without ops that end
            together with their parent.

    Raises:
        UsageError: There is no such host or step.
    """
    run = of_step(run.in_mode(classic=classic), step)
    hosts = run.chosen(host)
    on_host = all_host_ops(hosts)
    on_device, device_total = all_device_ops(hosts)
    make = _TableMaker(run, hosts, on_host, on_device, device_total)
    with_idle, without_idle = make.table(idle=True), make.table(idle=False)
    notes = list(run.notes)
    if len(on_host) == 1 and not on_device:
        notes.append(Note("warning", "no ops of TensorFlow or JAX are in this capture"))
    if not on_device:
        notes.append(Note("info", "no ops on devices: the capture has none, or did not record it"))
    notes += mixed_devices(hosts)
    notes += _without_op(on_device)
    notes += asynchronous_work(device_ops.together(hosts))
    return ToolResult(
        "op-stats",
        "Op stats",
        claims=scoped(_claims(on_host, on_device), scope_of([one.name for one in hosts], step)),
        tables={"ops": without_idle, "ops_with_idle": with_idle},
        charts=tuple(_charts(on_host, on_device)),
        notes=tuple(notes),
        gviz=lambda: [with_idle.to_gviz(), without_idle.to_gviz()],
    )


class _TableMaker:
    def __init__(
        self,
        run: Run,
        hosts: Sequence[Host],
        on_host: Sequence[Op],
        on_device: Sequence[Op],
        device_total_ps: int,
    ) -> None:
        self._sides = (on_device, on_host)
        self._totals = (device_total_ps, sum(op.self_ps for op in on_host))
        self._rules = run.rules
        self._cells: dict[int, tuple[tuple[Cell, ...], tuple[Cell, ...]]] = {}
        self._hardware = environment(run).hardware
        self._peaks = run_peaks(run)
        trains = any(is_backward(op.name, op.type) for side in self._sides for op in side)
        trains = trains or (not self._rules.ignores_compiled_gradients and programs_train(hosts))
        self._guesses = {
            "task_type": "Training" if trains else "Inference",
            "architecture_type": "Unknown",
        }
        self._on_cores = tensor_core_share(host_kernels.together(hosts))

    def table(self, *, idle: bool) -> Table:
        rows: list[tuple[Cell, ...]] = []
        programs: list[str] = []
        found_by: list[FoundBy] = []
        for side, total in zip(self._sides, self._totals, strict=True):
            ops = in_order(side)
            base = total if idle else sum(op.self_ps for op in ops if op.type != IDLE)
            if self._rules.cuts_tables:
                ops = ops[:MOST_CLASSIC]
            if not idle:
                ops = [op for op in ops if op.type != IDLE]
            so_far = 0.0
            for op in ops:
                share = part(op.self_ps, base)
                so_far += share
                rows.append(self._row(len(rows) + 1, op, share, so_far))
                programs.append(op.program)
                found_by.append(op.found_by)
        columns: Sequence[Column] = COLUMNS
        if self._hardware != "GPU":
            place = [column.id for column in COLUMNS].index(_TENSOR_CORES)
            columns = (*COLUMNS[:place], *COLUMNS[place + 1 :])
            rows = [(*row[:place], *row[place + 1 :]) for row in rows]
        name = "ops_with_idle" if idle else "ops"
        title = "Ops, idle time included" if idle else "Ops"
        if not self._rules.drops_programs:
            columns, rows = _with_programs(columns, rows, programs)
            title += f", shares of the time of {'devices and threads' if idle else 'all ops'}"
        columns, rows = with_found_by(columns, rows, found_by)
        return Table(name, columns, rows, self._guesses, title=title)

    def _row(self, rank: int, op: Op, share: float, so_far: float) -> tuple[Cell, ...]:
        if id(op) not in self._cells:  # both tables contain it
            self._cells[id(op)] = self._cells_of(op)
        before, after = self._cells[id(op)]
        shares = (share, so_far, 0.0, 0.0) if op.on_device else (0.0, 0.0, share, so_far)
        return (rank, *before, *shares, *after)

    def _cells_of(self, op: Op) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
        """The cells before and after the shares."""
        on_cores, kernel_time = self._on_cores.get(op.name, (0, 0)) if op.on_device else (0, 0)
        rates: tuple[Cell, ...] = (
            gflops_per_s(op.flops, op.time_ps), gflops_per_s(op.model_flops, op.time_ps),
            gib_per_s(op.traffic.all_bytes, op.time_ps),
            part(op.flops, op.traffic.all_bytes),
        )  # fmt: skip
        if not (self._rules.writes_zeros or has_known_rates(op)):
            rates = (None,) * len(rates)
        before = (
            "Device" if op.on_device else "Host", op.type, op.name, op.occurrences,
            op.time_ps / 1e6, part(op.time_ps / 1e6, op.occurrences),
            op.self_ps / 1e6, part(op.self_ps / 1e6, op.occurrences),
        )  # fmt: skip
        after = (
            *rates,
            part(on_cores, kernel_time),
            bound_by(op.flops, op.traffic, op.work_ps, self._peaks),
            "Eager" if op.is_eager else "Function",
        )
        return before, after


_PROGRAM = text("program", "Program", "compiled program that the op is in")
_BEFORE_PROGRAM = [column.id for column in COLUMNS].index("operation") + 1


def _with_programs(
    columns: Sequence[Column], rows: list[tuple[Cell, ...]], programs: Sequence[str]
) -> tuple[Sequence[Column], list[tuple[Cell, ...]]]:
    """Add a column with the programs of ops, if any op is in one."""
    if not any(programs):
        return columns, rows
    place = _BEFORE_PROGRAM
    with_program = [
        (*row[:place], program, *row[place:]) for row, program in zip(rows, programs, strict=True)
    ]
    return (*columns[:place], _PROGRAM, *columns[place:]), with_program


def _without_op(on_device: Sequence[Op]) -> list[Note]:
    lost = sum(op.self_ps for op in on_device if op.name == WITHOUT_OP)
    total = sum(op.self_ps for op in on_device if op.type != IDLE)
    if not lost:
        return []
    return [
        Note("warning", f"{milliseconds(lost / 1e9)} of kernels ({lost / total:.1%} of the time of "
             f"all on the devices) belong to no op that the capture names: the row {WITHOUT_OP}. "
             "Kernel stats list them")
    ]  # fmt: skip


def has_known_rates(op: Op) -> bool:
    """Whether the cost of an op is known, as in programs of XLA, and the time of its work."""
    is_known = op.flops or op.model_flops or op.traffic.all_bytes
    return bool(is_known) and not op.is_asynchronous


def gflops_per_s(flops: int, time_ps: int) -> float:
    """Rate of float operations in 10^9 per second."""
    return part(flops, time_ps / 1000.0)


def gib_per_s(size: int, time_ps: float) -> float:
    """Rate of bytes in 2^30 per second."""
    return part(size / 2**30, time_ps / 1e12)


def _claims(on_host: Sequence[Op], on_device: Sequence[Op]) -> Iterator[Claim]:
    for side, of_what, ops in (
        ("device", "of the time of the devices", on_device),
        ("host", "of the time of its threads", on_host),
    ):
        running = in_order(op for op in ops if op.type != IDLE)
        total = sum(op.self_ps for op in running)
        if not total:
            continue
        top = running[0]
        idle = sum(op.self_ps for op in ops if op.type == IDLE)
        yield Claim(
            top.name, "self_share", top.self_ps / total, "fraction",
            basis=f"self times of all ops on the {side}",
            details={"op_count": len(running), "total_ms": total / 1e9, "type": top.type,
                     "idle_share": idle / (idle + total)},
            words=f"On the {side}, {{op_count:op}} took {{total_ms}}; {{subject}} ({{type}}) took "
            f"{{value}} of it. No op ran for {{idle_share}} {of_what}.",
        )  # fmt: skip


def _charts(on_host: Sequence[Op], on_device: Sequence[Op]) -> list[Chart]:
    """Self time by type and by op, on host and device."""
    charts: list[Chart] = []
    for side, ops in (("device", on_device), ("host", on_host)):
        running = [op for op in ops if op.type != IDLE]
        by_type = [(op.type, op.self_ps) for op in running]
        by_op = [(op.name, op.self_ps) for op in running]
        for what, times_ps in (("type", by_type), ("op", by_op)):
            title = f"Self time on the {side} by {what}"
            charts += pie(
                f"{side}_by_{what}", title, what, sorted(times_ps), most=_CHARTED,
                series="self time",
            )  # fmt: skip
    return charts
