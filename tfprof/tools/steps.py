"""Steps of all hosts of a run together, and the nine categories that people see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof.analysis.xspace.cut_steps import UNMARKED, cut_steps
from tfprof.analysis.xspace.grouping import Groups
from tfprof.analysis.xspace.implicit_steps import implicit_steps
from tfprof.analysis.xspace.step_events import (
    Spent,
    gpu_step_events,
    host_step_events,
    joined,
)
from tfprof.analysis.xspace.step_times import StepTimes, step_times
from tfprof.analysis.xspace.tpu_steps import CoreSteps, tpu_steps, waiting_for_input
from tfprof.errors import UsageError
from tfprof.model.columns import BoolArray, Int64Array
from tfprof.tools.host_devices import hosts_with_steps, uses_gpu, uses_tpu
from tfprof.tools.result import Note
from tfprof.tools.run import Host, Run
from tfprof.tools.step_matching import matched
from tfprof.tools.step_notes import cut_notes, left_out_notes, step_notes

Float64Array = npt.NDArray[np.float64]


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
    Category(9, "All others", "otherTimeMs", "other", (Spent.UNKNOWN,)),
)  # fmt: skip
"""The categories of ``step_breakdown`` in the reference. In its way copies from host to host are
in none of them; by default they count as host computation."""


def kinds_of(category: Category, *, classic: bool) -> tuple[Spent, ...]:
    """What a category is made of."""
    if classic or category.key != "host_compute":
        return category.kinds
    return (*category.kinds, Spent.HOST_TO_HOST)


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
    core: CoreSteps | None = None
    program: str = ""
    cut: Mapping[int, str] = field(default_factory=dict)
    without_work: Sequence[str] = ()

    @property
    def label(self) -> str:
        """The host; of a TPU also the core."""
        return self.host.name if self.core is None else f"{self.host.name}:{self.core.core.label}"

    def slice(self, rows: slice) -> HostSteps:
        """Some of the steps."""
        core = None if self.core is None else self.core.take(rows)
        return replace(self, times=self.times.take(rows), names=self.names[rows], core=core)

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
    """

    hosts: tuple[HostSteps, ...]
    n_steps: int
    has_device: bool
    notes: tuple[Note, ...]

    @property
    def names(self) -> Sequence[str]:
        """What each step is called on the first host."""
        return self.hosts[0].names if self.hosts else ()

    @cached_property
    def is_cut(self) -> BoolArray:
        """Whether an end of the capture has cut a step on some host, shape (n_steps,)."""
        found = np.zeros(self.n_steps, np.bool_)
        for one in self.hosts:
            found |= one.is_cut
        return found

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
        rows = slice(int(inner[0]), int(inner[-1]) + 1)
        hosts = tuple(one.slice(rows) for one in self.hosts)
        return replace(self, hosts=hosts, n_steps=rows.stop - rows.start)

    def places(self, step: int | None) -> list[int]:
        """Places of the steps of a number, as their names tell it; of all for None.

        Raises:
            UsageError: There is no such step.
        """
        if step is None:
            return list(range(self.n_steps))
        numbers = [name.rpartition(" ")[2] for name in self.names]
        found = [place for place, number in enumerate(numbers) if number == str(step)]
        if not found and numbers:
            shown = numbers if len(numbers) < 9 else [*numbers[:4], "…", *numbers[-4:]]
            raise UsageError(f"no step {step} in this run; it has: {', '.join(shown)}")
        return found

    def slowest_ps(self) -> Int64Array:
        """Duration of each step on the host that took the longest, shape (n_steps,)."""
        return np.max([steps.times.duration_ps for steps in self.hosts], axis=0)  # type: ignore[no-any-return]


def host_steps(host: Host, core_id: int, *, classic: bool) -> HostSteps:
    """The steps of a host, worked out once.

    With GPUs the reference looks at these alone; by default what the host does meanwhile counts,
    too, as it did when the profiler's guide was written.
    """
    return host.memo.once(("steps", core_id, classic), lambda: _host_steps(host, core_id, classic))


