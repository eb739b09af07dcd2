"""Decides which events are steps: marks; without marks, calls; without calls, none.

No other module decides this (``docs/adr/0023-steps-and-verdicts.md``):

* *Marked*: an event that the program puts around its step: ``Trace(…, _r=1)``, JAX's
  ``StepTraceAnnotation``, marks of serving and of old profilers. If no event has ``_r``, events
  with a step number count, and those that Keras puts around the batches that it profiles.
* *Called*: without marks, each call of the function that takes the most time of all that the
  program calls, or of a shorter one that its main loop calls more often: of a ``tf.function``,
  compiled or not, or of ``Session.run``. With ``steps_per_execution`` in Keras
  a call is several batches, and so is the step. Calls beside steps that run op by op, such as
  those of an evaluation, do not count.
* An iteration of a loop inside a call is never a step; neither is a function that runs inside an
  input pipeline. Without marks and calls, the capture has no steps.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.eager import are_eager_ops
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.timeline.names import IMPLICIT_ROOTS, TF_DATA_FUNCTIONS, TRACE_CONTEXT
from tfprof.captures.events.timeline.sparse_stat import SparseStat
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.xspace_stats import StatKind
from tfprof.core.columns.columns import BoolArray, Int64Array, sums_by

KERAS_BATCH = re.compile(r"Profiled batch( \d+)?")
"""Keras's name of the batches that its callback profiles; with JAX it includes the number."""


_FEWEST_CALLS = 3


class StepKind(str, enum.Enum):
    """How steps were found."""

    MARKED = "marked"
    CALLED = "called"
    GIVEN = "given"
    NONE = "none"


class Calls(NamedTuple):
    """Calls of one function, which count as steps.

    Attributes:
        function: Its name; empty if not recorded.
        events: The event of each call, in order of time.
        others: Number of calls of other functions, which are in no step, by their names.
    """

    function: str
    events: list[int]
    others: dict[str, int]


def tf_data_functions(timeline: Timeline) -> Int64Array:
    """Ids of functions that run inside input pipelines."""
    ids = timeline.stat("id")
    inside = timeline.named(TF_DATA_FUNCTIONS.__contains__)
    return np.unique(ids.values[inside[ids.events] & ids.is_integer()])


def root_levels(timeline: Timeline) -> SparseStat:
    """Levels of events that may begin a group in the reference; events of level 0 are left out."""
    of_kind = np.array([_level_of_name(name) for name in timeline.names], np.int64)
    marked = timeline.stat("_r")
    marked = marked.only(marked.is_integer())
    events = np.union1d(np.flatnonzero(timeline.kind_mask(of_kind > 0)), marked.events)
    rows = marked.rows_of(events)
    levels = of_kind[timeline.kinds[events]]
    levels[rows >= 0] = marked.values[rows[rows >= 0]]
    events, levels = events[levels != 0], levels[levels != 0]
    return _levels(events, levels)


def _levels(events: Int64Array, levels: Int64Array) -> SparseStat:
    return SparseStat(events, np.full(len(events), StatKind.INT64, np.uint8), levels, [])


def _level_of_name(name: str) -> int:
    if name == "ProcessBatch":
        return 2
    return int(name in TRACE_CONTEXT or name == "BatchingSessionRun")


def _around_steps(forest: Forest, marks: Int64Array) -> Int64Array:
    """Marks that hold several marks of one name: epochs, which contain their steps."""
    timeline, nesting = forest.timeline, forest.nesting
    around = nesting.nearest_among(nesting.parents[marks], marks)
    inner = np.flatnonzero(around >= 0)
    if not len(inner):
        return inner
    pairs = np.stack([around[inner], timeline.kinds[marks[inner]].astype(np.int64)], axis=1)
    distinct, counts = np.unique(pairs, axis=0, return_counts=True)
    found: Int64Array = np.unique(distinct[counts > 1, 0])
    return found


def levels_with_marks(forest: Forest) -> tuple[SparseStat, BoolArray]:
    """Levels of events that may begin a group, and whether each is a mark, shape (n,).

    A mark around several steps, such as that of an epoch, does not count.

    Events with a step number count as marks if there are no other marks.
    """
    timeline = forest.timeline
    levels = root_levels(timeline)
    is_mark = ~timeline.named(IMPLICIT_ROOTS.__contains__)[levels.events]
    if is_mark.any():
        kept = ~np.isin(levels.events, _around_steps(forest, levels.events[is_mark]))
        return levels.only(kept), is_mark[kept]
    numbers = timeline.stat("step_num")
    marked = numbers.only(numbers.is_integer()).mask(len(timeline))
    marked |= timeline.named(lambda name: KERAS_BATCH.fullmatch(name) is not None)
    marked &= timeline.on_threads
    added = np.setdiff1d(np.flatnonzero(marked), levels.events, assume_unique=True)
    if not len(added):
        return levels, is_mark
    events = np.concatenate([levels.events, added])
    order = np.argsort(events)
    whole = np.concatenate([levels.values, np.ones(len(added), np.int64)])[order]
    return _levels(events[order], whole), np.isin(events[order], added)


