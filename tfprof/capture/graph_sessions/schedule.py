"""Decides which runs are traced, saved and profiled.

The rules are those of ``tensorflow/python/profiler/profile_context.py``. Runs are numbered from 0
in the order in which they begin; those that fail have a number, too.
"""

from __future__ import annotations

import itertools
import operator
import random
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tfprof.capture.graph_sessions.session_runs import fetch_names
from tfprof.errors import UsageError

WARMUP_STEPS = 10
MAX_TRACED_STEPS = 100

_ENOUGH_COVERAGE = 0.5
_MOST_KNOWN_FETCHES = 1000


@dataclass(frozen=True, slots=True)
class Wishes:
    """Wishes for one run.

    Attributes:
        trace: Trace it.
        capture: Keep its run metadata unchanged.
        folders: Save the profile after it, in each of these.
        views: Commands and options of the views to make after it.
    """

    trace: bool = False
    capture: bool = False
    folders: tuple[str, ...] = ()
    views: tuple[tuple[str, dict[str, Any]], ...] = ()

    def __or__(self, other: Wishes) -> Wishes:
        return Wishes(
            self.trace or other.trace,
            self.capture or other.capture,
            tuple(dict.fromkeys(self.folders + other.folders)),
            self.views + other.views,
        )


_NONE = Wishes()


class Schedule:
    """Numbers the runs and collects the wishes for each; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_step: dict[int, Wishes] = {}
        self._next = _NONE
        self._numbers = itertools.count()  # needs no lock, which most runs would notice

    def add(self, steps: Iterable[int], wishes: Wishes) -> None:
        """Add wishes for some steps."""
        with self._lock:
            for step in steps:
                self._by_step[step] = self._by_step.get(step, _NONE) | wishes

    def add_to_next(self, wishes: Wishes) -> None:
        """Add wishes for the next run that begins."""
        with self._lock:
            self._next |= wishes

    def begin(self) -> tuple[int, Wishes | None]:
        """The number of a run that begins, and the wishes for it."""
        step = next(self._numbers)
        wishes = self._by_step.get(step)
        if self._next is not _NONE:
            with self._lock:
                wishes = self._next if wishes is None else wishes | self._next
                self._next = _NONE
        return step, wishes


class AutomaticTracing:
    """Traces new fetches after the warm-up, and random early steps while most ops are unseen."""

    def __init__(self) -> None:
        self._random = random.Random(111)  # the original's seed: every program has the same draws
        self._traced: set[tuple[int, frozenset[str]]] = set()
        # Objects that were fetched together, by their ids. The objects are kept, so that no other
        # object can have the same id.
        self._known: dict[tuple[int, ...], tuple[Any, ...]] = {}

    def wants(
        self, step: int, session: Any, fetches: Any, coverage: Callable[[Any], float]
    ) -> bool:
        """Whether to trace a run.

        Args:
            step: Number of the run.
            session: The session that runs.
            fetches: As given to ``Session.run``.
            coverage: Gives the share of a graph's ops that were seen running.
        """
        if step <= WARMUP_STEPS:
            return False
        graph = session.graph
        if (id(graph), *_part_ids(fetches)) not in self._known:
            parts = _parts(fetches)
            if (id(graph), *map(id, parts)) not in self._known:
                names = fetch_names(graph, fetches)
                if not names:
                    return False
                if (id(graph), names) not in self._traced:
                    return True
                self._remember(graph, parts)
        return (
            step < MAX_TRACED_STEPS
            and coverage(graph) < _ENOUGH_COVERAGE
            and self._random.randint(0, 10) < 2
        )

    def traced(self, graph: Any, fetches: Any) -> None:
        """Note that these fetches were traced; the caller keeps the graph alive."""
        self._traced.add((id(graph), fetch_names(graph, fetches)))

    def _remember(self, graph: Any, parts: list[Any]) -> None:
        """Remember fetches whose names were looked up, which takes about 10 µs."""
        lasting = all(isinstance(part, str) or hasattr(part, "graph") for part in parts)
        if lasting and len(self._known) < _MOST_KNOWN_FETCHES:
            key = (id(graph), *map(id, parts))
            self._known[key] = (graph, *parts)


def _part_ids(fetches: Any) -> Iterable[int]:
    """The ids of ``_parts`` of usual fetches; of others, numbers that occur nowhere else.

    Usual fetches are one element, a list, or ``MonitoredSession``'s dict of these.
    """
    kind = type(fetches)
    if kind is list or kind is tuple:
        return map(id, fetches)
    if kind is not dict:
        return (id(fetches),)
    ids: list[int] = []
    for part in fetches.values():
        kind = type(part)
        if kind is list or kind is tuple:
            ids += map(id, part)
        else:
            ids.append(id(part))
    return ids


def _parts(fetches: Any) -> list[Any]:
    """The leaves of nested lists, tuples and dicts, in order."""
    parts = []
    waiting = [fetches]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (list, tuple)):
            waiting.extend(reversed(part))
        elif isinstance(part, dict):
            waiting.extend(reversed(part.values()))
        else:
            parts.append(part)
    return parts


def step_numbers(steps: Iterable[int], argument: str, most: int | None = None) -> frozenset[int]:
    """Checked step numbers.

    Args:
        steps: Whole numbers, in any order.
        argument: Name of the argument, for errors.
        most: How many there may be.

    Raises:
        UsageError: They are not whole numbers from 0, or too many.
    """
    if isinstance(steps, (str, bytes)) or not isinstance(steps, Iterable):
        raise UsageError(f"{argument}={steps!r} must be a list of step numbers")
    numbers: set[int] = set()
    for step in steps:
        try:
            numbers.add(operator.index(step))
        except TypeError:
            raise UsageError(f"{argument}: {step!r} is not a step number") from None
        if most is not None and len(numbers) > most:
            raise UsageError(f"{argument}: at most {most} steps can be traced; give fewer")
    negative = min(numbers, default=0)
    if negative < 0:
        raise UsageError(f"{argument}: {negative} is not a step; runs are numbered from 0")
    return frozenset(numbers)
