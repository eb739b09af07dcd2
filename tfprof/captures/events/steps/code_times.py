"""Time of steps in the program's own code while nothing else runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfprof.captures.events.steps.compiled_calls import are_compiled_calls, outermost
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.steps.host_code import is_frame
from tfprof.captures.events.steps.step_events import Spent, StepEvents
from tfprof.captures.events.timeline.nesting import filled
from tfprof.core.columns.columns import Int64Array, sums_by
from tfprof.core.columns.covered import covered_until
from tfprof.core.columns.distinct import DistinctRows, distinct_rows

_WAITS = re.compile(
    r".* (block_until_ready|try_to_block|_value|__array__|wait|result)|np\.asarray\(jax\.Array\)"
)
"""Python functions that wait for others, and the name of JAX's own wait."""

_RUNS_OPS = re.compile(r"tensorflow\.\S+ TFE_Py_\w+")
"""Functions in which TensorFlow's runtime runs an op or a compiled function: time without an op is
its own work, or waiting for other threads."""


@dataclass(frozen=True, slots=True)
class CodeTime:
    """Time of an annotation or function while no op ran and nothing was waited for.

    Attributes:
        name: An annotation, or a function in the Python tracer's notation: ``train.py:12 load``.
        caller: The function that called it; empty if unknown, and for annotations.
        is_annotation: Whether it is an annotation of the program.
        total_ps: Time in one or several steps. Functions inside an annotation count for the
            annotation; a called function counts for itself, not for its caller.
        n_runs: Number of runs.
        longest_ps: The longest run, from which the caller is taken.
        n_calls: Number of compiled functions that it called itself.
    """

    name: str
    caller: str
    is_annotation: bool
    total_ps: int
    n_runs: int
    longest_ps: int = 0
    n_calls: int = 0

    @property
    def waits(self) -> bool:
        """Whether it waits for other threads or devices.

        While they compute, the time counts as theirs; the rest is the time until they begin, on a
        busy machine.
        """
        return _WAITS.fullmatch(self.name) is not None

    @property
    def is_runtime(self) -> bool:
        """Whether it belongs to the framework, so that the program cannot make it faster."""
        return _RUNS_OPS.fullmatch(self.name) is not None


@dataclass(frozen=True, eq=False, slots=True)
class CodeOfSteps:
    """``CodeTime`` as columns: a row for each function or annotation in each step.

    Attributes:
        columns: The group of the step, ascending; the name, as its place in ``texts``; the
            caller's name, -1 if unknown; then as in ``CodeTime``: whether it is an annotation,
            total time, number of runs, the longest, compiled calls; shape (8, n). One array,
            because a run may have many hosts.
        texts: Names of functions and annotations.
    """

    columns: Int64Array
    texts: tuple[str, ...]

    def of(self, groups: Int64Array) -> list[CodeTime]:
        """The total times in some steps, the largest first."""
        chosen = self.columns[1:, np.isin(self.columns[0], groups)]
        names, _, is_annotation, total_ps, n_runs, longest_ps, n_calls = chosen
        found = distinct_rows([names, is_annotation])
        rows = chosen[:, _longest(found, longest_ps)]
        for column, values in ((3, total_ps), (4, n_runs), (6, n_calls)):
            rows[column] = sums_by(found.place, values, len(found.first))
        times = [
            CodeTime(self.texts[name], self.texts[caller] if caller >= 0 else "", kind > 0, *others)
            for name, caller, kind, *others in rows.T.tolist()
        ]
        return sorted(times, key=lambda one: (-one.total_ps, one.name))

    def waits_ps(self, groups: Int64Array) -> Int64Array:
        """Time of each of some steps in functions that wait for others, shape of ``groups``."""
        is_wait = np.array([_WAITS.fullmatch(text) is not None for text in self.texts], np.bool_)
        known, names, _, _, total_ps, *_ = self.columns
        rows = np.flatnonzero(is_wait[names])
        found = distinct_rows([known[rows]])
        sums_ps = sums_by(found.place, total_ps[rows], len(found.first))
        waits_ps = dict(zip(found.values[:, 0].tolist(), sums_ps.tolist(), strict=True))
        return np.array([waits_ps.get(group, 0) for group in groups.tolist()], np.int64)


