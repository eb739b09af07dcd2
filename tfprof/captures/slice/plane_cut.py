"""Cuts events out of the bytes of a plane: kept events are copied and never decoded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tfprof.captures.model.xspace import Plane
from tfprof.captures.model.xspace_stats import IntArray, StatKind, StatTable
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.wire.message_fields import BrokenError, message_fields
from tfprof.core.wire.varints import encode_varint, length_delimited_tag
from tfprof.core.wire.xspace_lines import Elements, elements

_LINES, _EVENT_METADATA, _STAT_METADATA = 3, 4, 5
_EVENTS = 4
_KEY = 1
_DELIMITED = 2

_PLANES_TAG, _LINES_TAG = length_delimited_tag(1), length_delimited_tag(_LINES)

_SAYS_STEPS = ("group_id",)
"""Names of stats that affect the reading of a file even if no event has them."""


class _Kept(NamedTuple):
    """Kept rows of a plane's tables.

    Attributes:
        entries: Whether to keep each entry of the event metadata, shape (n entries,).
        names: Whether to keep each entry of the stat metadata, shape (n names,).
    """

    entries: BoolArray
    names: BoolArray


def cut_plane(
    data: memoryview, plane: Plane, events: BoolArray | None, entries: BoolArray | None = None
) -> Iterator[bytes | memoryview]:
    """A plane with some of its events, and with the metadata that these need.

    Args:
        data: The field ``planes`` of an XSpace.
        plane: The decoded plane.
        events: Whether to keep each event, shape (n events,); None for all.
        entries: Whether to keep each entry of the event metadata, shape (n entries,); by default
            those of the events, or all in a plane without events.

    Yields:
        The bytes of the field.
    """
    top = elements(data, 0, len(data))
    fields = elements(data, int(top.start[0]), int(top.stop[0]))
    kept = _kept(plane, events, entries)
    kept_keys = {
        _EVENT_METADATA: set(plane.event_metadata.keys[kept.entries].tolist()),
        _STAT_METADATA: set(plane.stat_metadata.keys[kept.names].tolist()),
    }
    is_text = np.frombuffer(data, np.uint8)[fields.tag] & 7 == _DELIMITED
    parts: list[bytes | memoryview] = []
    line = 0
    rows = zip(fields.number.tolist(), is_text.tolist(), fields.tag.tolist(),
               fields.start.tolist(), fields.stop.tolist(), strict=True)  # fmt: skip
    for number, is_delimited, tag, start, stop in rows:
        if number == _LINES and is_delimited:
            parts += _cut_line(data, plane, line, events, (tag, start, stop))
            line += 1
        elif (
            not is_delimited
            or number not in kept_keys
            or _key(data, start, stop) in kept_keys[number]
        ):
            parts.append(data[tag:stop])
    yield _PLANES_TAG + encode_varint(sum(map(len, parts)))
    yield from parts


def _cut_line(
    data: memoryview, plane: Plane, line: int, events: BoolArray | None, field: tuple[int, int, int]
) -> list[bytes | memoryview]:
    """A line with some of its events; nothing if it had events and none is kept."""
    tag, start, stop = field
    if events is None:
        return [data[tag:stop]]
    kept = events[plane.events_of(line)]
    if kept.all():  # also if it has none
        return [data[tag:stop]]
    if not kept.any():
        return []
    inside = elements(data, start, stop)
    whole = np.ones(len(inside.tag), np.bool_)
    whole[_delimited(data, inside, _EVENTS)] = kept
    first, behind = _runs(whole)
    begins, ends = inside.tag[first].tolist(), inside.stop[behind - 1].tolist()
    body = b"".join([data[begin:end] for begin, end in zip(begins, ends, strict=True)])
    return [_LINES_TAG + encode_varint(len(body)), body]


def _runs(chosen: BoolArray) -> tuple[Int64Array, Int64Array]:
    """The first row of each run of chosen rows, and the row after its last."""
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
    return edges[::2], edges[1::2]


def _delimited(data: memoryview, fields: Elements, number: int) -> Int64Array:
    is_text = np.frombuffer(data, np.uint8)[fields.tag] & 7 == _DELIMITED
    return np.flatnonzero((fields.number == number) & is_text)


def _key(data: memoryview, start: int, stop: int) -> int:
    """The key of an entry of a map; the last one counts."""
    key = 0
    try:
        for field in message_fields(data, start, stop):
            if field.tag == _KEY << 3:
                key = field.number
    except BrokenError:
        pass
    return key


def _kept(plane: Plane, events: BoolArray | None, entries: BoolArray | None) -> _Kept:
    """The metadata that the kept events of a plane need."""
    metadata, names = plane.event_metadata, plane.stat_metadata
    if not len(plane.events) and entries is None:
        return _Kept(np.ones(len(metadata), np.bool_), np.ones(len(names), np.bool_))
    of_entries = np.zeros(len(metadata), np.bool_) if entries is None else entries.copy()
    rows = plane.metadata_rows if events is None else plane.metadata_rows[events]
    of_entries[rows[rows >= 0]] = True
    _with_children(plane, of_entries)
    is_name = np.array([name in _SAYS_STEPS for name in names.names], np.bool_)
    tables = ((plane.events.stats, events), (metadata.stats, of_entries), (plane.stats, None))
    for table, owners in tables:
        for keys in _names_of(table, owners):
            used = names.by_key.rows(keys)
            is_name[used[used >= 0]] = True
    return _Kept(of_entries, is_name)


def _names_of(table: StatTable, owners: BoolArray | None) -> tuple[IntArray, IntArray]:
    """Keys of the names of some owners' stats, and of the texts to which these refer."""
    kept = slice(None) if owners is None else np.repeat(owners, np.diff(table.first))
    is_ref = table.kinds[kept] == StatKind.REF
    return table.metadata_ids[kept], table.values[kept][is_ref]


def _with_children(plane: Plane, entries: BoolArray) -> None:
    """Also keep the children of kept entries."""
    metadata = plane.event_metadata
    if not len(metadata.child_ids):
        return
    children = metadata.by_key.rows(metadata.child_ids)
    first = metadata.first_child.tolist()
    bounds = list(pairwise(first))
    waiting = np.flatnonzero(entries).tolist()
    while waiting:
        begin, end = bounds[waiting.pop()]
        for child in children[begin:end].tolist():
            if child >= 0 and not entries[child]:
                entries[child] = True
                waiting.append(child)
