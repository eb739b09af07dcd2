"""Steps of all hosts of a run together, and the nine categories that people see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.events.steps.step_roots import Calls
from tfprof.captures.events.steps.step_times import StepTimes
from tfprof.captures.events.tpu.steps import CoreSteps
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Host
from tfprof.columns.columns import BoolArray, Int64Array
from tfprof.errors import UsageError


class Category(NamedTuple):
    """What people see of what time was spent on.

    Attributes:
        id: Its number in the reference.
        name: Its name there.
        column: Its column in the step table.
        key: Its prefix in properties.
        kinds: What it is made of.
    """

    id: int
    name: str
    column: str
    key: str
    kinds: tuple[Spent, ...]


CATEGORIES = (
    Category(1, "Device compute", "deviceComputeTimeMs", "device_compute",
             (Spent.DEVICE_COMPUTE_32, Spent.DEVICE_COMPUTE_16)),
    Category(2, "Device to device", "deviceToDeviceTimeMs", "device_to_device",
             (Spent.DEVICE_TO_DEVICE, Spent.DEVICE_WAIT_DEVICE)),
    Category(3, "Device collective communication", "deviceCollectivesTimeMs",
             "device_collectives", (Spent.DEVICE_COLLECTIVES,)),
    Category(4, "Host compute", "hostComputeTimeMs", "host_compute", (Spent.HOST_COMPUTE,)),
    Category(5, "Kernel launch", "kernelLaunchTimeMs", "kernel_launch", (Spent.HOST_PREPARE,)),
    Category(6, "Input", "infeedTimeMs", "infeed",
             (Spent.HOST_WAIT_INPUT, Spent.HOST_TO_DEVICE, Spent.DEVICE_WAIT_HOST)),
    Category(7, "Output", "outfeedTimeMs", "outfeed", (Spent.DEVICE_TO_HOST,)),
    Category(8, "Compilation", "compileTimeMs", "compile", (Spent.HOST_COMPILE,)),
    Category(9, "All others", "otherTimeMs", "other", (Spent.UNKNOWN, Spent.HOST_CODE)),
)  # fmt: skip
"""The categories of ``step_breakdown`` in the reference. In its way copies from host to host are
in none of them; by default they count as host computation."""


def kinds_of(category: Category, *, classic: bool) -> tuple[Spent, ...]:
    """What a category is made of."""
    if classic or category.key != "host_compute":
        return category.kinds
    return (*category.kinds, Spent.HOST_TO_HOST)


UNUSUAL = 3.0
"""How many times the median a step takes that is unusual: a first one that traces and compiles,
or fills the buffers of its input."""

ONE_IN = 20
"""At most one of so many steps is unusual; one, of fewer. What happens more often is usual."""

FEWEST = 3
"""Of fewer steps nothing tells which are unusual, and no verdict is given."""


def unusual(durations_ps: Int64Array) -> BoolArray:
    """Which steps took much longer than the others, and are too few to be part of the pace, (n,).

    Args:
        durations_ps: Of each step, shape (n,).
    """
    is_unusual = np.zeros(len(durations_ps), np.bool_)
    if len(durations_ps) < FEWEST:
        return is_unusual
    longest_first = np.argsort(-durations_ps, kind="stable")
    most = max(1, len(durations_ps) // ONE_IN)
    is_unusual[longest_first[:most]] = True
    is_unusual &= durations_ps > UNUSUAL * np.median(durations_ps)
    return is_unusual


@dataclass(frozen=True, eq=False)
class HostSteps:
    """Steps of a host, or of a core of its TPUs.

    Attributes:
        host: The host.
        core_id: What the reference calls it: 1, 1001, 2001, …; of a core of a TPU, the id of its
            plane instead of 1.
        times: Of each step.
        names: What each step is called.
        is_implicit: No step was marked; each call of a function counts as one.
        calls: These calls.
        core: The core of a TPU whose steps these are, if there is one.
        program: The program of the TPU whose runs count as steps, where none was marked.
        cut: Steps that an end of the capture has cut, by their group, with what tells it.
        without_work: Names of steps that were marked, and in which no computation was found.
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
        """The host; of a TPU also the core."""
        return self.host.name if self.core is None else f"{self.host.name}:{self.core.core.label}"

    def slice(self, rows: slice) -> HostSteps:
        """Steps that follow one another."""
        return self.take(np.arange(len(self.times))[rows])

    def take(self, rows: Int64Array) -> HostSteps:
        """Some of the steps."""
        core = None if self.core is None else self.core.take(rows)
        names = [self.names[row] for row in rows.tolist()]
        return replace(self, times=self.times.take(rows), names=names, core=core)

    @property
    def is_cut(self) -> BoolArray:
        """Whether an end of the capture has cut each step, shape (n,)."""
        return np.isin(self.times.groups, list(self.cut))

    def of(self, category: Category, *, classic: bool) -> Int64Array:
        """Time of a category in each step, ps."""
        return self.times.of(*kinds_of(category, classic=classic))


