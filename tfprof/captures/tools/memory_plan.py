"""Tables of what stands at the peak of a compiled program, and what may free it."""

from __future__ import annotations

from typing import Final

from tfprof.captures.facts.statistics import part
from tfprof.captures.hlo.buffers import BufferUse, MemoryUse
from tfprof.captures.hlo.memory_savings import memory_savings
from tfprof.captures.hlo.user_lines import place_of, scope_of
from tfprof.captures.hlo.value_flow import Users
from tfprof.captures.model.hlo import HloModule
from tfprof.captures.run.columns import amount, count, text
from tfprof.captures.run.table import Cell, Table

PEAK_LINES: Final = (
    text("source", "Line", "the user's line that the values were made for; empty if unknown"),
    text("scope", "Scope", "the framework's scope, or that the values are arguments"),
    amount("size_bytes", "At the peak", "bytes", "bytes of its values in use at the peak"),
    amount("share", "Share", "fraction", "part of all that is in use at the peak"),
    count("values", "Values", "how many values"),
    text("largest", "Largest", "instruction of the largest value", links=("graph-viewer",)),
)  # fmt: skip

SAVINGS: Final = (
    text("action", "Action", "donate, recompute or shard"),
    text("what", "What", "the values that it is about"),
    amount("at_most_bytes", "Frees at most", "bytes",
           "upper bound of what it frees at the peak; n/a if nothing bounds it"),
    count("values", "Values", "how many values"),
    text("source", "Line", "line of the largest of them; empty if unknown"),
    text("how", "How", "what to do, and on which condition it helps"),
)  # fmt: skip

_ARGUMENTS: Final = "(arguments)"
_CONSTANTS: Final = "(constants)"


def peak_table(module: HloModule, use: MemoryUse) -> Table:
    """Values in use at the peak, added up by line and scope.

    Args:
        module: The program.
        use: Its use of one memory.
    """
    users_of = module.entry.users() if module.entry else {}
    groups: dict[tuple[str, str], list[BufferUse]] = {}
    for one in use.at_peak:
        groups.setdefault(_origin(module, users_of, one), []).append(one)
    whole = sum(one.size_bytes for one in use.at_peak)
    rows: list[tuple[Cell, ...]] = []
    for (place, scope), values in groups.items():
        largest = max(values, key=lambda one: one.size_bytes)
        size = sum(one.size_bytes for one in values)
        name = largest.instruction.name if largest.instruction else largest.name
        rows.append((place, scope, size, part(size, whole), len(values), name))
    rows.sort(key=lambda row: (-int(row[2] or 0), str(row[0]), str(row[1])))
    title = "In use at the peak, by line and scope"
    return Table("peak_lines", PEAK_LINES, rows, title=title)


def savings_table(module: HloModule, use: MemoryUse, *, is_on_cpu: bool) -> Table:
    """What may free memory at the peak; arguments as for ``memory_savings``."""
    rows: list[tuple[Cell, ...]] = [
        (one.action, one.what, one.at_most_bytes, one.n, one.place, one.how)
        for one in memory_savings(module, use, is_on_cpu=is_on_cpu)
    ]
    return Table("savings", SAVINGS, rows, title="What may free memory at the peak")


def _origin(module: HloModule, users_of: Users, one: BufferUse) -> tuple[str, str]:
    """Line and scope of a value."""
    if one.allocation.is_parameter:
        return "", _ARGUMENTS
    if one.allocation.is_constant:
        return "", _CONSTANTS
    return place_of(module, users_of, one), scope_of(users_of, one)
