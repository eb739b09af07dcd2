"""Compilations in a capture: when, for how long, and what differed from the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.compile_events import Making, makings
from tfprof.captures.events.steps.host_code import is_frame
from tfprof.captures.events.timeline.jit_calls import jit_calls
from tfprof.captures.facts.compiled_programs import (
    FIRST,
    UNKNOWN,
    SourceOf,
    differences_of,
    function_key,
    programs_by_function,
    programs_of_makings,
)
from tfprof.captures.facts.program_differences import Difference, source_of
from tfprof.captures.read.hlo import HloProgram
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host

HIT, COMPILED = "hit", "compiled"

WITHIN, BEFORE, BETWEEN, AFTER, NO_STEPS = "step", "before", "between", "after", ""


class Compilation(NamedTuple):
    """A time that a function was traced, lowered or compiled.

    Attributes:
        name: Name of the function, or the event that compiles if nothing names the function.
        is_function: Whether ``name`` is the name of a function.
        event: Name of its first event.
        step: Name of the step in which it was; empty outside of steps.
        where: ``step``, ``before`` the first one, ``between`` steps, ``after`` the last one; empty
            without steps.
        start_ps: Its start.
        is_traced: Whether it was traced; None if unknown.
        trace_ps: Time of tracing, or from the call until lowering; None if unknown.
        lower_ps: Time of lowering; None if unknown, or if it was not lowered.
        compile_ps: Time of XLA; None if it did not compile.
        cache: ``compiled`` by XLA; ``hit`` if the program came from the persistent cache; empty if
            no program was made.
        program: Title of the program that came of it; empty if unknown.
        differs: What differs from the program before, with a word for its kind.
        called_at: Line of the call, ``file:line``; empty if unknown.
    """

    name: str
    is_function: bool
    event: str
    step: str
    where: str
    start_ps: int
    is_traced: bool | None
    trace_ps: int | None
    lower_ps: int | None
    compile_ps: int | None
    cache: str
    program: str
    differs: Difference
    called_at: str

    @property
    def is_compiled(self) -> bool:
        """Whether XLA compiled."""
        return self.compile_ps is not None

    @property
    def total_ps(self) -> int:
        """The time of all phases, as far as it is known."""
        return sum(took for took in (self.trace_ps, self.lower_ps, self.compile_ps) if took)


@fact
def compilations(host: Host) -> tuple[Compilation, ...]:
    """What was traced, lowered and compiled on a host, in order of time."""
    found = makings(host.forest())
    if not found:
        return ()
    programs = programs_by_function(host)
    of_making: dict[int, HloProgram] = programs_of_makings(host, found, programs)
    source = cache(lambda program, function: source_of(program.module(), function))
    differences = differences_of(found, of_making, programs, source)
    places, callers = _steps(host, found), _callers(host, found)
    return tuple(
        _compilation(host, one, place, of_making.get(number), differences[number], source, caller)
        for number, (one, place, caller) in enumerate(zip(found, places, callers, strict=True))
    )


@fact
def calls_of_functions(host: Host) -> dict[str, int | None]:
    """Calls of the compiled functions of a host that ran, by name; None if nothing shows which did.

    Calls while another function was traced neither compile nor run.
    """
    forest = host.forest()
    timeline = forest.timeline
    jit = jit_calls(timeline, forest.nesting)
    runs = Counter(dict.fromkeys(jit.functions, 0))
    runs.update(name for name, ran in zip(jit.functions, jit.ran.tolist(), strict=True) if ran)
    calls = timeline.stat("tf_function_call").events.astype(np.int64)
    around = forest.nesting.nearest_among(forest.nesting.parents[calls], calls)
    for call, outer in zip(calls.tolist(), around.tolist(), strict=True):
        runs[timeline.name(call)] += outer < 0
    of_jax = set(jit.functions)
    is_known = bool(jit.ran.any())
    return {
        name: n_runs if is_known or name not in of_jax else None
        for name, n_runs in sorted(runs.items())
    }


@fact
def tells_compilations(host: Host) -> bool:
    """Whether the capture has runtime events on threads; functions of Python do not count."""
    timeline = host.timeline
    of_runtime = timeline.on_threads & ~timeline.named(is_frame)
    return bool(of_runtime.any())


class CompiledFunction(NamedTuple):
    """All compilations of a function.

    Attributes:
        name: Its name.
        each: In order of time.
    """

    name: str
    each: tuple[Compilation, ...]

    @property
    def is_function(self) -> bool:
        """Whether the name is that of a function."""
        return self.each[0].is_function

    @property
    def n_compiled(self) -> int:
        """How often XLA compiled it."""
        return sum(one.is_compiled for one in self.each)

    @property
    def total_ps(self) -> int:
        """Time of all phases."""
        return sum(one.total_ps for one in self.each)

    @property
    def again(self) -> list[Compilation]:
        """Without the first time, unless the process made a program of this name before.

        Empty without a name of the function: then each may be of another one.
        """
        if not self.is_function:
            return []
        return [
            one
            for number, one in enumerate(self.each)
            if one.differs.kind != FIRST and (number or one.differs.kind != UNKNOWN)
        ]

    @property
    def differed(self) -> Difference | None:
        """What differed most often; None if nothing is known."""
        known = [one.differs for one in self.again if one.differs.kind not in (FIRST, UNKNOWN)]
        if not known:
            return None
        kind = Counter(one.kind for one in known).most_common(1)[0][0]
        return next(one for one in known if one.kind == kind)

    def n_differing(self, kind: str) -> int:
        """How often a thing of this kind differed."""
        return sum(one.differs.kind == kind for one in self.each)


def by_function(found: Iterable[Compilation]) -> list[CompiledFunction]:
    """Compilations by function, the longest time first."""
    of_name: dict[tuple[str, bool], list[Compilation]] = {}
    for one in found:
        of_name.setdefault((function_key(one.name), one.is_function), []).append(one)
    functions = [CompiledFunction(each[0].name, tuple(each)) for each in of_name.values()]
    return sorted(functions, key=lambda one: (-one.total_ps, one.name))


def _compilation(
    host: Host, one: Making, place: tuple[str, str], program: HloProgram | None,
    differs: Difference, source: SourceOf, caller: str,
) -> Compilation:  # fmt: skip
    cache = COMPILED if one.compile_ps is not None else HIT if one.is_cached else ""
    # A program from the cache has the lines of the process that once compiled it.
    has_lines = program is not None and one.compile_ps is not None
    line = source(program, one.name).called_at if has_lines and program else ""
    step, where = place
    return Compilation(
        one.name, one.is_function, host.timeline.name(one.event), step, where,
        one.start_ps, one.is_traced, one.trace_ps,
        one.lower_ps, one.compile_ps, cache, program.title if program else "", differs,
        line or caller,
    )  # fmt: skip


def _callers(host: Host, found: Sequence[Making]) -> list[str]:
    """The Python function around each call, with its first line; empty if it was not recorded."""
    forest = host.forest()
    names, kinds = forest.timeline.names, forest.timeline.kinds
    is_frame_kind = np.array([is_frame(name) for name in names], np.bool_)
    if not is_frame_kind.any():
        return [""] * len(found)
    events = np.array([one.call if one.call >= 0 else one.event for one in found], np.int64)
    frames = forest.nearest_of_each(events, lambda _, above: is_frame_kind[kinds[above]])
    return [
        names[kinds[frame]].removeprefix("$") if frame >= 0 else "" for frame in frames.tolist()
    ]


def _steps(host: Host, found: Sequence[Making]) -> list[tuple[str, str]]:
    """The name of the step of each, and where it is."""
    groups, timeline = host.groups(), host.timeline
    roots = [event for event in groups.roots.values() if event >= 0]
    if not roots or not len(groups):
        return [("", NO_STEPS)] * len(found)
    first = int(timeline.starts_ps[roots].min())
    last = int(timeline.ends_of(np.array(roots)).max())
    places = []
    for one in found:
        group = int(groups.of_event[one.event])
        if group in groups.names:
            places.append((groups.names[group], WITHIN))
        elif one.start_ps < first:
            places.append(("", BEFORE))
        else:
            places.append(("", AFTER if one.start_ps >= last else BETWEEN))
    return places
