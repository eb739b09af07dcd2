"""Lines of a plane of an XSpace, their events, and what the events are, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.captures.model.xspace_stats import ByteArray, DecodedTexts, IntArray, Keys, StatTable
from tfprof.core.columns.columns import BoolArray, Int64Array

OFFSET, AGGREGATED = 2, 5
"""Values of ``which``: the event has a start, or it is the sum of many events."""


def _shown(names: DecodedTexts, display_names: DecodedTexts) -> list[str]:
    pairs = zip(display_names.all, names.all, strict=True)
    return [display or name for display, name in pairs]


@dataclass(frozen=True, eq=False)
class EventMetadata:
    """What events of one kind have in common.

    Attributes:
        keys: Key of each entry, shape (n,); none twice. It counts, not ``ids``.
        ids: The id that the entry itself has.
        names: Its name.
        display_names: What to show instead, if not empty.
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
        """Keys of the entries that an entry contains."""
        return list(self.child_ids[self.first_child[row] : self.first_child[row + 1]].tolist())


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of a plane: threads, streams, and what was derived from them.

    Attributes:
        ids: Thread or stream, shape (n,).
        names: Its name.
        display_names: What to show instead, if not empty.
        display_ids: Its place in the display, 0 for none.
        timestamps_ns: What offsets of events count from.
        durations_ps: As written, mostly 0.
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
        metadata_ids: Key in the plane's event metadata, shape (n,); as narrow as these keys.
        values: Offset in ps, or of aggregated events the number of occurrences.
        which: Field number of what ``values`` has: 2, 5, or 0 for neither.
        durations_ps: How long each took.
        stats: Their own stats.
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
        """Whether an event has a start."""
        has_offset: BoolArray = self.which == OFFSET
        return has_offset

    @property
    def is_aggregated(self) -> BoolArray:
        """Whether it is the sum of many events without starts: it cannot be drawn or nested."""
        is_aggregated: BoolArray = self.which == AGGREGATED
        return is_aggregated

    @property
    def offsets_ps(self) -> Int64Array:
        """Start, from the line's timestamp; 0 without one."""
        return self._those_of(OFFSET)

    @property
    def num_occurrences(self) -> Int64Array:
        """How many events an aggregated event is the sum of; 0 for any other event."""
        return self._those_of(AGGREGATED)

    def _those_of(self, member: int) -> Int64Array:
        if len(self.which) and self.which.strides == (0,):  # all the same
            return self.values if self.which[0] == member else np.zeros_like(self.values)
        return np.where(self.which == member, self.values, 0)

    @property
    def nbytes(self) -> int:
        """Bytes of memory, without the texts."""
        columns = (self.first, self.metadata_ids, self.values, self.durations_ps)
        which = 0 if self.which.strides == (0,) else self.which.nbytes
        return which + self.stats.nbytes + sum(column.nbytes for column in columns)
