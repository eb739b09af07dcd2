"""A run with only the events of one step, so that a tool reports on that step alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.timeline.threadpool import Regions
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.facts.periods import periods_of
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.steps import RunSteps, Steps
from tfprof.captures.rules import Rules
from tfprof.captures.run.gathered_notes import gathered
from tfprof.captures.run.memo import Memo
from tfprof.captures.run.result import Note, listed
from tfprof.captures.run.run import Host, Run
from tfprof.core.columns.columns import BoolArray, Int64Array

if TYPE_CHECKING:
    from typing_extensions import Self


class _StepHost(Host):
    """A host with only the events of some of its steps."""

    def __init__(self, host: Host, wanted: Collection[int]) -> None:
        super().__init__(host.name, host.space)
        self.rules, self._whole, self._wanted = host.rules, host, wanted

    def _by(self, rules: Rules) -> Self:
        other = super()._by(rules)
        other._whole = self._whole.by(rules)
        return other

    def _groups(self) -> Groups:
        kept = self._kept()
        return self.memo.once("groups", lambda: _kept_groups(self._whole.groups(), kept))

    def period_ends(self) -> Mapping[int, int]:
        """The same as in the whole host."""
        steps = periods_of(self._whole).steps
        return dict(zip(steps.groups.tolist(), steps.end_ps.tolist(), strict=True))

    def _kept(self) -> BoolArray:
        """Which events are in the steps, by the rules of the run that the steps come from."""
        if isinstance(self._first, _StepHost):
            return self._first._kept()
        of_event = self._whole.groups().of_event
        return self.memo.once("kept", lambda: np.isin(of_event, list(self._wanted)))

    def _with_regions(self) -> tuple[Timeline, Regions]:
        if self._first is not None:
            return self._first._with_regions()

        def make() -> tuple[Timeline, Regions]:
            kept = self._kept()
            timeline, regions = self._whole._with_regions()
            is_kept = kept[regions.events]
            events = _places(kept)[regions.events[is_kept]]
            return timeline.only(kept), Regions(events, regions.consumers[is_kept])

        return self.memo.once("timeline", make)

    def _with_graph_ops(self, recorded: Timeline) -> Timeline:
        """The same as in the whole host: other steps may name the kernels of a graph."""
        whole = self._whole.timeline
        return whole.only(self._kept()) if whole.given_stats else recorded


def _places(kept: BoolArray) -> Int64Array:
    """Index of each event among the kept ones; -1 for others."""
    return np.where(kept, np.cumsum(kept) - 1, -1)


def _kept_groups(groups: Groups, kept: BoolArray) -> Groups:
    places = _places(kept)
    roots = {group: int(places[root]) if root >= 0 else -1 for group, root in groups.roots.items()}
    shown = {int(places[event]): name for event, name in groups.step_names.items() if kept[event]}
    work = None if groups.work is None else groups.work[kept]
    of_event = groups.of_event[kept]
    return replace(groups, of_event=of_event, roots=roots, step_names=shown, work=work)


def of_step(run: Run, step: Steps | None) -> Run:
    """The run with only the events of a step on each host; for None, the run itself.

    Args:
        run: The run.
        step: Number at the end of the step's name.

    Raises:
        UsageError: The step does not exist.
    """
    if step is None:
        return run
    steps = run_steps(run)
    places = steps.places(step)

    def make() -> Run:
        wanted = groups_at(steps, places)
        hosts = [_StepHost(host, wanted.get(host.name, ())) for host in run.hosts]
        names = listed([steps.names[place] for place in places])
        note = Note("info", f"only what belongs to step {names} counts here")
        return replace(
            run,
            hosts=tuple(hosts),
            notes=(*run.notes, note, *gathered(steps.left_out)),
            memo=Memo(),
        )

    return run.memo.once(("step", step), make)


def groups_at(steps: RunSteps, places: Collection[int]) -> dict[str, set[int]]:
    """The groups of some steps by host name."""
    groups_of: dict[str, set[int]] = {}
    for one in steps.hosts:
        chosen = one.times.groups[list(places)].tolist()
        groups_of.setdefault(one.host.name, set()).update(chosen)
    return groups_of


def spans_at(steps: RunSteps, places: Collection[int]) -> dict[str, list[tuple[int, int]]]:
    """Start and end of some steps by host name, ps."""
    spans_of: dict[str, list[tuple[int, int]]] = {}
    for one in steps.hosts:
        for place in places:
            start = int(one.times.start_ps[place])
            span = (start, start + int(one.times.duration_ps[place]))
            spans_of.setdefault(one.host.name, []).append(span)
    return spans_of
