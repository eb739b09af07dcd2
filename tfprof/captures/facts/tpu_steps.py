"""Steps of all TPU cores together, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfprof.captures.events.tpu.breakdown import TpuBreakdown, break_down
from tfprof.captures.facts.host_devices import uses_tpu
from tfprof.captures.facts.statistics import one_digit, summary
from tfprof.captures.facts.steps import HostSteps, RunSteps
from tfprof.captures.rules import Rules
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, text, timed_by
from tfprof.captures.run.run import Run
from tfprof.captures.run.table import Cell, Column, Table

_PS_PER_MS = 1e9

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TpuRunSteps:
    """Steps of all TPU cores of a run.

    Attributes:
        breakdown: The parts of the steps, over all TensorCores.
        tensor_cores: The TensorCores.
        sparse_cores: The SparseCores of newer TPUs.
        names: Names of the steps.
        n_unseen_chips: Number of chips of the system that are not in the capture; a lower limit.
    """

    breakdown: TpuBreakdown
    tensor_cores: tuple[HostSteps, ...]
    sparse_cores: tuple[HostSteps, ...]
    names: tuple[str, ...]
    n_unseen_chips: int

    def core_name(self, place: int, *, by_machine: bool = False) -> str:
        """The core that waits for input the longest in a step: ``host:ordinal``."""
        one = self.tensor_cores[int(self.breakdown.infeed_core[place])]
        assert one.core is not None
        name = one.host.machine if by_machine else one.host.name
        return f"{name}:{one.core.core.ordinal}"


def tpu_run_steps(run: Run, steps: RunSteps) -> TpuRunSteps | None:
    """The steps of a run's TPUs; None without TPUs."""
    if not any(map(uses_tpu, run.hosts)):
        return None
    pairs = [(one, one.core) for one in steps.hosts if one.core is not None]
    tensor = [(one, core) for one, core in pairs if not core.core.is_sparse]
    return TpuRunSteps(
        break_down(
            [core for _, core in tensor],
            None if run.rules.takes_shortest_core else steps.slowest_ps(),
            rules=run.rules,
        ),
        tuple(one for one, _ in tensor),
        tuple(one for one, core in pairs if core.core.is_sparse),
        tuple(steps.shown_names),
        _unseen_chips([core.core.chip for _, core in pairs]),
    )


def parts_of(steps: TpuRunSteps) -> list[tuple[str, Float64Array]]:
    """Names and amounts of the parts of steps, ps; they add up to the steps."""
    parts = steps.breakdown
    return [
        ("TensorCore compute", parts.compute),
        ("Input", parts.waiting),
        ("Output", parts.outfeed),
        ("All-reduce", parts.all_reduce_compute),
        ("Waiting in all-reduce", parts.all_reduce_sync),
        ("SparseCore compute", parts.sparse_compute),
        ("Idle", parts.idle),
    ]


def _unseen_chips(chips: list[int]) -> int:
    # Chips are numbered from 0 over the whole system.
    return max(chips, default=-1) + 1 - len(set(chips))


def _ms(name: str, label: str, meaning: str) -> Column:
    return amount(name, f"{label} (in ms)", "ms", f"TPU: {meaning}", "device")


_SPARSE_COLUMNS = (
    _ms("scv0ComputeTimeMs", "SparseCoreV0 compute",
        "time in which SparseCores of the first version computed"),
    _ms("scv0InfeedTimeMs", "SparseCoreV0 input", "time in which those waited for input"),
)  # fmt: skip
_ALL_REDUCE_COLUMNS = (
    _ms("allReduceComputeTimeMs", "All-reduce compute",
        "all-reduce, without waiting for other cores"),
    _ms("allReduceSyncTimeMs", "All-reduce synchronisation",
        "waiting for other cores in all-reduce"),
)  # fmt: skip
NEW_SPARSE_COLUMN = _ms(
    "scComputeTimeMs", "SparseCore compute", "time in which the busiest SparseCore was not idle"
)
_INFEED_SHARES = timed_by(
    "device",
    amount("infeedPercentAverage", "% step time waiting for input data", "percent",
           "TPU: part of the step that cores waited for input, on average"),
    Column("infeedPercentMin", "Infeed percent min", unit="percent", role="interval",
           meaning="TPU: the same of the core that waited the least"),
    Column("infeedPercentMax", "Infeed percent max", unit="percent", role="interval",
           meaning="TPU: the same of the core that waited the most"),
)  # fmt: skip


def _columns(steps: TpuRunSteps, rules: Rules) -> tuple[Column, ...]:
    has_v0 = not steps.sparse_cores
    times = (
        _ms("tcComputeTimeMs", "TensorCore compute", "time in which TensorCores computed"),
        *(_SPARSE_COLUMNS if has_v0 else ()),
        _ms("tcInfeedTimeMs", "TensorCore input", "time in which TensorCores waited for input"),
        _ms("tcOutfeedTimeMs", "TensorCore output", "time of output of TensorCores"),
        _ms("tcIdleTimeMs", "TensorCore idle", "time in which TensorCores did nothing"),
        _ms("hostTransferTimeMs", "Host transfer", "transfers between host and TensorCores"),
    )
    if not rules.counts_all_reduce_as_compute:
        times += _ALL_REDUCE_COLUMNS + (() if has_v0 else (NEW_SPARSE_COLUMN,))
    label = "stepnum" if rules.counts_all_reduce_as_compute else "Step"
    return (
        text("stepnum", label, "name of the step"),
        *times,
        shared.TOOLTIP,
        *_INFEED_SHARES,
    )


