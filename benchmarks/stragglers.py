"""How long it takes to compare many hosts, when what each spent its steps on is known.

python benchmarks/stragglers.py [HOSTS ...]

Each host has 50 steps with 20 collectives. Its columns are made here, without a capture: reading
and condensing a host costs the same for one as for thousands. With twice the hosts, the time shall
be twice as long.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from tfprof.captures.events.steps.collectives import CollectiveKind
from tfprof.captures.events.steps.step_times import SPENT, StepTimes
from tfprof.captures.facts.communication import Communication, JointRuns
from tfprof.captures.facts.host_work import HostWork
from tfprof.captures.facts.joint_collectives import clock_offsets, joint_collectives
from tfprof.captures.facts.slow_hosts import SlowHosts

N_STEPS, N_KINDS = 50, 20
STEP_PS, MS = 10**11, 10**9


def a_host(number: int) -> HostWork:
    """A host with some noise; every hundredth is slow."""
    chance = np.random.default_rng(number)
    step = np.repeat(np.arange(N_STEPS), N_KINDS)
    which = np.tile(np.arange(N_KINDS), N_STEPS)
    left = step * STEP_PS + which * 4 * MS + 4 * MS + chance.integers(0, MS // 100, len(step))
    took = chance.integers(MS // 10, MS, len(step)) * (1 if number % 100 else 0) + MS // 10
    waiting = np.bincount(step, took).astype(np.int64)
    spent = chance.integers(0, MS, (N_STEPS, len(SPENT)))
    kinds = [(CollectiveKind(f"all-reduce.{kind}"), 0) for kind in range(N_KINDS)]
    joint = JointRuns(kinds, which, step, left - took, left)
    durations = np.full(N_STEPS, STEP_PS)
    names = [f"train {at}" for at in range(N_STEPS)]
    steps = np.arange(N_STEPS)
    times = StepTimes.of_columns(steps, steps * STEP_PS, durations, spent, (0, 0))
    return HostWork(
        f"w{number:05}", names, 10**18 + number * 1000, durations, [times],
        Communication(np.arange(N_STEPS), waiting, waiting, waiting, joint, 0),
    )  # fmt: skip


def compare(works: list[HostWork]) -> None:
    """All that the tool works out of hosts."""
    joint = joint_collectives(works)
    slow = SlowHosts(works, np.arange(N_STEPS), joint)
    assert slow.straggles and slow.slowest % 100 == 0
    assert len(clock_offsets(works, joint)) == len(works)
    assert int(np.bincount(joint.last).argmax()) % 100 == 0
    for host in range(len(works)):
        slow.interval_ps(host), slow.causes(host)


def n_bytes(work: HostWork) -> int:
    """What the columns of a host take."""
    tables = (work, work.shared, work.shared.joint)
    found = [getattr(table, name) for table in tables for name in table.__dataclass_fields__]
    return sum(column.nbytes for column in found if isinstance(column, np.ndarray))


for n_hosts in map(int, sys.argv[1:] or ("64", "128", "256", "512", "1024", "2048")):
    made = [a_host(number) for number in range(n_hosts)]
    took_s = []
    for _ in range(3):
        begun = time.perf_counter()
        compare(made)
        took_s.append(time.perf_counter() - begun)
    print(
        f"{n_hosts:6,} hosts × {N_STEPS} steps × {N_KINDS} collectives: {min(took_s):7.3f} s, "
        f"{1e3 * min(took_s) / n_hosts:6.3f} ms for each; {n_bytes(made[0]) / 1000:,.0f} kB of one"
    )
