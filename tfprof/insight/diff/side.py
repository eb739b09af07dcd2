"""One of two compared runs, with the cost of its ops in each step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.facts.tpu_steps import parts_of, tpu_run_steps
from tfprof.captures.facts.utilization import Utilization, utilization_of
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Run
from tfprof.core.columns.columns import Int64Array
from tfprof.errors import UsageError
from tfprof.inputs.profiler import Profiler, session_of
from tfprof.insight.diff.moments import Moments, moments_of_profile, moments_of_run
from tfprof.insight.diff.outputs import Output, dtype_of, outputs_of
from tfprof.profiles.accounting.profile_info import step_figures
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import MEASURES

Float64Array = npt.NDArray[np.float64]

_UNKNOWN = Output("", "")
_RUNS = MEASURES.index("run_count")
_TIMES = slice(MEASURES.index("accelerator_exec_micros"), MEASURES.index("cpu_exec_micros") + 1)
_PS_PER_MS = 1e9
_LATE = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class OpCosts:
    """The ops of a run that ran, with their cost in each step.

    Attributes:
        names: Full names, shape (n,).
        types: Op types.
        devices: Device of each, in lower case; empty if unknown.
        dtypes: Element type by the attribute ``T``; empty if unknown.
        shapes: Output shapes as text; empty if unknown.
        micros: Accelerator and CPU time, shape (n, steps).
        runs: Executions in a step on average, shape (n,).
        rows: Their rows in the op table of the profile, ascending.
        order: Their indices in the order of the graph; without a graph, in the order of their
            first runs.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    devices: tuple[str, ...]
    dtypes: tuple[str, ...]
    shapes: tuple[str, ...]
    micros: Float64Array
    runs: Float64Array
    rows: Int64Array
    order: Int64Array

    def __len__(self) -> int:
        return len(self.names)


class Side:
    """A compared run.

    Args:
        name: Its name.
        profiler: Its views; None for those of the capture, which are made when needed.
        run: The capture; None for a profile.
    """

    def __init__(self, name: str, profiler: Profiler | None, run: Run | None = None) -> None:
        self.name, self._profiler, self.run = name, profiler, run

    @cached_property
    def profiler(self) -> Profiler:
        """Its views."""
        if self._profiler is not None:
            return self._profiler
        assert self.run is not None
        return Profiler.from_xspace(self.run)

    @property
    def warnings(self) -> tuple[Note, ...]:
        """Remarks on parts of its capture that are unreadable or missing."""
        notes = () if self.run is None else self.run.notes
        return tuple(note for note in notes if note.severity != "info")

    @property
    def kind(self) -> str:
        """``capture`` or ``profile``."""
        return "profile" if self.run is None else "capture"

    @cached_property
    def profile(self) -> Profile:
        """Its ops and steps; float operations are counted where a view is compared."""
        return session_of(self.profiler).recorded()

    @cached_property
    def steps(self) -> RunSteps | None:
        """The steps of a capture that count for averages: neither cut nor unusual."""
        return None if self.run is None else run_steps(self.run).typical

    @cached_property
    def utilization(self) -> Utilization | None:
        """Float operations of the steps of a capture, and their share of the peak rate."""
        return None if self.run is None else utilization_of(self.run)

    @cached_property
    def left_out_ms(self) -> Float64Array:
        """Steps of a capture that took unusually long, which averages leave out."""
        if self.run is None:
            return np.zeros(0)
        whole = run_steps(self.run).whole
        return whole.slowest_ps()[whole.is_unusual] / _PS_PER_MS

    @cached_property
    def step_ms(self) -> Float64Array:
        """Wall time of each step, shape (steps,); of a profile, from its first to its last op."""
        if self.steps is not None:
            return self.steps.slowest_ps() / _PS_PER_MS
        walls = [step_figures(self.profile, step).wall_micros for step in self.profile.steps.steps]
        return np.array([wall / 1000 for wall in walls if wall is not None], np.float64)

    @cached_property
    def category_ms(self) -> dict[str, Float64Array]:
        """Time of each category in each step, which add up to the step; none for a profile."""
        if self.steps is None or not self.steps.n_steps:
            return {}
        assert self.run is not None
        tpu = tpu_run_steps(self.run, self.steps)
        if tpu is not None:
            return {name: amounts / _PS_PER_MS for name, amounts in parts_of(tpu)}
        return {one.name: self.steps.of(one) / _PS_PER_MS for one in CATEGORIES}

    @cached_property
    def moments(self) -> Moments:
        """Time of ops and other time, each moment counted once; adds up to the steps."""
        if self.steps is not None:
            return moments_of_run(self.steps)
        return moments_of_profile(self.profile)

    @cached_property
    def ops(self) -> OpCosts:
        """Its ops."""
        costs = op_costs(self.profile)
        if self.run is None:
            return costs
        said = outputs_of(self.run)
        known = [said.get(name, _UNKNOWN) for name in costs.names]
        return replace(
            costs,
            dtypes=tuple(d or one.dtype for d, one in zip(costs.dtypes, known, strict=True)),
            shapes=tuple(s or one.shape for s, one in zip(costs.shapes, known, strict=True)),
        )


def op_costs(profile: Profile) -> OpCosts:
    """The ops of a profile that ran, with their time in each step."""
    ops, numbers = profile.ops, profile.steps.steps
    micros = np.zeros((len(ops), len(numbers)), np.float64)
    runs = np.zeros(len(ops), np.float64)
    has_run = np.zeros(len(ops), np.bool_)
    begins = np.full(len(ops), np.iinfo(np.int64).max)
    for place, step in enumerate(numbers):
        records = profile.steps.records[step]
        micros[records.rows, place] = records.values[_TIMES].sum(axis=0)
        runs[records.rows] += records.values[_RUNS]
        has_run[records.rows] = True
        begin = records.window[0] - records.window[0].min(initial=_LATE)
        begins[records.rows] = np.minimum(begins[records.rows], begin)
    rows = np.flatnonzero(has_run)
    chosen = rows.tolist()
    strings = [*ops.strings.values, ""]
    type_ids, device_ids = ops.type_ids(classic=False), ops.device_ids.array
    return OpCosts(
        tuple(ops.name(row) for row in chosen),
        tuple(strings[int(type_ids[row])] for row in chosen),
        tuple(strings[int(device_ids[row])] for row in chosen),
        tuple(_dtype(ops.attrs_of(row).get("T")) for row in chosen),
        tuple(_shape_text(profile, row) for row in chosen),
        micros[rows],
        runs[rows] / max(len(numbers), 1),
        rows,
        np.argsort(rows if ops.definitions else begins[rows], kind="stable"),
    )


def _dtype(number: object) -> str:
    return dtype_of(number) if isinstance(number, int) else ""


def _shape_text(profile: Profile, row: int) -> str:
    list_id = int(profile.ops.output_shapes_ids.array[row])
    if list_id < 0:
        return ""
    return ", ".join(
        "×".join("?" if size is None or size < 0 else str(size) for size in shape) or "scalar"
        for shape in profile.ops.shapes.list_of(list_id)
        if shape is not None
    )


def same_kind(first: Side, second: Side) -> None:
    """Raise if the two cannot be compared at all.

    Raises:
        UsageError: One is a capture, the other a profile.
    """
    if first.kind != second.kind:
        raise UsageError(
            f"{first.name} is a {first.kind} and {second.name} a {second.kind}: their times come "
            "from different clocks; compare two captures or two profiles"
        )
