"""Memory plans of the compiled programs that ran: the largest, and copies of arguments in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfprof.captures.facts.hlo_programs import HostProgram, programs_of
from tfprof.captures.facts.host_devices import has_device
from tfprof.captures.hlo.argument_copies import (
    ArgumentCopy,
    argument_copies,
    copies_of_arguments,
)
from tfprof.captures.hlo.buffers import memory_use
from tfprof.captures.hlo.memory_savings import Saving, memory_savings
from tfprof.captures.read.hlo import HloProgram
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.captures.tools.program_times import program_times


class LargestPlan(NamedTuple):
    """The program that needs the most memory of those that ran on a host.

    Attributes:
        program: Its title.
        peak_bytes: Its peak.
        savings: What may free memory then, with known bounds only, the largest first.
    """

    program: str
    peak_bytes: int
    savings: tuple[Saving, ...]


class KeptCopy(NamedTuple):
    """A copy of an argument in memory at the peak of a program that ran.

    Attributes:
        program: Title of the program.
        peak_bytes: Its peak.
        copy: The copy.
    """

    program: str
    peak_bytes: int
    copy: ArgumentCopy


def _planned(host: Host) -> Iterator[HloProgram]:
    """The programs with a plan that ran on a host."""
    time_of = program_times([host])
    for program in programs_of(host):
        if time_of(HostProgram(host, program)) and program.module().buffers is not None:
            yield program


@fact
def largest_plan(host: Host) -> LargestPlan | None:
    """The plan with the highest peak of the programs that ran; None if no program has a plan."""
    plans = ((program, memory_use(program.module())) for program in _planned(host))
    largest = max(plans, key=lambda plan: plan[1].peak_bytes, default=None)
    if largest is None:
        return None
    program, use = largest
    savings = memory_savings(program.module(), use, is_on_cpu=not has_device(host))
    known = tuple(one for one in savings if one.at_most_bytes is not None)
    return LargestPlan(program.title, use.peak_bytes, known)


@fact
def kept_copies(host: Host) -> tuple[KeptCopy, ...]:
    """Copies of arguments in the programs that ran on a host, the largest first."""
    found = []
    for program in _planned(host):
        module = program.module()
        if copies_of_arguments(module):  # plans take time
            use = memory_use(module)
            copies = argument_copies(module, use)
            found += [KeptCopy(program.title, use.peak_bytes, one) for one in copies]
    return tuple(sorted(found, key=lambda one: -one.copy.copy_bytes))