def _longest(alike: DistinctRows, lengths_ps: Int64Array) -> Int64Array:
    """The row of the longest in each set of equal rows, the first of several, shape (k,)."""
    longest_ps = lengths_ps[alike.first]
    np.maximum.at(longest_ps, alike.place, lengths_ps)
    rows = np.flatnonzero(lengths_ps == longest_ps[alike.place])[::-1]
    first = np.empty(len(longest_ps), np.int64)
    first[alike.place[rows]] = rows
    return first


def code_times(
    forest: Forest, of_event: Int64Array, code: Int64Array, busy: StepEvents, groups: Int64Array
) -> CodeOfSteps:
    """Time of each step without ops, by function and annotation.

    Args:
        forest: The events of a host.
        of_event: The group of each, shape (n,).
        code: Events of the program's own code on the threads of the steps, ascending.
        busy: All other events in steps, on all threads and devices.
        groups: The steps that count.
    """
    timeline = forest.timeline
    code = code[np.isin(of_event[code], groups)]
    group = of_event[code]
    alone = _time_alone(busy)
    amount = alone(timeline.starts_ps[code], timeline.ends_of(code))
    of_frame = timeline.named(is_frame)[code]
    around = _around(forest, code)
    around[(around >= 0) & (group[around] != group)] = -1
    inner = np.flatnonzero(around >= 0)
    is_outside = np.ones(len(code), np.bool_)
    is_outside[inner] = filled(around, np.where(of_frame, -1, 1))[around[inner]] < 0
    # The outermost annotations count in full; functions count with their self time.
    called = sums_by(around[inner], amount[inner], len(code))
    own = np.where(of_frame, amount - called, amount)
    rows = np.flatnonzero(is_outside & (own > 0))
    numbers: dict[str, int] = {}
    name_of_kind = np.array(
        [numbers.setdefault(name.lstrip("$"), len(numbers)) for name in timeline.names], np.int64
    )
    names = name_of_kind[timeline.kinds[code]]
    found = distinct_rows([group[rows], names[rows], ~of_frame[rows]])
    longest = rows[_longest(found, own[rows])]
    above = around[longest]
    is_called = of_frame[longest] & (above >= 0) & of_frame[above]
    callers = np.where(is_called, names[above], -1)
    groups, named, is_annotation = found.values.T
    used = np.union1d(named, callers[is_called])
    texts = list(numbers)
    columns = np.array([
        groups, np.searchsorted(used, named),
        np.where(is_called, np.searchsorted(used, callers), -1), is_annotation,
        sums_by(found.place, own[rows], len(longest)), found.counts, own[longest],
        sums_by(found.place, _calls_of_each(forest, code)[rows], len(longest)),
    ])  # fmt: skip
    return CodeOfSteps(columns, tuple([texts[name] for name in used.tolist()]))


def _time_alone(busy: StepEvents) -> Callable[[Int64Array, Int64Array], Int64Array]:
    """A function that returns the time in each interval that nothing else covers."""
    chosen = busy.only(busy.spent > Spent.HOST_RUNTIME)
    covered = covered_until(chosen.start_ps, chosen.end_ps)

    def alone(begin: Int64Array, end: Int64Array) -> Int64Array:
        alone_ps: Int64Array = (end - begin) - (covered(end) - covered(begin))
        return alone_ps

    return alone


def _calls_of_each(forest: Forest, code: Int64Array) -> Int64Array:
    """How many compiled functions each of some events calls itself, shape (n,)."""
    calls = outermost(forest, are_compiled_calls(forest.timeline))
    caller = _around(forest, code, calls)
    n_calls: Int64Array = np.bincount(caller[caller >= 0], minlength=len(code))
    return n_calls


def _around(forest: Forest, code: Int64Array, events: Int64Array | None = None) -> Int64Array:
    """For each of some events, by default the code itself, the place of the nearest code around
    it, or -1.
    """
    places = np.full(len(forest.timeline), -1, np.int32)
    places[code] = np.arange(len(code))
    parents = forest.nesting.parents[code if events is None else events]
    nearest = forest.nesting.nearest(places)
    nearest_around: Int64Array = np.where(parents >= 0, nearest[np.maximum(parents, 0)], -1).astype(
        np.int64
    )
    return nearest_around
