"""The last seconds of a worker: snapshots in unnamed files, which vanish with the process."""

from __future__ import annotations

import tempfile
import threading
from collections import deque
from collections.abc import Sequence
from typing import IO

from tfprof.remote.flight.merging import Part, merged
from tfprof.remote.flight.snapshots import Times

_JUMP_NS = 1_000_000_000
"""Largest disagreement between the program's clock and ours on the length of a snapshot."""

_SPOOL_BYTES = 16 << 20
"""Size at which a new file begins, so that old ones can be freed."""


class _Spool:
    """An unnamed file; it closes when none of its content is needed any more."""

    def __init__(self) -> None:
        # Without a buffer: what a full disk refused would be written with the next entry.
        self.stream: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self.size = self._n_needed = 0
        self._is_full = False
        self._lock = threading.Lock()

    def add(self, data: bytes) -> int:
        """Append; returns the place."""
        with self._lock:
            place = self.size
            self.stream.seek(place)
            rest = memoryview(data)
            while rest:
                rest = rest[self.stream.write(rest) :]
            self.size += len(data)
            self._n_needed += 1
        return place

    def read(self, place: int, size: int) -> bytes:
        """The bytes at a place."""
        with self._lock:
            self.stream.seek(place)
            parts = []
            while size and (part := self.stream.read(size)):
                parts.append(part)
                size -= len(part)
            return b"".join(parts)

    def drop(self) -> None:
        """Release one entry."""
        with self._lock:
            self._n_needed -= 1
            self._close_if_done()

    def end(self) -> None:
        """Add nothing more."""
        with self._lock:
            self._is_full = True
            self._close_if_done()

    def _close_if_done(self) -> None:
        if self._is_full and not self._n_needed:
            self.stream.close()


class Kept:
    """A snapshot.

    Attributes:
        begin_ns: When it began, on a monotonic time axis.
        end_ns: When it ended.
        program: Number of the program, of those that ran at the address one after another.
        size: Bytes of the XSpace.
    """

    def __init__(
        self, begin_ns: int, end_ns: int, program: int, data: bytes, spool: _Spool | None
    ) -> None:
        self.begin_ns, self.end_ns, self.program = begin_ns, end_ns, program
        self.size = len(data)
        self._data, self._spool, self._place = b"", spool, 0
        if spool is None:
            self._data = data
        else:
            self._place = spool.add(data)

    def data(self) -> bytes:
        """The XSpace."""
        if self._spool is None:
            return self._data
        return self._spool.read(self._place, self.size)

    def drop(self) -> None:
        """Release its bytes."""
        if self._spool is not None:
            self._spool.drop()


class Ring:
    """Snapshots of one worker; the oldest are dropped when too old, or when all are too large.

    Attributes:
        program: Number of the program that runs now, of those that ran at the address.
        from_ns: What happened from then on stays, however old it becomes; None keeps no more.

    Args:
        keep_seconds: How long a snapshot is kept.
        most_bytes: Limit on the size of all snapshots together.
    """

    def __init__(self, keep_seconds: float, most_bytes: int) -> None:
        self._keep_ns, self._most_bytes = round(keep_seconds * 1e9), most_bytes
        self._lock = threading.Lock()
        self._kept: deque[Kept] = deque()
        self._spool: _Spool | None = None
        self._correction_ns = 0
        self._last: tuple[int, int] | None = None  # begin of a snapshot on both axes
        self._held_ns: int | None = None
        self.n_bytes = self.program = 0
        self.from_ns: int | None = None
        self.n_jumps = self.n_taken = 0
        self.was_short = False

    def placed(
        self, times: Times, monotonic_ns: int, arrived_ns: int | None = None
    ) -> tuple[int, int]:
        """Begin and end of a snapshot on a monotonic axis.

        Args:
            times: Its times by the program's clock.
            monotonic_ns: When it began by our own monotonic clock.
            arrived_ns: When it arrived; one that begins late and ends in time is what another
                client has left.
        """
        if self._last is not None:
            on_axis = self._last[0] - self._last[1]
            late_ns = times.start_ns + self._correction_ns - (on_axis + monotonic_ns)
            ends_in_time = arrived_ns is not None and (
                times.stop_ns + self._correction_ns < on_axis + arrived_ns + _JUMP_NS // 2
            )
            if late_ns > _JUMP_NS and ends_in_time:
                self.n_taken += 1
                monotonic_ns += late_ns
            elif abs(late_ns) > _JUMP_NS:
                self._correction_ns -= late_ns
                self.n_jumps += 1
        begin = times.start_ns + self._correction_ns
        self._last = (begin, monotonic_ns)
        return begin, max(begin, times.stop_ns + self._correction_ns)

    def add(self, data: bytes, begin_ns: int, end_ns: int) -> None:
        """Keep a snapshot, and drop the oldest ones."""
        with self._lock:
            self._kept.append(self._spooled(data, begin_ns, end_ns))
            self.n_bytes += len(data)
            since_ns = end_ns - self._keep_ns
            for held_ns in (self._held_ns, self.from_ns):
                since_ns = since_ns if held_ns is None else min(since_ns, held_ns)
            while len(self._kept) > 1 and (
                self._kept[0].end_ns < since_ns or self.n_bytes > self._most_bytes
            ):
                self.was_short |= self._kept[0].end_ns >= since_ns
                oldest = self._kept.popleft()
                self.n_bytes -= oldest.size
                oldest.drop()

    def next_program(self) -> None:
        """Another program runs at the address from now on: no run has snapshots of both."""
        self.program += 1

    def hold(self, begin_ns: int) -> None:
        """Keep what happened from a moment on until it is taken, however old it becomes."""
        with self._lock:
            self._held_ns = begin_ns if self._held_ns is None else min(self._held_ns, begin_ns)

    def release(self) -> None:
        """Keep no more than usual: what was to be taken is not written."""
        with self._lock:
            self._held_ns = None

    def close(self) -> None:
        """Drop all snapshots."""
        while kept := self.taken():
            for each in kept:
                each.drop()
        if self._spool is not None:
            self._spool.end()

    def _spooled(self, data: bytes, begin_ns: int, end_ns: int) -> Kept:
        try:
            if self._spool is None or self._spool.size > _SPOOL_BYTES:
                if self._spool is not None:
                    self._spool.end()
                    self._spool = None
                self._spool = _Spool()
            return Kept(begin_ns, end_ns, self.program, data, self._spool)
        except OSError:  # the disk is full: use memory, within the same limit
            return Kept(begin_ns, end_ns, self.program, data, None)

    def taken(self) -> list[Kept]:
        """All snapshots, oldest first; the caller drops them.

        Only those of a program that has since replaced this one stay.
        """
        with self._lock:
            kept = [each for each in self._kept if each.program == self._kept[0].program]
            for _ in kept:
                self._kept.popleft()
            self._held_ns = self._kept[0].begin_ns if self._kept else None
            self.n_bytes -= sum(each.size for each in kept)
        return kept

    def give_back(self, kept: list[Kept]) -> None:
        """Keep snapshots again that could not be written."""
        with self._lock:
            self._kept.extendleft(reversed(kept))
            self.n_bytes += sum(each.size for each in kept)


def one_capture(kept: list[Kept], warnings: Sequence[str] = ()) -> bytes:
    """Snapshots as one XSpace, with warnings of our own beside the profiler's."""
    first_ns = kept[0].begin_ns
    return merged((Part(each.data(), each.begin_ns - first_ns) for each in kept), warnings)
