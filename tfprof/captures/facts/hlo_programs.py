"""The compiled programs of a run, for the tools that analyse them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tfprof.captures.events.timeline.annotated import Annotated, annotated_instructions
from tfprof.captures.events.timeline.programs import (
    HloKey,
    KnownInstruction,
    KnownPrograms,
    told_modules,
)
from tfprof.captures.read.hlo import HloProgram
from tfprof.captures.rules import OURS
from tfprof.captures.run.fact import fact
from tfprof.captures.run.host_programs import host_programs
from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.run import Host, Run
from tfprof.errors import EmptyProfileError, UsageError


class HostProgram(NamedTuple):
    """A program, and the host whose capture contains it."""

    host: Host
    program: HloProgram


def programs_of(host: Host) -> list[HloProgram]:
    """The programs of a host, by id; each is decoded only once."""
    return host_programs(host)


@fact
def _program_keys(host: Host) -> tuple[tuple[int, str, int], ...]:
    """Id, name and size of each program of a host; programs with equal keys are the same."""
    return tuple((program.id, program.name, program.n_bytes) for program in programs_of(host))


@fact
def program_titles(host: Host) -> tuple[tuple[int, str], ...]:
    """Ids and titles of the programs of a host."""
    return tuple((program.id, program.title) for program in programs_of(host))


def known_programs(host: Host) -> KnownPrograms:
    """The programs of a host, indexed by the stats of events."""
    host = host.by(OURS)
    return host.memo.once("known programs", lambda: KnownPrograms(programs_of(host)))


def known_instruction(hosts: Sequence[Host], key: HloKey) -> KnownInstruction | None:
    """An instruction, from the first of some hosts that holds it; None if none does."""
    found = (known_programs(host).instruction(key) for host in hosts)
    return next(filter(None, found), None)


def annotated(host: Host) -> Mapping[HloKey, Annotated]:
    """Instructions as annotations of a host's kernels describe them."""
    if host.rules.ignores_annotations:
        return {}
    return host.memo.once("annotated", lambda: annotated_instructions(host.timeline))


def module_names(host: Host) -> dict[int, str]:
    """Names of the programs of a host by id, including programs that only events mention."""

    host = host.by(OURS)

    def make() -> dict[int, str]:
        held = {program.id: program.name for program in programs_of(host)}
        return told_modules(host.timeline) | held

    return host.memo.once("module names", make)


def all_programs(run: Run, host: str | None) -> list[HostProgram]:
    """The programs of a run, each only once even if several hosts have it.

    Raises:
        UsageError: The host does not exist.
    """
    programs: dict[tuple[int, str, int], HostProgram] = {}
    for each in run.chosen(host):
        keys = _program_keys(each)
        if not programs.keys() >= set(keys):  # most hosts have the same programs
            for key, program in zip(keys, programs_of(each), strict=True):
                programs.setdefault(key, HostProgram(each, program))
    return list(programs.values())


def chosen_program(programs: list[HostProgram], wanted: str | int | None) -> HostProgram | None:
    """The program with an id, a name, or both as ``name(id)``; for None, the first program.

    Raises:
        UsageError: No program matches.
    """
    if wanted is None:
        return programs[0] if programs else None
    text = str(wanted)
    for each in programs:
        if text in (str(each.program.id), each.program.title, each.program.name):
            return each
    names = ", ".join(each.program.title for each in programs) or "none"
    raise UsageError(f"no program {wanted!r} in this run; it has: {names}")


NO_PROGRAMS = Note(
    "error",
    "The capture holds no compiled programs. Programs of XLA (jit_compile=True, JAX, TPU) are "
    "recorded unless the option enable_hlo_proto is off.",
)


def no_programs(tool: str, title: str, run: Run) -> ToolResult:
    """The result of a tool for programs if there are none."""

    def nothing() -> Any:
        raise EmptyProfileError(NO_PROGRAMS.message)

    return ToolResult(tool, title, notes=(NO_PROGRAMS, *run.notes), gviz=nothing)


def program_notes(each: HostProgram) -> list[Note]:
    """Warnings on unreadable parts of a program."""
    notices = each.program.module().notices
    return [Note("warning", notice.text, each.host.name) for notice in notices]
