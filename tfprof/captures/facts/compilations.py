"""Compilations in a capture: when, for how long, and what differed from the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.steps.compile_events import Making, function_of_module, makings
from tfprof.captures.events.steps.host_code import is_frame
from tfprof.captures.events.timeline.jit_calls import jit_calls
from tfprof.captures.events.timeline.names import module_key
from tfprof.captures.events.timeline.programs import hlo_keys
from tfprof.captures.events.timeline.runs import compiled_runs
from tfprof.captures.facts.hlo_programs import programs_of
from tfprof.captures.facts.program_differences import Difference, Source, difference, source_of
from tfprof.captures.read.hlo import HloProgram
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host

_MOST_COMPARED = 32
"""At most this many programs of a function are compared, the last ones: each must be decoded."""

_COUNTED = 1 << 31
"""Ids below are numbers that the process counts; others are checksums of programs."""

FIRST, UNKNOWN = "first", "unknown"
HIT, COMPILED = "hit", "compiled"

WITHIN, BEFORE, BETWEEN, AFTER, NO_STEPS = "step", "before", "between", "after", ""

_IS_FIRST = Difference(FIRST, "the first program of this name that the capture has")


_SourceOf = Callable[[HloProgram, str], Source]


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


class Calls(NamedTuple):
    """Calls of a function.

    Attributes:
        n_runs: Calls that ran.
        n_inside: Calls while another function was traced, which neither compile nor run.
    """

    n_runs: int
    n_inside: int


@fact
def compilations(host: Host) -> tuple[Compilation, ...]:
    """What was traced, lowered and compiled on a host, in order of time."""
    found = makings(host.forest())
    if not found:
        return ()
    programs = _programs_by_function(host)
    of_making: dict[int, HloProgram] = _programs_of_makings(host, found, programs)
    source = cache(lambda program, function: source_of(program.module(), function))
    differences = _differences(found, of_making, programs, source)
    places = _steps(host, found)
    return tuple(
        _compilation(host, one, place, of_making.get(number), differences[number], source)
        for number, (one, place) in enumerate(zip(found, places, strict=True))
    )


@fact
def calls_of_functions(host: Host) -> dict[str, Calls]:
    """Calls of the compiled functions of a host by name."""
    forest = host.forest()
    timeline = forest.timeline
    jit = jit_calls(timeline, forest.nesting)
    runs, inside = Counter[str](), Counter[str]()
    for name, ran in zip(jit.functions, jit.ran.tolist(), strict=True):
        (runs if ran else inside)[name] += 1
    calls = timeline.stat("tf_function_call").events.astype(np.int64)
    around = forest.nesting.nearest_among(forest.nesting.parents[calls], calls)
    for call, outer in zip(calls.tolist(), around.tolist(), strict=True):
        (inside if outer >= 0 else runs)[timeline.name(call)] += 1
    return {name: Calls(runs[name], inside[name]) for name in sorted({*runs, *inside})}


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
        of_name.setdefault((_key(one.name), one.is_function), []).append(one)
    functions = [CompiledFunction(each[0].name, tuple(each)) for each in of_name.values()]
    return sorted(functions, key=lambda one: (-one.total_ps, one.name))


def _key(function: str) -> str:
    """The name of a function as names of programs have it."""
    return module_key(f"jit_{function}")


def _compilation(
    host: Host, one: Making, place: tuple[str, str], program: HloProgram | None,
    differs: Difference, source: _SourceOf,
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
        line or _caller(host, one),
    )  # fmt: skip


def _caller(host: Host, one: Making) -> str:
    """The Python function around a call, with its first line; empty if it was not recorded."""
    forest = host.forest()
    names = forest.timeline.names
    kinds = forest.timeline.kinds
    event = one.call if one.call >= 0 else one.event
    frame = forest.nearest(event, lambda each: is_frame(names[kinds[each]]), itself=False)
    return names[kinds[frame]].removeprefix("$") if frame >= 0 else ""


def _programs_by_function(host: Host) -> dict[str, list[HloProgram]]:
    """The programs of a host by the function that they were compiled for, by id."""
    found: dict[str, list[HloProgram]] = {}
    for program in programs_of(host):
        found.setdefault(_key(function_of_module(program.name)), []).append(program)
    return found


def _programs_of_makings(
    host: Host, found: Sequence[Making], programs: Mapping[str, Sequence[HloProgram]]
) -> dict[int, HloProgram]:
    """The program of each place in ``found``, as far as it is known.

    A call runs the program that it made. Programs that the process counts are in the order in which
    they were made, and the last ones of a name are those of the capture.
    """
    ran = _programs_that_ran(host, found)
    known: dict[int, HloProgram] = {}
    by_key: dict[str, list[int]] = {}
    for number, one in enumerate(found):
        if one.has_program:
            by_key.setdefault(_key(one.name), []).append(number)
    for key, numbers in by_key.items():
        own = programs.get(key, ())
        by_id = {program.id: program for program in own}
        of_runs = {n: by_id[ran[n]] for n in numbers if ran.get(n) in by_id}
        if len(own) == 1 and not _are_counted(own):  # programs that are alike have one checksum
            known |= dict.fromkeys(numbers, own[0])
            continue
        in_order = sorted(numbers, key=lambda number: found[number].end_ps)
        last = dict(zip(in_order, own[len(own) - len(numbers) :], strict=False))
        is_ordered = len(numbers) <= len(own) and _are_counted(own)
        if is_ordered and all(last[n] is program for n, program in of_runs.items()):
            known |= last
        known |= of_runs
    return known


def _are_counted(programs: Iterable[HloProgram]) -> bool:
    return all(program.id < _COUNTED for program in programs)


def _programs_that_ran(host: Host, found: Sequence[Making]) -> dict[int, int]:
    """Ids of the programs that the calls of some places in ``found`` ran on the CPU."""
    forest = host.forest()
    runs = compiled_runs(forest.timeline, forest.nesting, forest.links)
    events = np.flatnonzero(runs.of_event >= 0)
    calls = runs.calls[runs.of_event[events]]
    order = np.argsort(calls, kind="stable")
    events, calls = events[order], calls[order]
    ran = {}
    for number, one in enumerate(found):
        if one.call < 0 or not one.has_program:
            continue
        end = int(forest.nesting.ends[one.call])
        of_call = events[slice(*np.searchsorted(calls, [one.call, end]))]
        keys, _ = hlo_keys(forest.timeline, of_call)
        ids = {key.program_id for key in keys if key is not None}
        # Programs that the call ran while it traced, such as those of constants, have other names.
        modules = {key.module for key in keys if key is not None and key.module}
        if len(ids) == 1 and (program := ids.pop()) is not None and len(modules) <= 1:
            ran[number] = program
    return ran


def _differences(
    found: Sequence[Making],
    of_making: Mapping[int, HloProgram],
    programs: Mapping[str, Sequence[HloProgram]],
    source: _SourceOf,
) -> list[Difference]:
    """What differs from the program of the same function that was made before."""
    differences = []
    n_later = Counter(_key(one.name) for one in found)
    before: dict[str, HloProgram | None] = {}
    for number, one in enumerate(found):
        key, program = _key(one.name), of_making.get(number)
        n_later[key] -= 1
        if program is None:
            differences.append(Difference(UNKNOWN, _why_unknown(one)))
        elif n_later[key] >= _MOST_COMPARED:
            last = f"only the last {_MOST_COMPARED} programs of a function are compared"
            differences.append(Difference(UNKNOWN, last))
        else:
            earlier = _earlier(program, one.name, programs[key], source)
            if earlier is None and not _are_counted(programs[key]):
                earlier = before.get(key)
            differences.append(_IS_FIRST if earlier is None else _compared(earlier, program))
        if one.has_program:
            before[key] = program
    return differences


def _earlier(program: HloProgram, function: str, own: Sequence[HloProgram]) -> HloProgram | None:
    """The program of the same function that the process made before, also before the capture.

    Other functions of its name do not count, where the programs have the lines of their code.
    """
    if not _are_counted(own):
        return None
    wanted = source(program, function).function
    before = [one for one in own if one.id < program.id]
    for one in reversed(before[-_MOST_COMPARED:]):
        if not wanted or source(one, function).function in ("", wanted):
            return one
    return None


def _compared(before: HloProgram, now: HloProgram) -> Difference:
    modules = before.module(), now.module()
    if any(module.entry is None for module in modules):
        return Difference(UNKNOWN, "the capture has a program without instructions")
    return difference(*modules)


def _why_unknown(one: Making) -> str:
    if not one.is_function:
        return "nothing names the function"
    if not one.has_program:
        return "no program of XLA came of it, and the capture has no arguments of functions"
    return "the capture does not show which of its programs this is"


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
