"""Each time that a function was traced, lowered or compiled, with the events of these phases.

XLA writes a compilation on several threads; it counts once, where it began. JAX names the
function by the call around it. Ahead of time there is no call: the passes of the compiler name the
program. ``tf.function`` writes whether its call traced it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.forest import Forest
from tfprof.captures.events.steps.host_code import is_compiling
from tfprof.captures.events.timeline.jit_calls import LAUNCH, jit_calls
from tfprof.captures.events.timeline.names import TRACED
from tfprof.captures.events.timeline.nesting import nest
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.jax_names import function_of_program
from tfprof.core.columns.columns import Int64Array

_LOWERS = re.compile(r"lower_\w+")
_TRACES = re.compile(r"tf\.function-graph_building|trace_to_jaxpr\w*")
_TRACES_JAX = re.compile(r"trace_to_jaxpr\w*")
_FRAME = re.compile(r"\$.*", re.DOTALL)
_FRAME_THAT_TRACES = re.compile(r"\$.*\btrace_to_jaxpr\w*")
_BEFORE = re.compile(r"tf\.function-graph_building|trace_to_jaxpr|lower_")
"""Names of events that come before the compilation."""

_LOWER, _COMPILE = "lower", "compile"

_PROGRAM = re.compile(r".*[(=](?P<module>(jit|pmap|pjit)_[\w.-]+)\b.*", re.DOTALL)
"""An event that names the program that is compiled: ``simplification (jit_f)``."""

_TF_MODULE = re.compile(r"(?:a_)?(?:__)?inference_(.+?)_\d+(?:__XlaMustCompile.*)?")


class Making(NamedTuple):
    """A time that a function was traced, lowered or compiled, or read from a cache.

    Attributes:
        event: Its first event.
        call: The call of the function, -1 without one.
        name: Name of the function, or the event that compiles if nothing names it.
        is_function: Whether ``name`` is the name of a function.
        is_traced: Whether it was traced; None if unknown.
        trace_ps: Time of tracing. Where no event shows it, the time from the call until lowering;
            None if unknown.
        lower_ps: Time of lowering; None if unknown or without.
        compile_ps: Time in which XLA compiled; None if it did not.
        is_cached: Whether the call ran a program that it lowered and XLA did not compile.
        start_ps: Start of the first event.
        end_ps: End of the last one.
    """

    event: int
    call: int
    name: str
    is_function: bool
    is_traced: bool | None
    trace_ps: int | None
    lower_ps: int | None
    compile_ps: int | None
    is_cached: bool
    start_ps: int
    end_ps: int

    @property
    def has_program(self) -> bool:
        """Whether a program came of it."""
        return self.compile_ps is not None or self.is_cached


def function_of_module(module: str) -> str:
    """The function that a program was compiled for, as far as its name has it.

    >>> function_of_module("jit_train"), function_of_module("a_inference_step_64__XlaMustCompile_x")
    ('train', 'step')
    """
    tensorflow = _TF_MODULE.fullmatch(module)
    return tensorflow[1] if tensorflow else function_of_program(module)


def makings(forest: Forest) -> list[Making]:
    """All of a host, in order of time."""
    return sorted(_Finder(forest).found(), key=lambda one: (one.start_ps, one.event))


class _Finder:
    def __init__(self, forest: Forest) -> None:
        self._forest, self._timeline = forest, forest.timeline
        self._nesting = forest.nesting
        self._jit = jit_calls(forest.timeline, forest.nesting)
        stat = forest.timeline.stat("tf_function_call")
        texts = stat.only(stat.is_text() & forest.timeline.on_host[stat.events])
        self._modes = dict(
            zip(texts.events.tolist(), map(texts.texts.__getitem__, texts.values.tolist()),
                strict=True)
        )  # fmt: skip
        self._shows_traces = any(map(_TRACES_JAX.fullmatch, forest.timeline.names))

    def found(self) -> Iterator[Making]:
        """All makings, call by call."""
        timeline = self._timeline
        compiles, lowers = _compiles(timeline), _outermost(timeline, _LOWERS)
        owners = self._owners([*lowers, *compiles])
        # Only JAX writes these events: it was called by a tf.function, through Python.
        owners |= {event: -1 for event in lowers if owners[event] in self._modes}
        owners |= self._owners_of_traces()
        by_owner: dict[tuple[int, int], list[int]] = {}
        for event in sorted(owners):
            line = int(timeline.lines_of(np.array([event]))[0]) if owners[event] < 0 else -1
            by_owner.setdefault((owners[event], line), []).append(event)
        traced = {event for event, mode in self._modes.items() if mode in TRACED}
        for call in sorted(traced - {owner for owner, _ in by_owner}):
            by_owner[call, -1] = []
        phases = dict.fromkeys(lowers, _LOWER) | dict.fromkeys(compiles, _COMPILE)
        for (owner, _), events in by_owner.items():
            if owner in self._modes:
                yield from self._of_tf_call(owner, events, phases)
            elif owner >= 0:
                yield from self._of_jit_call(owner, events, phases)
            else:
                yield from self._outside_of_calls(events, phases)

    def _owners_of_traces(self) -> dict[int, int]:
        """Traces that no call states: outside of calls, or in a call that was traced before."""
        owners = self._owners(_outermost(self._timeline, _TRACES))
        return {
            event: owner
            for event, owner in owners.items()
            if owner < 0 or self._modes.get(owner, TRACED[0]) not in TRACED
        }

    def _owners(self, events: Sequence[int]) -> dict[int, int]:
        """The call of the function around each event, -1 without one."""
        if not events:
            return {}
        places = np.array(events, np.int64)
        of_jit = self._jit.of(self._nesting, places)
        owners = np.where(of_jit >= 0, np.append(self._jit.events, -1)[of_jit], -1)
        others = np.flatnonzero(of_jit < 0)
        if self._modes and len(others):
            is_call = np.zeros(len(self._timeline), np.bool_)
            is_call[list(self._modes)] = True
            owners[others] = self._forest.nearest_of_each(
                places[others], lambda _, above: is_call[above]
            )
        return dict(zip(events, owners.tolist(), strict=True))

    def _of_tf_call(
        self, call: int, events: Sequence[int], phases: Mapping[int, str]
    ) -> Iterator[Making]:
        """What a call of ``tf.function`` traced and compiled."""
        compiles = [event for event in events if phases.get(event) == _COMPILE]
        traces = [event for event in events if event not in phases]
        is_traced = self._modes[call] in TRACED
        if is_traced:
            traces = self._inside(call, self._nesting.ends[call], _TRACES)
        timeline = self._timeline
        trace_ps = self._sum(traces) if traces else None
        first = call if is_traced else min([*traces[:1], *compiles[:1]])
        name = timeline.name(call)
        for number, event in enumerate(compiles or [-1]):
            begin = first if number == 0 else event
            has_trace = number == 0 and (is_traced or bool(traces))
            end = event if event >= 0 else call if is_traced else traces[-1]
            yield Making(
                begin, call, name, True, has_trace, trace_ps if has_trace else None, None,
                int(timeline.durations_ps[event]) if event >= 0 else None, False,
                int(timeline.starts_ps[begin]), int(timeline.ends_of(end)),
            )  # fmt: skip

    def _of_jit_call(
        self, call: int, events: Sequence[int], phases: Mapping[int, str]
    ) -> Iterator[Making]:
        """What a call of a jitted function traced, lowered and compiled."""
        lowered, is_first = -1, True
        for event in events:
            if phases[event] == _LOWER:
                if lowered >= 0:
                    yield self._of_jax(call, lowered, -1, is_first=is_first)
                    is_first = False
                lowered = event
                continue
            yield self._of_jax(call, lowered, event, is_first=is_first)
            lowered, is_first = -1, False
        if lowered >= 0:
            yield self._of_jax(call, lowered, -1, is_first=is_first)

    def _outside_of_calls(
        self, events: Sequence[int], phases: Mapping[int, str]
    ) -> Iterator[Making]:
        """What a thread traced, lowered and compiled ahead of time.

        Several may be lowered before the first of them is compiled: then nothing shows which.
        """
        lowered: list[int] = []
        trace = -1
        of_lower: dict[int, int] = {}
        for event in events:
            phase = phases.get(event)
            if phase is None:
                if trace >= 0:
                    yield self._trace_alone(trace)
                trace = event
            elif phase == _LOWER:
                of_lower[event], trace = trace, -1
                lowered.append(event)
            else:
                own = lowered.pop() if len(lowered) == 1 else -1
                made = self._of_jax(-1, own, event, is_first=False)
                yield self._with_trace(made, of_lower.get(own, -1))
        for event in lowered:
            made = self._of_jax(-1, event, -1, is_first=False)
            yield self._with_trace(made, of_lower[event])
        if trace >= 0:
            yield self._trace_alone(trace)

    def _trace_alone(self, event: int) -> Making:
        timeline = self._timeline
        return Making(
            event, -1, timeline.name(event), False, True, int(timeline.durations_ps[event]), None,
            None, False, int(timeline.starts_ps[event]), int(timeline.ends_of(event)),
        )  # fmt: skip

    def _with_trace(self, made: Making, trace: int) -> Making:
        if trace < 0:
            return made
        timeline = self._timeline
        return made._replace(
            event=trace, is_traced=True, trace_ps=int(timeline.durations_ps[trace]),
            start_ps=int(timeline.starts_ps[trace]),
        )  # fmt: skip

    def _of_jax(self, owner: int, lowered: int, compiled: int, *, is_first: bool) -> Making:
        timeline = self._timeline
        first, last = (compiled if lowered < 0 else lowered), max(lowered, compiled)
        is_traced, trace_ps, name = None, None, ""
        is_cached = False
        if owner >= 0:
            name = self._jit.functions[int(np.searchsorted(self._jit.events, owner))]
            if is_first:
                is_traced, trace_ps = self._traced(owner, first)
                first = owner
            is_cached = compiled < 0 and self._ran_after(owner, lowered)
        elif compiled >= 0:
            name = self._program_named(compiled)
        took = timeline.durations_ps
        return Making(
            first, owner, name or timeline.name(last), bool(name), is_traced, trace_ps,
            int(took[lowered]) if lowered >= 0 else None,
            int(took[compiled]) if compiled >= 0 else None,
            is_cached, int(timeline.starts_ps[first]), int(timeline.ends_of(last)),
        )  # fmt: skip

    def _traced(self, call: int, until: int) -> tuple[bool | None, int | None]:
        """Whether a call traced its function before an event, and how long that took."""
        timeline = self._timeline
        events = self._inside(call, until, _TRACES)
        if events:
            return True, self._sum(events)
        gap_ps = int(timeline.starts_ps[until] - timeline.starts_ps[call])
        frames = self._inside(call, until, _FRAME_THAT_TRACES)
        if frames:
            return True, self._sum(frames)
        within = (self._jit.events > call) & (self._jit.events < until) & ~self._jit.ran
        own = self._jit.around == np.searchsorted(self._jit.events, call)
        if (within & own).any():
            return True, gap_ps
        if self._shows_traces or self._inside(call, until, _FRAME):
            return False, None
        return None, gap_ps

    def _ran_after(self, call: int, lowered: int) -> bool:
        """Whether a call ran a program after it lowered its function, and nothing was compiled."""
        launches = self._inside(self._nesting.ends[lowered] - 1, self._nesting.ends[call], LAUNCH)
        if not launches:
            return False
        timeline = self._timeline
        begin, end = int(timeline.ends_of(lowered)), int(timeline.starts_ps[launches[0]])
        starts = self._compiler_starts
        return not ((starts >= begin) & (starts < end)).any()

    def _program_named(self, event: int) -> str:
        """The function whose passes ran while an event compiled; empty unless it is one."""
        timeline = self._timeline
        start, end = int(timeline.starts_ps[event]), int(timeline.ends_of(event))
        starts = timeline.starts_ps[self._with_program]
        kinds = timeline.kinds[self._with_program[(starts >= start) & (starts < end)]]
        names = [timeline.names[kind] for kind in np.unique(kinds)]
        modules = {match["module"] for name in names if (match := _PROGRAM.fullmatch(name))}
        return function_of_module(modules.pop()) if len(modules) == 1 else ""

    @cached_property
    def _with_program(self) -> Int64Array:
        """Events that name the program that is compiled."""
        return np.flatnonzero(self._timeline.named(_is_pass))

    @cached_property
    def _compiler_starts(self) -> Int64Array:
        """Starts of the events of the compiler."""
        return self._timeline.starts_ps[self._timeline.named(_is_of_compiler)]

    def _inside(self, after: int, until: int, wanted: re.Pattern[str]) -> list[int]:
        """The outermost events of some names between two places of one line."""
        timeline = self._timeline
        events = np.arange(after + 1, until)
        kinds, place = np.unique(timeline.kinds[events], return_inverse=True)
        is_wanted = np.array(
            [wanted.fullmatch(timeline.names[kind]) is not None for kind in kinds], np.bool_
        )
        found: list[int] = []
        for event in events[is_wanted[place]].tolist() if len(kinds) else ():
            if not found or event >= self._nesting.ends[found[-1]]:
                found.append(event)
        return found

    def _sum(self, events: list[int]) -> int:
        return int(self._timeline.durations_ps[events].sum())


def _compiles_programs(name: str) -> bool:
    return is_compiling(name) and _BEFORE.match(name) is None


def _is_of_compiler(name: str) -> bool:
    """Whether an event compiles, or is a pass of the compiler over a program."""
    return _is_pass(name) or _compiles_programs(name)


def _is_pass(name: str) -> bool:
    """Whether an event names a program, and does not run it."""
    return _PROGRAM.fullmatch(name) is not None and "Executable::Execute" not in name


def _outermost(timeline: Timeline, wanted: re.Pattern[str]) -> list[int]:
    """The events of some names on the host that are in no other such event of their line."""
    chosen = timeline.named(lambda name: wanted.fullmatch(name) is not None)
    found: list[int] = _outer(timeline, np.flatnonzero(chosen & timeline.on_host)).tolist()
    return found


def _outer(timeline: Timeline, events: Int64Array) -> Int64Array:
    first = np.searchsorted(events, timeline.first)
    parents = nest(first, timeline.starts_ps[events], timeline.ends_of(events)).parents
    outer: Int64Array = events[parents < 0]
    return outer


def _compiles(timeline: Timeline) -> list[int]:
    """The events that compile, one for each program."""
    events = np.flatnonzero(timeline.named(_compiles_programs) & timeline.on_host)
    return _not_within_others(timeline, _outer(timeline, events))


def _not_within_others(timeline: Timeline, events: Int64Array) -> list[int]:
    """The events outside events of another name; those inside are their parts on other threads."""
    ends = timeline.ends_of(events)
    order = np.lexsort((-ends, timeline.starts_ps[events])).tolist()
    last: dict[int, int] = {}  # end of each of the two kinds that end last
    alone = []
    for place in order:
        kind, end = int(timeline.kinds[events[place]]), int(ends[place])
        if not any(other != kind and its_end >= end for other, its_end in last.items()):
            alone.append(int(events[place]))
        last[kind] = max(end, last.get(kind, end))
        if len(last) > 2:
            del last[min(last, key=lambda one: last[one])]
    return alone
