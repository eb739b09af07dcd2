"""The compiled program of an event, and the instruction that it ran.

All tools use this module for it. An event names its program by

1. ``program_id``, a stat of its own or of its metadata;
2. ``hlo_module``, as ``module(id)`` or as a bare name;
3. otherwise the run around it on the device's line ``XLA Modules``, whose name is ``module(id)``.

The program of an id is the entry of ``/host:metadata`` with that id (``captures.read.hlo`` defines
the id of an entry). If an entry has only a number, its name must agree, too: some versions of XLA
number entries by counting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.hlo import Instruction
from tfprof.captures.read.hlo import HloProgram, split_title, unsigned
from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.distinct import distinct_rows

MODULES = "XLA Modules"
"""The line of a device with the runs of programs."""

_PROGRAM = "program"


class HloKey(NamedTuple):
    """The instruction of a program that an event names.

    Attributes:
        program_id: Unsigned; None if unknown.
        module: Name of the program without its id; empty if unknown.
        name: The instruction.
    """

    program_id: int | None
    module: str
    name: str


class KnownInstruction(NamedTuple):
    """An instruction that the capture holds, and its program."""

    program: HloProgram
    instruction: Instruction


def program_title(program_id: int | None, module: str) -> str:
    """Title of a program, ``module(id)``; empty without one."""
    if program_id is None:
        return module
    return f"{module or _PROGRAM}({program_id})"


def hlo_keys(timeline: Timeline, events: Int64Array) -> tuple[list[HloKey | None], Int64Array]:
    """The instructions of events.

    Args:
        timeline: The events.
        events: Places of some of them, shape (n,).

    Returns:
        The keys, None for "no instruction", and the place of each event's key in them, shape
        (n,). Of nested instructions, written outermost first, the last counts.
    """
    hlo, modules = timeline.stat("hlo_op"), timeline.stat("hlo_module")
    programs = timeline.stat("program_id")
    numbered = programs.only(programs.is_integer())
    has_id, program = numbered.has(events), numbered.at(events)
    instruction, module = hlo.texts_at(events), modules.texts_at(events)
    around = np.full(len(events), -1, np.int64)
    lost = np.flatnonzero((instruction >= 0) & ~has_id & (module < 0))
    if len(lost):
        around[lost] = modules_around(timeline, events[lost])
    found = distinct_rows([instruction, module, has_id, program, around])
    keys: list[HloKey | None] = []
    for text, of_module, known, program_id, run in found.values.tolist():
        if text < 0:
            keys.append(None)
            continue
        title = (
            modules.texts[of_module] if of_module >= 0 else timeline.names[run] if run >= 0 else ""
        )
        name, in_title = split_title(title)
        number = unsigned(program_id) if known else in_title
        keys.append(HloKey(number, name, hlo.texts[text].rpartition("::")[2]))
    return keys, found.place


def modules_around(timeline: Timeline, events: Int64Array) -> Int64Array:
    """Kind of the run of a program around each event on its device, -1 without one."""
    module_of = np.full(len(events), -1, np.int64)
    planes = np.array([line.plane for line in timeline.lines], np.int64)[timeline.lines_of(events)]
    starts, ends = timeline.starts_ps[events], timeline.ends_of(events)
    for number, line in enumerate(timeline.lines):
        runs = timeline.events_of(number)
        if line.name != MODULES or runs.start == runs.stop:
            continue
        own = np.flatnonzero((planes == line.plane) & (module_of < 0))
        run = np.searchsorted(timeline.starts_ps[runs], starts[own], side="right") - 1
        run = np.where(run >= 0, run + runs.start, -1)
        is_around = (run >= 0) & (timeline.ends_of(run) >= ends[own])
        module_of[own[is_around]] = timeline.kinds[run[is_around]]
    return module_of


def told_modules(timeline: Timeline) -> dict[int, str]:
    """Names of programs by id, from events and runs of programs."""
    modules: dict[int, str] = {}
    for number, line in enumerate(timeline.lines):
        if line.name == MODULES:
            for kind in np.unique(timeline.kinds[timeline.events_of(number)]).tolist():
                name, program_id = split_title(timeline.names[kind])
                if program_id is not None:
                    modules[program_id] = name
    with_module = timeline.stat("hlo_module").events.astype(np.int64)
    keys, _ = hlo_keys(timeline, with_module)
    for key in keys:
        if key is not None and key.program_id is not None and key.module:
            modules[key.program_id] = key.module
    return modules


class KnownPrograms:
    """The programs of a capture, by the ids and names in events.

    Args:
        programs: All of them.
    """

    def __init__(self, programs: Sequence[HloProgram]) -> None:
        self._by_id: dict[int, list[HloProgram]] = {}
        self._by_name: dict[str, list[HloProgram]] = {}
        for program in programs:
            self._by_id.setdefault(program.id, []).append(program)
            self._by_name.setdefault(program.name, []).append(program)

    def instruction(self, key: HloKey) -> KnownInstruction | None:
        """The instruction of an event; None if the capture does not hold it."""
        known = [
            KnownInstruction(program, instruction)
            for program in self._candidates(key)
            if (instruction := program.module().find(key.name)) is not None
        ]
        return known[0] if len(known) == 1 else None

    def program(self, program_id: int | None, module: str = "") -> HloProgram | None:
        """The program of an id, of a name, or of both; None unless exactly one matches."""
        candidates = self._candidates(HloKey(program_id, module, ""))
        return candidates[0] if len(candidates) == 1 else None

    def _candidates(self, key: HloKey) -> list[HloProgram]:
        named = self._by_name.get(key.module, [])
        if key.program_id is None:
            return named
        of_id = self._by_id.get(key.program_id, [])
        if not key.module:
            return of_id
        both = [program for program in of_id if program.name == key.module]
        # If the numbers of entries are not ids, only the name can match.
        by_name = [program for program in named if not program.is_id_stated]
        return both or [program for program in of_id if program.is_id_stated] or by_name
