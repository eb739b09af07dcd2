"""What changed from the runs before a change to those after, by ``diff`` of one run of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfprof.core.text.claims import Claim, unknown
from tfprof.errors import TfprofError
from tfprof.files.remote.path import as_path
from tfprof.insight.diff.ask import diff
from tfprof.insight.history.answer import Found
from tfprof.insight.history.changes import Change
from tfprof.insight.history.record import RunRecord

_NEAR = 10
"""Runs on each side of a change of which one is compared."""

_SAID = 3
"""Claims of a comparison that a history repeats."""


def causes_of(found: Found, change: Change) -> Sequence[Claim]:
    """What a comparison of runs around a change finds; unknown, if their files are gone."""
    before, after = representatives(found, change)
    for one in (before, after):
        if not one.source or not as_path(one.source).exists():
            return [unknown(found.series.name, "cause", f"What changed in the program is unknown: "
                            f"the files of {one.name} are no longer there.")]  # fmt: skip
    try:
        answer = diff(before.source, after.source)
    except TfprofError as error:
        return [unknown(found.series.name, "cause", f"{before.name} and {after.name} cannot be "
                        f"compared: {error}")]  # fmt: skip
    head = Claim(found.series.name, "compared", None,
                 details={"first": before.name, "second": after.name},
                 words="By comparing {first} with {second}:")  # fmt: skip
    return [head, *answer.claims[:_SAID]]


def representatives(found: Found, change: Change) -> tuple[RunRecord, RunRecord]:
    """The runs near a change that are nearest to the levels before and after it."""
    first, _, stop = change.runs
    sides = (
        (range(max(first, change.first - _NEAR), change.first), change.before),
        (range(change.last, min(stop, change.last + _NEAR)), change.after),
    )
    before, after = (
        min(_known(found, change.metric, places), key=lambda one: abs(one[1] - level))[0]
        for places, level in sides
    )
    return before, after


def _known(found: Found, metric: str, places: range) -> Iterator[tuple[RunRecord, float]]:
    for place in places:
        run = found.series.runs[place]
        figure = run.figures.get(metric)
        if figure is not None and figure.value is not None:
            yield run, figure.value
