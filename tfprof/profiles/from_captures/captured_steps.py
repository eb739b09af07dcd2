"""A captured run as steps of a profile."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tfprof.captures.facts.op_sums import op_sums
from tfprof.captures.facts.run_steps import run_steps, steps_of_host
from tfprof.captures.facts.steps import RunSteps
from tfprof.captures.run.run import Host, Run
from tfprof.core.columns.columns import Int64Array
from tfprof.profiles.from_captures.captured_ops import StepsOfHost, numbered
from tfprof.profiles.from_captures.host_executions import add_executions
from tfprof.profiles.from_captures.host_sums import add_sums
from tfprof.profiles.model.executions import StepDetail
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.summed_steps import SummedSteps


def add_capture(profile: Profile, run: Run, host: str | None = None) -> None:
    """Add the steps of a captured run to a profile, whose ops may be those of a graph.

    Events called ``scope/name:Type`` and kernels become runs of ops. Events count on the device of
    the op's kernels, or on the CPU; kernels count as accelerator time. Hosts are tasks of one job;
    runs of the same op in the same step (``run_steps``) add up. Of hosts whose events are elsewhere
    the sums are taken; their executions are read when something asks for them.

    Args:
        profile: Gets the unknown ops, too.
        run: The run.
        host: Only this host.

    Raises:
        UsageError: There is no such host.
    """
    known = frozenset(profile.ops.name(row) for row in range(len(profile.ops)))
    hosts = run.chosen(host)
    if all(each.has_events for each in hosts):
        _add_executions(profile, run, hosts, known)
    else:
        _add_sums(profile, run, hosts, known)
    for note in run.notes:
        where = f"{note.host}: " if note.host else ""
        profile.notices.add(f"capture-{note.severity}", f"{where}{note.message}")


def _add_executions(
    profile: Profile, run: Run, hosts: Sequence[Host], known: frozenset[str]
) -> None:
    for task, host in enumerate(hosts):
        part = profile if task == 0 else Profile(classic=profile.classic)
        steps = _steps_of(run, hosts, host, classic=part.classic)
        add_executions(part, host, _job(task), known, steps)
        if part is not profile:
            profile.add_profile(part)


def _add_sums(profile: Profile, run: Run, hosts: Sequence[Host], known: frozenset[str]) -> None:
    classic = profile.classic
    summed, numbers = SummedSteps(), dict[int, None]()
    for task, host in enumerate(hosts):
        part = profile if task == 0 else Profile(classic=classic)
        steps = _steps_of(run, hosts, host, classic=classic)
        sums = op_sums(host, classic=classic)
        own, own_numbers = add_sums(part, host, sums, _job(task), known, steps)
        numbers |= dict.fromkeys(own_numbers)
        rows = np.arange(len(part.ops)) if part is profile else profile.add_ops(part)
        profile.steps.intern(part.steps.strings.values)
        summed = summed.merge(own, rows)
        host.memo.forget()  # sums of a thousand hosts would fill the memory

    @cache
    def details() -> dict[int, StepDetail]:
        """Every execution, from the events of one host after the other."""
        whole = Profile(classic=classic)
        _add_executions(whole, run, hosts, known)
        rows = profile.ops.rows([whole.ops.name(row) for row in range(len(whole.ops))])
        return profile.steps.details_of(whole.steps, rows)

    profile.steps.add_sums(summed.of_steps(numbers), lambda step: details()[step])


def _steps_of(run: Run, hosts: Sequence[Host], host: Host, *, classic: bool) -> StepsOfHost:
    """The steps of a host, as all tools count them; in classic mode all groups.

    Of several hosts the same step has the number that it has on the first.
    """
    if classic:
        return StepsOfHost()
    steps = run_steps(run)
    groups = [one.times.groups for one in steps.hosts if one.host is host]
    if len(hosts) == 1 and not groups and steps.n_steps:
        groups = [one.times.groups for one in steps_of_host(host) if len(one.times)]
    if groups:
        numbers: dict[int, int] = {}
        if len(hosts) > 1:
            of_first = numbered(steps.names, steps.hosts[0].times.groups.tolist())
            for own in groups:
                numbers |= dict(zip(own.tolist(), of_first, strict=True))
        apart = _apart(steps, groups[0])
        return StepsOfHost(np.unique(np.concatenate(groups)), numbers, apart=apart)
    is_left_out = steps.n_steps > 0 and any(len(one.times) for one in steps_of_host(host))
    return StepsOfHost(is_left_out=is_left_out and len(hosts) > 1)


def _apart(steps: RunSteps, groups: Int64Array) -> dict[int, str]:
    """The steps of other kinds than the main one, by group, if these are the steps of a run."""
    if len(groups) != steps.n_steps:
        return {}
    each = zip(groups.tolist(), steps.kinds, steps.is_main.tolist(), strict=True)
    return {group: kind for group, kind, is_main in each if not is_main}


def _job(task: int) -> str:
    return f"/job:localhost/replica:0/task:{task}"
