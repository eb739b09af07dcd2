"""A run of many hosts made from the capture of one, of which everything is known.

Each host has its own name, clock and noise; some are slower, some files are damaged. What was done
to whom is the truth that answers are compared with:

    >>> from pathlib import Path
    >>> from tests.pods.many_hosts import Plan, write_run
    >>> plan = Plan(hosts=16, late={"input": 1}, damage={"empty": 2})
    >>> truth = write_run(Path("logs"), space, plan)                       # doctest: +SKIP
    >>> [host["name"] for host in truth["hosts"] if host["late"]]          # doctest: +SKIP
    ['host011']
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.pods.other_steps import other_steps
from tests.pods.pod_damage import DAMAGE, damaged, tail_of
from tests.pods.pod_template import Clock, Recorded, Template, recorded_times
from tests.pods.pod_times import Late, PodTimes, Segments, Spans, segments
from tfprof.core.columns.columns import BoolArray
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError

RUN = "many_hosts"
TRUTH = "truth.json"

INPUT = r"IteratorGetNext|load_batch"
WAITS = r"^(CollectiveReduce|CollectiveGather|all-?(reduce|gather)|reduce-?scatter|psum|nccl)"

_EPOCH_NS = 30 * 365 * 86_400 * 10**9

_OTHER_STEPS = 1000
"""How much larger the numbers of steps are on a host that counts otherwise."""


@dataclass(frozen=True)
class Plan:
    """What the run shall be like.

    Attributes:
        hosts: How many.
        late: How many are slower because of their ``input`` or ``compute``.
        factor: How many times as long that takes.
        damage: How many files are damaged, by kind: see ``pod_damage.DAMAGE``.
        noise: How much steps differ from host to host, as a part of a step.
        clocks_s: How much clocks differ from the right time at most.
        early_s: How long before the others a profiler is started at most.
        inputs: Names of events that wait for input.
        waits: Names of events that wait for other hosts.
        seed: Which of all such runs.
    """

    hosts: int = 256
    late: Mapping[str, int] = field(default_factory=dict)
    factor: float = 3.0
    damage: Mapping[str, int] = field(default_factory=dict)
    noise: float = 0.03
    clocks_s: float = 0.05
    early_s: float = 0.05
    inputs: str = INPUT
    waits: str = WAITS
    seed: int = 1

    def check(self) -> None:
        """Whether there can be such a run.

        Raises:
            UsageError: A kind is unknown, or there are too few hosts.
        """
        for known, given in (((*DAMAGE,), self.damage), (("input", "compute"), self.late)):
            for kind in given:
                if kind not in known:
                    raise UsageError(f"no kind {kind!r}; there are: {', '.join(known)}")
        touched = sum(self.damage.values()) + sum(self.late.values())
        if touched >= self.hosts:
            raise UsageError(
                f"{touched} hosts are to be slow or damaged, of {self.hosts}; one must be neither"
            )


def write_run(out: Path, space: Any, plan: Plan) -> dict[str, Any]:
    """Write ``plugins/profile/many_hosts/hostNNN.xplane.pb`` and ``truth.json`` into a folder.

    Args:
        out: The log folder, which is made.
        space: An XSpace message with numbered steps; left alone.
        plan: What the run shall be like.

    Returns:
        What is in ``truth.json``.

    Raises:
        UsageError: The capture has no numbered steps, or such a run is impossible.
    """
    plan.check()
    folder = out / "plugins" / "profile" / RUN
    folder.mkdir(parents=True, exist_ok=True)
    recorded = recorded_times(space)
    cut = _cut(recorded, plan)
    roles = _roles(plan)
    times = PodTimes(cut, [role.late for role in roles], plan.noise, plan.seed)
    longest = times.longest()

    def template(of: Any) -> Template:
        copy = pb.XSpace.FromString(of.SerializeToString())
        return Template(copy, cut.bounds_ps, longest, recorded.origin_ns)

    usual = template(space)
    other = template(other_steps(space, _OTHER_STEPS)) if "steps" in plan.damage else usual
    hosts = []
    for number, role in enumerate(roles):
        path = folder / f"{role.name}.xplane.pb"
        source = other if role.damage == "steps" else usual
        tail = tail_of(role.damage, recorded.origin_ns)
        chunks = source.host(role.name, times.slopes(number), role.clock, tail)
        said = damaged(path, chunks, role.damage, folder / "host000.xplane.pb")
        hosts.append(_truth(number, role, times) | said)
    truth = {
        "run": RUN,
        "seed": plan.seed,
        "noise": plan.noise,
        "recorded_step_ms": _ms(times.recorded.lengths_ps[cut.steps >= 0].sum() / _n_steps(cut)),
        "steps": _n_steps(cut),
        "collectives": bool(_matching(recorded, plan.waits).any()),
        "bytes": sum(path.stat().st_size for path in folder.iterdir() if path.is_file()),
        "hosts": hosts,
    }
    (out / TRUTH).write_text(json.dumps(truth, indent=1) + "\n")
    return truth


@dataclass(frozen=True)
class _Role:
    """What a host is like."""

    name: str
    late: Late | None
    damage: str
    clock: Clock


def _roles(plan: Plan) -> list[_Role]:
    """Who is slow or damaged; the first host is neither, as duplicates are copies of it."""
    random = np.random.default_rng(plan.seed)
    width = max(3, len(str(plan.hosts - 1)))
    late: dict[int, Late] = {}
    damage: dict[int, str] = {}
    free = iter((random.permutation(plan.hosts - 1) + 1).tolist())
    for what in ("input", "compute"):
        for _ in range(plan.late.get(what, 0)):
            late[next(free)] = Late(what, plan.factor)
    for kind in DAMAGE:
        for _ in range(plan.damage.get(kind, 0)):
            damage[next(free)] = kind
    ahead = random.uniform(-plan.clocks_s, plan.clocks_s, plan.hosts) * 1e9
    early = random.uniform(0, plan.early_s, plan.hosts) * 1e9
    return [
        _Role(
            f"host{number:0{width}}",
            late.get(number),
            damage.get(number, ""),
            Clock(
                int(ahead[number]) - (_EPOCH_NS if damage.get(number) == "epoch" else 0),
                int(early[number]),
            ),
        )
        for number in range(plan.hosts)
    ]


def _truth(number: int, role: _Role, times: PodTimes) -> dict[str, Any]:
    late = role.late
    return {
        "name": role.name,
        "clock_ns": role.clock.ahead_ns,
        "early_ns": role.clock.early_ns,
        "late": late and {
            "what": late.what,
            "factor": late.factor,
            "added_ms_per_step": _ms(times.added_ps(number).mean()),
        },
        "damage": role.damage,
        "step_ms": _ms(times.step_ps(number).mean()),
    }  # fmt: skip


def _ms(ps: float) -> float:
    return round(ps / 1e9, 4)


def _cut(recorded: Recorded, plan: Plan) -> Segments:
    """The recorded time in steps, input and waiting."""
    numbered = np.flatnonzero(recorded.numbered & recorded.has_start)
    numbered = numbered[np.argsort(recorded.starts_ps[numbered], kind="stable")]
    outer, end = [], -1.0
    for row in numbered.tolist():
        if recorded.starts_ps[row] >= end:
            outer.append(row)
            end = recorded.stops_ps[row]
    if not outer:
        raise UsageError("the capture has no numbered steps; record it with step markers")
    return segments(
        _spans(recorded, np.array(outer)),
        _spans(recorded, _matching(recorded, plan.inputs)),
        _spans(recorded, _matching(recorded, plan.waits)),
        recorded.end_ps,
    )


def _n_steps(cut: Segments) -> int:
    return int(cut.steps.max()) + 1


def _spans(recorded: Recorded, rows: Any) -> Spans:
    return Spans(recorded.starts_ps[rows], recorded.stops_ps[rows])


def _matching(recorded: Recorded, pattern: str) -> BoolArray:
    """Which events have names of a kind, shape (n,)."""
    search = re.compile(pattern).search
    known = [search(name) is not None for name in recorded.names]
    matching: BoolArray = np.array([*known, False])[recorded.kinds]
    return matching & recorded.has_start & recorded.is_moved[recorded.lines]
