"""Replayed time of each mark, and the path that decides it.

A mark follows the previous one on its thread, and all marks that it waited for. Its delay after
the last of these is the recorded one, times the factor of the event that it lies in. An idle thread
between two pieces of work of one op has the factor of that op, because the pieces follow each other
like its other ones. All times are whole picoseconds: without a change, every time is the recorded
one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.insight.diff.shared_time import Float64Array
from tfprof.insight.whatif.marks import IDLE, Marks
from tfprof.insight.whatif.waits import Waits

_NEVER = int(np.iinfo(np.int64).min)


@dataclass(frozen=True, eq=False)
class Factors:
    """The factor of the time of each event of a host.

    Attributes:
        parts: From 0 to 1, shape (n,).
        deciding: The event with that factor, itself or another one, -1 for none, shape (n,).
    """

    parts: Float64Array
    deciding: Int64Array


@dataclass(frozen=True, eq=False)
class Replay:
    """Times of all marks.

    Attributes:
        marks: The marks.
        times_ps: The new time of each, shape (2 n,).
        joins: Marks that wait for others, ascending, shape (m,).
        deciding: The mark that each of these follows, shape (m,).
    """

    marks: Marks
    times_ps: Int64Array
    joins: Int64Array
    deciding: Int64Array

    def path(self, end: int, begin_ps: int) -> tuple[Int64Array, Int64Array]:
        """The path that decides the time of a mark, back to a time.

        Args:
            end: The mark.
            begin_ps: Where the path begins, in the new time.

        Returns:
            Marks, the last first, and the mark that each of them follows; shape (k,) each.
        """
        marks, before = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        at = end
        while self.times_ps[at] > begin_ps:
            place = int(np.searchsorted(self.joins, at, side="right")) - 1
            begin = int(self.marks.first[self.marks.lines[at]])
            waits = place >= 0 and self.joins[place] >= begin
            join = int(self.joins[place]) if waits else begin
            steps = np.arange(at, join, -1)
            marks.append(steps)
            before.append(steps - 1)
            if not waits:
                break
            at = int(self.deciding[place])
            marks.append(np.array([join]))
            before.append(np.array([at]))
        return np.concatenate(marks), np.concatenate(before)


def replayed(marks: Marks, waits: Waits, factors: Factors, from_ps: int) -> Replay:
    """Replay the marks.

    Args:
        marks: The marks of a host.
        waits: Their waits for marks of other threads.
        factors: The factor of the time of each event.
        from_ps: Time from which the factors apply.
    """
    is_first = marks.is_first
    spans = np.diff(marks.times_ps, prepend=0)
    parts = np.append(factors.parts, 1.0)  # the last one is that of gaps
    decides = factors.deciding[marks.events]
    scale = parts[_between(marks, decides, np.arange(len(marks)) - 1, np.arange(len(marks)))]
    scale[(spans < 0) | (marks.times_ps - spans < from_ps)] = 1.0
    passed = np.cumsum(np.rint(spans * scale).astype(np.int64))
    starts = np.flatnonzero(is_first)
    counts = np.diff(starts, append=len(marks))
    passed += np.repeat(marks.times_ps[starts] - passed[starts], counts)

    joins, begins = np.unique(waits.later, return_index=True)
    latest_ps = np.maximum.reduceat(marks.times_ps[waits.earlier], begins) if len(joins) else joins
    previous_ps = np.where(is_first[joins], _NEVER, marks.times_ps[joins - 1])
    last_ps = np.maximum(latest_ps, previous_ps)
    last = _latest(marks, waits, begins, joins - 1, previous_ps)
    # What is left after the last one; a wait that began before ``from_ps`` is not made shorter.
    rest_ps = marks.times_ps[joins] - last_ps
    rest_scale = parts[_between(marks, decides, last, joins)]
    rest_scale[(rest_ps < 0) | (last_ps < from_ps)] = 1.0
    rest_ps = np.rint(rest_ps * rest_scale).astype(np.int64)

    # The join of the same thread that each mark comes after; its shift holds for it.
    def last_join(events: Int64Array) -> Int64Array:
        place = np.searchsorted(joins, events, side="right") - 1
        is_same = (place >= 0) & (np.append(joins, -1)[place] >= marks.first[marks.lines[events]])
        return np.where(is_same, place, len(joins))

    previous = np.where(is_first[joins], 0, joins - 1)
    of_previous, of_earlier = last_join(previous), last_join(waits.earlier)
    shifts = [0] * (len(joins) + 1)
    deciding = np.zeros(len(joins), np.int64)
    bounds = [*begins.tolist(), len(waits.later)]
    base, order = passed.tolist(), np.argsort(waits.order[joins], kind="stable").tolist()
    earlier, earlier_join = waits.earlier.tolist(), of_earlier.tolist()
    at, before, before_join = joins.tolist(), previous.tolist(), of_previous.tolist()
    alone, rests = is_first[joins].tolist(), rest_ps.tolist()
    for join in order:
        who = before[join]
        found = _NEVER if alone[join] else base[who] + shifts[before_join[join]]
        for row in range(bounds[join], bounds[join + 1]):
            time = base[earlier[row]] + shifts[earlier_join[row]]
            if time > found:
                found, who = time, earlier[row]
        shifts[join] = found + rests[join] - base[at[join]]
        deciding[join] = who
    shift = np.array(shifts, np.int64)[last_join(np.arange(len(marks)))]
    return Replay(marks, passed + shift, joins, deciding)


def _between(
    marks: Marks, decides: Int64Array, earlier: Int64Array, later: Int64Array
) -> Int64Array:
    """The event whose factor applies between two marks, -1 for none, shape (m,).

    Args:
        marks: The marks.
        decides: The event whose factor applies at each mark, shape (2 n,).
        earlier: The first of both, shape (m,).
        later: The second.
    """
    is_one_op = (decides[later] >= 0) & (decides[earlier] == decides[later])
    owners = marks.owners[later]
    return np.where((owners == IDLE) & is_one_op, decides[later], owners)


def _latest(
    marks: Marks, waits: Waits, begins: Int64Array, previous: Int64Array, previous_ps: Int64Array
) -> Int64Array:
    """The last mark that each join followed in the recording, shape (m,)."""
    if not len(begins):
        return previous
    times_ps = marks.times_ps[waits.earlier]
    row = np.repeat(np.arange(len(begins)), np.diff([*begins, len(times_ps)]))
    by_time = np.lexsort((times_ps, row))
    last = waits.earlier[by_time[np.append(begins[1:], len(times_ps)) - 1]]
    return np.where(marks.times_ps[last] >= previous_ps, last, previous)
