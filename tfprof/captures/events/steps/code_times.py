"""In what of the program's own code steps spend the time in which nothing else goes on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.steps.host_code import is_frame
from tfprof.captures.events.steps.step_events import Spent, StepEvents
from tfprof.columns.columns import BoolArray, Int64Array

_WAITS = re.compile(
    r".* (block_until_ready|try_to_block|_value|__array__|wait|result)|np\.asarray\(jax\.Array\)"
)
"""Functions of Python that wait for others, and what JAX calls its own wait."""


@dataclass(frozen=True, slots=True)
class CodeTime:
    """Something that a program was in while no op ran and nothing was waited for.

    Attributes:
        name: An annotation, or a function as the Python tracer names it: ``train.py:12 load``.
        caller: Of a function, the one that called it; empty if none is known.
        is_annotation: Whether the program has named it itself.
        total_ps: Time in a step, or in several. Functions that an annotation encloses count as
            that, and what a function calls counts as that alone.
        n_runs: How often it ran.
        longest_ps: The longest run, which tells the caller.
    """

    name: str
    caller: str
    is_annotation: bool
    total_ps: int
    n_runs: int
    longest_ps: int = 0

    @property
    def waits(self) -> bool:
        """Whether it waits for what other threads or devices compute.

        While they compute, that counts; the rest is time until they begin, on a busy machine.
        """
        return _WAITS.fullmatch(self.name) is not None


def in_all_steps(by_step: Iterable[Sequence[CodeTime]]) -> list[CodeTime]:
    """What the time of several steps together went to, the most first."""
    longest: dict[tuple[str, bool], CodeTime] = {}
    total_ps: Counter[tuple[str, bool]] = Counter()
    n_runs: Counter[tuple[str, bool]] = Counter()
    for one in (one for times in by_step for one in times):
        key = (one.name, one.is_annotation)
        known = longest.setdefault(key, one)
        if one.longest_ps > known.longest_ps:  # the earlier of equal ones
            longest[key] = one
        total_ps[key] += one.total_ps
        n_runs[key] += one.n_runs
    return _most_first(
        replace(one, total_ps=total_ps[key], n_runs=n_runs[key]) for key, one in longest.items()
    )


def _most_first(times: Iterable[CodeTime]) -> list[CodeTime]:
    return sorted(times, key=lambda one: (-one.total_ps, one.name))


def code_times(
    forest: Forest, of_event: Int64Array, code: Int64Array, busy: StepEvents, groups: Int64Array
) -> dict[int, list[CodeTime]]:
    """What the time of each step went to that no op explains, by group, the most first.

    Args:
        forest: The events of a host.
        of_event: The group of each, shape (n,).
        code: Events of the threads of the steps that are the program's own, ascending.
        busy: What else went on in steps, on all threads and devices.
        groups: The steps that count.
    """
    timeline = forest.timeline
    code = code[np.isin(of_event[code], groups)]
    if not len(code):
        return {}
    group = of_event[code]
    alone = _time_alone(busy)
    amount = alone(timeline.starts_ps[code], timeline.ends_of(code))
    of_frame = timeline.named(is_frame)[code]
    around = _around(forest, code)
    around[(around >= 0) & (group[around] != group)] = -1
    in_annotation = _inside(around, ~of_frame)
    own = amount.copy()
    inner = np.flatnonzero(around >= 0)
    np.subtract.at(own, around[inner], amount[inner])
    # Of annotations the outermost count, whole; of functions what they do themselves.
    own[~of_frame] = amount[~of_frame]
    counts = ~in_annotation & (own > 0)
    numbers: dict[str, int] = {}
    number_of_kind = np.array(
        [numbers.setdefault(name, len(numbers)) for name in timeline.names], np.int64
    )
    rows = np.flatnonzero(counts)
    named = 2 * number_of_kind[timeline.kinds[code[rows]]] + of_frame[rows]
    order = np.lexsort((rows, -own[rows], named, group[rows]))  # the longest of each first
    rows, named = rows[order], named[order]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (named[1:] != named[:-1]) | (group[rows[1:]] != group[rows[:-1]])
    first = np.flatnonzero(is_first)
    above = around[rows[first]]
    is_called = of_frame[rows[first]] & (above >= 0) & of_frame[above]
    columns = (
        group[rows[first]], code[rows[first]], np.where(is_called, code[above], -1),
        ~of_frame[rows[first]], np.add.reduceat(own[rows], first) if len(first) else first,
        np.diff(np.append(first, len(rows))), own[rows[first]],
    )  # fmt: skip
    by_step: dict[int, list[CodeTime]] = {}
    for step, event, caller, *amounts in zip(*(column.tolist() for column in columns), strict=True):
        name = timeline.name(event).lstrip("$")
        called_by = timeline.name(caller).lstrip("$") if caller >= 0 else ""
        by_step.setdefault(step, []).append(CodeTime(name, called_by, *amounts))
    return {step: _most_first(times) for step, times in by_step.items()}


def _time_alone(busy: StepEvents) -> Callable[[Int64Array, Int64Array], Int64Array]:
    """A function that tells how much of each of some intervals nothing else covers."""
    chosen = busy.only(busy.spent > Spent.HOST_RUNTIME)
    order = np.argsort(chosen.start_ps, kind="stable")
    starts, ends = chosen.start_ps[order], np.maximum.accumulate(chosen.end_ps[order])
    begins = np.ones(len(starts), np.bool_)
    begins[1:] = starts[1:] > ends[:-1]
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(starts))[: len(first)] - 1
    starts, ends = starts[first], ends[last]
    before = np.concatenate([[0], np.cumsum(ends - starts)])

    def covered(moments: Int64Array) -> Int64Array:
        """How much is covered up to each moment."""
        if not len(starts):
            return np.zeros(len(moments), np.int64)
        place = np.searchsorted(starts, moments, side="right") - 1
        inside = np.minimum(moments, ends[np.maximum(place, 0)]) - starts[np.maximum(place, 0)]
        covered_ps: Int64Array = np.where(place >= 0, before[np.maximum(place, 0)] + inside, 0)
        return covered_ps

    def alone(begin: Int64Array, end: Int64Array) -> Int64Array:
        alone_ps: Int64Array = (end - begin) - (covered(end) - covered(begin))
        return alone_ps

    return alone


def _around(forest: Forest, code: Int64Array) -> Int64Array:
    """The place among some events of the nearest of them that encloses each, or -1."""
    places = np.full(len(forest.timeline), -1, np.int32)
    places[code] = np.arange(len(code))
    parents = forest.nesting.parents[code]
    nearest = forest.nesting.nearest(places)
    nearest_around: Int64Array = np.where(parents >= 0, nearest[np.maximum(parents, 0)], -1).astype(
        np.int64
    )
    return nearest_around


def _inside(around: Int64Array, wanted: BoolArray) -> BoolArray:
    """Whether one that is wanted encloses each; events come after what encloses them."""
    is_inside = np.zeros(len(around), np.bool_)
    for place, above in enumerate(around.tolist()):
        if above >= 0:
            is_inside[place] = is_inside[above] or wanted[above]
    return is_inside
