"""Evidence for practices: numbers that several of them need."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from tfprof.captures.events.ops.device_ops import WITHOUT_OP, DeviceOp
from tfprof.captures.events.ops.gpu_kernels import KernelTimes
from tfprof.captures.events.ops.host_ops import IDLE
from tfprof.captures.events.ops.input_ops import InputOp, input_ops
from tfprof.captures.events.ops.tf_data import stage_of
from tfprof.captures.events.steps.step_events import Spent
from tfprof.captures.events.timeline.functions import FunctionCalls, function_calls
from tfprof.captures.facts.allocators import told_allocators
from tfprof.captures.facts.between_steps import Between, between_steps
from tfprof.captures.facts.calls import Called, called_in_steps, eager_in_steps, most_first
from tfprof.captures.facts.command_buffers import GraphTimes, graph_times, ran_without_graphs
from tfprof.captures.facts.device_op_db import compiled_ops, device_ops
from tfprof.captures.facts.environment import Environment, environment
from tfprof.captures.facts.framework import Words, words_for
from tfprof.captures.facts.host_devices import uses_tpu
from tfprof.captures.facts.host_op_db import host_ops as host_times
from tfprof.captures.facts.host_work import busy_input_ps
from tfprof.captures.facts.run_steps import host_steps, run_steps, steps_of_host
from tfprof.captures.facts.slow_hosts import SlowHosts, slow_hosts
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.step_collectives import collectives_in_steps
from tfprof.captures.facts.steps import FEWEST, RunSteps
from tfprof.captures.facts.tpu_steps import TpuRunSteps, tpu_run_steps
from tfprof.captures.facts.verdict import Grounds, grounds_of
from tfprof.captures.run.fact import fact
from tfprof.captures.run.result import Advice
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Table
from tfprof.captures.tools.collective_advice import advice_on
from tfprof.captures.tools.gpu_kernels import host_kernels
from tfprof.captures.tools.memory_profile import allocator_tables
from tfprof.captures.tools.op_statistics import Op, all_device_ops, all_host_ops, in_order
from tfprof.core.text.claims import Details

T = TypeVar("T")

FRAMEWORKS_OWN = re.compile(r"_EagerConst|.*(Optional|Dataset|Iterator).*")
"""Eager ops that convert arguments and drive iterators, in compiled programs as well."""


class Exchanges(NamedTuple):
    """What practices need of collectives, without the columns of all hosts.

    Attributes:
        share: Part of the step time in collectives while a device computes nothing. Excludes waits
            for late devices as far as they are known, because less communication would not
            shorten them.
        has_waits: Whether there are such waits.
        advice: Advice on single collectives of the chosen hosts.
    """

    share: float
    has_waits: bool
    advice: tuple[Advice, ...]


class Evidence:
    """A run prepared for practices; shared numbers are computed once.

    Args:
        run: The run.
        hosts: Hosts whose ops, kernels and memory count. Steps are those of all hosts.
    """

    def __init__(self, run: Run, hosts: Sequence[Host]) -> None:
        self.run, self.hosts = run, hosts

    @cached_property
    def steps(self) -> RunSteps:
        """The typical steps."""
        return run_steps(self.run).typical

    @cached_property
    def input_floor(self) -> float:
        """Part of the time of steps in which the busiest thread of tf.data works.

        It reads ahead while the rest of a step runs; savings in that rest do not shorten the step.
        """
        floor = 0.0
        for host in self.hosts:
            busy_ps = busy_input_ps(host)
            if len(busy_ps):
                took_ps = steps_of_host(host)[0].times.duration_ps
                floor = max(floor, part(float(busy_ps.sum()), float(took_ps.sum())))
        return min(floor, 1.0)

    @cached_property
    def slow_hosts(self) -> SlowHosts | None:
        """The comparison of the hosts; None if there is only one host, or no step."""
        return slow_hosts(run_steps(self.run))

    @cached_property
    def collectives(self) -> Exchanges:
        """The collectives in the typical steps."""
        known = of_hosts = collectives_in_steps(self.run, self.run.hosts)
        if len(self.hosts) < len(self.run.hosts):
            of_hosts = collectives_in_steps(self.run, self.hosts)
        return Exchanges(
            part(known.bare_transfer_ps, known.step_ps) if known.has_steps else 0.0,
            known.bare_waiting_ps > 0,
            tuple(advice_on(of_hosts)),
        )

    @cached_property
    def tpu(self) -> TpuRunSteps | None:
        """The steps of all TPU cores together; None without TPUs."""
        return tpu_run_steps(self.run, self.steps)

    @cached_property
    def n_host_steps(self) -> int:
        """Number of steps on these hosts, including steps that are cut or that other hosts lack."""
        return sum(
            len(host_steps(host, number * 1000 + 1).times)
            for number, host in enumerate(self.run.hosts)
            if host in self.hosts
        )

    @cached_property
    def environment(self) -> Environment:
        """The hardware."""
        return environment(self.run)

    @cached_property
    def words(self) -> Words:
        """The remedies of the framework."""
        return words_for(self.run.hosts)

    @cached_property
    def every_step(self) -> RunSteps:
        """The whole steps of the main kind, including unusually long ones."""
        whole = run_steps(self.run).whole
        return whole.take(np.flatnonzero(whole.is_main))

    @cached_property
    def between(self) -> Between:
        """The time between these steps."""
        return between_steps(self.every_step)

    @cached_property
    def called(self) -> list[Called]:
        """The compiled functions that steps call, the longest time first."""
        return self._in_steps(called_in_steps)

    @cached_property
    def calls_per_step(self) -> float:
        """Mean number of compiled functions that a step calls; 0 without steps."""
        return sum(one.n_runs for one in self.called) / max(self.n_host_steps, 1)

    @cached_property
    def eager(self) -> list[Called]:
        """The ops that run one by one in steps, the longest time first."""
        return self._in_steps(eager_in_steps)

    def _in_steps(self, calls: Callable[[Host], list[Called]]) -> list[Called]:
        hosts = [host for host in self.hosts if not uses_tpu(host)]
        return most_first(one for host in hosts for one in calls(host))

    @cached_property
    def periods_ps(self) -> int:
        """Total of the periods of all steps on all hosts."""
        return sum(int(one.times.duration_ps.sum()) for one in self.every_step.hosts)

    @cached_property
    def grounds(self) -> Grounds:
        """The grounds of a verdict."""
        return grounds_of(self.run, uses_tf_data=self.uses_tf_data)

    @cached_property
    def has_verdict(self) -> bool:
        """Whether there are enough steps for a verdict."""
        return self.steps.n_steps >= FEWEST

    @cached_property
    def steps_ps(self) -> int:
        """Total time of all steps, each on its slowest host."""
        return int(self.steps.slowest_ps().sum())

    @cached_property
    def step_ms(self) -> float:
        """Mean duration of a step on its slowest host; 0 without steps."""
        if not self.steps.n_steps:
            return 0.0
        took = self.steps.slowest_ps() if self.tpu is None else self.tpu.breakdown.total
        return float(took.mean()) / 1e9

    def spent_share(self, *kinds: Spent) -> float:
        """Part of the step time spent on some kinds; 0 without steps."""
        return self.steps.share(self.steps.spent(*kinds))

    @cached_property
    def host_ops(self) -> list[Op]:
        """Ops on threads without idle time, the largest self time first."""
        ops = all_host_ops(self.hosts)
        return in_order(op for op in ops if op.type != IDLE)

    @cached_property
    def _on_devices(self) -> tuple[list[Op], int]:
        return all_device_ops(self.hosts)

    @cached_property
    def device_ops(self) -> list[Op]:
        """Ops on devices, the largest self time first; without idle time and kernels of no op."""
        ops = self._on_devices[0]
        return in_order(op for op in ops if op.type != IDLE and op.name != WITHOUT_OP)

    @cached_property
    def outside_ops(self) -> list[DeviceOp]:
        """Ops within a program that exchange data with the host, the longest first."""
        whole = device_ops.together(self.hosts)
        ops = [op for op in whole.ops if op.is_outside_compilation]
        return sorted(ops, key=lambda op: (-op.self_ps, op.key.name, op.key.program))

    @cached_property
    def compiled_ops(self) -> list[DeviceOp]:
        """Ops on devices, or of XLA programs on threads, the largest self time first."""
        whole = compiled_ops.together(self.hosts)
        return sorted(whole.ops, key=lambda op: (-op.self_ps, op.key.name))

    @cached_property
    def idle_share(self) -> float:
        """Part of the devices' time without any op; 0 without devices."""
        ops, total_ps = self._on_devices
        return part(sum(op.self_ps for op in ops if op.type == IDLE), total_ps)

    @cached_property
    def kernels(self) -> list[KernelTimes]:
        """Kernels of GPUs, the longest time first."""
        return host_kernels.together(self.hosts)

    @cached_property
    def graph_times(self) -> list[GraphTimes]:
        """The time of kernels in graphs whose op is unknown, by host."""
        return [graph_times(host) for host in self.hosts]

    @cached_property
    def is_without_graphs(self) -> bool:
        """Whether XLA ran without command buffers because of the capture, on any host."""
        return any(map(ran_without_graphs, self.hosts))

    @cached_property
    def memory(self) -> dict[str, Table]:
        """The tables of all allocators, the fullest first."""
        told = [one.without_chart() for host in self.run.hosts for one in told_allocators(host)]
        return allocator_tables(sorted(told, key=lambda one: -one.used_bytes))

    @cached_property
    def functions(self) -> list[FunctionCalls]:
        """Calls of functions on all hosts."""
        return [call for host in self.hosts for call in host_functions(host)]

    @cached_property
    def stages_below(self) -> dict[str, dict[str, list[InputOp]]]:
        """The copies of each stage that an iterator waits for, if they take time.

        By iterator, then by stage; copies with the largest self time first.
        """
        below: dict[str, dict[str, list[InputOp]]] = {}
        for op in input_ops(host_times.together(self.hosts)):
            for end in re.finditer("::", op.name) if op.self_ps else ():
                stages = below.setdefault(op.name[: end.start()], {})
                stages.setdefault(stage_of(op.name), []).append(op)
        return below

    @cached_property
    def uses_tf_data(self) -> bool:
        """Whether iterators of tf.data ran."""
        return any(op.type == "Dataset" for op in self.host_ops)


@fact
def host_functions(host: Host) -> list[FunctionCalls]:
    """Calls of functions on a host."""
    return function_calls(host.timeline)


def first_of_alike(found: Iterable[T], key: Callable[[T], Hashable]) -> list[tuple[T, int]]:
    """Merge alike items of several hosts: the first item, with the number of the others.

    Args:
        found: The items, the most important first.
        key: Key that alike items share.
    """
    alike: dict[Hashable, list[T]] = {}
    for one in found:
        alike.setdefault(key(one), []).append(one)
    return [(group[0], len(group) - 1) for group in alike.values()]


def and_others(n_others: int) -> str:
    """Text for the other hosts, to follow the name of a host."""
    return " and {other_host_count:other host}" if n_others else ""


def self_time(ops: Sequence[Op]) -> int:
    """Total self time of ops, ps."""
    return sum(op.self_ps for op in ops)


def named(op: Op) -> tuple[str, Details]:
    """Text for an op, with its type unless the name contains it; and the names in the text."""
    if op.type in ("Unknown", op.name):
        return "{op:folded}", {"op": op.name}
    return "{op:folded} ({op_type})", {"op": op.name, "op_type": op.type}
