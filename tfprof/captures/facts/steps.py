"""Steps of all hosts of a run, and their time by category."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import overload

import numpy as np

from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.events.steps.step_roots import Calls
from tfprof.captures.events.steps.step_times import StepTimes
from tfprof.captures.events.tpu.steps import CoreSteps
from tfprof.captures.facts.categories import BY_KEY, CATEGORIES, Category
from tfprof.captures.facts.statistics import part
from tfprof.captures.rules import OURS, Rules
from tfprof.captures.run.result import Note, listed
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.text.wording import plural
from tfprof.errors import UsageError

Steps = int | tuple[int, ...]
"""One step or several, by the numbers at the ends of their names."""


def kinds_of(category: Category, rules: Rules) -> tuple[Spent, ...]:
    """The kinds of time in a category."""
    if rules.drops_copies_on_host or category.key != "host_compute":
        return category.kinds
    return (*category.kinds, Spent.HOST_TO_HOST)


def times_by_category(times: StepTimes, rules: Rules) -> Int64Array:
    """Time of each category in steps, ps, shape (n, len(CATEGORIES))."""
    columns = [times.of(*kinds_of(category, rules)) for category in CATEGORIES]
    return np.stack(columns, axis=1)


UNUSUAL = 3.0
"""A step is unusual from this multiple of the median on. It is often the first one, which traces
and compiles, or fills the buffers of its input."""

ONE_IN = 20
"""At most one of 20 steps is unusual, or one of fewer. Anything more frequent is usual."""

_SHORT_GAP = 0.02
"""Up to this part of a period, the time between steps does not matter."""

_NUMBER = re.compile(r"([ _]*\d+)+$")
_TRAINS = re.compile(r"train|fit", re.IGNORECASE)

FEWEST = 3
"""With fewer steps, none counts as unusual, and there is no verdict."""


def unusual(durations_ps: Int64Array) -> BoolArray:
    """Which few steps took much longer than the others, shape (n,).

    Args:
        durations_ps: Durations of the steps, shape (n,).
    """
    is_unusual = np.zeros(len(durations_ps), np.bool_)
    if len(durations_ps) < FEWEST:
        return is_unusual
    longest_first = np.argsort(-durations_ps, kind="stable")
    most = max(1, len(durations_ps) // ONE_IN)
    is_unusual[longest_first[:most]] = True
    usual_ps = np.median(durations_ps)
    return is_unusual & (durations_ps > UNUSUAL * usual_ps) & (usual_ps > 0)


@dataclass(frozen=True, eq=False)
class HostSteps:
    """Steps of a host, or of a core of its TPUs.

    Attributes:
        host: The host.
        core_id: The reference's id: 1, 1001, 2001, …; for a TPU core, the id of its plane
            instead of 1.
        times: Times of the steps.
        names: Names of the steps.
        is_implicit: Whether no step was marked; then each call of a function counts as one.
        calls: These calls.
        core: The TPU core, if the steps belong to one.
        program: The TPU program whose runs count as steps if none was marked.
        cut: Reasons by group, for steps cut by the beginning or end of the capture.
        without_work: Names of marked steps without computation.
    """

    host: Host
    core_id: int
    times: StepTimes
    names: Sequence[str]
    is_implicit: bool
    calls: Calls | None = None
    core: CoreSteps | None = None
    program: str = ""
    cut: Mapping[int, str] = field(default_factory=dict)
    without_work: Sequence[str] = ()

    @property
    def label(self) -> str:
        """The name of the host, with the core of a TPU."""
        return self.host.name if self.core is None else f"{self.host.name}:{self.core.core.label}"

    def slice(self, rows: slice) -> HostSteps:
        """Consecutive steps."""
        places = np.arange(len(self.times))[rows]
        return self if len(places) == len(self.times) else self.take(places)

    def take(self, rows: Int64Array) -> HostSteps:
        """Some of the steps."""
        core = None if self.core is None else self.core.take(rows)
        names = list(map(self.names.__getitem__, rows.tolist()))
        return replace(self, times=self.times.take(rows), names=names, core=core)

    @property
    def is_cut(self) -> BoolArray:
        """Which steps the beginning or end of the capture cuts, shape (n,)."""
        return np.isin(self.times.groups, list(self.cut))

    def of(self, category: Category) -> Int64Array:
        """Time of a category in each step, ps."""
        return self.times.of(*kinds_of(category, self.host.rules))


@dataclass(frozen=True, eq=False)
class TakenSteps(Sequence[HostSteps]):
    """Some steps of hosts, selected on access to a host, because runs may have many hosts."""

    hosts: Sequence[HostSteps]
    rows: Int64Array

    def __len__(self) -> int:
        return len(self.hosts)

    @overload
    def __getitem__(self, place: int) -> HostSteps: ...
    @overload
    def __getitem__(self, place: slice) -> list[HostSteps]: ...
    def __getitem__(self, place: int | slice) -> HostSteps | list[HostSteps]:
        if isinstance(place, slice):
            return [one.take(self.rows) for one in self.hosts[place]]
        is_only = len(self.hosts) == 1 and place == 0
        return self._only if is_only else self.hosts[place].take(self.rows)

    @cached_property
    def _only(self) -> HostSteps:
        return self.hosts[0].take(self.rows)


@dataclass(frozen=True, eq=False)
class RunSteps:
    """Steps that all hosts have.

    Attributes:
        hosts: The aligned steps of each host or TPU core; hosts without steps are omitted.
        n_steps: Number of steps.
        has_device: Whether there are GPUs or TPUs.
        notes: Notes on omissions and guesses.
        left_out: Those of the notes on hosts whose steps are omitted, because they share too few
            with the others.
        awaited: Index of the host that the others wait for; None to search for it.
    """

    hosts: Sequence[HostSteps]
    n_steps: int
    has_device: bool
    notes: tuple[Note, ...]
    left_out: tuple[Note, ...] = ()
    awaited: int | None = None

    @cached_property
    def rules(self) -> Rules:
        """The rules of these hosts."""
        return self.hosts[0].host.rules if self.hosts else OURS

    @property
    def scope(self) -> str:
        """A description of these steps, for claims: ``12 steps of worker0``."""
        hosts = listed(sorted({one.host.name for one in self.hosts}))
        return f"{plural(self.n_steps, 'step')} of {hosts}"

    @property
    def names(self) -> Sequence[str]:
        """Names of the steps on the first host."""
        return self.hosts[0].names if self.hosts else ()

    @cached_property
    def is_cut(self) -> BoolArray:
        """Which steps the capture cuts on any host, shape (n_steps,)."""
        cut = np.zeros(self.n_steps, np.bool_)
        for one in self.hosts:
            cut |= one.is_cut
        return cut

    @property
    def shown_names(self) -> Sequence[str]:
        """The same names, with "(cut)" for cut steps."""
        return [self.shown(place, name) for place, name in enumerate(self.names)]

    def shown(self, place: int, name: str) -> str:
        """The name of a step, with "(cut)" if it is cut."""
        return f"{name} (cut)" if self.is_cut[place] else name

    @cached_property
    def whole(self) -> RunSteps:
        """The steps that are not cut; all steps if all are cut."""
        places = self._whole_places
        return self if len(places) == self.n_steps else self.take(places)

    @property
    def _whole_places(self) -> Int64Array:
        if not self.is_cut.any() or self.is_cut.all():
            return np.arange(self.n_steps)
        inner = np.flatnonzero(~self.is_cut)
        return np.arange(int(inner[0]), int(inner[-1]) + 1)

    @property
    def typical_places(self) -> Int64Array:
        """Indices of the ``typical`` steps."""
        typical: Int64Array = self._whole_places[self._is_typical]
        return typical

    @cached_property
    def kinds(self) -> Sequence[str]:
        """The name of each step without its number: ``train``, ``eval``."""
        return [_NUMBER.sub("", name) for name in self.names]

    @cached_property
    def main_kind(self) -> str:
        """The kind behind averages and verdicts: training, else the kind with the most total time.

        Steps of several kinds have nothing in common except their marks.
        """
        took: dict[str, int] = {}
        for kind, duration in zip(self.kinds, self.slowest_ps().tolist(), strict=True):
            took[kind] = took.get(kind, 0) + duration
        return max(took, key=lambda kind: (_TRAINS.match(kind) is not None, took[kind]), default="")

    @cached_property
    def is_main(self) -> BoolArray:
        """Which steps are of the main kind, shape (n_steps,)."""
        if self.rules.keeps_all_steps:
            return np.ones(self.n_steps, np.bool_)
        return np.array([kind == self.main_kind for kind in self.kinds], np.bool_)

    @cached_property
    def is_last(self) -> BoolArray:
        """Which steps have no next step on some host: their periods are unknown, (n_steps,)."""
        is_open = np.zeros(self.n_steps, np.bool_)
        for one in self.hosts:
            ends = one.times.start_ps + one.times.duration_ps
            is_open |= ~np.isin(ends, one.times.start_ps) & (one.times.gap_ps == 0)
        return is_open

    @cached_property
    def _is_typical(self) -> BoolArray:
        """Which of the ``whole`` steps averages and verdicts cover, shape (n whole,)."""
        whole = self.whole
        typical = whole.is_main & ~self.is_unusual
        others = typical & ~whole.is_last
        gaps, took = whole.gap_ps()[others], whole.slowest_ps()[others]
        if others.sum() >= FEWEST and np.median(gaps) > _SHORT_GAP * np.median(took):
            return others
        return typical

    def take(self, rows: Int64Array) -> RunSteps:
        """Some of the steps, on all hosts."""
        hosts = TakenSteps(self.hosts, rows)
        return replace(self, hosts=hosts, n_steps=len(rows), awaited=self._awaited)

    @cached_property
    def is_unusual(self) -> BoolArray:
        """Which of the ``whole`` steps averages omit because they took so long."""
        steps = self.whole
        is_unusual = np.zeros(steps.n_steps, np.bool_)
        if self.rules.keeps_all_steps or not steps.n_steps:
            return is_unusual
        # Waits for input between steps never count as unusual: the start of an epoch is normal.
        waits = steps.between(Spent.HOST_WAIT_INPUT, Spent.DEVICE_WAIT_HOST)
        main = np.flatnonzero(steps.is_main)
        is_unusual[main] = unusual((steps.slowest_ps() - waits)[main])
        return is_unusual

    @cached_property
    def typical(self) -> RunSteps:
        """The steps for averages, shares and verdicts: of the main kind, not cut, not unusual.

        If much of the time lies between steps, this omits steps that no other step follows, because
        the length of their periods is unknown.
        """
        if self._is_typical.all():
            return self.whole
        return self.whole.take(np.flatnonzero(self._is_typical))

    def places(self, step: Steps | None) -> list[int]:
        """Indices of the steps with these numbers at the ends of their names; all for None.

        Raises:
            UsageError: The step does not exist.
        """
        if step is None:
            return list(range(self.n_steps))
        numbers = [name.rpartition(" ")[2] for name in self.names]
        wanted = [str(one) for one in ([step] if isinstance(step, int) else step)]
        if not numbers:
            raise UsageError(f"no step {wanted[0]} in this run: it has no steps")
        for missing in sorted(set(wanted) - set(numbers), key=wanted.index):
            shown = numbers if len(numbers) < 9 else [*numbers[:4], "…", *numbers[-4:]]
            raise UsageError(f"no step {missing} in this run; it has: {', '.join(shown)}")
        chosen = set(wanted)
        return [place for place, number in enumerate(numbers) if number in chosen]

    @cached_property
    def own_time_ps(self) -> Int64Array:
        """Time of the whole steps outside communication on each host, shape (n hosts,)."""
        rows = self._whole_places
        return np.array(
            [
                (one.times.duration_ps - one.times.of(Spent.DEVICE_COLLECTIVES))[rows].sum()
                for one in self.hosts
            ],
            np.int64,
        )

    @cached_property
    def _awaited(self) -> int | None:
        """Index of the host that provides all steps; None if each step has its own.

        The reference takes the slowest host of each step. But hosts that train together differ in
        single steps, not in the long run: the mean of the largest times is not that of any host. So
        this is the host that the others wait for, or the first of equal ones.
        """
        if self.awaited is not None or self.rules.takes_largest_of_hosts or not self.hosts:
            return self.awaited
        return int(np.argmax(self.own_time_ps))

    @cached_property
    def _slowest(self) -> Int64Array:
        """The slowest host of each step, which the others wait for, shape (n_steps,)."""
        if self._awaited is not None:
            return np.full(self.n_steps, self._awaited, np.int64)
        slowest = np.zeros(self.n_steps if self.hosts else 0, np.int64)
        longest_ps = np.full(len(slowest), np.iinfo(np.int64).min)
        for number, steps in enumerate(self.hosts):
            is_longer = steps.times.duration_ps > longest_ps
            slowest[is_longer] = number
            longest_ps[is_longer] = steps.times.duration_ps[is_longer]
        return slowest

    def slowest_ps(self) -> Int64Array:
        """Duration of each step on the slowest host, shape (n_steps,)."""
        return self.decided(lambda one: one.times.duration_ps)

    def of(self, category: Category) -> Int64Array:
        """Time of a category in each step on the slowest host, ps, shape (n_steps,).

        The other hosts wait for that one, so categories add up to ``slowest_ps``.
        """
        return self.decided(lambda one: one.of(category))

    def own_ps(self) -> Int64Array:
        """Duration of each step on the slowest host without the time after it, shape (n_steps,)."""
        return self.decided(lambda one: one.times.own_ps)

    def gap_ps(self) -> Int64Array:
        """Time between each step and the next on the slowest host, shape (n_steps,)."""
        return self.decided(lambda one: one.times.gap_ps)

    def between(self, *kinds: Spent) -> Int64Array:
        """The part of ``spent`` between each step and the next, shape (n_steps,)."""
        return self.decided(lambda one: one.times.between(*kinds))

    def spent(self, *kinds: Spent) -> Int64Array:
        """Time of some kinds in each step on the slowest host, ps, shape (n_steps,)."""
        return self.decided(lambda one: one.times.of(*kinds))

    def decided(self, amounts: Callable[[HostSteps], Int64Array]) -> Int64Array:
        """An amount of each step on its slowest host, shape (n_steps,)."""
        decided = np.zeros(len(self._slowest), np.int64)
        for number in np.unique(self._slowest).tolist():
            is_slowest = self._slowest == number
            decided[is_slowest] = amounts(self.hosts[number])[is_slowest]
        return decided

    @cached_property
    def has_ops(self) -> bool:
        """Whether any step has a recorded op; otherwise it is unknown when ops run."""
        work = [kind for kind in Spent if kind > Spent.HOST_RUNTIME]
        return any(one.core is not None or one.times.of(*work).any() for one in self.hosts)

    def share(self, amounts_ps: Int64Array) -> float:
        """Total of an amount as a part of the step time; 0 without steps."""
        return part(int(amounts_ps.sum()), int(self.slowest_ps().sum()))

    def spent_share(self, *kinds: Spent) -> float:
        """Time of some kinds as a part of the step time."""
        return self.share(self.spent(*kinds))

    def share_of(self, key: str) -> float:
        """Time of a category, given by its key, as a part of the step time."""
        return self.share(self.of(BY_KEY[key]))

    def compute_shares(self) -> tuple[float, float]:
        """Parts of the devices' computation in 32 and in 16 bits; zeros without computation."""
        wide, narrow = (sum(one.times.compute_ps[place] for one in self.hosts) for place in (0, 1))
        return part(wide, wide + narrow), part(narrow, wide + narrow)
