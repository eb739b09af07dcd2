"""Lines of a plane of an XSpace, their events, and the metadata of events, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.captures.model.xspace_stats import ByteArray, DecodedTexts, IntArray, Keys, StatTable
from tfprof.core.columns.columns import BoolArray, Int64Array

OFFSET, AGGREGATED = 2, 5
"""Values of ``which``: an event with a start, or the sum of many events."""


def _shown(names: DecodedTexts, display_names: DecodedTexts) -> list[str]:
    pairs = zip(display_names.all, names.all, strict=True)
    return [display or name for display, name in pairs]


@dataclass(frozen=True, eq=False)
class EventMetadata:
    """The common data of events of one kind: an entry for each kind.

    Attributes:
        keys: Unique key of each entry, shape (n,). Events refer to keys, not to ``ids``.
        ids: The id inside the entry.
        names: Its name.
        display_names: The name to show instead, if not empty.
        metadata: Serialized metadata; use ``octets``.
        stats: Its stats.
        first_child: The first of its children, and the number of all, shape (n + 1,).
        child_ids: Keys of entries that it contains.
    """

    keys: Int64Array
    ids: Int64Array
    names: DecodedTexts
    display_names: DecodedTexts
    metadata: DecodedTexts
    stats: StatTable
    first_child: Int64Array
    child_ids: Int64Array

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def by_key(self) -> Keys:
        """Rows by key."""
        return Keys(self.keys)

    @cached_property
    def shown(self) -> list[str]:
        """The name to show for each entry."""
        return _shown(self.names, self.display_names)

    def children(self, row: int) -> list[int]:
        """Keys of the children of an entry."""
        return list(self.child_ids[self.first_child[row] : self.first_child[row + 1]].tolist())


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of a plane: threads, streams, and lines derived from them.

    Attributes:
        ids: Id of the thread or stream, shape (n,).
        names: Its name.
        display_names: The name to show instead, if not empty.
        display_ids: Its place in the display, 0 for none.
        timestamps_ns: Origin of the offsets of its events.
        durations_ps: As in the file, mostly 0.
    """

    ids: Int64Array
    names: DecodedTexts
    display_names: DecodedTexts
    display_ids: Int64Array
    timestamps_ns: Int64Array
    durations_ps: Int64Array

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def shown(self) -> list[str]:
        """The name to show for each line."""
        return _shown(self.names, self.display_names)


@dataclass(frozen=True, eq=False)
class Events:
    """Events of a plane, in the order of the file: line by line, not always by time.

    Attributes:
        first: The first event of each line, and the number of events, shape (n lines + 1,).
        metadata_ids: Key in the plane's event metadata, shape (n,); as narrow as these keys allow.
        values: Offset in ps, or the number of occurrences of an aggregated event.
        which: Field number of the value in ``values``: 2, 5, or 0 for neither.
        durations_ps: Duration of each event.
        stats: The events' own stats.
    """

    first: Int64Array
    metadata_ids: IntArray
    values: Int64Array
    which: ByteArray
    durations_ps: Int64Array
    stats: StatTable

    def __len__(self) -> int:
        return len(self.values)

    @property
    def has_offset(self) -> BoolArray:
        """Whether each event has a start."""
        has_offset: BoolArray = self.which == OFFSET
        return has_offset

    @property
    def is_aggregated(self) -> BoolArray:
        """Whether each event is a sum of many without starts; it cannot be drawn or nested."""
        is_aggregated: BoolArray = self.which == AGGREGATED
        return is_aggregated

    @property
    def offsets_ps(self) -> Int64Array:
        """Start relative to the line's timestamp; 0 without one."""
        return self._those_of(OFFSET)

    @property
    def num_occurrences(self) -> Int64Array:
        """Number of events in an aggregated event; 0 for any other event."""
        return self._those_of(AGGREGATED)

    def _those_of(self, member: int) -> Int64Array:
        if len(self.which) and self.which.strides == (0,):  # all the same
            return self.values if self.which[0] == member else np.zeros_like(self.values)
        return np.where(self.which == member, self.values, 0)

    @property
    def nbytes(self) -> int:
        """Bytes in memory, without the texts."""
        columns = (self.first, self.metadata_ids, self.values, self.durations_ps)
        which = 0 if self.which.strides == (0,) else self.which.nbytes
        return which + self.stats.nbytes + sum(column.nbytes for column in columns)
