"""Event files, record by record."""

from tests.files.checkpoint.tables import varint
from tfprof.files.crc32c import crc32c, masked


def record(data):
    """A record with its checksums."""
    length = len(data).to_bytes(8, "little")
    return b"".join((length, _checksum(length), data, _checksum(data)))


def event(*fields, step=None):
    """An event without a plot: pairs of the number of a field and its bytes."""
    start = b"" if step is None else b"\x10" + varint(step)
    return start + b"".join(_field(number, data) for number, data in fields)


def graph_event(graph):
    return event((4, graph))


def meta_graph_event(meta_graph):
    return event((9, meta_graph))


def run_event(tag, run, step=None):
    return event((8, _field(1, tag.encode()) + _field(2, run)), step=step)


def event_file(*events):
    """The content of a file."""
    return b"".join(map(record, (event((3, b"brain.Event:2")), *events)))


def _checksum(data):
    return masked(crc32c(data)).to_bytes(4, "little")


def _field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data
