"""Series: runs of one program on one kind of machine, whose numbers can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tfprof.insight.budgets.key_figures import KeyFigure
from tfprof.insight.history.record import RunRecord

_FEWEST_OF_ONE = 4
"""Runs of a machine, on average, from which on machines that take turns have a series each: names
of lent machines are many, and one that comes back by chance must not divide all runs."""


@dataclass(frozen=True, slots=True)
class Series:
    """Runs of one program on one kind of machine, by time.

    Attributes:
        name: Program and hardware, and the machine if it divides the runs.
        runs: The runs.
    """

    name: str
    runs: tuple[RunRecord, ...]

    def known(self, metric: str) -> tuple[list[int], list[float]]:
        """Places of the runs that have a value of a metric, and the values."""
        found = [
            (place, figure.value)
            for place, run in enumerate(self.runs)
            if (figure := run.figures.get(metric)) is not None and _is_finite(figure)
        ]
        return [place for place, _ in found], [float(value or 0.0) for _, value in found]

    def is_least(self, metric: str, place: int) -> bool:
        """Whether the value of a run is only the least that it can be."""
        figure = self.runs[place].figures.get(metric)
        return figure is not None and figure.value is not None and figure.at_least

    def unit(self, metric: str) -> str:
        """The unit of a metric; empty if no run has it."""
        return next((run.figures[metric].unit for run in self.runs if metric in run.figures), "")


def _is_finite(figure: KeyFigure) -> bool:
    value = figure.value
    return value is not None and abs(value) < float("inf")


def series_of(records: Sequence[RunRecord]) -> list[Series]:
    """Runs divided by what they ran and on what hardware, in the order of their names.

    Versions, commits and machines explain a change and divide nothing. But if machines take turns,
    each has a series: else every turn would be a change. Machines of few runs each divide nothing.

    Args:
        records: The runs, by time.
    """
    found: dict[tuple[str, str], list[RunRecord]] = {}
    for one in records:
        found.setdefault((one.program, one.hardware), []).append(one)
    n_kinds = Counter(program for program, _ in found)
    divided = []
    for (program, hardware), runs in found.items():
        name = f"{program} ({hardware})" if n_kinds[program] > 1 and hardware else program
        if not _take_turns([one.machine for one in runs]):
            divided.append(Series(name, tuple(runs)))
            continue
        for machine in sorted({one.machine for one in runs}):
            own = tuple(one for one in runs if one.machine == machine)
            divided.append(Series(f"{name} on {machine}", own))
    return sorted(divided, key=lambda one: one.name)


def _take_turns(machines: Sequence[str]) -> bool:
    """Whether machines come back after others; not where nearly every run has one of its own."""
    if len(machines) < _FEWEST_OF_ONE * len(set(machines)):
        return False
    turns = [one for place, one in enumerate(machines) if not place or machines[place - 1] != one]
    return len(turns) > len(set(turns))
