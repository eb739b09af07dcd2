"""Interval between snapshots: the program's memory grows with their size."""

from __future__ import annotations

from collections import deque

SNAPSHOT_BYTES = 2 << 20
"""A program holds 40 to 80 bytes for each byte of a snapshot, and gives none back."""
GROWTH_BYTES = 128 << 20
"""Growth since the last snapshot that shows that the program makes more events than before."""

_FIRST_SECONDS = 1.0
_SHORTEST_SECONDS = 0.2
_STEPS = 3
_GROWTH = 2.0
_N_RATES = 8


class Pace:
    """Time from one snapshot to the next: the user's choice, or less if snapshots are large.

    Attributes:
        seconds: Time until the next snapshot.

    Args:
        longest_seconds: The interval that the user chose.
    """

    def __init__(self, longest_seconds: float) -> None:
        self._longest = longest_seconds
        self._rates: deque[float] = deque(maxlen=_N_RATES)  # programs that rest go on
        self.seconds = min(longest_seconds, _FIRST_SECONDS)

    def add(self, n_bytes: int, seconds: float, step_seconds: float | None) -> None:
        """Adapt the interval to a snapshot.

        Args:
            n_bytes: Its size.
            seconds: How much time it covers.
            step_seconds: The usual time of a step, of which a snapshot has some; None is unknown.
        """
        if seconds > 0:
            self._rates.append(n_bytes / seconds)
        rate = max(self._rates, default=0.0)
        shortest = max(_SHORTEST_SECONDS, _STEPS * (step_seconds or 0.0))
        wanted = SNAPSHOT_BYTES / rate if rate else self._longest
        grown = _GROWTH * max(self.seconds, _SHORTEST_SECONDS)
        self.seconds = min(max(min(wanted, grown), shortest), self._longest)