@dataclass(frozen=True, eq=False)
class RunSteps:
    """Steps that all hosts have.

    Attributes:
        hosts: The hosts with the aligned steps; those without any are left out. Of TPUs each
            core is one.
        n_steps: How many steps.
        has_device: Whether there are GPUs or TPUs.
        notes: What was left out, or guessed.
        classic: No step is cut or unusual: the reference knows nothing of that.
    """

    hosts: tuple[HostSteps, ...]
    n_steps: int
    has_device: bool
    notes: tuple[Note, ...]
    classic: bool = False

    @property
    def names(self) -> Sequence[str]:
        """What each step is called on the first host."""
        return self.hosts[0].names if self.hosts else ()

    @cached_property
    def is_cut(self) -> BoolArray:
        """Whether an end of the capture has cut a step on some host, shape (n_steps,)."""
        cut = np.zeros(self.n_steps, np.bool_)
        for one in self.hosts:
            cut |= one.is_cut
        return cut

    @property
    def shown_names(self) -> Sequence[str]:
        """The same names, with a word where a step is cut."""
        return [self.shown(place, name) for place, name in enumerate(self.names)]

    def shown(self, place: int, name: str) -> str:
        """The name of a step, with a word if it is cut."""
        return f"{name} (cut)" if self.is_cut[place] else name

    @cached_property
    def whole(self) -> RunSteps:
        """The steps that are not cut, of which averages are made; all if all are."""
        if not self.is_cut.any() or self.is_cut.all():
            return self
        inner = np.flatnonzero(~self.is_cut)
        return self.take(np.arange(int(inner[0]), int(inner[-1]) + 1))

    def take(self, rows: Int64Array) -> RunSteps:
        """Some of the steps, on all hosts."""
        return replace(self, hosts=tuple(one.take(rows) for one in self.hosts), n_steps=len(rows))

    @cached_property
    def is_unusual(self) -> BoolArray:
        """Which of the whole steps took so long that averages leave them out, shape (n,).

        The places are those of ``whole``.
        """
        steps = self.whole
        if self.classic or not steps.n_steps:
            return np.zeros(steps.n_steps, np.bool_)
        return unusual(steps.slowest_ps())

    @cached_property
    def typical(self) -> RunSteps:
        """The steps of which averages, shares and verdicts are: whole ones, unusual ones left
        out."""
        if not self.is_unusual.any():
            return self.whole
        return self.whole.take(np.flatnonzero(~self.is_unusual))

    def places(self, step: int | Sequence[int] | None) -> list[int]:
        """Places of the steps of one or several numbers, as their names tell them; all for None.

        Raises:
            UsageError: There is no such step.
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
    def _slowest(self) -> Int64Array:
        """The host that took the longest for each step, the first of equal ones, (n_steps,)."""
        durations = [steps.times.duration_ps for steps in self.hosts]
        slowest: Int64Array = np.argmax(durations, axis=0) if durations else np.zeros(0, np.int64)
        return slowest

    def slowest_ps(self) -> Int64Array:
        """Duration of each step on the host that took the longest, shape (n_steps,)."""
        return self._decided([one.times.duration_ps for one in self.hosts])

    def of(self, category: Category) -> Int64Array:
        """Time of a category in each step on the host that took the longest, ps, (n_steps,).

        The others wait for that one. So categories add up to ``slowest_ps``.
        """
        return self._decided([one.of(category, classic=self.classic) for one in self.hosts])

    def spent(self, *kinds: Spent) -> Int64Array:
        """Time of some kinds, likewise."""
        return self._decided([one.times.of(*kinds) for one in self.hosts])

    def _decided(self, values: Sequence[Int64Array]) -> Int64Array:
        if not values:
            return np.zeros(0, np.int64)
        return np.stack(values)[self._slowest, np.arange(self.n_steps)]

    def share(self, amounts_ps: Int64Array) -> float:
        """What part of the step time some amounts of the steps are; 0 without steps."""
        total = int(self.slowest_ps().sum())
        return int(amounts_ps.sum()) / total if total else 0.0

    def share_of(self, key: str) -> float:
        """Part of the step time of a category, by its key."""
        return self.share(self.of(next(one for one in CATEGORIES if one.key == key)))
