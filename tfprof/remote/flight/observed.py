"""How much of a worker's time was recorded, and why the rest was not."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.core.text.units import human_memory
from tfprof.remote.flight.overhead import Overhead


@dataclass(frozen=True, slots=True)
class Observed:
    """What was recorded of a worker so far.

    Attributes:
        way: ``continuous``, or ``captures`` where the server has no continuous profiling.
        seconds: From the first moment to the last.
        percent: Share of that time with a recording session.
        paused_seconds: Time without a session, to measure the cost of recording.
        gone_seconds: Time until a program that had ended, or hung, came back.
        n_snapshots: Number of snapshots.
        n_steps: Steps whose time is known.
        n_unclear: Steps cut by snapshots for which the condition may or may not hold, because
            their time cannot be separated from the time between steps.
        n_bytes: Bytes that are kept now.
        interval_seconds: Current time from one snapshot to the next.
        program_bytes: Resident memory of the program at the last snapshot; None if it is not
            visible, as on another machine.
        program_bytes_before: Resident memory before recording began.
        overhead: Cost of recording for the program; None if it was not measured.
        trouble: Why the worker is not recorded now; empty if it is recorded.
        is_limited: Whether the memory limit of the program is the reason.
        n_slow: Steps for which the condition held.
        has_ended: Whether the program has ended, and has not come back.
    """

    way: str
    seconds: float
    percent: float
    paused_seconds: float
    gone_seconds: float
    n_snapshots: int
    n_steps: int
    n_unclear: int
    n_bytes: int
    interval_seconds: float
    program_bytes: int | None
    program_bytes_before: int | None
    overhead: Overhead | None
    trouble: str
    is_limited: bool = False
    n_slow: int = 0
    has_ended: bool = False

    @property
    def unit(self) -> str:
        """Name of what the server returns."""
        return "captures" if self.way == "captures" else "snapshots"

    def __str__(self) -> str:
        if not self.n_snapshots:
            why = "" if self.trouble else ": recording ended before the first snapshot"
            return f"nothing was recorded{why}"
        parts = [
            f"{self.percent:.1f} % of {self.seconds:.0f} s were observed, in {self.n_snapshots} "
            f"{self.unit}"
        ]
        if self.paused_seconds:
            parts.append(f"{self.paused_seconds:.1f} s had no session, to measure what it costs")
        if self.gone_seconds:
            parts.append(f"{self.gone_seconds:.1f} s passed until the program came back")
        holds = "held" if self.trouble else "holds"
        parts += [f"{self.n_steps} whole steps", f"the program {holds} {self.memory}"]
        return "; ".join(parts)

    @property
    def memory(self) -> str:
        """The program's memory, and its growth since recording began."""
        now, before = self.program_bytes, self.program_bytes_before
        if now is None:
            return "memory that is not visible from here"
        held = f"{human_memory(now)} of memory"
        if before is None or not self.n_snapshots:
            return held
        more = "more" if now >= before else "less"
        return f"{held}, {human_memory(abs(now - before))} {more} than before"
