"""Duration of each step, and the kinds of time in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfprof.captures.events.steps.account import Account
from tfprof.captures.events.steps.step_events import DEVICE_COMPUTE, Markers, Spent, StepEvents
from tfprof.core.columns.columns import BoolArray, Int64Array, sums_by
from tfprof.core.columns.covered import extents
from tfprof.core.wire.compiled import is_native, native_module

_native: Any = native_module("cover")

SPENT = tuple(sorted(Spent))
"""Order of columns by kind of time."""

SPENT_COLUMN = {spent: column for column, spent in enumerate(SPENT)}


@dataclass(frozen=True, eq=False)
class StepTimes:
    """Steps of a host, in the order of their groups.

    Attributes:
        groups: Group of each step, shape (n,).
        start_ps: Start of each.
        duration_ps: Length of its period, from its start to that of the next step.
        kinds: Kinds of time in the steps, ascending; only those present, because a run may have
            many hosts.
        amounts_ps: The time of these kinds in the period, the larger kind where events overlap,
            shape (len(kinds), n). Time without events is ``UNKNOWN``, which is among the kinds
            only if it is not the rest of the period.
        compute_ps: Device computation with 32 and 16 bits of all steps, also outside the spans
            of the steps.
        gap_ps: The part of the period after the step, until the next one.
        gap_amounts_ps: The part of ``amounts_ps`` in that gap, shape (len(kinds), n).
    """

    groups: Int64Array
    start_ps: Int64Array
    duration_ps: Int64Array
    kinds: tuple[Spent, ...]
    amounts_ps: Int64Array
    compute_ps: tuple[int, int]
    gap_ps: Int64Array
    gap_amounts_ps: Int64Array

    @classmethod
    def of_columns(
        cls,
        groups: Int64Array,
        start_ps: Int64Array,
        duration_ps: Int64Array,
        spent_ps: Int64Array,
        compute_ps: tuple[int, int],
    ) -> StepTimes:
        """Steps that fill their periods, from columns like those of ``spent_ps``."""
        spans = np.stack([start_ps, start_ps + duration_ps], axis=1)
        steps = Account.of_spans(groups, spans)
        return cls.of_account(steps, spent_ps, np.zeros_like(spent_ps), compute_ps)

    @classmethod
    def of_account(
        cls,
        steps: Account,
        spent_ps: Int64Array,
        gap_spent_ps: Int64Array,
        compute_ps: tuple[int, int],
    ) -> StepTimes:
        """From periods, and columns like ``spent_ps`` for whole periods and for the gaps."""
        duration, gap = steps.end_ps - steps.start_ps, steps.end_ps - steps.done_ps
        is_rest = (spent_ps.sum(axis=1) == duration).all()
        columns = [
            column
            for column, spent in enumerate(SPENT[: spent_ps.shape[1]])
            if spent_ps[:, column].any() and not (is_rest and spent is Spent.UNKNOWN)
        ]
        in_gaps = gap_spent_ps[:, columns]
        return cls(
            steps.groups, steps.start_ps, duration, tuple(SPENT[column] for column in columns),
            np.ascontiguousarray(spent_ps[:, columns].T), compute_ps, gap,
            np.ascontiguousarray(in_gaps.T if in_gaps.any() else in_gaps.T[:, :0]),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def own_ps(self) -> Int64Array:
        """Duration of each step without the gap until the next one, shape (n,)."""
        own_ps: Int64Array = self.duration_ps - self.gap_ps
        return own_ps

    @property
    def spent_ps(self) -> Int64Array:
        """The time by all kinds, shape (n, len(SPENT))."""
        spent = np.zeros((len(self), len(SPENT)), np.int64)
        spent[:, [SPENT_COLUMN[kind] for kind in self.kinds]] = self.amounts_ps.T
        spent[:, SPENT_COLUMN[Spent.UNKNOWN]] = self.of(Spent.UNKNOWN)
        return spent

    def take(self, rows: Int64Array) -> StepTimes:
        """Some of the steps; consecutive ones without a copy, because a run may have many hosts."""
        chosen: Int64Array | slice = rows
        if len(rows) and bool((np.diff(rows) == 1).all()):
            chosen = slice(int(rows[0]), int(rows[-1]) + 1)
        return StepTimes(
            self.groups[chosen], self.start_ps[chosen], self.duration_ps[chosen], self.kinds,
            self.amounts_ps[:, chosen], self.compute_ps, self.gap_ps[chosen],
            self.gap_amounts_ps[:, chosen if self.gap_amounts_ps.size else slice(None)],
        )  # fmt: skip

    def of(self, *kinds: Spent) -> Int64Array:
        """Total time of some kinds in the period of each step, shape (n,)."""
        return self._sums(self.amounts_ps, self.duration_ps, kinds)

    def between(self, *kinds: Spent) -> Int64Array:
        """Total time of some kinds in the gap after each step, shape (n,)."""
        amounts = self.gap_amounts_ps
        if not amounts.size:
            amounts = np.zeros((len(self.kinds), len(self)), np.int64)
        return self._sums(amounts, self.gap_ps, kinds)

    def _sums(
        self, amounts_ps: Int64Array, whole_ps: Int64Array, kinds: tuple[Spent, ...]
    ) -> Int64Array:
        rows = [row for row, kind in enumerate(self.kinds) if kind in kinds]
        sums_ps: Int64Array = amounts_ps[rows].sum(axis=0)
        if Spent.UNKNOWN in kinds and Spent.UNKNOWN not in self.kinds:
            sums_ps += whole_ps - amounts_ps.sum(axis=0)
        return sums_ps


def marked_spans(markers: Markers, *, has_device: bool) -> dict[int, tuple[int, int]]:
    """Start and end of each group in the reference.

    A step spans its longest device marker, unless the longest host marker contains that; without
    a device marker the longest host marker.
    """
    longest = longest_markers(markers)
    of_host, of_device = longest
    if not has_device:
        return of_host
    spans = {}
    for group, (start, end) in of_device.items():
        host = of_host.get(group)
        is_inside = host is not None and host[0] <= start and end <= host[1]
        spans[group] = host if is_inside and host is not None else (start, end)
    return spans


def longest_markers(
    markers: Markers,
) -> tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]]:
    """Start and end of the longest marker of each group on the host, and on a device."""
    longest: tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]] = ({}, {})
    columns = (markers.group, markers.start_ps, markers.end_ps, markers.is_device)
    for group, start, end, is_device in zip(*(c.tolist() for c in columns), strict=True):
        known = longest[is_device].get(group)
        if known is None or end - start > known[1] - known[0]:
            longest[is_device][group] = (start, end)
    return longest


def spans_array(spans: dict[int, tuple[int, int]], groups: Int64Array) -> Int64Array:
    """Spans of some groups, -1 without one, shape (n, 2)."""
    found = [spans.get(group, (-1, -1)) for group in groups.tolist()]
    return np.array(found, np.int64).reshape(-1, 2)


def computing(events: StepEvents, groups: Int64Array, *, has_device: bool) -> BoolArray:
    """Whether each step computes: on devices, if the host has any, shape (n,)."""
    is_computing = np.isin(events.spent, DEVICE_COMPUTE if has_device else (Spent.HOST_COMPUTE,))
    return np.isin(groups, events.group[is_computing])


def step_times(events: StepEvents, steps: Account) -> StepTimes:
    """Compute the kinds of time in steps (``step_events_to_steps_db.cc``).

    Args:
        events: Events of the steps.
        steps: Their periods.
    """
    inside = replace(events, group=_rows(steps.groups, events.group))
    inside = inside.only(inside.group >= 0)
    late = inside.only(inside.end_ps > steps.done_ps[inside.group])  # usually few
    return StepTimes.of_account(
        steps,
        _spent_in(inside, np.stack([steps.start_ps, steps.end_ps], axis=1)),
        _spent_in(late, np.stack([steps.done_ps, steps.end_ps], axis=1)),
        _computed(inside, len(steps.groups)),
    )


def _spent_in(events: StepEvents, spans: Int64Array) -> Int64Array:
    """Kinds of time in spans, shape (n spans, len(SPENT)); the groups of events are spans."""
    spent = np.zeros((len(spans), len(SPENT)), np.int64)
    for kind, amount in covered_by_kind(events, spans).items():
        spent[:, SPENT_COLUMN[Spent(kind)]] = amount
    spent[:, SPENT_COLUMN[Spent.UNKNOWN]] = spans[:, 1] - spans[:, 0] - spent.sum(axis=1)
    return spent


def _rows(groups: Int64Array, wanted: Int64Array) -> Int64Array:
    """The row of each group, -1 for a missing one."""
    most = int(max(groups.max(initial=-1), wanted.max(initial=-1)))
    if most > 4 * (len(groups) + len(wanted)):  # large numbers from a file
        if not len(groups):
            return np.full(len(wanted), -1)
        place = np.searchsorted(groups, wanted).clip(max=len(groups) - 1)
        return np.where(groups[place] == wanted, place, -1)
    row_of = np.full(most + 1, -1, np.int64)
    row_of[groups] = np.arange(len(groups))
    return row_of[wanted]


def covered_by_kind(events: StepEvents, spans: Int64Array) -> dict[int, Int64Array]:
    """Time of each span that a kind covers and no larger one does, by kind.

    The union of this and all larger kinds, minus the union of the larger ones.

    Args:
        events: Their groups are spans; parts outside of their span do not count.
        spans: Start and end of each, shape (n, 2).
    """
    row, spent = events.group, events.spent
    begins, ends = spans.T.copy()
    # Each span is shifted behind the one before, so one pass is enough for all of them.
    shift = np.cumsum(ends - begins) - ends
    start = begins[row]
    np.maximum(start, events.start_ps, out=start)
    start += shift[row]
    order = np.argsort(start, kind="stable")
    kinds = np.flatnonzero(np.bincount(spent))
    together = np.zeros((len(kinds) + 1, len(spans)), np.int64)
    if is_native() and _native is not None:
        levels = np.zeros(kinds.max(initial=0) + 1, np.int8)
        levels[kinds] = np.arange(len(kinds))
        reached = np.full(len(kinds), start.min(initial=0))
        _native.covered(
            order, start, events.end_ps, row, levels[spent], ends, shift, reached, together[:-1]
        )
    else:
        end = np.minimum(events.end_ps, ends[row]) + shift[row]
        start, end, row, spent = (column[order] for column in (start, end, row, spent))
        for level, kind in enumerate(kinds.tolist()):
            chosen = np.flatnonzero((spent >= kind) & (end > start))
            together[level] = _covered_in_order(row[chosen], start[chosen], end[chosen], len(spans))
    return dict(zip(kinds.tolist(), together[:-1] - together[1:], strict=True))


def union_lengths(
    row: Int64Array, start: Int64Array, end: Int64Array, spans: Int64Array
) -> Int64Array:
    """The time of each span that its intervals cover.

    Args:
        row: The span of each interval, shape (n,); parts outside of it do not count.
        start: Starts.
        end: Ends.
        spans: Start and end of each, shape (m, 2).

    Returns:
        The times, shape (m,).
    """
    events = StepEvents(row, np.zeros(len(row), np.int8), start, end)
    return covered_by_kind(events, spans).get(0, np.zeros(len(spans), np.int64))


def _covered_in_order(
    row: Int64Array, start: Int64Array, end: Int64Array, n_rows: int
) -> Int64Array:
    """The time of each span that intervals in order of time cover, with spans side by side."""
    if not len(row):
        return np.zeros(n_rows, np.int64)
    reached = np.maximum.accumulate(end)
    fresh = np.maximum(start, np.concatenate([[start[0]], reached[:-1]]))
    return sums_by(row, np.maximum(end - fresh, 0), n_rows)


def _computed(events: StepEvents, n_steps: int) -> tuple[int, int]:
    """Device computation with 32 and 16 bits of all steps, inside and outside of their spans."""
    compute = np.isin(events.spent, DEVICE_COMPUTE)
    if not compute.any():
        return 0, 0
    # Larger kinds than computation hide it.
    covered = spent_by_kind(events.only(events.spent >= min(DEVICE_COMPUTE)), n_steps)
    return tuple(int(covered.get(kind, np.zeros(1)).sum()) for kind in DEVICE_COMPUTE)  # type: ignore[return-value]


def spent_by_kind(events: StepEvents, n_rows: int) -> dict[int, Int64Array]:
    """Time that a kind covers and no larger one does, independent of spans.

    Args:
        events: Their groups are rows.
        n_rows: Number of rows.

    Returns:
        The time of each row by kind, ps, shape (n_rows,).
    """
    spans = extents(events.group, events.start_ps, events.end_ps, n_rows)
    return covered_by_kind(events, spans)
