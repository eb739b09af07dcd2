"""Derived lines, which no recorder wrote: steps, name scopes, ops, modules, sources of devices.

Their data are the stats of events and of the programs that they ran (``derived_timeline.cc``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfprof.captures.events.derived.spans import Items, Spans, covering_spans
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.timeline.op_names import (
    OpKind,
    display_name,
    name_scopes,
    parse_op_name,
)
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import Int64Array

NAME_SCOPE, OPS, MODULES, XLA_OPS, SOURCE = (
    "Framework Name Scope", "Framework Ops", "XLA Modules", "XLA Ops", "Source code",
)  # fmt: skip
STEPS, LAUNCHES = "Steps", "Launch Stats"


class HloSource(NamedTuple):
    """The op and the source of an instruction.

    Attributes:
        tf_op: The framework's op, ``scope/name:Type``; empty if unknown.
        place: ``file.py:12``; empty if unknown.
    """

    tf_op: str
    place: str


HloLookup = Callable[[int | None, str, str], HloSource | None]
"""Finds an instruction by program id, name of the module, and its own name; None if unknown."""


@dataclass(frozen=True, eq=False)
class DerivedLine:
    """A line derived from others.

    Attributes:
        plane: Place of its plane in the space.
        id: The reference's number of it.
        name: Its name.
        display_id: Its place among the plane's lines, 0 without one.
        origin: The line of the timeline that it is derived from; -1 for more than one.
        starts_ps: As in the timeline, shape (n,).
        durations_ps: Shape (n,).
        kinds: Kind of each event: a place in ``names``.
        names: Name of each kind.
        display_names: Text to show instead of the name; empty for most.
        groups: The step of each event, -1 without one.
        stats: More stats, for each event by its place.
    """

    plane: int
    id: int
    name: str
    display_id: int
    origin: int
    starts_ps: Int64Array
    durations_ps: Int64Array
    kinds: Int64Array
    names: Sequence[str]
    display_names: Sequence[str]
    groups: Int64Array
    stats: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.starts_ps)


class LineKey(NamedTuple):
    """Key of a derived line: the first fields of ``DerivedLine``."""

    plane: int
    id: int
    name: str
    display_id: int
    origin: int


class Names:
    """Names of a derived line, numbered in the order in which they appear."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.shown: list[str] = []

    def number(self, name: str, shown: str = "") -> int:
        """The number of a name."""
        place = self._numbers.setdefault(name, len(self._numbers))
        if place == len(self.shown):
            self.shown.append(shown)
        return place

    @property
    def all(self) -> list[str]:
        """The names."""
        return list(self._numbers)


def items_of(timeline: Timeline, groups: Groups, events: Int64Array) -> Items:
    """Events as items for ``covering_spans``, shape (n,)."""
    starts = timeline.starts_ps[events]
    return Items(starts, starts + timeline.durations_ps[events], groups.of_event[events])


def line_of_spans(key: LineKey, spans: Spans, names: Names) -> DerivedLine:
    """A line of spans, in order of time."""
    durations = spans.ends_ps - spans.starts_ps
    order = np.lexsort((-durations, spans.starts_ps))
    return DerivedLine(
        *key,
        spans.starts_ps[order],
        durations[order],
        spans.names[order],
        names.all,
        names.shown,
        spans.groups[order],
    )


def table_of(paths: Iterable[Sequence[int]]) -> Int64Array:
    """Paths of different lengths as a table, padded with -1."""
    rows = list(paths)
    table = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
    for row, path in enumerate(rows):
        table[row, : len(path)] = path
    return table


class FrameworkLines:
    """Name scopes, ops and source lines of items whose op is a text.

    Args:
        ops: Distinct texts, ``scope/name:Type``; empty without an op.
        places: Distinct ``file.py:12``, in pairs with ``ops``.
    """

    def __init__(self, ops: Sequence[str], places: Sequence[str]) -> None:
        self.scopes, self.ops, self.places = Names(), Names(), Names()
        scope_paths: list[list[int]] = []
        op_paths: list[list[int]] = []
        place_paths: list[list[int]] = []
        for text, place in zip(ops, places, strict=True):
            op = parse_op_name(text)
            is_scoped = bool(text) and op.kind in (OpKind.TENSORFLOW, OpKind.JAX)
            scopes = name_scopes(op.name) if is_scoped else []
            scope_paths.append([self.scopes.number(scope) for scope in scopes])
            op_paths.append([self.ops.number(text, display_name(op, text))] if text else [])
            place_paths.append([self.places.number(place)] if place else [])
        self._paths = [table_of(paths) for paths in (scope_paths, op_paths, place_paths)]

    def lines(
        self,
        items: Items,
        what: Int64Array,
        keys: tuple[LineKey, LineKey, LineKey],
        breaks: Int64Array | None = None,
        *,
        bridges_gaps: bool = True,
        cuts_last: bool = True,
    ) -> tuple[DerivedLine, DerivedLine, DerivedLine]:
        """The lines of name scopes, ops and source code.

        Args:
            items: The events that ran.
            what: Place of each item in the distinct texts, shape (n items,).
            keys: Keys of the three lines.
            breaks: A scope or op never covers items in which this differs.
            bridges_gaps: As in ``covering_spans``.
            cuts_last: As in ``covering_spans``.
        """
        if breaks is None:
            breaks = np.zeros(len(what), np.int64)
        scope_paths, op_paths, place_paths = (table[what] for table in self._paths)
        scopes = covering_spans(
            items, scope_paths, breaks, bridges_gaps=bridges_gaps, cuts_last=cuts_last
        )
        in_scopes = breaks + scopes.begun(len(what))
        ops = covering_spans(items, op_paths, in_scopes, bridges_gaps=bridges_gaps)
        places = covering_spans(items, place_paths, bridges_gaps=bridges_gaps)
        return (
            line_of_spans(keys[0], scopes, self.scopes),
            line_of_spans(keys[1], ops, self.ops),
            line_of_spans(keys[2], places, self.places),
        )
