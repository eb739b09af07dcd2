"""Adds up what an analysis has found: by op, by type, by part of the step."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tfprof.analysis.flops.formulas import Cost
from tfprof.analysis.interpreter.analysis import Analysis, Status, Verdict
from tfprof.analysis.interpreter.phases import Phase, node_phases, phase_of_function
from tfprof.model.program import Node
from tfprof.model.run_counts import Times, often, scaled, total_times
from tfprof.model.symbolic import Number, total
from tfprof.model.tensors import Tensor


class OpRow(NamedTuple):
    """An op in a function, all its runs together.

    Attributes:
        function: Function that it is in; empty for the graph.
        node: The node.
        phase: Part of the step.
        times: How often one run of the program runs it.
        verdict: What one run of it costs.
        inputs: What flows into it.
        outputs: What comes out.
    """

    function: str
    node: Node
    phase: Phase
    times: Times
    verdict: Verdict
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

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
    """Every op of the program and of the functions that it runs.

    A function that is called with the same arguments in several places is listed once, with all
    its runs; one that is called in several parts of the step, once for each.
    """
    for analysis, phase, times in distinct_runs(root):
        body = analysis.body
        phases = node_phases(body, analysis.order, phase)
        for place in analysis.order:
            verdict = analysis.verdicts.get(place)
            if verdict is None or place < body.n_args:
                continue
            node = body.nodes[place]
            yield OpRow(
                body.name,
                node,
                phases[place],
                often(times, analysis.times.get(place, 1)),
                verdict,
                analysis.inputs(place),
                analysis.outputs[place],
            )


_Visit = tuple[int, Phase]


def distinct_runs(root: Analysis) -> list[tuple[Analysis, Phase, Times]]:
    """Every analysis in each part of the step, callers first, and how often it runs."""
    analyses: dict[_Visit, Analysis] = {}
    finished: list[_Visit] = []
    stack: list[tuple[_Visit, bool]] = [((id(root), Phase.FORWARD), False)]
    analyses[stack[0][0]] = root
    seen: set[_Visit] = set()
    while stack:
        visit, done = stack.pop()
        if done:
            finished.append(visit)
            continue
        if visit in seen:
            continue
        seen.add(visit)
        stack.append((visit, True))
        for callee, phase, _ in _calls(analyses[visit], visit[1]):
            key = (id(callee), phase)
            analyses.setdefault(key, callee)
            if key not in seen:
                stack.append((key, False))
    runs: dict[_Visit, list[Times]] = defaultdict(list)
    runs[id(root), Phase.FORWARD].append(1)
    result: list[tuple[Analysis, Phase, Times]] = []
    for visit in reversed(finished):
        analysis, times = analyses[visit], total_times(runs[visit])
        result.append((analysis, visit[1], times))
        for callee, phase, share in _calls(analysis, visit[1]):
            runs[id(callee), phase].append(often(times, share))
    return result


def _calls(analysis: Analysis, around: Phase) -> Iterator[tuple[Analysis, Phase, Times]]:
    """What a body calls, in which part of the step, and how often."""
    if not analysis.calls:
        return
    phases = node_phases(analysis.body, analysis.order, around)
    for place, calls in analysis.calls.items():
        for call in calls:
            phase = phase_of_function(call.analysis.body.name, phases[place])
            yield call.analysis, phase, often(analysis.times.get(place, 1), call.times)


def coverage(rows: Iterator[OpRow] | list[OpRow]) -> Coverage:
    """How many op instances were counted, and why others were not."""
    counts: dict[Status, Counter[str]] = {status: Counter() for status in Status}
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        status, op_type = row.verdict.status, row.node.kind.op
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
    """Cost of each op type, those without any left out; in order of their names."""
    macs: dict[str, list[Number]] = defaultdict(list)
    other: dict[str, list[Number]] = defaultdict(list)
    for row in rows:
        if row.verdict.status is Status.COUNTED:
            macs[row.node.kind.op].append(row.macs)
            other[row.node.kind.op].append(row.other)
    costs = {name: Cost(total(macs[name]), total(other[name])) for name in sorted(macs)}
    return {name: cost for name, cost in costs.items() if cost.flops != 0}


def by_phase(rows: list[OpRow]) -> dict[Phase, Cost]:
    """Cost of each part of the step."""
    macs: dict[Phase, list[Number]] = {phase: [] for phase in Phase}
    other: dict[Phase, list[Number]] = {phase: [] for phase in Phase}
    for row in rows:
        if row.verdict.status is Status.COUNTED:
            macs[row.phase].append(row.macs)
            other[row.phase].append(row.other)
    return {phase: Cost(total(macs[phase]), total(other[phase])) for phase in Phase}
