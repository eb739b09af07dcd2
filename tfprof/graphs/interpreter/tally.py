"""Sums of an analysis: by op, by type, by part of the step."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from tfprof.graphs.flops.formulas import Cost
from tfprof.graphs.interpreter.analysis import Analysis, Status, Verdict
from tfprof.graphs.interpreter.phases import Phase, node_phases, phase_of_function
from tfprof.graphs.model.node_table import Node
from tfprof.graphs.model.run_counts import Times, often, scaled, total_times
from tfprof.graphs.model.symbolic import Number, total
from tfprof.graphs.model.tensors import Tensor


class OpRow(NamedTuple):
    """An op in a function, all its runs together.

    Attributes:
        analysis: The walk through the function.
        place: Place of the op in it.
        phase: Part of the step.
        times: How often one run of the program runs it.
        verdict: The cost of one run of it.
    """

    analysis: Analysis
    place: int
    phase: Phase
    times: Times
    verdict: Verdict

    @property
    def function(self) -> str:
        """Function that it is in; empty for the graph."""
        return self.analysis.body.name

    @property
    def node(self) -> Node:
        """The node."""
        return self.analysis.body.nodes[self.place]

    @property
    def name(self) -> str:
        """Name of the node."""
        return self.analysis.body.nodes.names[self.place]

    @property
    def op_type(self) -> str:
        """Op type."""
        return self.analysis.body.nodes.ops[self.place]

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """Its inputs."""
        return self.analysis.inputs(self.place)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """Its outputs."""
        return self.analysis.outputs[self.place]

    @property
    def macs(self) -> Number:
        """Multiply-adds of all runs."""
        return scaled(self.verdict.cost.macs, self.times)

    @property
    def flops(self) -> Number:
        """Float operations of all runs."""
        return 2 * self.macs + self.other

    @property
    def other(self) -> Number:
        """Float operations of all runs besides those of multiply-adds."""
        return scaled(self.verdict.cost.other, self.times)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many op instances were counted.

    Attributes:
        counted: Instances with a formula, by op type.
        free: Instances that have no float operations, by op type; calls are among them.
        uncounted: Instances that could not be counted, by op type.
        reasons: Why, by op type.
    """

    counted: dict[str, int]
    free: dict[str, int]
    uncounted: dict[str, int]
    reasons: dict[str, str]

    @property
    def n_ops(self) -> int:
        """Number of op instances."""
        return sum(sum(part.values()) for part in (self.counted, self.free, self.uncounted))

    @property
    def share(self) -> float:
        """Share of the instances that were counted or are free, 0 to 1; 1 without any."""
        return 1 - sum(self.uncounted.values()) / self.n_ops if self.n_ops else 1.0


def op_rows(root: Analysis) -> Iterator[OpRow]:
    """Every op of the program and of its functions.

    A function that is called several times with the same arguments is listed once for each part of
    the step that calls it, with all its runs.
    """
    for visit in visits(root):
        analysis, phases, times = visit.analysis, visit.phases, visit.times
        n_args = analysis.body.n_args
        for place in analysis.order:
            verdict = analysis.verdicts.get(place)
            if verdict is None or place < n_args:
                continue
            runs = often(times, analysis.times[place]) if place in analysis.times else times
            yield OpRow(analysis, place, phases[place], runs, verdict)


class Visit(NamedTuple):
    """A body in a part of the step.

    Attributes:
        analysis: The walk through it.
        phase: The part of the step that it is called in.
        phases: The part that each of its nodes belongs to, by place.
        times: How often one run of the program runs it there.
    """

    analysis: Analysis
    phase: Phase
    phases: dict[int, Phase]
    times: Times


_Key = tuple[int, Phase]
KeyT = TypeVar("KeyT")


def visits(root: Analysis) -> list[Visit]:
    """Every body in each part of the step that it runs in, callers first."""
    visited: dict[_Key, Visit] = {}
    finished: list[_Key] = []
    stack: list[tuple[Analysis, Phase, bool]] = [(root, Phase.FORWARD, False)]
    while stack:
        analysis, around, done = stack.pop()
        key = (id(analysis), around)
        if done:
            finished.append(key)
            continue
        if key in visited:
            continue
        phases = node_phases(analysis.body.nodes, analysis.order, around)
        visited[key] = visit = Visit(analysis, around, phases, 0)
        stack.append((analysis, around, True))
        stack += [(callee, phase, False) for callee, phase, _ in _calls(visit)]
    runs: dict[_Key, list[Times]] = defaultdict(list)
    runs[id(root), Phase.FORWARD].append(1)
    result: list[Visit] = []
    for key in reversed(finished):
        visit = visited[key]._replace(times=total_times(runs[key]))
        result.append(visit)
        for callee, phase, share in _calls(visit):
            runs[id(callee), phase].append(often(visit.times, share))
    return result


def _calls(visit: Visit) -> Iterator[tuple[Analysis, Phase, Times]]:
    """Functions that a body runs, in which part of the step, and how often per run of it."""
    analysis = visit.analysis
    for place, calls in analysis.calls.items():
        for call in calls:
            phase = phase_of_function(call.analysis.body.name, visit.phases[place])
            yield call.analysis, phase, often(analysis.times.get(place, 1), call.times)


def coverage(rows: Iterator[OpRow] | list[OpRow]) -> Coverage:
    """How many op instances were counted, and why others were not."""
    counts: dict[Status, Counter[str]] = {status: Counter() for status in Status}
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        status, op_type = row.verdict.status, row.op_type
        counts[status][op_type] += 1
        if status is Status.UNCOUNTED:
            reasons[op_type][row.verdict.reason] += 1
    return Coverage(
        _sorted(counts[Status.COUNTED]),
        _sorted(counts[Status.FREE] + counts[Status.CALL]),
        _sorted(counts[Status.UNCOUNTED]),
        {name: _most_common(reasons[name]) for name in sorted(reasons)},
    )


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _most_common(reasons: Counter[str]) -> str:
    first = min(reasons, key=lambda reason: (-reasons[reason], reason))
    others = len(reasons) - 1
    return first if not others else f"{first} (and {others} other reasons)"


def by_type(rows: list[OpRow]) -> dict[str, Cost]:
    """Cost of each op type that has any, sorted by name."""
    costs = _costs_by(rows, lambda row: row.op_type)
    return {name: costs[name] for name in sorted(costs) if costs[name].flops != 0}


def by_phase(rows: list[OpRow]) -> dict[Phase, Cost]:
    """Cost of each part of the step."""
    costs = _costs_by(rows, lambda row: row.phase)
    return {phase: costs.get(phase, Cost()) for phase in Phase}


def _costs_by(rows: list[OpRow], key_of: Callable[[OpRow], KeyT]) -> dict[KeyT, Cost]:
    counted: dict[KeyT, list[OpRow]] = defaultdict(list)
    for row in rows:
        if row.verdict.status is Status.COUNTED:
            counted[key_of(row)].append(row)
    return {
        key: Cost(total(row.macs for row in part), total(row.other for row in part))
        for key, part in counted.items()
    }