def outermost_roots(forest: Forest, levels: SparseStat) -> list[int]:
    """Events that begin a group, in the order for ``grouped``: those without a root of the same
    level above them, and outside of input pipelines."""
    timeline = forest.timeline
    events = levels.events
    functions = tf_data_functions(timeline)
    if len(functions):
        ids = timeline.stat("id").among(events)
        in_function = ids.only(ids.is_integer() & np.isin(ids.values, functions))
        events = np.setdiff1d(events, in_function.events, assume_unique=True)
    order = np.lexsort(
        (-timeline.durations_ps[events], timeline.starts_ps[events], -levels.at(events))
    )
    roots = events[order]
    own = levels.at(roots)
    around = forest.nearest_of_each(roots, lambda rows, events: levels.at(events) == own[rows])
    return roots[around < 0].tolist()  # type: ignore[no-any-return]


def compiled_calls(forest: Forest, roots: list[int]) -> list[int]:
    """Calls of functions that XLA has compiled: the runtime starts no root event for them.

    Args:
        forest: The events.
        roots: Root events of the runtime for other functions.
    """
    timeline = forest.timeline
    stat = timeline.stat("tf_function_call")
    stat = stat.only(stat.is_text() & timeline.on_threads[stat.events])
    by_xla = np.array([text.endswith("-xla") for text in stat.texts], np.bool_)
    calls, in_order = stat.events[by_xla[stat.values]], np.array(sorted(roots), np.int64)
    ends = np.searchsorted(in_order, forest.nesting.ends[calls])
    return calls[ends == np.searchsorted(in_order, calls)].tolist()  # type: ignore[no-any-return]


def called(forest: Forest, roots: list[int]) -> Calls:
    """The calls that count as steps, among the calls of some roots.

    A call returns before its ops have run if they run on other threads, so the root may take only
    microseconds. The call in Python around it waits for the result, and is the step that users
    mean: the outermost event of its thread that encloses this root and no other. If most calls have
    one name, and some have another because their caller ran only once, the outermost event with
    the usual name counts.

    Args:
        forest: The events.
        roots: Root events of the runtime, none of them inside another; at least one.
    """
    timeline = forest.timeline
    roots = _one_of_each_call(forest, roots)
    in_order = sorted(roots)
    around = [_around(forest, root, in_order) for root in roots]
    outermost = [timeline.name(chain[-1]) for chain in around]
    usual = max(sorted(set(outermost)), key=outermost.count)
    if outermost.count(usual) == 1:
        usual = ""
    of_functions = frozenset(timeline.stat("tf_function_call").events.tolist())
    calls_of: dict[str, list[int]] = {}
    labels = _labels_of_functions(timeline, around, of_functions)
    for chain, name in zip(around, labels, strict=True):
        functions = [event for event in chain if event in of_functions]
        same = [event for event in chain if timeline.name(event) == usual]
        call = (same or functions or chain)[-1]
        calls_of.setdefault(name, []).append(call)
    main = _main_function(timeline, calls_of)
    calls = sorted(calls_of.pop(main), key=lambda event: int(timeline.starts_ps[event]))
    others = {name: len(others) for name, others in sorted(calls_of.items())}
    return Calls(main.partition(_GRAPH)[0], calls, others)


def _main_function(timeline: Timeline, calls_of: dict[str, list[int]]) -> str:
    """The function with the most time of those that a program calls.

    Another function wins as that of the main loop if it is called more often, and the time between
    its consecutive calls, without calls of others in between, sums to at least twice that of the
    first one. So a short step beside a long evaluation is the step.
    """
    # The calls of a function that ran only once or twice may include its compilation.
    often = {name: calls for name, calls in calls_of.items() if len(calls) >= _FEWEST_CALLS}
    times_of = {name: np.array(calls, np.int64) for name, calls in (often or calls_of).items()}
    took_ps = {name: int(timeline.durations_ps[calls].sum()) for name, calls in times_of.items()}
    most = max(sorted(took_ps), key=took_ps.__getitem__)
    calls = np.concatenate(list(times_of.values()))
    function = np.repeat(np.arange(len(times_of)), [len(one) for one in times_of.values()])
    order = np.argsort(timeline.starts_ps[calls], kind="stable")
    periods_ps, function = np.diff(timeline.starts_ps[calls[order]]), function[order]
    again = function[1:] == function[:-1]
    sums_ps = sums_by(function[:-1][again], periods_ps[again], len(times_of)).tolist()
    loops_ps = dict(zip(times_of, sums_ps, strict=True))
    main = max(sorted(loops_ps), key=loops_ps.__getitem__)
    is_oftener = len(times_of[main]) > len(times_of[most])
    return main if is_oftener and loops_ps[main] >= 2 * loops_ps[most] else most


