"""Copies of arguments that the programs of a capture keep in memory at their peaks."""

from __future__ import annotations

from typing import NamedTuple

from tfprof.captures.facts.hlo_programs import HostProgram, programs_of
from tfprof.captures.hlo.argument_copies import (
    ArgumentCopy,
    argument_copies,
    copies_of_arguments,
)
from tfprof.captures.hlo.buffers import memory_use
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host
from tfprof.captures.tools.program_times import program_times


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


@fact
def kept_copies(host: Host) -> tuple[KeptCopy, ...]:
    """Copies of arguments in the programs that ran on a host, the largest first."""
    time_of = program_times([host])
    found = []
    for program in programs_of(host):
        if not time_of(HostProgram(host, program)):
            continue
        module = program.module()
        if module.buffers is None or not copies_of_arguments(module):
            continue
        use = memory_use(module)
        copies = argument_copies(module, use)
        found += [KeptCopy(program.title, use.peak_bytes, one) for one in copies]
    return tuple(sorted(found, key=lambda one: -one.copy.copy_bytes))
