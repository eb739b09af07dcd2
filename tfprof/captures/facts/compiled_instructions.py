"""Instructions of the compiled programs of a host that practices look at.

They are found once for each host, so that advice on many hosts needs no program again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from tfprof.captures.events.ops.device_ops import DeviceOp, OpKey
from tfprof.captures.facts.device_op_db import compiled_ops
from tfprof.captures.facts.hlo_programs import known_programs
from tfprof.captures.hlo.argument_changes import Form, argument_changes, argument_name
from tfprof.captures.hlo.loop_rounds import body_of, names_below, only_updates_parts
from tfprof.captures.hlo.small_updates import small_updates
from tfprof.captures.hlo.tile_padding import (
    most_padded,
    padded_bytes,
    padding_share,
    tiled_dimensions,
)
from tfprof.captures.model.hlo import HloModule
from tfprof.captures.run.fact import fact
from tfprof.captures.run.run import Host

LEAST_BYTES: Final = 1 << 16
"""Smaller arrays lie in caches, and what takes time is the call."""

MUCH_PADDING: Final = 0.25

_LEAST_SHARE: Final = 0.01
"""Programs with a smaller part of the time of all are not worth being decoded."""

Ops = Mapping[str, DeviceOp]


class ChangedArgument(NamedTuple):
    """An instruction that only changes the form of an argument.

    Attributes:
        key: Key of its op.
        line: Its line, ``file:line``; empty if unknown.
        form: In what result and argument differ.
        argument: Name of the argument.
        old_shape: Its shape.
        old_bytes: Its size.
        new_shape: Shape of the result.
        new_bytes: Its size.
    """

    key: OpKey
    line: str
    form: Form
    argument: str
    old_shape: str
    old_bytes: int
    new_shape: str
    new_bytes: int


class UpdateLoop(NamedTuple):
    """A loop each of whose rounds changes a part of an array.

    Attributes:
        key: Key of its op.
        line: Its line; empty if unknown.
        rounds: Number of rounds of one run.
        inside: Keys of the ops in it.
    """

    key: OpKey
    line: str
    rounds: float
    inside: tuple[OpKey, ...]


class SmallUpdates(NamedTuple):
    """Instructions of a program that update small arguments, each on its own.

    Attributes:
        program: Title of the program.
        keys: Keys of their ops.
        lines: Their lines; empty if unknown.
    """

    program: str
    keys: tuple[OpKey, ...]
    lines: tuple[str, ...]


class PaddedInstruction(NamedTuple):
    """An instruction with much padding of tiles.

    Attributes:
        key: Key of its op.
        line: Its line; empty if unknown.
        padding_share: Part of its bytes that is padding.
        array_shape: The array with the most padding.
        array_bytes: Its size without padding.
        padded_bytes: The same with padding.
        size: Size of the dimension that padding makes longer than any other.
        tile_size: Size of a tile in this dimension.
    """

    key: OpKey
    line: str
    padding_share: float
    array_shape: str
    array_bytes: int
    padded_bytes: int
    size: int
    tile_size: int


class NotableInstructions(NamedTuple):
    """What practices look at.

    Attributes:
        changes: Changes of large arguments.
        loops: Loops of updates.
        updates: Updates of small arguments, by program.
        padded: Instructions with much padding of large arrays.
    """

    changes: tuple[ChangedArgument, ...]
    loops: tuple[UpdateLoop, ...]
    updates: tuple[SmallUpdates, ...]
    padded: tuple[PaddedInstruction, ...]


@fact
def notable_instructions(host: Host) -> NotableInstructions:
    """The instructions of the programs that take time on a host, as far as they ran."""
    programs = list(_programs(host))
    return NotableInstructions(
        tuple(one for _, module, ops in programs for one in _changes(module, ops)),
        tuple(one for _, module, ops in programs for one in _loops(module, ops)),
        tuple(one for each in programs for one in _updates(*each)),
        tuple(one for _, module, ops in programs for one in _padded(module, ops)),
    )


def _programs(host: Host) -> Iterator[tuple[str, HloModule, Ops]]:
    """The programs that take time, each with its ops that ran, by name, the longest first."""
    by_program: dict[tuple[int | None, str], dict[str, DeviceOp]] = {}
    every = sorted(compiled_ops(host).ops, key=lambda op: (-op.self_ps, op.key.name))
    for op in every:
        if op.occurrences:
            by_program.setdefault((op.key.program_id, op.key.module), {})[op.key.name] = op
    whole = sum(op.self_ps for op in every)
    for (number, name), ops in by_program.items():
        if sum(op.self_ps for op in ops.values()) < _LEAST_SHARE * whole:
            continue
        program = known_programs(host).program(number, name)
        if program is not None:
            yield program.title, program.module(), ops


def _changes(module: HloModule, ops: Ops) -> Iterator[ChangedArgument]:
    for one in argument_changes(module):
        op = ops.get(one.instruction.name)
        if op is not None and op.traffic.all_bytes >= LEAST_BYTES * op.occurrences:
            before, after = one.argument.shape, one.new_shape
            yield ChangedArgument(
                op.key, _line(module, op), one.form, argument_name(one.argument),
                before.text(), before.n_bytes, after.text(), after.n_bytes,
            )  # fmt: skip


def _loops(module: HloModule, ops: Ops) -> Iterator[UpdateLoop]:
    for loop in (op for op in ops.values() if op.category == "while"):
        found = module.find(loop.key.name)
        body = None if found is None else body_of(found)
        if found is None or body is None or not only_updates_parts(found):
            continue
        own = [ops[one.name].occurrences for one in body.instructions if one.name in ops]
        inside = names_below(found.calls)
        yield UpdateLoop(
            loop.key, _line(module, loop), max(own, default=0) / loop.occurrences,
            tuple(op.key for name, op in ops.items() if name in inside),
        )  # fmt: skip


def _updates(title: str, module: HloModule, ops: Ops) -> Iterator[SmallUpdates]:
    found = [ops[one.name] for one in small_updates(module, LEAST_BYTES) if one.name in ops]
    if found:
        lines = tuple(_line(module, op) for op in found)
        yield SmallUpdates(title, tuple(op.key for op in found), lines)


def _padded(module: HloModule, ops: Ops) -> Iterator[PaddedInstruction]:
    for op in ops.values():
        one = module.find(op.key.name)
        if one is None or one.opcode in ("while", "call", "conditional"):
            continue
        shape = most_padded(one) if padding_share(one) >= MUCH_PADDING else None
        if shape is not None and padded_bytes(shape) >= LEAST_BYTES:
            worst = max(tiled_dimensions(shape), key=lambda tiled: tiled.growth)
            yield PaddedInstruction(
                op.key, _line(module, op), padding_share(one), shape.text(), shape.n_bytes,
                padded_bytes(shape), worst.size, worst.tile_size,
            )  # fmt: skip


def _line(module: HloModule, op: DeviceOp) -> str:
    """The line of an instruction; of one that the compiler added, that of the first user of its
    result with a line.
    """
    file, line, _ = op.source
    found = None if file else module.find(op.key.name)
    for user in () if found is None else module.home[found].users()[found]:
        file, line = (file, line) if file else module.source(user)
    return f"{file}:{line}" if file else ""
