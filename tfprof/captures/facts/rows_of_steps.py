"""Rows of hosts × steps for tables, made on demand from the columns of the hosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tfprof.captures.facts.steps import HostSteps, times_by_category
from tfprof.captures.run.made_rows import MadeRows
from tfprof.captures.run.table import Cell

PS_PER_MS = 1e9

Row = tuple[Cell, ...]

_BLOCK_STEPS = 16
"""Steps per batch of rows, on all hosts, so that few column cuts yield many rows."""

MakeRow = Callable[[HostSteps, int, float, list[float], float], Row]
"""Makes a row from a host, the index of a step, the duration of the period, the time by category,
and the part of the period between the step and the next one."""


def rows_of_steps(
    hosts: Sequence[HostSteps],
    places: Sequence[int],
    row: MakeRow,
    ps_per_unit: float,
) -> MadeRows:
    """A row for each step and host, step by step.

    Args:
        hosts: The aligned steps of each host.
        places: Indices of the steps.
        row: Makes a row; times are in the unit.
        ps_per_unit: Length of the unit, in ps.
    """
    chosen = np.array(places, np.int64)

    def make(begin: int, end: int) -> list[Row]:
        made: list[Row] = [()] * (end - begin)
        for number in range(min(len(hosts), end - begin)):
            one = hosts[(begin + number) % len(hosts)]
            own = chosen[np.arange(begin + number, end, len(hosts)) // len(hosts)]
            times = one.times.take(own)
            took = (times.duration_ps / ps_per_unit).tolist()
            amounts = (times_by_category(times, one.host.rules) / ps_per_unit).tolist()
            gaps = (times.gap_ps / ps_per_unit).tolist()
            columns = zip(own.tolist(), took, amounts, gaps, strict=True)
            made[number :: len(hosts)] = [row(one, *values) for values in columns]
        return made

    return MadeRows(len(chosen) * len(hosts), make, _BLOCK_STEPS * len(hosts))
