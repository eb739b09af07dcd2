"""Stacks as a profile for pprof, with all their numbers and labels."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

from tfprof.core.columns.stacks import Stacks
from tfprof.core.wire import messages as pb
from tfprof.profiles.write.device_pprof import PprofTables

_LEVEL = 4
_AT_ONCE = 1 << 14


def pprof_chunks(stacks: Stacks, comment: str = "", *, is_packed: bool = True) -> Iterator[bytes]:
    """The profile; equal stacks give equal bytes.

    Args:
        stacks: The stacks.
        comment: A comment in the file.
        is_packed: By gzip, as pprof's own files are.
    """
    data = b"".join(_messages(stacks, comment))
    yield gzip.compress(data, compresslevel=_LEVEL, mtime=0) if is_packed else data


def _messages(stacks: Stacks, comment: str) -> Iterator[bytes]:
    """The profile in parts: protobuf merges consecutive messages."""
    tables = PprofTables()
    intern = tables.strings.intern
    head = pb.Profile()
    for told in stacks.types:
        head.sample_type.add(type=intern(_plain(told.name)), unit=intern(_plain(told.unit)))
    if stacks.types:
        head.default_sample_type = intern(_plain(stacks.types[stacks.default].name))
    if comment:
        head.comment.append(intern(_plain(comment)))
    locations = []
    for frame in stacks.frames:
        name, file = _plain(frame.name), _plain(frame.file)
        locations.append(tables.location((file, name, frame.line), (file, name, 0), name))
    texts = {
        intern(_plain(name)): (coded.places.tolist(), [intern(_plain(t)) for t in coded.texts])
        for name, coded in stacks.labels.items()
    }
    numbers = {intern(_plain(name)): column.tolist() for name, column in stacks.numbers.items()}
    values = stacks.values.T.tolist()
    samples = pb.Profile()
    for row, path in enumerate(stacks.paths(stacks.nodes.tolist())):
        calls = [locations[frame] for frame in reversed(path)]  # the innermost first
        sample = samples.sample.add(location_id=calls, value=values[row])
        for key, (places, known) in texts.items():
            if places[row] >= 0:
                sample.label.add(key=key, str=known[places[row]])
        for key, column in numbers.items():
            if column[row] >= 0:
                sample.label.add(key=key, num=column[row])
        if len(samples.sample) == _AT_ONCE:
            yield samples.SerializeToString()
            samples = pb.Profile()
    tables.write(head)
    yield samples.SerializeToString()
    yield head.SerializeToString(deterministic=True)


def _plain(text: str) -> str:
    """Without lone surrogates, which protobuf cannot hold."""
    return text.encode("utf-8", "replace").decode()
