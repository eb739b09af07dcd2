"""Make a capture that lasted longer: the events of a recorded one again and again, later each time.

    python benchmarks/longer_capture.py CAPTURE.xplane.pb OUT.xplane.pb --megabytes 200

Each repetition begins where the one before it ended, on the same lines, with its own step numbers
and its own numbers of what belongs together (launches and kernels, producers and consumers), so
that tools see more steps, not heavier ones. The result may be of any size: it is written line by
line, and only the recorded capture is held.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from tfprof.core.wire import messages as pb

_STEPS = ("group_id", "step_num", "iter_num", "step_id", "iteration_number")
_PAIRS = ("correlation_id", "_p", "_c", "producer_id", "consumer_id", "context_id", "run_id",
          "id", "element_id")  # fmt: skip
_INT_KINDS = ("int64_value", "uint64_value")
_PLANES, _LINES = 1 << 3 | 2, 3 << 3 | 2


def write_longer(space: Any, n_bytes: int, out: BinaryIO) -> None:
    """Write the capture with its events repeated until it is about that large.

    Args:
        space: The capture; it is changed.
        n_bytes: How large.
        out: The file.
    """
    event_bytes = sum(line.ByteSize() for plane in space.planes for line in plane.lines)
    times = 1 + max(0, n_bytes - space.ByteSize()) // event_bytes
    span_ps = _span_ps(space)
    for plane in space.planes:
        _write_plane(plane, times, span_ps, out)
    del space.planes[:]
    out.write(space.SerializeToString())


def _span_ps(space: Any) -> int:
    """How long the capture lasted, in whole nanoseconds."""
    moments = [
        (line.timestamp_ns * 1000 + event.offset_ps, event.duration_ps)
        for plane in space.planes for line in plane.lines for event in line.events
    ]  # fmt: skip
    first = min(begin for begin, _ in moments)
    span_ps = max(begin + length for begin, length in moments) - first + 10**9
    return span_ps + -span_ps % 1000


def _write_plane(plane: Any, times: int, span_ps: int, out: BinaryIO) -> None:
    shifts = _shifts(plane)
    for stat in plane.stats:
        if plane.stat_metadata[stat.metadata_id].name == "profile_stop_time":
            _add(stat, (times - 1) * span_ps // 1000)
    with tempfile.TemporaryFile(dir=Path(out.name).parent) as content:
        for line in plane.lines:

            def write(inner: BinaryIO, line: Any = line) -> None:
                _write_line(line, shifts, times, span_ps, inner)

            _nested(_LINES, content, write)
        del plane.lines[:]
        content.write(plane.SerializeToString())
        _copied(_PLANES, content, out)


def _write_line(line: Any, shifts: dict[int, int], times: int, span_ps: int, out: BinaryIO) -> None:
    if line.duration_ps:
        line.duration_ps += (times - 1) * span_ps
    events = pb.XLine(events=line.events)
    del line.events[:]
    out.write(line.SerializeToString())
    numbered = [
        (stat, shifts[stat.metadata_id])
        for event in events.events for stat in event.stats
        if stat.metadata_id in shifts and _is_small(stat)
    ]  # fmt: skip
    for _ in range(times):
        out.write(events.SerializeToString())
        for event in events.events:
            event.offset_ps += span_ps
        for stat, shift in numbered:
            _add(stat, shift)


def _nested(tag: int, out: BinaryIO, write: Callable[[BinaryIO], None]) -> None:
    """Write a field of a length that is known once it is written."""
    with tempfile.TemporaryFile() as content:
        write(content)
        _copied(tag, content, out)


def _copied(tag: int, content: BinaryIO, out: BinaryIO) -> None:
    out.write(bytes([tag]) + _varint(content.tell()))
    content.seek(0)
    shutil.copyfileobj(content, out, 1 << 22)


def _varint(number: int) -> bytes:
    octets = bytearray()
    while number >= 0x80:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    octets.append(number)
    return bytes(octets)


def _shifts(plane: Any) -> dict[int, int]:
    """By stat: how much larger its values are in each further repetition."""
    names = {key: each.name for key, each in plane.stat_metadata.items()}
    wanted = {key for key, name in names.items() if name in (*_STEPS, *_PAIRS)}
    small = {
        stat.metadata_id
        for line in plane.lines for event in line.events for stat in event.stats
        if stat.metadata_id in wanted and _is_small(stat)
    }  # fmt: skip
    # What is numbered on hosts and devices alike gets the same shift everywhere.
    return {key: 10_000 if names[key] in _STEPS else 100_000_000 for key in small}


def _is_small(stat: Any) -> bool:
    """Whether it is a number, and not one that stands for none, such as the largest of all."""
    kind = stat.WhichOneof("value")
    return kind in _INT_KINDS and bool(getattr(stat, kind) < 1 << 40)


def _add(stat: Any, amount: int) -> None:
    kind = stat.WhichOneof("value")
    if kind in _INT_KINDS:
        setattr(stat, kind, getattr(stat, kind) + amount)


def main() -> None:
    """Make it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--megabytes", type=float, default=200)
    chosen = parser.parse_args()
    space = pb.XSpace.FromString(chosen.capture.read_bytes())
    with chosen.out.open("wb") as out:
        write_longer(space, int(chosen.megabytes * 1e6), out)


if __name__ == "__main__":
    main()
