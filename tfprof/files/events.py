"""Event files of TensorBoard: the graph and the run metadata that TensorFlow 1 writes into them.

A file is a row of records: the length of the data in 8 bytes, the lowest first; a masked CRC-32C
of these 8 bytes; the data; and their masked CRC-32C (``tensorflow/core/lib/io/record_writer.cc``).
The data are ``Event`` messages (``tensorflow/core/util/event.proto``), of which most are numbers
to plot: only the fields needed are read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tfprof.core.wire.message_fields import BrokenError, message_fields
from tfprof.files.crc32c import crc32c, masked

if TYPE_CHECKING:
    from tfprof.files.disk import FileParts

_HEAD_BYTES: Final = 12
_CHECKSUM_BYTES: Final = 4

_STEP, _GRAPH, _RUN, _META_GRAPH = 2 << 3, 4 << 3 | 2, 8 << 3 | 2, 9 << 3 | 2
"""Tags of an ``Event``."""
_RUN_TAG, _RUN_METADATA = 1 << 3 | 2, 2 << 3 | 2
"""Tags of a ``TaggedRunMetadata``."""


@dataclass(frozen=True, slots=True)
class TaggedRun:
    """One traced run.

    Attributes:
        tag: Its name in the program.
        step: The global step of its event, 0 without one.
        data: A RunMetadata, serialized.
    """

    tag: str
    step: int
    data: bytes = field(repr=False)


@dataclass(slots=True)
class EventLog:
    """The graph and the runs in an event file.

    Attributes:
        graph: The last GraphDef in it, serialized; None if there is none.
        meta_graph: The last MetaGraphDef.
        runs: The traced runs, in their order.
        damage: Where and why reading stopped before the end; empty if it did not.
    """

    graph: bytes | None = None
    meta_graph: bytes | None = None
    runs: list[TaggedRun] = field(default_factory=list)
    damage: str = ""


def read_events(data: bytes | memoryview | FileParts) -> EventLog:
    """Read the content of an event file, as far as it goes.

    A program that is still running, or was killed, leaves a record that is not whole.

    Args:
        data: The content; of parts, one record at a time is held.

    Raises:
        InputError: Parts are of a file that became shorter.
    """
    log, at = EventLog(), 0
    view = memoryview(data) if isinstance(data, (bytes, memoryview)) else data
    while at < len(view) and not log.damage:
        start = at + _HEAD_BYTES
        size = _checked_size(view[at:start])
        if size is None:
            log.damage = f"the length of the record at byte {at} is damaged"
        elif size > len(view) - start - _CHECKSUM_BYTES:
            log.damage = f"the record at byte {at} is cut off"
        else:
            stop = start + size
            try:
                event = memoryview(view[start:stop])
                _add_event(log, event, view[stop : stop + _CHECKSUM_BYTES])
            except BrokenError:
                log.damage = f"the record at byte {at} is damaged"
            at = stop + _CHECKSUM_BYTES
    return log


def event_record(event: bytes) -> bytes:
    """A record of an event file.

    Args:
        event: An ``Event``, serialized.
    """
    length = len(event).to_bytes(8, "little")
    sums = [masked(crc32c(data)).to_bytes(_CHECKSUM_BYTES, "little") for data in (length, event)]
    return length + sums[0] + event + sums[1]


def _checked_size(head: bytes | memoryview) -> int | None:
    """The length in the head of a record, or None if its checksum differs."""
    length = bytes(head[:8])
    if len(head) < _HEAD_BYTES or not _agrees(length, head[8:]):
        return None
    return int.from_bytes(length, "little")


def _agrees(data: bytes | memoryview, checksum: bytes | memoryview) -> bool:
    return masked(crc32c(data)) == int.from_bytes(checksum, "little")


def _add_event(log: EventLog, event: memoryview, checksum: bytes | memoryview) -> None:
    """Add the graph or the run of an event; a damaged one raises ``BrokenError``."""
    fields = {field.tag: field for field in message_fields(event, 0, len(event))}
    if fields.keys().isdisjoint((_GRAPH, _META_GRAPH, _RUN)):
        return
    if not _agrees(event, checksum):
        raise BrokenError
    if _GRAPH in fields:
        log.graph = bytes(event[fields[_GRAPH].value : fields[_GRAPH].stop])
    if _META_GRAPH in fields:
        log.meta_graph = bytes(event[fields[_META_GRAPH].value : fields[_META_GRAPH].stop])
    if _RUN in fields:
        run = fields[_RUN]
        parts = {field.tag: field for field in message_fields(event, run.value, run.stop)}
        tag, content = (
            bytes(event[parts[key].value : parts[key].stop]) if key in parts else b""
            for key in (_RUN_TAG, _RUN_METADATA)
        )
        step = fields[_STEP].number if _STEP in fields else 0
        log.runs.append(TaggedRun(tag.decode("utf-8", "backslashreplace"), step, content))