def are_beside_steps(forest: Forest, calls: Calls) -> bool:
    """Whether the program runs its steps op by op, and these calls only now and then.

    If calls are steps, ops beside them appear in every step. An evaluation is called several times
    in a row, and again after many steps: most of the ops that Python runs lie in few of the gaps
    between its calls, and take longer than all calls.
    """
    timeline, events = forest.timeline, np.array(calls.events, np.int64)
    if len(events) < _FEWEST_CALLS:
        return False
    ops = np.flatnonzero(are_eager_ops(timeline))
    before = np.searchsorted(timeline.starts_ps[events], timeline.starts_ps[ops], "right") - 1
    is_between = (before >= 0) & (before < len(events) - 1)
    is_between &= timeline.starts_ps[ops] >= timeline.ends_of(events)[before]
    ops, before = ops[is_between], before[is_between]
    took_ps = np.sort(sums_by(before, timeline.durations_ps[ops], len(events) - 1))[::-1]
    whole_ps = int(took_ps.sum())
    in_few_ps = int(took_ps[: len(took_ps) // 2].sum())
    in_calls_ps = int(timeline.durations_ps[events].sum())
    return whole_ps > in_calls_ps and in_few_ps > _MOST * whole_ps


_MOST = 0.9

_GRAPH = ", graph "
_CONCRETE = re.compile(r"EagerLocalExecute: __inference_.*_(\d+)")
"""A function for specific types of arguments, with its number."""


def _one_of_each_call(forest: Forest, roots: list[int]) -> list[int]:
    """The first root in each of Python's calls of a function, which has one for each device."""
    timeline = forest.timeline
    is_call = timeline.named(lambda name: _CONCRETE.fullmatch(name) is not None)
    around = forest.nesting.nearest_among(np.array(roots, np.int64), np.flatnonzero(is_call))
    calls = around.tolist()
    seen: set[int] = set()
    first = []
    for root, call in zip(roots, calls, strict=True):
        if call < 0 or call not in seen:
            first.append(root)
            seen.add(call)
    return first


def _labels_of_functions(
    timeline: Timeline, chains: list[list[int]], of_functions: frozenset[int]
) -> list[str]:
    """Names of the functions of calls; functions of one name get the number of their graph.

    Keras uses one name for its functions for training and for evaluation. Graphs of one name belong
    to one function if its trace count is at least their number; otherwise to several functions.
    """
    is_concrete = timeline.named(lambda name: _CONCRETE.fullmatch(name) is not None)
    last = [[e for e in chain if e in of_functions][-1:] for chain in chains]
    inner = np.array([functions[0] if functions else -1 for functions in last], np.int64)
    known = timeline.stat("tracing_count").at(np.maximum(inner, 0))
    counts = np.where(inner >= 0, known, 0).tolist()
    calls: list[tuple[str, str]] = []
    traced: dict[tuple[str, str], int] = {}
    for chain, functions, count in zip(chains, last, counts, strict=True):
        name = timeline.name(functions[0]) if functions else ""
        concrete = [event for event in chain if is_concrete[event]][-1:]
        found = _CONCRETE.fullmatch(timeline.name(concrete[0])) if concrete else None
        call = (name, found[1] if found else "")
        calls.append(call)
        traced[call] = max(traced.get(call, 0), count)
    alike: dict[tuple[str, int], list[str]] = {}
    for (name, graph), count in traced.items():
        alike.setdefault((name, count), []).append(graph)
    names = [name for name, _ in alike]
    label: dict[tuple[str, str], str] = {}
    for (name, count), graphs in alike.items():
        is_one = len(graphs) <= max(count, 1)
        for graph in graphs:
            number = min(graphs, key=int) if is_one and graph else graph
            is_alone = is_one and names.count(name) == 1
            is_named = is_alone or not graph or not name
            label[name, graph] = name if is_named else f"{name}{_GRAPH}{number}"
    return [label[call] for call in calls]


def _around(forest: Forest, root: int, roots: Sequence[int]) -> list[int]:
    """A root, and the events that enclose it and no other root, the outermost last.

    ``roots`` is ascending.
    """
    parents, ends = forest.nesting.parents, forest.nesting.ends
    chain = [root]
    while (around := int(parents[chain[-1]])) >= 0:
        # A list, not an array: roots come one by one, with few events around each.
        if bisect_left(roots, int(ends[around])) - bisect_left(roots, around) > 1:
            break
        chain.append(around)
    return chain
