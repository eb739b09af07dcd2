"""Arguments of the events of a trace, beside name and time, as columns of JSON text."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tfprof.captures.events.derived.flows import flow_numbers
from tfprof.captures.events.steps.eager import ran_eagerly
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.timeline.names import INTERNAL_STATS
from tfprof.captures.events.timeline.op_names import OpKind
from tfprof.captures.model.xspace import Plane
from tfprof.captures.model.xspace_stats import IntArray, StatKind, StatTable
from tfprof.captures.trace.blocks import (
    Int32Array,
    OwnStats,
    Texts,
    each,
    joined,
    quoted,
    stat_texts,
)
from tfprof.captures.trace.given_args import given_args, has_given, hide_given
from tfprof.core.columns.columns import BoolArray, Int64Array

_CONNECTIONS = frozenset(("_pt", "_p", "_ct", "_c", "_r"))
_MOST_SHOWN = 10_000
"""The reference shows at most so many characters of a name."""


class _PlaneStats:
    """Stats of the events of a plane and of their metadata."""

    def __init__(self, plane: Plane, *, is_viewers: bool) -> None:
        self._plane, self._is_viewers = plane, is_viewers
        names = plane.stat_metadata
        self._heads = [f"{quoted(name)}:" for name in names.names]
        hidden = INTERNAL_STATS if is_viewers else _CONNECTIONS
        self._is_hidden = np.array([*(name in hidden for name in names.names), False], np.bool_)
        # References point to the same entries; only entries with references need quoting.
        self._references = ["" for _ in range(len(names))] + ['""']
        self._shared: list[str] | None = None

    def own(self, events: Int64Array, is_there: IntArray) -> OwnStats:
        """Return own stats of some events of the plane; none of events that are not there."""
        table = self._plane.events.stats
        first = table.first[events].astype(np.int64)
        counts = (table.first[events + 1] - first) * is_there
        ends = np.cumsum(counts).astype(np.int64)
        rows = np.repeat(first - (ends - counts), counts) + np.arange(int(counts.sum()))
        return self._stats(table, rows, ends)

    def _stats(self, table: StatTable, rows: Int64Array, ends: Int64Array) -> OwnStats:
        kinds, values = table.kinds[rows], table.values[rows]
        keys = table.metadata_ids[rows]
        heads = self._plane.stat_metadata.by_key.rows(keys).astype(np.int32)
        self._add_unknown(heads, keys)
        heads[self._is_hidden[np.minimum(heads, len(self._is_hidden) - 1)]] = -1
        is_ref = kinds == StatKind.REF
        if is_ref.any():
            values = values.copy()
            values[is_ref] = self._referred(values[is_ref])
        return OwnStats(ends, heads, kinds, values, self._heads, self._references, table.data)

    def _add_unknown(self, heads: Int32Array, keys: IntArray) -> None:
        """Add names for stats without metadata in the plane."""
        unknown = np.flatnonzero(heads < 0)
        for key in np.unique(keys[unknown]).tolist() if len(unknown) else ():
            heads[unknown[keys[unknown] == key]] = len(self._heads)
            self._heads.append(f'"stat {key}":')
            self._is_hidden = np.append(self._is_hidden, False)

    def _referred(self, keys: Int64Array) -> Int64Array:
        """Places of the texts that references point to; the last one stands for -1, no text."""
        metadata, references = self._plane.stat_metadata, self._references
        places = metadata.by_key.rows(keys).astype(np.int64)
        places[places < 0] = len(references) - 1
        for place in np.unique(places).tolist():
            references[place] = references[place] or quoted(metadata.names[place])
        return places

    def shared(self, rows: IntArray) -> Texts | None:
        """Return stats of entries of the metadata; None if no entry has any."""
        table = self._plane.event_metadata.stats
        if not len(table):
            return None
        if self._shared is None:
            ends = table.first[1:].astype(np.int64)
            stats = self._stats(table, np.arange(len(table)), ends)
            self._shared = stat_texts(stats, as_texts=self._is_viewers)
        return Texts(np.asarray(rows, np.int32), self._shared)

    def overrides(self, own: OwnStats) -> bool:
        """Whether any event may have a stat that its metadata also has."""
        table = self._plane.event_metadata.stats
        keys = self._plane.stat_metadata.by_key.rows(np.unique(table.metadata_ids))
        return bool(np.isin(keys, own.heads).any())

    def all_of(self, rows: IntArray, own: OwnStats) -> list[str]:
        """Return shared and own stats of each event; own stats win."""
        table = self._plane.event_metadata.stats
        by_key = self._plane.stat_metadata.by_key
        bounds = np.concatenate([[0], own.ends])
        columns = []
        for place, (row, text) in enumerate(
            zip(rows.tolist(), stat_texts(own, as_texts=self._is_viewers), strict=True)
        ):
            mine = set(own.heads[bounds[place] : bounds[place + 1]].tolist())
            at = np.array(table.rows_of(row) if row >= 0 else [], np.int64)
            heads = by_key.rows(table.metadata_ids[at]).tolist()
            kept = at[[head not in mine for head in heads]] if len(at) else at
            shared = stat_texts(
                self._stats(table, kept, np.array([len(kept)])), as_texts=self._is_viewers
            )
            columns += joined([shared, [text]], 1)
        return columns


class EventArgs:
    """Arguments of the events of a host, some thousand at a time.

    Args:
        forest: The events and the links between them.
        groups: Their steps.
        is_viewers: Format them like the reference's viewer: steps as numbers, arrows as ``flow``,
            all values as texts.
    """

    def __init__(self, forest: Forest, groups: Groups, *, is_viewers: bool) -> None:
        self._forest, self._groups, self._is_viewers = forest, groups, is_viewers
        self._timeline = forest.timeline
        self._planes: dict[int, _PlaneStats] = {}
        self._long_names = [""] * len(self._timeline.names)
        self._has_long_name = np.zeros(len(self._timeline.names), np.bool_)

    def of(self, events: Int64Array) -> tuple[list[Texts], OwnStats | None]:
        """Return the arguments of some events."""
        columns = [self._names(events)]
        if not self._groups.are_given:
            columns += self._derived(events)
        shared, own = self._stats(events)
        return [*columns, *shared, *given_args(self._timeline, events)], own

    def step(self, group: int) -> str:
        """Return the argument that names the step of an event."""
        if group < 0:
            return ""
        if self._is_viewers:
            return f'"group_id":"{group}"'
        name = self._groups.names.get(group)
        return f'"group_id":{group}' + (f',"step":{quoted(name)}' if name is not None else "")

    def _derived(self, events: Int64Array) -> list[Texts]:
        """Computed arguments: step, eager execution, arrows."""
        columns = [
            Texts(self._step_numbers[events], self._steps),
            Texts(self._eager[events], self._eager_texts),
        ]
        if len(self._begins):
            at = np.minimum(np.searchsorted(self._begins, events), len(self._begins) - 1)
            is_begin = self._begins[at] == events
            if is_begin.any():
                columns.append(Texts(np.where(is_begin, at, -1).astype(np.int32), self._step_names))
        if self._is_viewers:
            flows = self._flows[events].tolist()
            columns.append(each([f'"flow":"{flow}"' if flow else "" for flow in flows]))
        return columns

    @cached_property
    def _begins(self) -> Int64Array:
        return np.array(sorted(self._groups.step_names), np.int64)

    @cached_property
    def _step_names(self) -> list[str]:
        names = self._groups.step_names
        return [f'"step_name":{quoted(names[event])}' for event in self._begins.tolist()]

    @cached_property
    def _step_numbers(self) -> Int32Array:
        return self._groups.of_event.astype(np.int32)

    @cached_property
    def _steps(self) -> list[str]:
        return [self.step(group) for group in range(int(self._step_numbers.max(initial=-1)) + 1)]

    @cached_property
    def _flows(self) -> Int64Array:
        return flow_numbers(self._timeline)  # type: ignore[return-value]

    @property
    def _eager_texts(self) -> list[str]:
        mark = '"' if self._is_viewers else ""
        return [f'"is_eager":{mark}{value}{mark}' for value in (0, 1)]

    @cached_property
    def _eager(self) -> Int32Array:
        """Whether ops of the host and kernels ran eagerly; -1 for other events."""
        timeline = self._timeline
        is_op = [op.kind is OpKind.TENSORFLOW for op in timeline.ops]
        is_op_or_kernel = timeline.kind_mask(is_op) & timeline.on_host
        is_op_or_kernel |= timeline.having("correlation_id") & timeline.on_device
        return np.where(is_op_or_kernel, ran_eagerly(self._forest), -1).astype(np.int32)

    def _names(self, events: Int64Array) -> Texts:
        """Full names of events that are shown by another name."""
        timeline, texts = self._timeline, self._long_names
        kinds = timeline.kinds[events]
        for kind in np.unique(kinds[~self._has_long_name[kinds]]).tolist():
            texts[kind] = long_name(
                timeline.names[kind], timeline.display_names[kind], is_cut=self._is_viewers
            )
        self._has_long_name[kinds] = True
        return Texts(kinds.astype(np.int32), texts)

    def _stats(self, events: Int64Array) -> tuple[list[Texts], OwnStats | None]:
        """Stats of the metadata, and own ones."""
        sources = self._timeline.sources.of(events)
        is_there = sources >= 0
        if not is_there.any():
            return [], None
        planes = np.searchsorted(self._timeline.first_sources, sources, side="right") - 1
        is_given = has_given(self._timeline, events)
        distinct = np.unique(planes[is_there]).tolist()
        if len(distinct) == 1:
            return self._of_plane(distinct[0], sources, is_there, is_given)
        texts = [""] * len(events)
        for number in distinct:
            rows = np.flatnonzero(planes == number)
            shared, own = self._of_plane(number, sources[rows], is_there[rows], is_given[rows])
            columns = [
                [column.texts[n] if n >= 0 else "" for n in column.numbers.tolist()]
                for column in shared
            ]
            if own is not None:
                columns.append(stat_texts(own, as_texts=self._is_viewers))
            for row, text in zip(rows.tolist(), joined(columns, len(rows)), strict=True):
                texts[row] = text
        return [each(texts)], None

    def _of_plane(
        self, number: int, sources: Int64Array, is_there: BoolArray, is_given: BoolArray
    ) -> tuple[list[Texts], OwnStats | None]:
        plane = self._timeline.space.planes[number]
        if number not in self._planes:
            self._planes[number] = _PlaneStats(plane, is_viewers=self._is_viewers)
        stats = self._planes[number]
        events = np.where(is_there, sources - self._timeline.first_sources[number], 0)
        own = stats.own(events, is_there.astype(np.int64))
        hide_given(self._timeline, own, is_given)
        rows = np.where(is_there, plane.metadata_rows[events], -1)
        shared = stats.shared(rows)
        if shared is None:
            return [], own
        if stats.overrides(own):
            return [each(stats.all_of(rows, own))], None
        return [shared], own


def long_name(name: str, shown: str, *, is_cut: bool) -> str:
    """Make an argument of the full name if the event is shown by another name."""
    if not shown:
        return ""
    return f'"long_name":{quoted(name[:_MOST_SHOWN] if is_cut else name)}'
