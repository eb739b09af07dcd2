"""The (op × step) table: the cost of each op in each step.

Of summed steps only the sums by op are there; their executions are read when needed.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.core.columns.strings import StringTable
from tfprof.errors import UsageError
from tfprof.profiles.model.executions import NO_OP, StepDetail

MEASURES = (
    "run_count",
    "accelerator_exec_micros",
    "cpu_exec_micros",
    "requested_bytes",
    "peak_bytes",
    "residual_bytes",
    "output_bytes",
)
"""Rows of ``StepRecords.values``, in order."""

_INT64 = 1 << 63

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class StepRecords:
    """Sums of one step over the ops that have a record in it.

    Attributes:
        rows: Op rows, ascending, shape (k,).
        values: Sums, shape (len(MEASURES), k); times in microseconds, sizes in bytes.
        window: First start (0 if no stat has a time) and last end, shape (2, k), microseconds.
    """

    rows: Int64Array
    values: Int64Array
    window: Int64Array

    @classmethod
    def from_stats(
        cls, rows: Int64Array, values: Iterable[Int64Array], window: Iterable[Int64Array]
    ) -> StepRecords:
        """Sum stats per op.

        Args:
            rows: Op row of each stat, shape (m,), any order, repeats allowed.
            values: Measures of each stat, shape (len(MEASURES), m).
            window: Start (0 without a time) and end of each stat, shape (2, m).
        """
        if not len(rows):
            return cls(rows, np.zeros((len(MEASURES), 0), np.int64), np.zeros((2, 0), np.int64))
        if (rows[1:] > rows[:-1]).all():  # one stat for each op, as most steps have
            sums = np.empty((len(MEASURES), len(rows)), np.int64)
            for measure, column in enumerate(values):
                sums[measure] = column
            starts, ends = window
            return cls(rows, sums, np.stack([np.maximum(starts, 0), np.maximum(ends, 0)]))
        order = np.argsort(rows, kind="stable")
        ascending = rows[order]
        first = np.flatnonzero(np.diff(ascending, prepend=ascending[0] - 1))
        # One measure after the other: large temporary arrays cost more than the sums.
        sums = np.empty((len(MEASURES), len(first)), np.int64)
        for measure, row in enumerate(values):
            np.add.reduceat(row[order], first, out=sums[measure])
        starts, ends = window
        start = np.minimum.reduceat(np.where(starts > 0, starts, _NEVER)[order], first)
        end = np.maximum(np.maximum.reduceat(ends[order], first), 0)
        start_or_none = np.where(start == _NEVER, 0, start)
        return cls(ascending[first], sums, np.stack([start_or_none, end]))

    def merge(self, other: StepRecords) -> StepRecords:
        """Sum of two parts of the same step."""
        return StepRecords.from_stats(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.values, other.values], axis=1),
            np.concatenate([self.window, other.window], axis=1),
        )


@dataclass(frozen=True, slots=True)
class OpMeasures:
    """Measures of every op, for one step or averaged.

    Attributes:
        values: Shape (len(MEASURES), n ops).
        exec_micros: Accelerator plus CPU time, shape (n,).
        recorded: Ops with a record in any step, shape (n,).
    """

    values: Int64Array
    exec_micros: Int64Array
    recorded: BoolArray


PartT = TypeVar("PartT", StepRecords, StepDetail)


class ByStep(Mapping[int, PartT]):
    """Parts of steps, by number; made and merged when they are first read.

    Example:
        >>> sums = ByStep[StepDetail]()
        >>> sums.add(7, StepDetail)
        >>> list(sums), len(sums[7].executions)
        ([7], 0)
    """

    def __init__(self) -> None:
        self._made: dict[int, PartT | None] = {}
        self._waiting: dict[int, list[Callable[[], PartT]]] = {}
        self._lock = threading.Lock()  # a view may be built while a step is added

    def add(self, step: int, make: Callable[[], PartT]) -> None:
        """Add a part of a step, made later; parts are merged in the order in which they came."""
        with self._lock:
            self._made.setdefault(step, None)
            self._waiting.setdefault(step, []).append(make)

    def __getitem__(self, step: int) -> PartT:
        with self._lock:
            part = self._made[step]
            if step in self._waiting:
                for make in self._waiting[step]:
                    part = make() if part is None else part.merge(make())
                self._made[step] = part
                del self._waiting[step]
        assert part is not None
        return part

    def __setitem__(self, step: int, part: PartT) -> None:
        with self._lock:
            self._waiting.pop(step, None)
            self._made[step] = part

    def __contains__(self, step: object) -> bool:
        return step in self._made

    def __iter__(self) -> Iterator[int]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


class _Found(NamedTuple):
    """What some step has.

    Attributes:
        n_added: Number of parts of steps that this is about.
        rows: Ops with a record, shape (last row + 1,).
        measured: Measures that are not always 0, shape (len(MEASURES),).
        began_micros: The first start; 0 without a time.
    """

    n_added: int
    rows: BoolArray
    measured: BoolArray
    began_micros: int


def _found_in(steps: Collection[StepRecords], n_added: int) -> _Found:
    n_rows = max((int(each.rows[-1]) + 1 for each in steps if len(each.rows)), default=0)
    rows, measured = np.zeros(n_rows, np.bool_), np.zeros(len(MEASURES), np.bool_)
    began = _NEVER
    for each in steps:
        rows[each.rows] = True
        measured |= each.values.any(axis=1)
        starts = each.window[0]
        began = min(began, int(starts[starts > 0].min(initial=_NEVER)))
    return _Found(n_added, rows, measured, 0 if began == _NEVER else began)


class StepTable:
    """The recorded steps, by number.

    Attributes:
        records: Sums per op.
        details: Every execution.
        strings: Devices, allocators, and names that belong to no op; for ``details``.
        apart: Steps of another kind than the others, such as evaluation, which are in no average.
    """

    __slots__ = ("_average", "_found", "_n_added", "apart", "details", "records", "strings")

    def __init__(self) -> None:
        self.records = ByStep[StepRecords]()
        self.details = ByStep[StepDetail]()
        self.strings = StringTable()
        self.apart: set[int] = set()
        self._n_added = 0
        self._found: _Found | None = None
        self._average: tuple[tuple[int, int, int], OpMeasures] | None = None

    @property
    def steps(self) -> list[int]:
        """Step numbers that were added, ascending."""
        return sorted(self.records)

    def add(self, step: int, records: StepRecords, detail: StepDetail | None = None) -> None:
        """Add records of a step; a step that is there already grows."""
        self.add_run(step, lambda: records, lambda: detail or StepDetail())

    def add_empty(self, steps: Iterable[int]) -> None:
        """Add empty steps, unless they are there."""
        records, detail = StepRecords.from_stats(np.zeros(0, np.int64), (), ()), StepDetail()
        for step in steps:
            if step not in self.records:
                self.records[step], self.details[step] = records, detail

    def add_run(
        self, step: int, records: Callable[[], StepRecords], detail: Callable[[], StepDetail]
    ) -> None:
        """Add a run to a step; records and detail are made when they are first read."""
        self.records.add(step, records)
        self.details.add(step, detail)
        self._n_added += 1

    def add_table(self, other: StepTable, rows: Int64Array) -> None:
        """Add the steps of another table; records of the same step add up.

        Args:
            other: The other table.
            rows: The row of each op of the other table's profile.
        """
        details = self.details_of(other, rows)
        for step in other.steps:
            records = other.records[step]
            moved = StepRecords.from_stats(rows[records.rows], records.values, records.window)
            self.add(step, moved, details[step])

    def details_of(self, other: StepTable, rows: Int64Array) -> dict[int, StepDetail]:
        """The executions of another table, in names of this one; arguments as ``add_table``."""
        strings = np.array([*map(self.strings.intern, other.strings.values), -1], np.int64)
        rows = np.append(rows, NO_OP)

        def new_ids(what: str, ids: Int64Array) -> Int64Array:
            return rows[ids] if what == "op" else strings[ids]

        return {step: other.details[step].renumbered(new_ids) for step in other.steps}

    def intern(self, texts: Iterable[str]) -> None:
        """Register texts that executions will refer to."""
        for text in texts:
            self.strings.intern(text)

    def add_sums(
        self, records: Mapping[int, StepRecords], detail: Callable[[int], StepDetail]
    ) -> None:
        """Add steps whose executions are made when they are first read."""
        for step, own in records.items():
            self.records[step] = own
            self.details.add(step, partial(detail, step))
            self._n_added += 1

    def recorded(self, n_ops: int) -> BoolArray:
        """Which of ``n_ops`` ops have a record in some step, shape (n,)."""
        rows = self._in_all_steps().rows[:n_ops]
        return np.pad(rows, (0, n_ops - len(rows)))

    def has_measure(self, names: Iterable[str]) -> bool:
        """Whether some step has a number other than 0 for one of these measures."""
        measured = self._in_all_steps().measured
        return any(measured[MEASURES.index(name)] for name in names)

    @property
    def began_micros(self) -> int:
        """The first start in any step, microseconds; 0 without a time."""
        return self._in_all_steps().began_micros

    def _in_all_steps(self) -> _Found:
        if self._found is None or self._found.n_added != self._n_added:
            self._found = _found_in(self.records.values(), self._n_added)
        return self._found  # kept for the other views, and for those of the next step

    def measures(self, step: int, n_ops: int) -> OpMeasures:
        """Measures of ``n_ops`` ops.

        Args:
            step: A step number, or negative for the average. The average of an op is over the
                steps *it* has a record in, truncated, each measure separately; the division is
                unsigned 64 bit, as in the original (``ExecStep`` averages in ``tfprof_node.h``).
                Steps that are ``apart`` are left out.
            n_ops: Number of ops.

        Returns:
            The measures, not to be changed.
        """
        state = (self._n_added, n_ops, len(self.apart))
        if step >= 0:
            return self._measures([step] if step in self.records else [], n_ops)
        if self._average is None or self._average[0] != state:
            numbers = [number for number in self.records if number not in self.apart]
            self._average = state, self._measures(numbers, n_ops)
        return self._average[1]

    def _measures(self, chosen: Sequence[int], n_ops: int) -> OpMeasures:
        sums: Int64Array = np.zeros((len(MEASURES) + 1, n_ops), np.int64)
        seen = np.zeros(n_ops, np.int64)
        for number in chosen:
            records = self.records[number]
            total = records.values[1] + records.values[2]
            for column, values in zip(sums, [*records.values, total], strict=True):
                column[records.rows] += values  # much faster than all columns at once
            seen[records.rows] += 1
        if len(chosen) > 1:
            divisor = np.maximum(seen, 1).astype(np.uint64)
            sums = (sums.view(np.uint64) // divisor).view(np.int64)
        return OpMeasures(sums[:-1], sums[-1], self.recorded(n_ops))


def step_number(step: int) -> int:
    """A step number that a caller gives, as an int.

    Raises:
        UsageError: It is not a 64-bit integer.
    """
    try:
        number = operator.index(step)
    except TypeError:
        raise UsageError(f"step={step!r} must be an integer") from None
    if not -_INT64 <= number < _INT64:
        raise UsageError(f"step={step!r} does not fit into 64 bits")
    return number


@dataclass(frozen=True, slots=True)
class SummedRuns:
    """Runs with the same device, op and step, as one; in the order of steps, then of devices.

    Attributes:
        devices: Names of devices.
        names: Name id of each op; -1 for copies, which may have no op.
        unknown: Names of those, by place.
        allocators: Names of allocators.
        device_of: Place in ``devices``, shape (n,).
        op_of: Place in ``names``.
        steps: Step numbers.
        n_runs: How many runs.
        n_negative: How many of them end before they start.
        micros: Their times.
        window: First start and last end, shape (2, n), microseconds.
        sizes: Requested, peak and residual bytes, shape (3, n).
    """

    devices: Sequence[str]
    names: Int64Array
    unknown: Mapping[int, str]
    allocators: Sequence[str]
    device_of: Int64Array
    op_of: Int64Array
    steps: Int64Array
    n_runs: Int64Array
    n_negative: Int64Array
    micros: Int64Array
    window: Int64Array
    sizes: Int64Array

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True)
class SummedSteps:
    """Sums of all steps, by step and op row.

    Attributes:
        steps: Step numbers, ascending, shape (n,).
        rows: Op rows, ascending within a step.
        values: As in ``StepRecords``, shape (len(MEASURES), n).
        window: As there, shape (2, n).
    """

    steps: Int64Array = field(default_factory=no_rows)
    rows: Int64Array = field(default_factory=no_rows)
    values: Int64Array = field(default_factory=lambda: np.zeros((len(MEASURES), 0), np.int64))
    window: Int64Array = field(default_factory=lambda: np.zeros((2, 0), np.int64))

    @classmethod
    def of(
        cls,
        steps: Int64Array,
        rows: Int64Array,
        values: Iterable[Int64Array],
        window: Iterable[Int64Array],
    ) -> SummedSteps:
        """Sum what is of the same step and op; arguments as ``StepRecords.from_stats``."""
        numbers, place = np.unique(steps, return_inverse=True)
        n_rows = int(rows.max(initial=0)) + 1
        sums = StepRecords.from_stats(place * n_rows + rows, values, window)
        return cls(numbers[sums.rows // n_rows], sums.rows % n_rows, sums.values, sums.window)

    def merge(self, other: SummedSteps, rows: Int64Array) -> SummedSteps:
        """The sum of both; ``rows`` is the row here of each op of the other."""
        return SummedSteps.of(
            np.concatenate([self.steps, other.steps]),
            np.concatenate([self.rows, rows[other.rows]]),
            np.concatenate([self.values, other.values], axis=1),
            np.concatenate([self.window, other.window], axis=1),
        )

    def of_steps(self, numbers: Collection[int]) -> dict[int, StepRecords]:
        """The sums of some steps, in their order; empty where a step has none."""
        places = np.searchsorted(self.steps, np.array([[n, n + 1] for n in numbers]).reshape(-1, 2))
        return {
            number: StepRecords(
                self.rows[begin:end], self.values[:, begin:end], self.window[:, begin:end]
            )
            for number, (begin, end) in zip(numbers, places.tolist(), strict=True)
        }
