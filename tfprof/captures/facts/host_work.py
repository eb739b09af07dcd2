"""The steps of each host as small columns: time of work, waiting and communication.

Workers that train together begin their steps together, so their periods take the same time. They
differ in how long they *work*: the period without the time in which all devices of the host were
in a collective and computed nothing. The host that works longest reaches the collectives last; the
others wait there. Between two steps only recorded activity counts as work: nothing shows whether a
host works or waits for another one. Without any collective, the same applies within steps. A host
that reads its input ahead does so while it waits, and cannot be faster than its input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise

import numpy as np

from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.events.steps.step_times import StepTimes
from tfprof.captures.events.timeline.op_names import OpKind
from tfprof.captures.facts.communication import Communication, JointRuns, communication
from tfprof.captures.facts.host_clock import unix_base_ns
from tfprof.captures.facts.run_steps import steps_of_host
from tfprof.captures.facts.steps import HostSteps, RunSteps
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array, no_rows
from tfprof.core.columns.covered import covered_until


@dataclass(frozen=True, eq=False)
class HostWork:
    """The aligned steps of a host.

    Attributes:
        name: Its name.
        step_names: Its names of the steps.
        unix_base_ns: Zero of its times, by its clock, in ns since 1970; None if unknown.
        duration_ps: Duration of its steps, each from its start to that of the next step, shape
            (n steps,).
        cores: The times of its cores; one entry for a host without TPUs.
        shared: Its collectives in these steps.
        counts_all: Whether time in steps counts as work even if nothing was recorded.
        input_ps: How long the busiest thread of tf.data worked in these steps, without the time of
            the exchange; empty without such a thread.
    """

    name: str
    step_names: Sequence[str]
    unix_base_ns: int | None
    duration_ps: Int64Array
    cores: Sequence[StepTimes]
    shared: Communication
    counts_all: bool = True
    input_ps: Int64Array = field(default_factory=no_rows)

    @property
    def own_ps(self) -> Int64Array:
        """How long the host worked, not counting waits in collectives, shape (n steps,).

        Input is read ahead of the steps that use it, so its time counts only on average.
        """
        own_ps = self.in_step_ps
        return np.maximum(own_ps, self.input_ps) if len(self.input_ps) else own_ps

    @property
    def in_step_ps(self) -> Int64Array:
        """The same without input that is read ahead, shape (n steps,)."""
        in_step_ps: Int64Array = self.duration_ps - self.shared.waiting_ps - self._unrecorded_ps
        return in_step_ps

    @property
    def _unrecorded_ps(self) -> Int64Array:
        """Time for which nothing shows whether the host worked."""
        if self.counts_all:
            return self._busiest([one.between(Spent.UNKNOWN) for one in self.cores])
        return self._busiest([one.of(Spent.UNKNOWN) for one in self.cores])

    @property
    def spent_ps(self) -> Int64Array:
        """The steps by kind of time, shape (n steps, len(SPENT))."""
        return self._busiest([one.spent_ps for one in self.cores])

    def _busiest(self, amounts: Sequence[Int64Array]) -> Int64Array:
        """Amounts of the core that communicates least in a step: the other cores wait for it."""
        busiest = np.argmin([one.of(Spent.DEVICE_COLLECTIVES) for one in self.cores], axis=0)
        chosen: Int64Array = np.stack(amounts)[busiest, np.arange(len(self.duration_ps))]
        return chosen

    def without_runs(self) -> HostWork:
        """The same without single collectives, which take much memory; for use after matching."""
        return replace(self, shared=replace(self.shared, joint=JointRuns.none()))


def work_of_hosts(steps: RunSteps) -> tuple[HostWork, ...]:
    """The work of all hosts in the steps that they have in common, ordered by host name."""
    cores: dict[str, list[HostSteps]] = {}
    for one in steps.hosts:
        cores.setdefault(one.host.name, []).append(one)
    works = tuple(host_work(own) for _, own in sorted(cores.items()))
    if any(work.shared.together_ps.any() for work in works):
        # Input is read during the exchange, too. The last host to arrive shows how long that takes.
        exchange_ps = reduce(np.minimum, [work.shared.waiting_ps for work in works])
        return tuple(
            replace(work, input_ps=work.input_ps - exchange_ps) if len(work.input_ps) else work
            for work in works
        )
    return tuple(replace(work, counts_all=False) for work in works)


def host_work(cores: Sequence[HostSteps]) -> HostWork:
    """The work of a host.

    Args:
        cores: Its steps, or those of each core of its TPUs.
    """
    first, busy_ps = cores[0], busy_input_ps(cores[0].host)
    own = steps_of_host(first.host)[0].times
    return HostWork(
        first.host.name,
        first.names,
        unix_base_ns(first.host),
        reduce(np.maximum, [one.times.duration_ps for one in cores]),
        [one.times for one in cores],
        communication(first.host).in_steps(first.times.groups),
        input_ps=busy_ps[np.isin(own.groups, first.times.groups)] if len(busy_ps) else busy_ps,
    )


@fact
def busy_input_ps(host: Host) -> Int64Array:
    """How long the busiest thread of tf.data works in each step, ps; empty without tf.data.

    A thread with a full buffer waits outside its iterators.
    """
    timeline = host.timeline
    is_iterator = timeline.kind_mask([op.kind is OpKind.DATASET for op in timeline.ops])
    events = np.flatnonzero(is_iterator & timeline.on_threads)
    times = next((one.times for one in steps_of_host(host)), None)
    if times is None or not len(events):
        return no_rows()
    starts, ends = timeline.starts_ps[events], timeline.ends_of(events)
    until, busiest = times.start_ps + times.duration_ps, no_rows()
    _, first = np.unique(timeline.lines_of(events), return_index=True)
    for begin, end in pairwise([*first.tolist(), len(events)]):
        covered = covered_until(starts[begin:end], ends[begin:end])
        busy_ps = covered(until) - covered(times.start_ps)
        if busy_ps.sum() > busiest.sum():
            busiest = busy_ps
    return busiest
