"""Where in the reserved memory of a program its values lie, and when."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tfprof.captures.hlo.buffers import BufferUse, MemoryUse, buffers_in
from tfprof.captures.model.hlo import HloModule
from tfprof.captures.model.hlo_buffers import Allocation

_ORDER = ("constant", "parameter", "output", "temporary")
"""Kinds of allocations from the lowest place up; those that always exist are at the bottom."""


@dataclass(frozen=True, slots=True)
class PlacedBuffer:
    """A value at its place, for one time that it is there.

    Attributes:
        use: The value with this time; of memory that always exists, the largest value in it.
        offset_bytes: Its place, if all allocations lie on each other.
        size_bytes: How much it takes there; of memory that always exists, the whole allocation.
        is_at_peak: Whether it is there when most memory is in use.
    """

    use: BufferUse
    offset_bytes: int
    size_bytes: int
    is_at_peak: bool


@dataclass(frozen=True, slots=True)
class BufferPlaces:
    """The values of one memory.

    Attributes:
        placed: The values, the largest first; one that comes again is there again.
        total_bytes: Size of all allocations.
        n_untimed: Number of values of temporary memory whose times are unknown.
        untimed_bytes: Their size.
    """

    placed: list[PlacedBuffer]
    total_bytes: int
    n_untimed: int
    untimed_bytes: int


def buffer_places(module: HloModule, use: MemoryUse) -> BufferPlaces:
    """Find the place of each value in the memory that a program reserves.

    Args:
        module: The program.
        use: Its use of one memory.
    """
    lasting = {each.allocation.index: each for each in use.at_peak if each.start is None}
    placed: list[PlacedBuffer] = []
    base = n_untimed = untimed_bytes = 0
    allocations = [one for one in use.allocations if not one.is_thread_local and one.size_bytes]
    for allocation in sorted(allocations, key=_from_the_bottom):
        always = lasting.get(allocation.index)
        if always is not None:
            placed.append(PlacedBuffer(always, base, allocation.size_bytes, is_at_peak=True))
        else:
            offset_of = {one.buffer_id: one.offset_bytes for one in allocation.assigned}
            for each in buffers_in(module, allocation):
                number = each.buffer.id
                if number not in use.lives:
                    n_untimed, untimed_bytes = n_untimed + 1, untimed_bytes + each.size_bytes
                offset = base + offset_of[number]
                for start, end in use.lives.get(number, ()):
                    life = replace(each, start=start, end=end)
                    is_at_peak = start <= use.peak_position < end
                    placed.append(PlacedBuffer(life, offset, each.size_bytes, is_at_peak))
        base += allocation.size_bytes
    placed.sort(key=lambda one: (-one.size_bytes, one.use.buffer.id, one.use.start or 0))
    return BufferPlaces(placed, base, n_untimed, untimed_bytes)


def _from_the_bottom(allocation: Allocation) -> tuple[int, int, int]:
    kind = allocation.kind
    level = _ORDER.index(kind) if kind in _ORDER else len(_ORDER)
    return level, -allocation.size_bytes, allocation.index
