"""The program of each launch of a graph, and the instructions of its kernels by name and order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.graph_kernels import GraphKernels
from tfprof.captures.events.timeline.kernel_order import (
    BY_ORDER,
    Found,
    instructions_of,
    kernel_names,
    launching,
    name_in_program,
)
from tfprof.captures.events.timeline.programs import KnownPrograms
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.model.hlo import Instruction
from tfprof.captures.read.hlo import HloProgram, split_title, unsigned
from tfprof.core.columns.columns import Int64Array

_EXECUTE, _N_COMMANDS = "command_buffer::execute", "num_commands"
"""XLA's event around a launch, and its number of recorded commands."""

_UNKNOWN = (None, "")


class OfKernel(NamedTuple):
    """The program of a kernel, and its instruction there."""

    program: HloProgram
    found: Found


class OfKernels(NamedTuple):
    """Programs and instructions of kernels.

    Attributes:
        distinct: The distinct ones.
        which: The place of each kernel's among these, -1 for none, shape (n,).
    """

    distinct: Sequence[OfKernel]
    which: Int64Array


def by_order(
    timeline: Timeline,
    kernels: GraphKernels,
    sources: Int64Array,
    programs: Sequence[HloProgram],
) -> OfKernels:
    """Instructions of the kernels that no annotation names.

    Args:
        timeline: The events.
        kernels: Those inside graphs.
        sources: For each, the kernel whose annotation it takes, -1 for none, shape (n,).
        programs: The programs of the capture.
    """
    bounds = np.flatnonzero(np.diff(kernels.launches, prepend=-1, append=-1)).tolist()
    finder = _Finder(timeline, kernels, sources, programs)
    which = np.full(len(sources), -1)
    for start, stop in pairwise(bounds):
        if (sources[start:stop] < 0).any():
            which[start:stop] = finder.of_launch(start, stop)
    which[sources >= 0] = -1
    return OfKernels(list(finder.distinct), which)


class _Finder:
    """Finds instructions launch by launch; equal launches once."""

    def __init__(
        self,
        timeline: Timeline,
        kernels: GraphKernels,
        sources: Int64Array,
        programs: Sequence[HloProgram],
    ) -> None:
        self._timeline, self._kernels, self._sources = timeline, kernels, sources
        self._all, self._known = programs, KnownPrograms(programs)
        self.distinct: dict[OfKernel, int] = {}
        self._answers: dict[tuple[object, ...], Int64Array] = {}
        self._kinds = timeline.kinds[kernels.events]
        self._ops = timeline.stat("hlo_op").texts_at(kernels.events[sources])
        self._ops[sources < 0] = -1
        self._executes = np.flatnonzero(timeline.named(_EXECUTE.__eq__) & timeline.on_host)

    def of_launch(self, start: int, stop: int) -> Int64Array:
        """Places in ``distinct`` of the kernels of a launch, -1 for none, shape (stop - start,)."""
        events, call = self._kernels.events, int(self._kernels.calls[start])
        sources = self._sources[start:stop]
        labelled = events[sources[sources >= 0][:1]].tolist()
        stated = (self._stated(event) for event in (*labelled, int(events[start]), call))
        program = next((one for one in stated if one != _UNKNOWN), _UNKNOWN)
        caller, n_commands = self._text("hlo_op", call), self._n_commands(call)
        kinds, ops = self._kinds[start:stop], self._ops[start:stop]
        key = (program, caller, n_commands, kinds.tobytes(), ops.tobytes())
        if key not in self._answers:
            names = [self._timeline.names[kind] for kind in kinds.tolist()]
            texts = [*self._timeline.stat("hlo_op").texts, ""]
            known = [texts[number] for number in ops.tolist()]
            found = self._found(program, caller, n_commands, names, known)
            numbers = [
                -1 if one is None else self.distinct.setdefault(one, len(self.distinct))
                for one in found
            ]
            self._answers[key] = np.array(numbers, np.int64)
        return self._answers[key]

    def _found(
        self,
        stated: tuple[int | None, str],
        caller: str,
        n_commands: int,
        names: Sequence[str],
        known: Sequence[str],
    ) -> Sequence[OfKernel | None]:
        program = self._program(stated, names)
        module = None if program is None else program.module()
        if program is None or module is None or module.entry is None:
            return [None] * len(names)
        call = module.find(_innermost(caller))
        inside = call.calls[0] if call is not None and call.opcode == "call" else module.entry
        anchors = {
            place: one
            for place, name in enumerate(known)
            if (one := module.find(_innermost(name))) is not None
        }
        found = instructions_of(names, list(launching(inside)), anchors)
        kept = _within(found, anchors, n_commands)
        return [None if one is None else OfKernel(program, one) for one in kept]

    def _program(self, stated: tuple[int | None, str], names: Sequence[str]) -> HloProgram | None:
        """The program that the launch states, or the only one with the names of all kernels."""
        if stated != _UNKNOWN:
            return self._known.program(*stated)
        wanted = {name_in_program(name) for name in names}
        of_each = [wanted & kernel_names(program.module()) for program in self._all]
        of_xla = frozenset[str]().union(*of_each)
        fits = [one for one, own in zip(self._all, of_each, strict=True) if own == of_xla]
        return fits[0] if of_xla and len(fits) == 1 else None

    def _stated(self, event: int) -> tuple[int | None, str]:
        """The program that an event names."""
        if event < 0:
            return _UNKNOWN
        program, at = self._timeline.stat("program_id"), np.array([event])
        module, in_title = split_title(self._text("hlo_module", event))
        return unsigned(int(program.at(at)[0])) if program.has(at)[0] else in_title, module

    def _text(self, name: str, event: int) -> str:
        stat = self._timeline.stat(name)
        text = int(stat.texts_at(np.array([event]))[0]) if event >= 0 else -1
        return stat.texts[text] if text >= 0 else ""

    def _n_commands(self, call: int) -> int:
        """Number of commands in the launched buffer; 0 if unknown."""
        timeline = self._timeline
        at = int(np.searchsorted(self._executes, call)) - 1
        if call < 0 or at < 0:
            return 0
        around = self._executes[at : at + 1]
        same_line = timeline.lines_of(around)[0] == timeline.lines_of(np.array([call]))[0]
        is_around = same_line and timeline.ends_of(around)[0] >= timeline.ends_of(call)
        return int(timeline.stat(_N_COMMANDS).at(around)[0]) if is_around else 0


def _innermost(op: str) -> str:
    """The last of nested instructions, which are written outermost first."""
    return op.rpartition("::")[2]


def _within(
    found: Sequence[Found | None], anchors: Mapping[int, Instruction], n_commands: int
) -> Sequence[Found | None]:
    """Without what order found, if these are more instructions than the buffer has commands."""
    distinct = {one.instruction for one in found if one is not None} | set(anchors.values())
    if 0 < n_commands < len(distinct):
        return [None if one is None or one.how == BY_ORDER else one for one in found]
    return found
