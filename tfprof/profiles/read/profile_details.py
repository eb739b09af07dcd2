"""Single executions of a saved profile's steps, from the part that only tfprof's ``save`` writes.

They replace the executions of the nodes, and have to agree with them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from google.protobuf.message import DecodeError

from tfprof.core.columns.columns import BoolArray, Int64Array, taken_rows
from tfprof.core.wire import messages as pb
from tfprof.core.wire.plan import Plan, number, rows
from tfprof.core.wire.scan import Columns, scan
from tfprof.profiles.model.executions import (
    ACCELERATOR,
    HOST,
    NO_OP,
    OTHER,
    Allocations,
    AllocatorLevels,
    Executions,
    StepDetail,
    renumbered,
)
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import MEASURES
from tfprof.profiles.read.profile_damage import Damage
from tfprof.profiles.read.profile_fields import counts_of
from tfprof.profiles.read.profile_plan import Tables

if TYPE_CHECKING:
    from tfprof.core.wire.scan import Data

TableT = TypeVar("TableT", Executions, Allocations, AllocatorLevels)

_CODE = "damaged-executions"
_LOSS = (
    "single executions of a step could not be read; its sums are complete, but its timeline has "
    "whole microseconds, and neither streams nor copies"
)


class _UnusableError(Exception):
    """Why the executions of a step cannot be used."""


@dataclass(frozen=True, slots=True)
class NumberMap:
    """New numbers for old ones; -1 stays.

    Attributes:
        old: Ascending, shape (n,).
        new: Shape (n,); -1 where there is none.
    """

    old: Int64Array
    new: Int64Array

    def find(self, numbers: Int64Array) -> Int64Array:
        """The new number of each, -1 for unknown ones."""
        if not len(self.old):
            return np.full(len(numbers), -1, np.int64)
        place = np.minimum(np.searchsorted(self.old, numbers), len(self.old) - 1)
        return np.where(self.old[place] == numbers, self.new[place], -1)

    def find_all(self, numbers: Int64Array, what: str) -> Int64Array:
        """The new number of each; only -1 may lead to -1."""
        new_numbers = self.find(numbers)
        if ((new_numbers < 0) & (numbers != -1)).any():
            raise _UnusableError(f"a single execution names an unknown {what}")
        return new_numbers


@functools.cache
def _detail_plan() -> Plan:
    tables = ("executions", "allocations", "allocator_levels")
    columns = [rows(f"{table}.columns", [rows("values")]) for table in tables]
    return Plan("tfprof.StepDetailColumns", [number("step"), *columns])


def read_details(profile: Profile, tables: Tables, row_of_id: NumberMap, damage: Damage) -> None:
    """Add the single executions to a profile that has its ops and records.

    Args:
        profile: The profile.
        tables: Tables of the saved profile.
        row_of_id: Rows by node id.
        damage: Receives reports of damage.

    Raises:
        MalformedProfileError: The executions are damaged or contradict the nodes.
    """
    try:
        texts = [text.decode() for text in tables["detail_strings"].text("value")]
        saved_steps = [scan(_detail_plan(), data) for data in tables["step_details"].text("value")]
    except (DecodeError, RuntimeWarning, UnicodeDecodeError):
        _report(damage, "its single executions are unreadable (fields 1001 and 1002)")
        return
    ids = np.array([profile.steps.strings.intern(text) for text in texts], np.int64)
    strings = NumberMap(np.arange(len(ids)), ids)
    for saved in saved_steps:
        step = int(saved[0].number("step")[0])
        try:
            detail = _detail_of(profile, saved, row_of_id, strings, damage)
        except _UnusableError as error:
            _report(damage, f"step {step}: {error}")
            continue
        profile.steps.details[step] = detail


def note_lost_details(profile: Profile, data: Data) -> None:
    """Add a notice if a message has single executions, but was read without them."""
    try:
        steps = len(pb.ProfileProtoOwn.FromString(bytes(data)).step_details)
    except (DecodeError, RuntimeWarning):
        steps = 1
    profile.notices.add(_CODE, _LOSS, steps)


def _report(damage: Damage, problem: str) -> None:
    damage.report(_CODE, np.ones(1, np.bool_), lambda _: problem, _LOSS)


def _detail_of(
    profile: Profile,
    saved: list[Columns],
    row_of_id: NumberMap,
    strings: NumberMap,
    damage: Damage,
) -> StepDetail:
    """The executions of one step with rows and strings of the profile, checked."""
    step = int(saved[0].number("step")[0])
    if step not in profile.steps.records:
        raise _UnusableError("it has single executions, but no node has run in it")
    runs = _table(Executions, *saved[1:3])
    allocations = _table(Allocations, *saved[3:5])
    levels = _table(AllocatorLevels, *saved[5:7])
    if damage.recovers:  # nodes that are lost have no executions
        runs = _of_nodes(runs, row_of_id)
        allocations, levels = _of_nodes(allocations, row_of_id), _of_nodes(levels, row_of_id)

    def new_ids(what: str, ids: Int64Array) -> Int64Array:
        return (row_of_id if what == "op" else strings).find_all(ids, what)

    detail = replace(
        profile.steps.details[step],
        executions=renumbered(runs, new_ids),
        allocations=renumbered(allocations, new_ids),
        levels=renumbered(levels, new_ids),
    )
    _check_sums(profile, step, detail.executions)
    return detail


def _table(kind: type[TableT], columns: Columns, values: Columns) -> TableT:
    n_columns, counts = len(columns), counts_of(values, len(columns))
    if n_columns != len(fields(kind)) or (counts != counts[0]).any():
        raise _UnusableError("the columns of its single executions have different lengths")
    return kind(*values.number("value").reshape(n_columns, -1))


def _of_nodes(table: TableT, rows: NumberMap) -> TableT:
    return taken_rows(table, (table.rows == NO_OP) | (rows.find(table.rows) >= 0))


def _check_sums(profile: Profile, step: int, runs: Executions) -> None:
    """Check that the executions add up to the sums of the nodes."""
    records = profile.steps.records[step]
    timed = (runs.start_micros > 0) & (runs.rows >= 0)
    if not np.isin(runs.kinds, (OTHER, HOST, ACCELERATOR)).all():
        raise _UnusableError("a single execution is of an unknown kind")
    for kind, measure in ((HOST, "cpu_exec_micros"), (ACCELERATOR, "accelerator_exec_micros")):
        chosen: BoolArray = timed & (runs.kinds == kind)
        sums = np.zeros(len(profile.ops), np.int64)
        np.add.at(sums, runs.rows[chosen], runs.duration_micros[chosen])
        of_nodes = np.zeros(len(profile.ops), np.int64)
        of_nodes[records.rows] = records.values[MEASURES.index(measure)]
        if not np.array_equal(sums, of_nodes):
            raise _UnusableError("its single executions do not add up to the times of its nodes")
