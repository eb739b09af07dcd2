"""Spans of a program: its annotations, its calls of compiled functions, and requests it served.

Spans whose names differ only in numbers are of one kind: ``decode 7`` and ``decode 8``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.compiled_calls import (
    SESSION_RUNS,
    are_compiled_calls,
    outermost,
)
from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.steps.host_code import is_frame, is_of_runtime
from tfprof.captures.events.timeline.jit_calls import jit_calls
from tfprof.captures.events.timeline.names import IMPLICIT_ROOTS, PJIT_CALL, TRACE_CONTEXT
from tfprof.captures.events.timeline.op_names import OpKind, parse_op_name
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.core.columns.columns import BoolArray, Int64Array

ANNOTATION, CALL, SERVED = "annotation", "call", "served"

_SERVED = frozenset(("BatchingSessionRun", "TfrtModelRun", "ServingModelRun"))
"""Events of TensorFlow's servers around one request."""

_OF_PYTHON = re.compile(r"\$.*|PjitFunction\(.*|TFE_.*|EagerExecute.*|SessionRun")
"""Events that only threads of Python have."""

_OF_FRAMEWORK = re.compile(
    r"np\.asarray\(jax\.Array\)|(pxla|jax|ArrayImpl|PjRt\w*)\..*|pjit.*|RemoteCall.*|MemCpyAsync"
    r"|ParallelFor|(cu|cuda|hip)[A-Z]\w*"
)
"""Names that JAX's Python code, TensorFlow and drivers of GPUs write, besides those of runtimes."""

_STATS_OF_RUNTIME = (
    "hlo_op", "tf_function_call", "tf_op", "correlation_id", "_ipl_stage_name", "_p", "_c",
)  # fmt: skip
"""Stats of events of the runtime: annotations have none of them."""

_NUMBER = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|0x[0-9a-f]+|\d+", re.I)
_OF_REQUEST = re.compile(r"\b(?:request|req)(?:[_ ]?id)?[ _#:=-]*(\d+)", re.I)
_ID_STATS = ("request_id", "request", "req_id")


class Spans(NamedTuple):
    """Spans, in order of the timeline.

    Attributes:
        events: The event of each, shape (n,).
        kinds: The kind of each: a place in ``names``, shape (n,).
        names: What the spans of a kind are, and their name.
        requests: The request of each: a place in ``ids``, -1 if it has none, shape (n,).
        ids: The distinct ids of requests.
        titles: The program's name of each, with the number of a step.
        is_jax: Whether each is a call of JAX, which returns before the work is done, shape (n,).
    """

    events: Int64Array
    kinds: Int64Array
    names: tuple[tuple[str, str], ...]
    requests: Int64Array
    ids: tuple[str, ...]
    titles: tuple[str, ...]
    is_jax: BoolArray


def kind_name(name: str) -> str:
    """A name without its numbers.

    >>> kind_name("decode request 17"), kind_name("prefill_3"), kind_name("layer 3, head")
    ('decode request', 'prefill', 'layer #, head')
    """
    kind = _NUMBER.sub("#", name)
    return kind.rstrip("#_:=-/., ") or kind


def program_spans(forest: Forest) -> Spans:
    """The spans of a host."""
    timeline = forest.timeline
    is_served = timeline.named(_SERVED.__contains__) & timeline.on_threads
    annotations = np.flatnonzero(_are_annotations(forest))
    calls = _calls(forest)
    served = outermost(forest, is_served)
    events = np.concatenate([annotations, calls, served])
    what = np.repeat(np.arange(3), [len(annotations), len(calls), len(served)])
    kept = timeline.durations_ps[events] > 0
    order = np.argsort(events[kept], kind="stable")
    events, what = events[kept][order], what[kept][order]
    numbers: dict[tuple[str, str], int] = {}
    names = _titles(timeline, events)
    alike: dict[str, set[str]] = {}
    for name in names:
        alike.setdefault(kind_name(name), set()).add(name)
    kinds = [
        numbers.setdefault(
            _named(kind, name, is_alone=len(alike[kind_name(name)]) == 1), len(numbers)
        )
        for kind, name in zip(what.tolist(), names, strict=True)
    ]
    requests, ids = _requests(timeline, events, names)
    is_jax = timeline.named(lambda name: PJIT_CALL.fullmatch(name) is not None)[events]
    return Spans(
        events, np.array(kinds, np.int64), tuple(numbers), requests, ids, tuple(names), is_jax
    )  # fmt: skip


