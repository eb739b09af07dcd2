"""The figures of one snapshot that need its steps, by the same account of time as everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np

from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.step_shares import collective_shares, idle_shares, input_shares
from tfprof.captures.facts.utilization import utilization_of
from tfprof.captures.run.run import Run, open_run
from tfprof.captures.tools.memory_profile import memory
from tfprof.errors import TfprofError

T = TypeVar("T")

SHARES: Final = {
    "input_share": "part of a step that waits for input, from 0 to 1",
    "idle_share": "part of a step in which no device works; without devices, no op runs, and the "
    "program waits for none; from 0 to 1",
    "collective_share": "part of a step that goes to collective communication of devices, from 0 "
    "to 1",
    "mfu": "model FLOPs utilization, from 0 to 1",
    "hfu": "hardware FLOPs utilization, with what is computed a second time, from 0 to 1",
}
"""Names, as in budgets, and meanings."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a snapshot; what it does not show is absent.

    Attributes:
        shares: Those of ``SHARES``.
        period_seconds: Mean period of its typical steps, from the start of one to that of the
            next, as in budgets; None without whole steps.
        peak_bytes: Most bytes in use of one allocator; None if none reports.
        guessed_seconds: Durations of its whole steps if the program marks none, shape (n,).
    """

    shares: dict[str, float]
    period_seconds: float | None
    peak_bytes: int | None
    guessed_seconds: tuple[float, ...] = ()


NOTHING = Figures({}, None, None)


def figures_of(data: bytes) -> Figures:
    """Read the figures of a serialized XSpace; a damaged one has none."""
    try:
        run = open_run(data)
        steps = run_steps(run)
    except TfprofError:
        return NOTHING
    found: dict[str, float] = {}
    for name, value in (
        ("input_share", lambda: input_shares(run, steps).mean),
        ("idle_share", lambda: idle_shares(steps).mean),
        ("collective_share", lambda: collective_shares(steps).mean),
        ("mfu", lambda: utilization_of(run).mfu),
        ("hfu", lambda: utilization_of(run).hfu),
    ):
        share = _known(value)
        if share is not None and np.isfinite(share):
            found[name] = share
    typical, whole = steps.typical, steps.whole
    took = typical.slowest_ps()
    is_guessed = bool(whole.hosts) and whole.hosts[0].is_implicit
    return Figures(
        found,
        float(took.mean()) / 1e12 if len(took) else None,
        _known(lambda: _peak_bytes(run)),
        tuple((whole.hosts[0].times.duration_ps / 1e12).tolist()) if is_guessed else (),
    )


def _known(value: Callable[[], T | None]) -> T | None:
    """A figure; one that cannot be had takes no other with it."""
    try:
        return value()
    except TfprofError:
        return None


def _peak_bytes(run: Run) -> int | None:
    rows: list[dict[str, Any]] = memory(run).to_rows("summary")
    return max((int(row["peak_bytes"]) for row in rows), default=None)