def _host_steps(host: Host, core_id: int, classic: bool) -> HostSteps:
    forest, groups = host.forest(classic=classic), host.groups(classic=classic)
    with_gpu, is_implicit = uses_gpu(host, classic=classic), False
    parts = []
    marked = np.zeros(0, np.int64)
    if not (with_gpu and classic):
        of_host, markers = host_step_events(forest, groups, has_device=with_gpu)
        marked = np.unique(markers.group)
        if not classic and not len(markers.group):
            markers, groups = implicit_steps(forest, groups)
            is_implicit = len(markers.group) > 0
            of_host, _ = host_step_events(forest, groups, has_device=with_gpu)
        parts.append((of_host, markers))
    if with_gpu:
        parts.append(gpu_step_events(host.timeline, groups, classic=classic))
    events, markers = joined(parts)
    times = step_times(events, markers, has_device=with_gpu)
    numbers = times.groups.tolist()
    names = [groups.names.get(group, str(group)) for group in numbers]
    if with_gpu and classic:
        names = list(map(str, numbers))
    if classic:
        return HostSteps(host, core_id, times, names, is_implicit)
    return HostSteps(
        host, core_id, times, names, is_implicit,
        cut=cut_steps(host.timeline, groups, times, marked),
        without_work=_names_of(groups, marked[~np.isin(marked, times.groups)]),
    )  # fmt: skip


def _names_of(groups: Groups, chosen: Int64Array) -> Sequence[str]:
    return [groups.names.get(group, str(group)) for group in chosen.tolist()]


MOST_KEPT_WHOLE = 5
"""The reference leaves out the first and the last step where there are more."""


def run_steps(run: Run, *, classic: bool = False, inner_only: bool = False) -> RunSteps:
    """The steps of all hosts, aligned; worked out once.

    Args:
        run: The run.
        classic: As the reference.
        inner_only: Leave out the first and the last of more than five steps of each host, as the
            reference does in some tools.
    """
    key = ("steps", classic, inner_only)
    return run.memo.once(key, lambda: _run_steps(run, classic, inner_only))


def _run_steps(run: Run, classic: bool, inner_only: bool) -> RunSteps:
    counts, notes = hosts_with_steps(run.hosts, classic=classic)
    found = [
        _cores_of(host, number, classic=classic, inner_only=inner_only)
        for number, host in enumerate(run.hosts)
        if counts[number]
    ]
    has_device = any(
        uses_tpu(h, classic=classic) or uses_gpu(h, classic=classic) for h in run.hosts
    )
    whole = [cores[0] for cores in found]
    if len(found) == 1:
        aligned, n_steps = found[0], len(whole[0].times)
    else:
        found = [_with_markers(cores, notes) for cores in found]
        first = [cores[0] for cores in found]
        alignment = matched(first, notes, classic=classic)
        n_steps = alignment.n_steps
        aligned = [
            steps.slice(slice(begin, begin + n_steps))
            for number, (cores, begin) in enumerate(zip(found, alignment.first, strict=True))
            if number not in alignment.without_steps
            for steps in cores
        ]
    steps = RunSteps(tuple(aligned), n_steps, has_device, ())
    return replace(steps, notes=(*notes, *step_notes(whole), *cut_notes(steps)))


def _with_markers(cores: list[HostSteps], notes: list[Note]) -> list[HostSteps]:
    """Without steps at the ends that lack a marker: nothing tells which of other hosts they are."""
    first = cores[0]
    is_lacking = np.array(
        [first.cut.get(group) == UNMARKED for group in first.times.groups.tolist()], np.bool_
    )
    if not is_lacking.any():
        return cores
    notes += left_out_notes(first, np.flatnonzero(is_lacking))
    kept = np.flatnonzero(~is_lacking)
    return [steps.slice(slice(int(kept[0]), int(kept[-1]) + 1)) for steps in cores]


def _cores_of(host: Host, number: int, *, classic: bool, inner_only: bool) -> list[HostSteps]:
    """The steps of a host; of a TPU host those of each core."""
    if uses_tpu(host, classic=classic):
        return host.memo.once(
            ("tpu_steps", number, classic), lambda: _tpu_cores(host, number, classic)
        )
    steps = host_steps(host, number * 1000 + 1, classic=classic)
    if inner_only and len(steps.times) > MOST_KEPT_WHOLE:
        steps = steps.slice(slice(1, len(steps.times) - 1))
    return [steps]


def _tpu_cores(host: Host, number: int, classic: bool) -> list[HostSteps]:
    groups = host.groups(classic=classic)
    waiting: dict[int, int] = {}
    marked = np.zeros(0, np.int64)
    if any(root >= 0 for root in groups.roots.values()):
        events, markers = host_step_events(host.forest(classic=classic), groups, has_device=True)
        waiting, marked = waiting_for_input(events), np.unique(markers.group)
    found = tpu_steps(host.timeline, groups, waiting, classic=classic)
    without = marked[~np.isin(marked, found.groups)]
    return [
        HostSteps(
            host,
            number * 1000 + steps.core.id,
            found.times(steps, classic=classic),
            found.names,
            is_implicit=bool(found.program),
            core=steps,
            program=found.program,
            cut={} if classic else found.cut,
            without_work=() if classic else _names_of(groups, without),
        )
        for steps in found.cores
    ]