def may_have_spans(names: Iterable[str], lines: Iterable[str]) -> bool:
    """Whether events of these names on lines of these names may be spans."""
    known = set(names)
    if not _SERVED.isdisjoint(known) or not SESSION_RUNS.isdisjoint(known):
        return True
    if any(PJIT_CALL.fullmatch(name) for name in known):
        return True
    on_python = any(map(_OF_PYTHON.fullmatch, known)) or any(map(_is_own_name, lines))
    return on_python and any(map(_is_annotation_name, known))


def _is_own_name(line: str) -> bool:
    """Whether a thread may have its name from the program, not from a runtime."""
    return bool(line) and "/" not in line and not line.isdecimal()


def _is_annotation_name(name: str) -> bool:
    op = parse_op_name(name)
    return op.kind is OpKind.UNKNOWN and not op.type and _may_annotate(name)


def _titles(timeline: Timeline, events: Int64Array) -> list[str]:
    numbers = timeline.stat("step_num").at(events, -1).tolist()
    names = [timeline.name(event) for event in events.tolist()]
    return [
        f"{name} {number}" if number >= 0 and not name.endswith(str(number)) else name
        for name, number in zip(names, numbers, strict=True)
    ]


def _named(what: int, name: str, *, is_alone: bool) -> tuple[str, str]:
    if what != 1:
        return (SERVED if what else ANNOTATION), name if is_alone else kind_name(name)
    match = PJIT_CALL.fullmatch(name)
    if match:
        return CALL, match[1]
    return CALL, "Session.run" if name in SESSION_RUNS else parse_op_name(name).type or name


def _calls(forest: Forest) -> Int64Array:
    """The outermost calls of compiled functions that ran."""
    timeline = forest.timeline
    events = outermost(forest, are_compiled_calls(timeline))
    of_jax = jit_calls(timeline, forest.nesting)
    lost = of_jax.events[~of_jax.ran] if of_jax.ran.any() else events[:0]
    return np.setdiff1d(events, lost)


def _are_annotations(forest: Forest) -> BoolArray:
    """Which events the program wrote, shape (n events,).

    They are on threads of Python, no event of the runtime is around them, and their name is none of
    the runtime's, or they have the number of a request.
    """
    timeline = forest.timeline
    is_python = timeline.named(lambda name: _OF_PYTHON.fullmatch(name) is not None)
    is_own = timeline.named(_is_annotation_name)
    for stat in _STATS_OF_RUNTIME:
        is_own[timeline.stat(stat).events] = False
    is_own[timeline.stat(_ID_STATS[0]).events] = True
    is_runtime = ~is_own & ~timeline.named(is_frame)
    of_python = np.zeros(len(timeline), np.bool_)
    for number, line in enumerate(timeline.lines):
        own = timeline.events_of(number)
        # Python 3.14 gives threads their own names; those of runtimes end in a slash and a number.
        is_named = _is_own_name(line.name) and not is_runtime[own].any()
        if line.name.startswith("python") or is_python[own].any() or is_named:
            of_python[own] = True
    is_own &= of_python & timeline.on_threads
    events = np.flatnonzero(is_own)
    around = forest.nesting.nearest_among(
        forest.nesting.parents[events], np.flatnonzero(is_runtime)
    )
    is_own[events[around >= 0]] = False
    return is_own


def _may_annotate(name: str) -> bool:
    return (
        bool(name)
        and not is_of_runtime(name)
        and name not in IMPLICIT_ROOTS
        and name not in _SERVED
        and name not in TRACE_CONTEXT
        and not name.startswith("tfprof.")
        and _OF_FRAMEWORK.match(name) is None
    )


def _requests(
    timeline: Timeline, events: Int64Array, names: list[str]
) -> tuple[Int64Array, tuple[str, ...]]:
    """The request of each span: by its stat ``request_id``, or the number after that word."""
    found = [match[1] if (match := _OF_REQUEST.search(name)) else "" for name in names]
    for stat_name in reversed(_ID_STATS):
        stat = timeline.stat(stat_name)
        has = np.flatnonzero(stat.has(events))
        values, texts = stat.at(events[has]).tolist(), stat.texts_at(events[has]).tolist()
        for place, value, text in zip(has.tolist(), values, texts, strict=True):
            found[place] = stat.texts[text] if text >= 0 else str(value)
    numbers: dict[str, int] = {}
    places = [numbers.setdefault(one, len(numbers)) if one else -1 for one in found]
    return np.array(places, np.int64), tuple(numbers)
