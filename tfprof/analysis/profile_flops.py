"""Float operations of the ops of a profile, and what its runs tell about loops and conditionals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tfprof.analysis.flops.registry import all_formulas
from tfprof.analysis.interpreter.analysis import Analysis, Status
from tfprof.analysis.interpreter.engine import Engine, Settings
from tfprof.model.profile import Profile
from tfprof.model.program import Program
from tfprof.model.run_counts import scaled
from tfprof.model.symbolic import Number, total

_LOWERED = re.compile(
    r"(?P<node>.+)/(?P<part>enter|next_iteration|LoopCond|then|else|branch(?P<number>\d+))/_\d+(/|$)"
)
"""Names of the ops that a ``While``, ``If`` or ``Case`` becomes when the graph is optimized
(``lower_while_op.cc``, ``lower_if_op.cc``, ``lower_case_op.cc``)."""

_ROLES = {"then": "then_branch", "else": "else_branch"}


class OpFlops(NamedTuple):
    """What each op of a profile costs.

    Attributes:
        flops: Float operations of one run of an op, functions that it calls included, by row;
            rows without any are left out.
        runs: How often one run of the program runs an op, by row, where that is not once.
        incomplete: Rows that have float operations which depend on an unknown size.
        without_formula: Number of ops without a formula, by op type.
        has_control_flow: Runs tell something that the counts depend on.
    """

    flops: dict[int, int]
    runs: dict[int, int]
    incomplete: list[int]
    without_formula: dict[str, int]
    has_control_flow: bool


def count_profile_flops(program: Program, profile: Profile) -> OpFlops:
    """Count the float operations of every op.

    Args:
        program: The program, whose nodes are the rows of the profile's ops.
        profile: The profile.
    """
    formulas, free = all_formulas()
    observed = observed_control_flow(profile)
    settings = Settings(
        trip_counts=observed.trips,
        branch_runs=observed.branches,
        node_runs=observed.nodes,
        formulas=formulas,
        free=free,
    )
    try:
        analysis = Engine(program, settings).run()
    except OverflowError:  # the sizes that are unknown are too many to be written down
        return OpFlops({}, {}, list(range(len(profile.ops))), {}, has_control_flow=True)
    return _by_row(analysis)


def _by_row(analysis: Analysis) -> OpFlops:
    counted: dict[int, int] = {}
    runs: dict[int, int] = {}
    incomplete: list[int] = []
    without_formula: dict[str, int] = defaultdict(int)
    for row, verdict in analysis.verdicts.items():
        times = analysis.times.get(row, 1)
        if not analysis.body.nodes[row].kind.op:  # only a run has named it
            continue
        if verdict.status is Status.UNCOUNTED:
            if verdict.formula is None and row not in analysis.calls:
                without_formula[analysis.body.nodes[row].kind.op] += 1
            else:
                incomplete.append(row)
            continue
        flops: Number = verdict.cost.flops
        if row in analysis.calls:
            flops = total(scaled(call.analysis.flops, call.times) for call in analysis.calls[row])
        if flops == 0:
            continue
        if not isinstance(flops, int) or not isinstance(times, int):
            incomplete.append(row)
            continue
        counted[row] = flops
        if times != 1:
            runs[row] = times
    has_control_flow = bool(analysis.calls or analysis.times)
    return OpFlops(counted, runs, incomplete, dict(without_formula), has_control_flow)


@dataclass(frozen=True, slots=True)
class ObservedControlFlow:
    """What runs tell about loops and conditionals.

    Attributes:
        trips: How often a loop ran per entry, on average and rounded, by name.
        branches: How often each branch of a conditional ran, by name.
        nodes: How often each op ran, by name.
    """

    trips: Mapping[str, int] = field(default_factory=dict)
    branches: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    nodes: Mapping[str, int] = field(default_factory=dict)


def observed_control_flow(profile: Profile) -> ObservedControlFlow:
    """Read it off the ops that ran, those included that TensorFlow makes of a loop."""
    ops, steps = profile.ops, profile.steps
    counts = np.zeros(len(ops), np.int64)
    for records in steps.records.values():
        np.add.at(counts, records.rows, np.maximum(records.values[0], 0))
    loops: dict[str, dict[str, int]] = defaultdict(dict)
    branches: dict[str, dict[str, int]] = defaultdict(dict)
    nodes: dict[str, int] = {}
    for row in np.flatnonzero(counts).tolist():
        name, count = ops.name(row), int(counts[row])
        nodes[name] = count
        part = _PARTS.get(ops.strings[int(ops.op_ids.array[row])])
        if part is not None:
            owner = name.rpartition("/")[0]
        else:
            found = _LOWERED.match(name)
            if found is None:
                continue
            owner, part = found["node"], _PARTS.get(found["part"])
            if part is None:
                role = _ROLES.get(found["part"], f"branch{found['number']}")
                branches[owner][role] = max(branches[owner].get(role, 0), count)
                continue
        loops[owner][part] = max(loops[owner].get(part, 0), count)
    trips = {
        loop: round(parts.get("repeats", 0) / parts["enters"])
        for loop, parts in loops.items()
        if "asks" in parts and "enters" in parts
    }
    return ObservedControlFlow(trips, dict(branches), nodes)


_PARTS = {
    "Enter": "enters", "NextIteration": "repeats", "LoopCond": "asks",
    "enter": "enters", "next_iteration": "repeats",
}  # fmt: skip
"""Parts of a loop by op type, and as they are called in a graph that was optimized."""
