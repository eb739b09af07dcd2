"""What would free memory of a compiled program at its peak: upper bounds, from its plan.

JAX names what belongs to the backward pass: ``transpose(jvp(…))``. What the compiler would do with
the changed program is not in its plan of this one, so no number here is more than a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from tfprof.captures.hlo.buffers import BufferUse, MemoryUse
from tfprof.captures.hlo.donations import donations
from tfprof.captures.hlo.user_lines import place_of
from tfprof.captures.hlo.value_flow import Users, flow_of
from tfprof.captures.model.hlo import HloModule, Instruction
from tfprof.captures.model.jax_names import PREFIXES
from tfprof.core.text.units import some

BACKWARD: Final = "transpose("
_FORWARD: Final = "jvp("

_ON_CPU: Final = "unknown: XLA on CPUs may undo jax.checkpoint"

_MOST_NAMES: Final = 4

_LEAST_SHARE: Final = 0.01
"""Of the peak; savings below it are left out."""


class Saving(NamedTuple):
    """One way to free memory.

    Attributes:
        action: ``donate``, ``recompute`` or ``shard``.
        what: The values that it is about.
        n: How many values.
        at_most_bytes: Upper bound of the bytes that it frees; None if there is none.
        place: Line of the largest of the values; empty if unknown.
        how: What to do, and under which condition it helps.
    """

    action: str
    what: str
    n: int
    at_most_bytes: int | None
    place: str
    how: str


def memory_savings(module: HloModule, use: MemoryUse, *, is_on_cpu: bool) -> list[Saving]:
    """Ways to free memory at the peak, those that may free the most first; none without JAX.

    Args:
        module: The program.
        use: Its use of the device's main memory.
        is_on_cpu: Whether it ran on the host's CPU.
    """
    if not module.name.startswith(PREFIXES):
        return []
    found = [*_donations(module, use), *_recomputed(module, use, is_on_cpu), *_sharded(module, use)]
    least = _LEAST_SHARE * use.peak_bytes
    enough = [one for one in found if one.at_most_bytes is None or one.at_most_bytes >= least]
    return sorted(enough, key=lambda one: -(one.at_most_bytes or 0))


def _donations(module: HloModule, use: MemoryUse) -> Iterator[Saving]:
    """Arguments that outputs of the same type and shape could take the place of."""
    for one in donations(module, use):
        which = some([each.op_name or each.name for each in one.arguments], _MOST_NAMES)
        of = "" if one.n == len(one.arguments) else f"{one.n} of "
        yield Saving(
            "donate", f"{of}{which}", one.n, one.at_most_bytes, "",
            "donate_argnums, if not used after the call",
        )  # fmt: skip


def _recomputed(module: HloModule, use: MemoryUse, is_on_cpu: bool) -> Iterator[Saving]:
    """Values of the forward pass that wait for the backward pass at the peak."""
    if module.entry is None:
        return
    users_of = module.entry.users()
    stacked: list[BufferUse] = []
    single: list[BufferUse] = []
    for one in use.at_peak:
        if one.allocation.kind != "temporary" or one.instruction not in users_of:
            continue
        assert one.instruction is not None
        if (is_of_loop := _waits_for_backward(users_of, one.instruction, one.buffer.index)) is None:
            continue
        (stacked if is_of_loop else single).append(one)
    for values, what, how in (
        (stacked, "values of iterations kept for the backward pass",
         "jax.checkpoint around the scan's body: more time"),
        (single, "forward values kept for the backward pass",
         _ON_CPU if is_on_cpu else "jax.checkpoint around layers: more time"),
    ):  # fmt: skip
        size = sum(one.size_bytes for one in values)
        if size >= _LEAST_SHARE * use.peak_bytes and values:
            largest = max(values, key=lambda one: one.size_bytes)
            place = place_of(module, users_of, largest)
            known = None if how == _ON_CPU else size
            yield Saving("recompute", what, len(values), known, place, how)


def _waits_for_backward(users_of: Users, value: Instruction, index: tuple[int, ...]) -> bool | None:
    """Whether a value of the forward pass comes out of a loop; None if it does not wait."""
    flow = flow_of(users_of, value, index)
    if not any(BACKWARD in one.op_name for one in flow.users):
        return None
    makers = [one for one in (value, *flow.through) if BACKWARD not in one.op_name]
    loops = [one for one in makers if one.opcode == "while" and _FORWARD in one.op_name]
    if loops:
        return True
    return False if _FORWARD in value.op_name and BACKWARD not in value.op_name else None


def _sharded(module: HloModule, use: MemoryUse) -> Iterator[Saving]:
    """Arrays that twice as many devices could share."""
    users_of = module.entry.users() if module.entry else {}
    for what, kinds in (
        ("arguments and outputs", ("parameter", "output")), ("other values", ("temporary",)),
    ):  # fmt: skip
        values = [
            one for one in use.at_peak
            if one.allocation.kind in kinds and any(n % 2 == 0 for n in one.shape.dimensions)
        ]  # fmt: skip
        if values:
            largest = max(values, key=lambda one: one.size_bytes)
            yield Saving(
                "shard", what, len(values), sum(one.size_bytes for one in values) // 2,
                place_of(module, users_of, largest),
                "half of each array, on twice the devices",
            )  # fmt: skip