def _amounts_ms(steps: TpuRunSteps) -> dict[str, Float64Array]:
    """Times of each step by column id."""
    parts = steps.breakdown
    sparse = [
        one.core.span_ps - one.core.idle_ps for one in steps.sparse_cores if one.core is not None
    ]
    amounts = {
        "tcComputeTimeMs": parts.compute,
        "scv0ComputeTimeMs": parts.sparse_compute,
        "scv0InfeedTimeMs": parts.sparse_infeed,
        "tcInfeedTimeMs": parts.infeed,
        "tcOutfeedTimeMs": parts.outfeed,
        "tcIdleTimeMs": parts.idle,
        "hostTransferTimeMs": parts.host_transfer,
        "allReduceComputeTimeMs": parts.all_reduce_compute,
        "allReduceSyncTimeMs": parts.all_reduce_sync,
        "scComputeTimeMs": np.max(sparse, axis=0) if sparse else np.zeros(len(parts)),
    }
    return {name: values / _PS_PER_MS for name, values in amounts.items()}


def tpu_step_table(
    steps: TpuRunSteps, properties: dict[str, str], places: Sequence[int], *, rules: Rules
) -> Table:
    """The steps of all TensorCores together.

    Args:
        steps: The steps.
        properties: Further properties: averages, and the verdict.
        places: The steps to show.
        rules: Whether there are columns for all-reduce and SparseCores.
    """
    columns = _columns(steps, rules)
    rows = _rows(steps, columns, places)
    drawn = [column.id for column in columns if column.unit == "ms"]
    own = {"step_time_graph_column_ids": ",".join(["stepnum", *drawn, "tooltip"])}
    return Table("steps", columns, rows, own | properties, title="Steps")


def _rows(
    steps: TpuRunSteps, columns: tuple[Column, ...], places: Sequence[int]
) -> list[tuple[Cell, ...]]:
    amounts = _amounts_ms(steps)
    total = steps.breakdown.total / _PS_PER_MS
    shares = 100.0 * steps.breakdown.infeed_share
    rows: list[tuple[Cell, ...]] = []
    for place in places:
        name = steps.names[place]
        waiting = amounts["tcInfeedTimeMs"][place] + amounts["scv0InfeedTimeMs"][place]
        cells: dict[str, Cell] = {column: float(v[place]) for column, v in amounts.items()}
        cells |= {
            "stepnum": name,
            "tooltip": f"step {name}:\nTime waiting for input data = {waiting:.3f} ms, "
            f"Step time = {total[place]:.3f} ms",
            "infeedPercentAverage": float(shares[0, place]),
            "infeedPercentMin": float(shares[1, place]),
            "infeedPercentMax": float(shares[2, place]),
        }
        rows.append(tuple([cells[column.id] for column in columns]))
    return rows


def _two_digits(value: float) -> str:
    return f"{value:.2f}"


def _mean_ms(values_ps: Float64Array) -> str:
    return _two_digits(summary(values_ps.tolist()).average / _PS_PER_MS)


def active_ms(steps: TpuRunSteps) -> str:
    """Mean working time of TensorCores in a step, in the format of the reference."""
    return _mean_ms(steps.breakdown.active)


def tpu_averages(steps: TpuRunSteps) -> dict[str, str]:
    """The properties of the step table in the reference."""
    parts = steps.breakdown
    whole = summary((parts.total / _PS_PER_MS).tolist())
    waiting = summary((100.0 * parts.infeed_share[2]).tolist())
    properties = {
        "hardware_type": "TPU",
        **whole.texts("steptime_ms", _two_digits),
        **waiting.texts("infeed_percent", one_digit),
        "tc_active_ms_average": active_ms(steps),
        "active_steptime_ms_average": active_ms(steps),
    }
    return properties | {
        f"{key}_ms_average": _mean_ms(values)
        for key, values in (
            ("tc_compute", parts.compute),
            ("tc_infeed", parts.infeed),
            ("tc_outfeed", parts.outfeed),
            ("tc_idle", parts.idle),
            ("host_transfer", parts.host_transfer),
            ("scv0_compute", parts.sparse_compute),
            ("scv0_infeed", parts.sparse_infeed),
        )
    }


def waiting_cores_table(steps: TpuRunSteps) -> Table:
    """The core with the longest wait for input, a row for each step."""
    columns = (
        shared.STEP,
        text("core", "Core that waits the longest",
             "TPU core that waited for input the longest: host:number"),
        amount("infeed_ms", "Waiting for input", "ms", "how long it waited", "device"),
    )  # fmt: skip
    rows = [
        (name, steps.core_name(place), float(waited) / _PS_PER_MS)
        for place, (name, waited) in enumerate(
            zip(steps.names, steps.breakdown.infeed.tolist(), strict=True)
        )
    ]
    return Table("waiting_cores", columns, rows, title="Cores that wait for input the longest")
