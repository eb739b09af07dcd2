"""The program of each launch of a graph, and the instructions of its kernels by name and order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.captures.events.timeline.graph_kernels import GraphKernels
from tfprof.captures.events.timeline.kernel_order import (
    BY_NAME,
    Found,
    instructions_of,
    kernel_names,
    launching,
    name_in_program,
)
from tfprof.captures.events.timeline.programs import KnownPrograms
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.read.hlo import HloProgram, split_title, unsigned
from tfprof.core.columns.columns import Int64Array, IntArray

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
    which = np.full(len(sources), -1)
    finder = _Finder(timeline, programs)
    kinds = timeline.kinds[kernels.events]
    ops = np.where(sources >= 0, timeline.stat("hlo_op").texts_at(kernels.events[sources]), -1)
    for launch in _launches(timeline, kernels, sources):
        at = slice(launch.start, launch.stop)
        which[at] = finder.places(launch, kinds[at], ops[at])
    which[sources >= 0] = -1
    return OfKernels(list(finder.distinct), which)


class _Launch(NamedTuple):
    """A launch with kernels whose instruction is unknown.

    Attributes:
        start: Its first kernel.
        stop: The kernel after its last.
        program: Id and name of its program, as far as known.
        caller: The instruction that launched the whole graph; empty if unknown.
        n_commands: Number of commands of the launched buffer; 0 if unknown.
        is_in_order: Whether its kernels ran in the order of the graph's nodes, as far as known.
            On several streams, kernels overtake each other.
    """

    start: int
    stop: int
    program: tuple[int | None, str]
    caller: str
    n_commands: int
    is_in_order: bool


def _launches(timeline: Timeline, kernels: GraphKernels, sources: Int64Array) -> Iterator[_Launch]:
    bounds = np.flatnonzero(np.diff(kernels.launches, prepend=-1, append=-1))
    starts, stops = bounds[:-1], bounds[1:]
    if not len(starts):
        return
    is_lost = np.add.reduceat((sources < 0).astype(np.int64), starts) > 0
    starts, stops = starts[is_lost], stops[is_lost]
    first_sources = np.maximum.reduceat(sources, bounds[:-1])[is_lost]  # any annotated kernel
    annotated = np.where(first_sources >= 0, kernels.events[first_sources], -1)
    calls = kernels.calls[starts]
    stated = [_stated(timeline, at) for at in (annotated, kernels.events[starts], calls)]
    lost = np.where(sources < 0, np.arange(len(sources)), len(sources))
    lost = np.minimum.reduceat(lost, bounds[:-1])[is_lost]
    callers = _texts(timeline, "hlo_op", kernels.events[lost])  # not that of the kernel itself
    n_commands = _n_commands(timeline, calls)
    streams = timeline.lines_of(kernels.events)
    for row, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        program = next((one[row] for one in stated if one[row] != _UNKNOWN), _UNKNOWN)
        nodes = kernels.nodes[start:stop]
        is_one_stream = bool((streams[start:stop] == streams[start]).all())
        in_order = is_one_stream or bool(nodes[0] >= 0 and (np.diff(nodes) > 0).all())
        yield _Launch(start, stop, program, callers[row], n_commands[row], in_order)


def _stated(timeline: Timeline, events: Int64Array) -> list[tuple[int | None, str]]:
    """The programs that events name; unknown for -1."""
    programs, at = timeline.stat("program_id"), np.maximum(events, 0)
    programs = programs.only(programs.is_integer())
    has_id = (programs.has(at) & (events >= 0)).tolist()
    stated = []
    for title, has, number in zip(
        _texts(timeline, "hlo_module", events), has_id, programs.at(at).tolist(), strict=True
    ):
        module, in_title = split_title(title)
        stated.append((unsigned(number) if has else in_title, module))
    return stated


def _texts(timeline: Timeline, name: str, events: Int64Array) -> list[str]:
    """A text of each event, empty for events without it and for -1."""
    stat = timeline.stat(name)
    numbers = np.where(events >= 0, stat.texts_at(np.maximum(events, 0)), -1)
    texts = [*stat.texts, ""]
    return [texts[number] for number in numbers.tolist()]


def _n_commands(timeline: Timeline, calls: Int64Array) -> list[int]:
    """Number of commands in each launched buffer; 0 if unknown."""
    executes = np.flatnonzero(timeline.named(_EXECUTE.__eq__) & timeline.on_host)
    before = np.searchsorted(executes, calls) - 1
    if not len(executes):
        return [0] * len(calls)
    around, at = executes[np.maximum(before, 0)], np.maximum(calls, 0)
    is_around = (before >= 0) & (calls >= 0)
    is_around &= timeline.lines_of(around) == timeline.lines_of(at)
    is_around &= timeline.ends_of(around) >= timeline.ends_of(at)
    commands: list[int] = np.where(is_around, timeline.stat(_N_COMMANDS).at(around), 0).tolist()
    return commands


class _Finder:
    """Finds instructions launch by launch; equal launches once.

    Attributes:
        distinct: The distinct answers, with their places.
    """

    def __init__(self, timeline: Timeline, programs: Sequence[HloProgram]) -> None:
        self.distinct: dict[OfKernel, int] = {}
        self._names, self._ops = timeline.names, [*timeline.stat("hlo_op").texts, ""]
        self._all, self._known = programs, KnownPrograms(programs)
        self._answers: dict[tuple[object, ...], Int64Array] = {}

    def places(self, launch: _Launch, kinds: IntArray, ops: Int64Array) -> Int64Array:
        """Places in ``distinct`` of the kernels of a launch, -1 for none, shape (n,).

        Args:
            launch: The launch.
            kinds: Kinds of its events, shape (n,).
            ops: Their annotated instructions, -1 for none, shape (n,).
        """
        key = (*launch[2:], kinds.tobytes(), ops.tobytes())
        if key not in self._answers:
            names = [self._names[kind] for kind in kinds.tolist()]
            found = self._found(*launch[2:], names, [self._ops[op] for op in ops.tolist()])
            self._answers[key] = np.array(
                [
                    -1 if one is None else self.distinct.setdefault(one, len(self.distinct))
                    for one in found
                ],
                np.int64,
            )
        return self._answers[key]

    def _found(
        self,
        stated: tuple[int | None, str],
        caller: str,
        n_commands: int,
        is_in_order: bool,
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
        distinct = {one.instruction for one in found if one is not None} | set(anchors.values())
        if not is_in_order or 0 < n_commands < len(distinct):
            found = [one if one is not None and one.how == BY_NAME else None for one in found]
        return [None if one is None else OfKernel(program, one) for one in found]

    def _program(self, stated: tuple[int | None, str], names: Sequence[str]) -> HloProgram | None:
        """The program that the launch states, or the only one with the names of all kernels."""
        if stated != _UNKNOWN:
            return self._known.program(*stated)
        wanted = {name_in_program(name) for name in names}
        of_each = [wanted & kernel_names(program.module()) for program in self._all]
        of_xla = frozenset[str]().union(*of_each)
        fits = [one for one, own in zip(self._all, of_each, strict=True) if own == of_xla]
        return fits[0] if of_xla and len(fits) == 1 else None


def _innermost(op: str) -> str:
    """The last of nested instructions, which are written outermost first."""
    return op.rpartition("::")[2]
