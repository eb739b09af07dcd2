"""The program that came of each compilation, and what differs from the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from tfprof.captures.events.steps.compile_events import Making, function_of_module
from tfprof.captures.events.timeline.programs import hlo_keys
from tfprof.captures.events.timeline.runs import compiled_runs
from tfprof.captures.facts.hlo_programs import programs_of
from tfprof.captures.facts.program_differences import Difference, Source, difference
from tfprof.captures.model.jax_names import module_key
from tfprof.captures.read.hlo import HloProgram
from tfprof.captures.run.run import Host

_MOST_BYTES = 16 << 20
"""Programs of a function are compared up to this size together, the last ones: each must be
decoded."""

_MOST_SEARCHED = 32
"""At most this many programs before one are searched for the last one of the same function."""

_COUNTED = 1 << 31
"""Ids below are numbers that the process counts; others are checksums of programs."""

FIRST, UNKNOWN = "first", "unknown"

IS_FIRST = Difference(FIRST, "the first program of this function that the capture has")

SourceOf = Callable[[HloProgram, str], Source]
"""Finds the code of a program, by the program and the name of its function."""


def function_key(function: str) -> str:
    """The name of a function as names of programs have it."""
    return module_key(f"jit_{function}")


def programs_by_function(host: Host) -> dict[str, list[HloProgram]]:
    """The programs of a host by the function that they were compiled for, by id."""
    found: dict[str, list[HloProgram]] = {}
    for program in programs_of(host):
        found.setdefault(function_key(function_of_module(program.name)), []).append(program)
    return found


def programs_of_makings(
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
            by_key.setdefault(function_key(one.name), []).append(number)
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


def differences_of(
    found: Sequence[Making],
    of_making: Mapping[int, HloProgram],
    programs: Mapping[str, Sequence[HloProgram]],
    source: SourceOf,
) -> list[Difference]:
    """What differs from the program of the same function that was made before."""
    differences = []
    compared = _small_enough(found, of_making)
    before: dict[str, HloProgram | None] = {}
    for number, one in enumerate(found):
        key, program = function_key(one.name), of_making.get(number)
        if program is None:
            differences.append(Difference(UNKNOWN, _why_unknown(one)))
        elif number not in compared:
            differences.append(Difference(UNKNOWN, "only the last programs are compared"))
        else:
            earlier = _earlier(program, one.name, programs[key], source)
            if earlier is None and not _are_counted(programs[key]):
                earlier = before.get(key)
            differences.append(IS_FIRST if earlier is None else _compared(earlier, program))
        if one.has_program:
            before[key] = program
    return differences


def _small_enough(found: Sequence[Making], of_making: Mapping[int, HloProgram]) -> set[int]:
    """The last places of each function whose programs have ``_MOST_BYTES`` together."""
    sizes = Counter[str]()
    compared = set()
    for number in sorted(of_making, reverse=True):
        key = function_key(found[number].name)
        if sizes[key] <= _MOST_BYTES:
            compared.add(number)
        sizes[key] += of_making[number].n_bytes
    return compared


def _earlier(
    program: HloProgram, function: str, own: Sequence[HloProgram], source: SourceOf
) -> HloProgram | None:
    """The program of the same function that the process made before, also before the capture.

    Other functions of its name do not count, where the programs have the lines of their code.
    """
    if not _are_counted(own):
        return None
    wanted = source(program, function).function
    before = [one for one in own if one.id < program.id]
    for one in reversed(before[-_MOST_SEARCHED:]):
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
