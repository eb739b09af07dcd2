"""What a collective of a compiled program exchanges, among whom, and what could run meanwhile.

Bytes and factors of the bus bandwidth are those of NVIDIA's nccl-tests (``doc/PERFORMANCE.md``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from tfprof.captures.hlo.opcodes import TOUCHES_NOTHING
from tfprof.captures.model.hlo import Computation, Instruction, Shape
from tfprof.captures.model.replica_groups import Groups, groups_of, groups_of_pairs, stride_of

OPCODES: Final = frozenset(
    ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all",
     "collective-permute", "collective-broadcast")
)  # fmt: skip
"""Opcodes of collectives, without those of the phases of asynchronous ones."""

_PHASES: Final = ("-start", "-update", "-done")

_GENERATED: Final = re.compile(r"axis_\d+\b")
"""Names that the compiler gives to axes of meshes of its own."""

_MOVES: Final = frozenset(
    ("copy", "copy-start", "copy-done", "send", "send-done", "recv", "recv-done", "infeed",
     "outfeed", "async-start", "async-update", "async-done", "tuple")
)  # fmt: skip
"""Opcodes that move data; other opcodes compute."""


class Exchange(NamedTuple):
    """What a collective exchanges, as far as its program states.

    Attributes:
        opcode: ``all-reduce``, without ``-start``.
        n_bytes: Bytes by which bandwidth is measured: of the input of one device, or of the whole
            array of an all-gather or reduce-scatter; None if unknown.
        element_type: Types of the elements: ``f32``, ``bf16, f32``.
        groups: The groups of devices as XLA writes them; empty for pairs.
        pairs: Senders and receivers.
        n_groups: Number of groups; 0 if unknown.
        size: Devices of a group; 0 if unknown, or if groups differ.
        axis: Names of the axes of the mesh in which the devices of a group differ, or how they
            are numbered.
        is_axis_named: Whether the program names the axes.
        is_async: Whether it is started by one instruction and awaited by another.
        hidden_by: Number of computations between those two, in the order of the program.
    """

    opcode: str
    n_bytes: int | None = None
    element_type: str = ""
    groups: str = ""
    pairs: tuple[tuple[int, int], ...] = ()
    n_groups: int = 0
    size: int = 0
    axis: str = ""
    is_axis_named: bool = False
    is_async: bool = False
    hidden_by: int = 0

    @property
    def is_joint(self) -> bool:
        """Whether no device leaves it before all devices of the job have arrived."""
        return self.n_groups == 1 and not self.is_permute

    @property
    def is_permute(self) -> bool:
        """Whether devices send to some others, and wait only for those that send to them."""
        return self.opcode == "collective-permute"

    @property
    def members(self) -> str:
        """The devices of each group, or the pairs, as text."""
        return ", ".join(f"{one}→{other}" for one, other in self.pairs) or self.groups


def collective_in(instruction: Instruction) -> Instruction | None:
    """The collective that an instruction is, starts or contains; None without any."""
    if opcode_of(instruction) in OPCODES:
        return instruction
    if instruction.opcode in ("async-start", "fusion"):
        inside = (one for called in instruction.calls for one in called.instructions)
        return next((one for one in inside if opcode_of(one) in OPCODES), None)
    return None


def opcode_of(instruction: Instruction) -> str:
    """The opcode without the phase of an asynchronous instruction."""
    opcode = instruction.opcode
    for phase in _PHASES:
        opcode = opcode.removesuffix(phase)
    return opcode


def exchange_of(instruction: Instruction, home: Computation | None = None) -> Exchange | None:
    """What an instruction exchanges; None if it is not a collective.

    Args:
        instruction: A collective, or what starts or contains one.
        home: The computation that contains it.
    """
    inner = collective_in(instruction)
    if inner is None:
        return None
    opcode, attributes = opcode_of(inner), inner.attributes
    sent, received = _arrays(inner)
    n_sent, n_received = sum(one.n_bytes for one in sent), sum(one.n_bytes for one in received)
    groups = groups_of_pairs(attributes.pairs) or groups_of(attributes.replica_groups)
    sizes = {len(one) for one in groups}
    size = sizes.pop() if len(sizes) == 1 else 0
    if not size and not groups and n_sent and n_received:  # all devices: the arrays show how many
        size = {"all-gather": n_received // n_sent, "reduce-scatter": n_sent // n_received}.get(
            opcode, 0
        )
    n_groups = len(groups) or (not attributes.pairs and attributes.replica_groups in ("", "{}"))
    axis, is_named = _axis_of(attributes.mesh_axes, groups)
    between = _between(instruction, home)
    return Exchange(
        opcode,
        (n_received if opcode == "all-gather" else n_sent) or None,
        ", ".join(sorted({one.element_type for one in sent})),
        attributes.replica_groups, attributes.pairs, int(n_groups), size, axis, is_named,
        between is not None, sum(map(computes, between or ())),
    )  # fmt: skip


def _arrays(inner: Instruction) -> tuple[list[Shape], list[Shape]]:
    """The arrays that a device gives and gets."""
    operands = inner.operands[:1] if inner.attributes.pairs else inner.operands
    sent = [leaf for one in operands for leaf in one.shape.leaves if leaf.is_array]
    result = inner.shape
    if inner.opcode == "all-gather-start" and len(result.parts) > 1:
        result = result.parts[1]  # the first part is what it gives
    return sent, [leaf for leaf in result.leaves if leaf.is_array]


def _axis_of(names: tuple[str, ...], groups: Groups) -> tuple[str, bool]:
    """The axes of the mesh, by name, else by the numbers of the devices."""
    if names and not any(map(_GENERATED.match, names)):
        return ", ".join(names), True
    stride = stride_of(groups)
    if stride is None or stride <= 0 or len({len(one) for one in groups}) != 1:
        return "", False
    if len(groups) == 1 and stride == 1:
        return "all devices", False
    where = "in a row" if stride == 1 else f"{stride} apart"
    return f"{len(groups[0])} devices {where}", False


def _between(instruction: Instruction, home: Computation | None) -> list[Instruction] | None:
    """Instructions between the start of a collective and its end; None if it does not start."""
    if not instruction.opcode.endswith("-start"):
        return None
    if home is None:
        return []
    order = home.instructions
    begin = order.index(instruction)
    for end in range(begin + 1, len(order)):
        if instruction in order[end].operands and order[end].opcode.endswith("-done"):
            return list(order[begin + 1 : end])
    return []


def computes(instruction: Instruction) -> bool:
    """Whether an instruction computes, rather than moves data or does nothing."""
    return (
        instruction.opcode not in TOUCHES_NOTHING
        and instruction.opcode not in _MOVES
        and opcode_of(instruction) not in OPCODES
        and collective_in(instruction) is None
    )


def needs_of(home: Computation, chosen: Mapping[str, Instruction]) -> dict[Instruction, int]:
    """Which collectives each instruction of a computation needs, directly or not.

    Args:
        home: A computation.
        chosen: Some of its collectives by name.

    Returns:
        A bit for each of the collectives in their order, also its own.
    """
    bit = {one: 1 << at for at, one in enumerate(chosen.values())}
    needs: dict[Instruction, int] = {}
    for one in home.instructions:
        mask = bit.get(one, 0)
        for other in (*one.operands, *one.waits_for):
            mask |= needs.get(other, 0)
        needs[one] = mask
    return needs


def ready_times(
    home: Computation, chosen: Mapping[str, Instruction], times: Mapping[str, float]
) -> dict[str, float]:
    """Time of the computation that could have run during each collective, but runs after it.

    That is what neither uses its result, nor what was made of it, in the same computation.

    Args:
        home: A computation.
        chosen: Its collectives by name; an asynchronous one by the instruction that starts it.
        times: Time of a run of each computing instruction by name.

    Returns:
        The sum of ``times`` for each collective by name.
    """
    needs = needs_of(home, chosen)
    place = {one: at for at, one in enumerate(home.instructions)}
    ended = {name: place[one] for name, one in chosen.items()}
    for one in home.instructions:
        started = one.operands[0] if one.opcode.endswith("-done") and one.operands else None
        if started is not None and chosen.get(started.name) is started:
            ended[started.name] = place[one]
    runs = [one for one in home.instructions if times.get(one.name) and computes(one)]
    if not runs or not chosen:
        return dict.fromkeys(chosen, 0.0)
    width = (len(chosen) + 7) // 8
    octets = b"".join(needs[one].to_bytes(width, "little") for one in runs)
    bits = np.frombuffer(octets, np.uint8).reshape(len(runs), width)
    uses = np.unpackbits(bits, axis=1, bitorder="little")
    places = np.array([place[one] for one in runs])
    took = np.array([times[one.name] for one in runs])
    return {
        name: float(took[(places > ended[name]) & (uses[:, number] == 0)].sum())
        for number, name in enumerate(chosen)
    }


def bus_factor(opcode: str, size: int) -> float | None:
    """The part of the bytes that crosses the link of each device; None if unknown.

    Args:
        opcode: The collective.
        size: Devices of a group; 0 if unknown.
    """
    if opcode in ("collective-permute", "collective-broadcast"):
        return 1.0
    if size < 1 or opcode == "ragged-all-to-all":  # how much is sent, the data decide
        return None
    return (2 if opcode == "all-reduce" else 1) * (size - 1) / size
