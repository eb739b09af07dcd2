"""The programs that the events of a slice belong to."""

from __future__ import annotations

import numpy as np

from tfprof.captures.events.timeline.programs import MODULES
from tfprof.captures.model.xspace import Plane
from tfprof.captures.model.xspace_columns import StatColumn
from tfprof.captures.model.xspace_stats import StatKind
from tfprof.captures.read.hlo import ID_STAT, split_title, unsigned
from tfprof.core.columns.columns import BoolArray


class ProgramUse:
    """Collects the programs of events, plane by plane.

    Attributes:
        ids: Their ids, unsigned.
        names: Their names without ids.
    """

    def __init__(self) -> None:
        self.ids: set[int] = set()
        self.names: set[str] = set()

    def add(self, plane: Plane, events: BoolArray | None) -> None:
        """Add the programs of some events of a plane, shape (n events,); None for all."""
        kept = np.ones(len(plane.events), np.bool_) if events is None else events
        numbers = plane.stat(ID_STAT)
        is_kept = kept[numbers.events] & np.isin(
            numbers.held_kinds, (StatKind.INT64, StatKind.UINT64)
        )
        self.ids.update(map(unsigned, np.unique(numbers.held_values[is_kept]).tolist()))
        titles = _texts(plane.stat("hlo_module"), kept)
        for line in [n for n, name in enumerate(plane.lines.shown) if name == MODULES]:
            rows = plane.metadata_rows[plane.events_of(line)][kept[plane.events_of(line)]]
            titles |= {plane.event_metadata.names[row] for row in np.unique(rows[rows >= 0])}
        for title in titles:
            name, number = split_title(title)
            self.names.add(name)
            if number is not None:
                self.ids.add(number)

    def entries(self, plane: Plane) -> BoolArray:
        """Whether each entry of a plane is one of these programs; all if there are no programs."""
        entries = plane.event_metadata
        if not self.ids and not self.names:
            return np.ones(len(entries), np.bool_)
        stated = plane.entry_stat(ID_STAT)
        ids = stated.signed.tolist()
        known = stated.present.tolist()
        kept = np.zeros(len(entries), np.bool_)
        for row, (key, title) in enumerate(zip(entries.keys.tolist(), entries.names, strict=True)):
            name, number = split_title(title)
            numbers = {unsigned(ids[row] if known[row] else key), number}
            kept[row] = not self.ids.isdisjoint(numbers) or bool(self.names & {name, title})
        return kept


def _texts(column: StatColumn, kept: BoolArray) -> set[str]:
    is_kept = kept[column.events] & (column.held_kinds >= StatKind.STR)
    known = column.known_texts
    return {known[number] for number in np.unique(column.held_values[is_kept]).tolist()}
