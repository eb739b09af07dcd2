"""ProfileProto → ``Profile``: reads what ``save`` or TensorFlow's ``WriteProfile`` wrote.

Only tfprof's ``save`` writes single executions. They replace those of the nodes, and have to agree
with them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array, taken_rows
from tfprof.core.columns.remarks import Notices
from tfprof.core.wire import messages as pb
from tfprof.core.wire.lockstep import PADDING, IrregularError
from tfprof.core.wire.parsing import parse
from tfprof.core.wire.plan import Plan, number, rows
from tfprof.core.wire.refusals import REFUSALS
from tfprof.core.wire.scan import Columns, Texts, scan
from tfprof.core.wire.walk import WireError, walk
from tfprof.errors import MalformedProfileError
from tfprof.files.open import open_bytes
from tfprof.files.sniff import Format
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
from tfprof.profiles.model.ops import SavedNodes
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import MEASURES
from tfprof.profiles.read.profile_fields import Damage, Tables, counts_of, scan_profile
from tfprof.profiles.read.profile_ops import OpReader
from tfprof.profiles.read.profile_steps import EXECS, read_steps

if TYPE_CHECKING:
    from tfprof.core.wire.scan import Data
    from tfprof.files.open import Source


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
    except REFUSALS:
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
    except REFUSALS:
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


MOST_SMALL_STEPS = 10_000
LEAST_STEP_BYTES = 100
"""More steps than ``MOST_SMALL_STEPS`` are read only if each takes so many bytes."""


def read_profile(source: Source, *, classic: bool, recover: bool = False) -> Profile:
    """Read a saved profile. Rows are in the order of the ids, which are not kept.

    Args:
        source: A ProfileProto as message, bytes or file (binary or text, also compressed).
        classic: Read it as the original does.
        recover: Read what is left of a damaged profile, and note what is lost.

    Raises:
        UnknownFormatError: It is something else.
        MalformedProfileError: It is damaged, and was not to be recovered.
    """
    data, label = open_bytes(source, Format.PROFILE, argument="profile")
    notices = None
    if recover:
        notices = Notices()
        if not _is_readable(data):
            data = _readable_part(data, notices)
    try:
        return _read(data, Profile(classic=classic), Damage(label, notices))
    except IrregularError:
        pass
    message = parse(pb.ProfileProto, data, source=label)
    message.DiscardUnknownFields()
    try:
        profile = _read(
            message.SerializeToString(), Profile(classic=classic), Damage(label, notices)
        )
    except IrregularError as error:
        raise MalformedProfileError(
            f"{label}: this ProfileProto contradicts itself. Save it again"
        ) from error
    if not classic:
        note_lost_details(profile, data)
    return profile


def _read(data: Data, profile: Profile, damage: Damage) -> Profile:
    """Fill an empty profile.

    Raises:
        IrregularError: Protobuf has to read the data and write them again.
        MalformedProfileError: As for ``read_profile``.
    """
    tables, nodes = scan_profile(data)
    ids = tables["nodes"].number("key")
    fresh = np.array(OpReader(profile, tables, len(data), damage).read(), np.int64)
    rows = np.arange(len(fresh), dtype=np.int64)
    profile.ops.definitions.append(_definitions(rows, nodes.take(fresh)))
    row_of_node = np.full(len(ids), -1, np.int64)
    row_of_node[fresh] = rows
    _check_steps(tables, len(data), damage)
    read_steps(profile, row_of_node, tables, damage)
    profile.steps.add_empty(tables["steps"].number("value").tolist())
    if not profile.classic:
        read_details(profile, tables, NumberMap(ids, row_of_node), damage)
    whole = tables[""]
    profile.has_traces = bool(whole.number("has_trace")[0])
    # The original forgets this one; its notice is gone after loading.
    misses_stream = bool(whole.number("miss_accelerator_stream")[0])
    profile.misses_accelerator_stream = misses_stream and not profile.classic
    profile.mark_loaded()
    for notice in damage.notices:
        profile.notices.add(notice.code, notice.text, notice.count)
    return profile


def _check_steps(tables: Tables, n_bytes: int, damage: Damage) -> None:
    """Refuse far more steps than the bytes can hold: even an empty step costs memory and time.

    Raises:
        MalformedProfileError: There are too many.
    """
    numbers = tables["steps"].number("value"), tables[EXECS].number("key")
    n_steps = len(np.unique(np.concatenate(numbers)))
    if n_steps > MOST_SMALL_STEPS and n_steps * LEAST_STEP_BYTES > n_bytes:
        raise damage.error(
            f"{n_steps} steps in {n_bytes} bytes: more than {MOST_SMALL_STEPS} are read only if "
            f"each takes {LEAST_STEP_BYTES} bytes, as a step in which ops ran does. Save the steps "
            "that you need"
        )


def _definitions(rows: Int64Array, nodes: Texts) -> SavedNodes:
    """The nodes of rows; of a mapped file, which may go away, a copy of the part with the nodes."""
    data, start, end = nodes.data, nodes.start, nodes.start + nodes.length
    first = 0
    if not isinstance(data, bytes):
        first = int(start.min(initial=len(data)))
        data = bytes(data[first : int(end.max(initial=0)) + len(PADDING)])
    if end.max(initial=0) - first + len(PADDING) > len(data):
        data += PADDING
    return SavedNodes(rows, data, start - first, end - first)


def _readable_part(data: Data, notices: Notices) -> bytes:
    """The fields of a damaged message that can be read, nodes one by one."""
    starts: list[int] = []
    end = len(data)
    try:
        starts.extend(field.tag_offset for field in walk(memoryview(data)))
    except WireError as error:
        end = error.offset
        notices.add(
            "truncated-profile",
            "the profile is cut off or broken; what comes after the break is missing",
        )
    pieces = [bytes(data[first:stop]) for first, stop in pairwise([*starts, end])]
    kept = [piece for piece in pieces if _is_readable(piece)]
    notices.add(
        "damaged-node",
        "nodes or other parts of the profile could not be read",
        len(pieces) - len(kept),
    )
    return b"".join(kept)


def _is_readable(piece: Data) -> bool:
    try:
        pb.ProfileProto.FromString(bytes(piece))
    except REFUSALS:
        return False
    return True
