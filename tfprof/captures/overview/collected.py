"""The facts of the overview, computed once for all of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfprof.captures.events.ops.host_ops import IDLE
from tfprof.captures.events.timeline.functions import FunctionCalls
from tfprof.captures.facts.environment import Environment, environment
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.tpu_use import TpuUse, tpu_use
from tfprof.captures.facts.training import is_backward, programs_train
from tfprof.captures.practices.evidence import host_functions
from tfprof.captures.run.run import Host, Run
from tfprof.captures.tools.input_pipeline_analyzer import InputAnalysis, analyze_input
from tfprof.captures.tools.op_statistics import Op, all_device_ops, all_host_ops


class Shares(NamedTuple):
    """Shares of ops, as fractions.

    Attributes:
        host_ops: Runs of ops on the host, relative to all runs.
        device_ops: Runs of ops on devices, relative to all runs.
        host_eager: Time of eager ops, relative to the time of all ops on the host.
        device_eager: The same on devices.
        wide: Computation with 32 bits, relative to all computation of devices.
        narrow: The same with 16 bits.
    """

    host_ops: float
    device_ops: float
    host_eager: float
    device_eager: float
    wide: float
    narrow: float


class Collected(NamedTuple):
    """The facts of a run."""

    run: Run
    hosts: Sequence[Host]
    input: InputAnalysis
    environment: Environment
    on_host: list[Op]
    on_device: list[Op]
    shares: Shares
    functions: list[FunctionCalls]
    tpu: TpuUse

    @property
    def trains(self) -> bool:
        """Whether a program computes gradients; some rules only count compiled programs."""
        ops = () if self.run.rules.ignores_eager_gradients else (*self.on_host, *self.on_device)
        return any(is_backward(op.name, op.type) for op in ops) or programs_train(self.run.hosts)


def collected(run: Run, hosts: Sequence[Host]) -> Collected:
    """Collect the facts of a run, and of the ops of some hosts."""
    on_host = all_host_ops(hosts)
    on_device, _ = all_device_ops(hosts)
    analysis = analyze_input(run, hosts)
    return Collected(
        run,
        hosts,
        analysis,
        environment(run),
        on_host,
        on_device,
        _shares(on_host, on_device, run),
        _functions(hosts),
        tpu_use(hosts),
    )


def _shares(on_host: list[Op], on_device: list[Op], run: Run) -> Shares:
    runs_on_host = sum(op.occurrences for op in on_host)
    runs_on_device = sum(op.occurrences for op in on_device)
    return Shares(
        part(runs_on_host, runs_on_host + runs_on_device),
        part(runs_on_device, runs_on_host + runs_on_device),
        _eager(on_host),
        _eager(on_device),
        *run_steps(run).compute_shares(),
    )


def _eager(ops: list[Op]) -> float:
    running = [op for op in ops if op.type != IDLE]
    return part(sum(op.self_ps for op in running if op.is_eager), sum(op.self_ps for op in running))


def _functions(hosts: Sequence[Host]) -> list[FunctionCalls]:
    """Calls of functions of all hosts, the most expensive tracing first."""
    calls = [call for host in hosts for call in host_functions(host)]
    return sorted(calls, key=lambda call: (-call.expensive_share, call.name))
