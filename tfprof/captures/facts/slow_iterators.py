"""The iterator that slows an input pipeline down, found the same way for all tools."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.ops.tf_data import (
    SLOW_CALL_PS,
    Call,
    IteratorTimes,
    Pipeline,
    TfData,
    find_pipelines,
)
from tfprof.captures.events.ops.tf_data import Iterator as DataIterator
from tfprof.captures.events.steps.step_events import PYTHON_OPS
from tfprof.captures.events.timeline.names import REDUCE_ITERATOR
from tfprof.captures.events.timeline.op_names import plain_iterator_type
from tfprof.captures.facts.pipeline_stages import Stages, stages_of
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.steps import Steps
from tfprof.captures.run.fact import fact, fact_by_rules
from tfprof.captures.run.run import Host

_MOST_CALLS = 64
"""Only the longest calls are analysed."""


class Held(NamedTuple):
    """The iterator on which the slow calls of a pipeline waited longest.

    Attributes:
        host: The host.
        pipeline: Name of the pipeline.
        iterator: The iterator; the slowest one of several copies, such as those of interleave.
        self_ps: Self time of all copies in these calls; times that overlap count only once.
        calls_ps: Time of the calls.
        n_calls: Number of analysed calls.
        n_slow: Number of slow calls of the pipeline.
        n_all: Number of all its calls.
        is_first_slowest: Whether the first call was by far the longest, because buffers were empty.
        n_copies: Number of copies of the iterator.
        first_ps: Time of the pipeline's first call.
        span_ps: From the start of that call to the end of the last one.
        calls_python: Whether the function of the iterator calls Python.
    """

    host: Host
    pipeline: str
    iterator: DataIterator
    self_ps: int
    calls_ps: int
    n_calls: int
    n_slow: int
    n_all: int
    is_first_slowest: bool
    n_copies: int = 1
    first_ps: int = 0
    span_ps: int = 0
    calls_python: bool = False

    @property
    def share(self) -> float:
        """Part of the time of the calls; at most 1, although times of several threads add up."""
        return min(1.0, part(self.self_ps, self.calls_ps))


def pipelines_of(host: Host) -> TfData:
    """The pipelines of a host; computed once."""
    forest = host.forest()
    return host.memo.once("tf_data", lambda: find_pipelines(forest, rules=host.rules))


class ToldPipelines(NamedTuple):
    """The pipelines of a host.

    Attributes:
        data: The pipelines.
        slowest: For each pipeline, the iterator on which its slow calls waited longest.
        python: Names of iterators, and of threads that make elements for them, whose functions
            call Python.
    """

    data: TfData
    slowest: list[Held | None]
    python: tuple[str, ...]

    def calls_python(self, iterator: DataIterator) -> bool:
        """Whether the function of an iterator calls Python, which runs one thread at a time."""
        return _calls_python(iterator, self.python)


@fact_by_rules
def told_pipelines(host: Host) -> ToldPipelines:
    """The pipelines of a host with their slowest iterators.

    Keeps details of iterators only for the slowest call of each; ``pipelines_of`` has all calls.
    """
    data = pipelines_of(host)
    slowest = []
    for pipeline in data.pipelines:
        _ = pipeline.calls[0].times
        is_one_call = host.rules.judges_slowest_call
        slowest.append(None if is_one_call else held_by(host, data, pipeline))
    return ToldPipelines(data, slowest, _callers_of_python(host))


@fact_by_rules
def told_stages(host: Host) -> list[Stages]:
    """All stages of each pipeline of ``told_pipelines``.

    They take a walk through each call, and only one page and one command show them.
    """
    data = pipelines_of(host)
    return [stages_of(data, pipeline) for pipeline in data.pipelines]


def are_looped_over(hosts: Iterable[Host]) -> bool:
    """Whether loops inside functions read elements of datasets on any of these hosts.

    Iterators of such a loop are not analysed, because its body is one of them.
    """
    return any(_is_looped_over(host) for host in hosts)


@fact
def _is_looped_over(host: Host) -> bool:
    return any(name.startswith(REDUCE_ITERATOR) for name in host.timeline.names)


def slow_iterators(hosts: Iterable[Host]) -> list[Held]:
    """The slowest iterator of each pipeline that has slow calls, the slowest pipeline first."""
    slow = [held for host in hosts for held in _slow_iterators(host)]
    return sorted(slow, key=lambda one: -one.calls_ps)


@fact
def _slow_iterators(host: Host) -> list[Held]:
    data = pipelines_of(host)
    of_host = (held_by(host, data, pipeline) for pipeline in data.pipelines)
    return [held for held in of_host if held is not None]


_MOST_PYTHON_OPS = 1000
"""A function calls Python in each of its runs, or in none."""


def _callers_of_python(host: Host) -> tuple[str, ...]:
    """Names of iterators, and of threads that make elements for them, that call Python."""
    return host.memo.once("callers_of_python", lambda: _found_callers(host))


def _found_callers(host: Host) -> tuple[str, ...]:
    timeline = host.timeline
    is_python = np.array([op.type in PYTHON_OPS for op in timeline.ops], np.bool_)
    is_caller = np.array([_CALLER.match(name) is not None for name in timeline.names], np.bool_)
    ops = np.flatnonzero(is_python[timeline.kinds])[:_MOST_PYTHON_OPS]
    callers = host.forest().nearest_of_each(ops, lambda _, above: is_caller[timeline.kinds[above]])
    distinct = np.unique(callers[callers >= 0]).tolist()
    return tuple(sorted({timeline.name(event) for event in distinct}))


_CALLER = re.compile(r"Iterator::|\w+Produce$")


def _calls_python(iterator: DataIterator, callers: tuple[str, ...]) -> bool:
    """Whether an iterator is among the callers, by its own name or by the name of its threads.

    Threads that make elements for a parallel iterator only have the name of its kind.
    """
    return (
        iterator.long_name in callers or f"{plain_iterator_type(iterator.type)}Produce" in callers
    )


def held_by(host: Host, data: TfData, pipeline: Pipeline, step: Steps | None = None) -> Held | None:
    """The slowest iterator of a pipeline; None if no call was slow, or if it is unknown.

    Args:
        host: The host.
        data: Its pipelines.
        pipeline: One of these pipelines.
        step: The step to which its calls are limited.
    """
    return host.memo.once(("held", pipeline.root, step), lambda: _held(host, data, pipeline))


def _held(host: Host, data: TfData, pipeline: Pipeline) -> Held | None:
    calls = slow_calls(pipeline)[:_MOST_CALLS]
    own: dict[int, int] = {}
    of_stage: dict[str, int] = {}
    copies: dict[str, list[int]] = {}
    for call in calls:
        stages: dict[str, list[IteratorTimes]] = {}
        for iterator, times in call.times.items():
            if times.is_blocking and times.self_ps > 0:
                stage = data.iterators[iterator].stage
                if iterator not in own:
                    copies.setdefault(stage, []).append(iterator)
                own[iterator] = own.get(iterator, 0) + times.self_ps
                stages.setdefault(stage, []).append(times)
        for stage, each in stages.items():
            of_stage[stage] = of_stage.get(stage, 0) + _once(each)
    if not own:
        return None
    stage = min(of_stage, key=lambda one: (-of_stage[one], min(copies[one])))
    worst = min(copies[stage], key=lambda iterator: (-own[iterator], iterator))
    took = sum(call.duration_ps for call in calls)
    n_copies = len({data.iterators[one].long_name for one in copies[stage]})
    ended = max(call.start_ps + call.duration_ps for call in pipeline.calls)
    first = min(pipeline.calls, key=lambda call: call.start_ps)
    return Held(
        host, pipeline.name, data.iterators[worst], of_stage[stage], took, len(calls),
        pipeline.n_slow, len(pipeline.calls), pipeline.is_first_slowest, n_copies,
        first.duration_ps, ended - first.start_ps,
        _calls_python(data.iterators[worst], _callers_of_python(host)),
    )  # fmt: skip


def _once(copies: list[IteratorTimes]) -> int:
    """Self time of the copies of a stage in a call; at most the span from first to last."""
    begin = min(times.start_ps for times in copies)
    end = max(times.start_ps + times.duration_ps for times in copies)
    return min(sum(times.self_ps for times in copies), end - begin)


def slow_calls(pipeline: Pipeline) -> list[Call]:
    """Calls longer than 50 µs, the longest first.

    Omits the first call if it was by far the slowest, because buffers were still empty.
    """
    calls = pipeline.calls[pipeline.is_first_slowest :]
    slow = [call for call in calls if call.duration_ps > SLOW_CALL_PS]
    return slow or [call for call in pipeline.calls[:1] if call.duration_ps > SLOW_CALL_PS]
