"""The compiled functions that a program calls in its steps, and the calls between steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.compiled_calls import SESSION_RUNS, are_compiled_calls, outermost
from tfprof.captures.events.steps.eager import EAGER_OP, are_eager_ops
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.timeline.names import PJIT_CALL
from tfprof.captures.events.timeline.op_names import OpKind, parse_op_name
from tfprof.captures.facts.periods import periods_of
from tfprof.captures.model.xspace_stats import IntArray
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.core.columns.columns import Int64Array, sums_by
from tfprof.core.columns.distinct import distinct_rows


class Called(NamedTuple):
    """Calls of a function, or runs of an op or a program.

    Attributes:
        name: Its name in the program.
        n_runs: Number of runs.
        total_ps: Time of all runs, summed over devices.
    """

    name: str
    n_runs: int
    total_ps: int


def most_first(called: Iterable[Called]) -> list[Called]:
    """Merge entries of the same name, and sort them by time."""
    sums: dict[str, Called] = {}
    for one in called:
        known = sums.get(one.name, Called(one.name, 0, 0))
        count, total = known.n_runs + one.n_runs, known.total_ps + one.total_ps
        sums[one.name] = Called(one.name, count, total)
    return sorted(sums.values(), key=lambda one: (-one.total_ps, one.name))


@dataclass(frozen=True, eq=False, slots=True)
class CallsOfSteps:
    """Runs in several steps as columns, a row for each step and name.

    Attributes:
        columns: The group of the step; the index of the name in ``texts``; number of runs and total
            time as in ``Called``; shape (4, n).
        texts: The names.
    """

    columns: Int64Array
    texts: tuple[str, ...]

    def of(self, groups: Int64Array) -> list[Called]:
        """Total runs in some steps, by time."""
        names, *amounts = self.columns[1:, np.isin(self.columns[0], groups)]
        sums = (sums_by(names, column, len(self.texts)).tolist() for column in amounts)
        return most_first(
            Called(name, n_runs, total_ps)
            for name, n_runs, total_ps in zip(self.texts, *sums, strict=True)
            if n_runs
        )


@fact
def called_in_steps(host: Host) -> list[Called]:
    """The compiled functions that the steps of a host call, without functions inside them."""
    forest, periods = host.forest(), periods_of(host)
    is_chosen = np.isin(periods.groups.of_event, periods.steps.groups) & ~periods.is_between
    return _named(forest, outermost(forest, are_compiled_calls(forest.timeline), is_chosen))


@fact
def run_between(host: Host) -> CallsOfSteps:
    """Functions, ops and programs that ran between each step of a host and the next."""
    forest, periods = host.forest(), periods_of(host)
    timeline = forest.timeline
    calls = outermost(forest, are_compiled_calls(timeline), periods.is_between)
    is_eager = periods.is_between & are_eager_ops(timeline)
    is_instruction = periods.is_between & timeline.having("hlo_op")
    ran = np.concatenate([calls, np.flatnonzero(is_eager), np.flatnonzero(is_instruction)])
    return _named_by_step(forest, ran, periods.groups.of_event[ran])


@fact
def eager_in_steps(host: Host) -> list[Called]:
    """The ops that Python calls one by one in the steps of a host."""
    forest, periods = host.forest(), periods_of(host)
    timeline = forest.timeline
    is_eager = timeline.kind_mask([op.kind is OpKind.TENSORFLOW for op in timeline.ops])
    is_eager &= host.eager()
    is_eager |= are_eager_ops(timeline)
    is_chosen = np.isin(periods.groups.of_event, periods.steps.groups) & ~periods.is_between
    return _named(forest, outermost(forest, is_eager, is_chosen))


def _named(forest: Forest, events: Int64Array) -> list[Called]:
    """Events by name; instructions by the name of their program."""
    groups = np.zeros(len(events), np.int64)
    return _named_by_step(forest, events, groups).of(groups[:1])


def _named_by_step(forest: Forest, events: Int64Array, groups: IntArray) -> CallsOfSteps:
    """The same for each group of events, shape (n,)."""
    timeline = forest.timeline
    modules = timeline.stat("hlo_module")
    module = modules.texts_at(events)
    kinds = distinct_rows([timeline.kinds[events], module])
    numbers: dict[str, int] = {}
    number_of_kind = [
        numbers.setdefault(
            _name(timeline.names[kind], modules.texts[text] if text >= 0 else ""), len(numbers)
        )
        for kind, text in kinds.values.tolist()
    ]
    found = distinct_rows([groups, np.array(number_of_kind, np.int64)[kinds.place]])
    total_ps = sums_by(found.place, timeline.durations_ps[events], len(found.first))
    return CallsOfSteps(np.array([*found.values.T, found.counts, total_ps]), tuple(numbers))


def _name(event: str, module: str) -> str:
    if module:
        return module.removeprefix("jit_")
    if event in SESSION_RUNS:
        return "Session.run"
    known = PJIT_CALL.fullmatch(event) or EAGER_OP.fullmatch(event)
    return known[1] if known else parse_op_name(event).type or event
