"""Make a capture that lasted longer: the events of a recorded one again and again, later each time.

    python benchmarks/longer_capture.py CAPTURE.xplane.pb OUT.xplane.pb --megabytes 200

Each repetition begins where the one before it ended, on the same lines, with its own step numbers
and its own numbers of what belongs together (launches and kernels, producers and consumers), so
that tools see more steps, not heavier ones.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tfprof.wire import messages as pb

_STEPS = ("group_id", "step_num", "iter_num", "step_id", "iteration_number")
_PAIRS = ("correlation_id", "_p", "_c", "producer_id", "consumer_id", "context_id", "run_id",
          "id", "element_id")  # fmt: skip
_INT_KINDS = ("int64_value", "uint64_value")


def longer(space: Any, n_bytes: int) -> Any:
    """The capture with its events repeated until it is about that large."""
    base = pb.XSpace.FromString(space.SerializeToString())
    event_bytes = sum(line.ByteSize() for plane in base.planes for line in plane.lines)
    times = 1 + max(0, n_bytes - base.ByteSize()) // event_bytes
    moments = [
        (line.timestamp_ns * 1000 + event.offset_ps, event.duration_ps)
        for plane in base.planes for line in plane.lines for event in line.events
    ]  # fmt: skip
    first = min(begin for begin, _ in moments)
    span_ps = max(begin + length for begin, length in moments) - first + 10**9
    span_ps += -span_ps % 1000
    for number in range(1, times):
        for plane, old in zip(space.planes, base.planes, strict=True):
            shifts = _shifts(old)
            for line, lines_before in zip(plane.lines, old.lines, strict=True):
                at = len(line.events)
                line.events.extend(lines_before.events)
                for event in line.events[at:]:
                    event.offset_ps += number * span_ps
                    for stat in event.stats:
                        shift = shifts.get(stat.metadata_id)
                        if shift:
                            _add(stat, number * shift)
                if line.duration_ps:
                    line.duration_ps += span_ps
    for plane in space.planes:
        for stat in plane.stats:
            if plane.stat_metadata[stat.metadata_id].name == "profile_stop_time":
                _add(stat, (times - 1) * span_ps // 1000)
    return space


def _shifts(plane: Any) -> dict[int, int]:
    """By stat: how much larger its values are in each further repetition."""
    largest: dict[int, int] = {}
    names = {key: each.name for key, each in plane.stat_metadata.items()}
    wanted = {key for key, name in names.items() if name in (*_STEPS, *_PAIRS)}
    for line in plane.lines:
        for event in line.events:
            for stat in event.stats:
                if stat.metadata_id in wanted:
                    kind = stat.WhichOneof("value")
                    if kind in _INT_KINDS and getattr(stat, kind) < 1 << 40:
                        value = getattr(stat, kind)
                        largest[stat.metadata_id] = max(largest.get(stat.metadata_id, 0), value)
    # What is numbered on hosts and devices alike gets the same shift everywhere.
    return {key: 10_000 if names[key] in _STEPS else 100_000_000 for key in largest}


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
    chosen.out.write_bytes(longer(space, int(chosen.megabytes * 1e6)).SerializeToString())


if __name__ == "__main__":
    main()
