"""The last seconds of a worker: snapshots in files without a name, which end with the process."""

from __future__ import annotations

import tempfile
import threading
from collections import deque
from dataclasses import dataclass
from typing import IO

from tfprof.remote.flight.merging import Part, merged
from tfprof.remote.flight.snapshots import Times

_JUMP_NS = 1_000_000_000
"""By so much the clock of a program and ours may disagree on how long something took."""


@dataclass(frozen=True, eq=False)
class Kept:
    """A snapshot.

    Attributes:
        begin_ns: When it began, on an axis of time on which no clock jumps.
        end_ns: When it ended.
        size: Bytes of the XSpace.
    """

    begin_ns: int
    end_ns: int
    size: int
    _held: bytes | IO[bytes]

    def data(self) -> bytes:
        """The XSpace."""
        if isinstance(self._held, bytes):
            return self._held
        self._held.seek(0)
        return self._held.read()


class Ring:
    """Snapshots of one worker; the oldest go when they are too old, or all too large.

    Args:
        keep_seconds: How long a snapshot stays.
        most_bytes: How large all may be together.
    """

    def __init__(self, keep_seconds: float, most_bytes: int) -> None:
        self._keep_ns, self._most_bytes = round(keep_seconds * 1e9), most_bytes
        self._lock = threading.Lock()
        self._kept: deque[Kept] = deque()
        self._correction_ns = 0
        self._last: tuple[int, int] | None = None  # begin of a snapshot on both axes
        self.n_bytes = 0
        self.n_jumps = 0
        self.was_short = False

    def placed(self, times: Times, monotonic_ns: int) -> tuple[int, int]:
        """Begin and end of a snapshot on an axis on which no clock jumps.

        Args:
            times: What the program's clock says.
            monotonic_ns: When it began by our own, which only goes forward.
        """
        if self._last is not None:
            expected = self._last[0] + monotonic_ns - self._last[1]
            if abs(times.start_ns + self._correction_ns - expected) > _JUMP_NS:
                self._correction_ns = expected - times.start_ns
                self.n_jumps += 1
        begin = times.start_ns + self._correction_ns
        self._last = (begin, monotonic_ns)
        return begin, max(begin, times.stop_ns + self._correction_ns)

    def add(self, data: bytes, begin_ns: int, end_ns: int) -> None:
        """Keep a snapshot, and let go of the oldest."""
        held: bytes | IO[bytes]
        try:
            held = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the snapshot
            held.write(data)
            held.flush()
        except OSError:  # a full disk: memory, within the same limit
            held = data
        with self._lock:
            self._kept.append(Kept(begin_ns, end_ns, len(data), held))
            self.n_bytes += len(data)
            while len(self._kept) > 1 and (
                self._kept[0].end_ns < end_ns - self._keep_ns or self.n_bytes > self._most_bytes
            ):
                self.was_short |= self._kept[0].end_ns >= end_ns - self._keep_ns
                self.n_bytes -= self._kept.popleft().size

    def taken(self) -> list[Kept]:
        """All snapshots, oldest first; none is left."""
        with self._lock:
            kept = list(self._kept)
            self._kept.clear()
            self.n_bytes = 0
        return kept

    def give_back(self, kept: list[Kept]) -> None:
        """Keep again what could not be written."""
        with self._lock:
            self._kept.extendleft(reversed(kept))
            self.n_bytes += sum(each.size for each in kept)


def one_capture(kept: list[Kept]) -> bytes:
    """Snapshots as one XSpace."""
    first_ns = kept[0].begin_ns
    return merged(Part(each.data(), each.begin_ns - first_ns) for each in kept)
