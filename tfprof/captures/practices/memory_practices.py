"""Practices for the memory of devices: how full and how fragmented it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfprof.captures.facts.allocators import most_used_share
from tfprof.captures.facts.statistics import part
from tfprof.captures.practices.evidence import Evidence, and_others, first_of_alike
from tfprof.captures.run.result import Advice
from tfprof.captures.tools.ran_plans import kept_copies, largest_plan
from tfprof.core.text.claims import Details

NEAR_CAPACITY = 0.9
FRAGMENTED = 0.3
FULL_ENOUGH = 0.7
"""Below this, fragmentation does no harm, as much of the memory is free."""
DUPLICATE_SHARE = 0.05
"""Of a program's peak; smaller copies of arguments are left out."""
LEAST_DUPLICATE_BYTES = 1 << 20


def memory_near_capacity(evidence: Evidence) -> Iterator[Advice]:
    """Allocators with hardly any free memory."""
    full = [one for one in _allocators(evidence) if one[1] >= NEAR_CAPACITY]
    largest = _largest(evidence) if full else {}
    host_of = {host.name: host for host in evidence.hosts}
    for (row, used), n_others in first_of_alike(full, _of_allocator):
        top = largest.get((row["host"], row["allocator"]))
        words = (
            f"{{allocator}} on {{on_host}}{and_others(n_others)} has {{peak_bytes}} in use at its "
            "peak, {used_share} of its capacity; a larger batch may not fit."
        )
        numbers = {
            "allocator": row["allocator"], "peak_bytes": row["peak_bytes"],
            "capacity_bytes": row["capacity_bytes"], "used_share": used, "on_host": row["host"],
            "other_host_count": n_others,
        }  # fmt: skip
        if top is not None:
            words += " Most of it belongs to {op}, {op_bytes} ({dtype} {shape})."
            numbers |= {name: str(top[name]) for name in ("op", "dtype", "shape")}
            numbers |= {"op_bytes": _held(top)}
        plan = largest_plan(host_of[row["host"]])
        if plan is not None:
            words += " The program with the largest plan, {program}, needs {program_bytes} a run"
            numbers |= {"program": plan.program, "program_bytes": plan.peak_bytes}
            if plan.savings:
                words += "; tfprof memory-viewer has what would free at most {saving_bytes} of that"
                numbers["saving_bytes"] = plan.savings[0].at_most_bytes or 0
            words += "."
        words += f" Use a smaller batch or mixed precision, or {evidence.words.recompute}."
        yield Advice("memory/capacity", words, numbers)


def fragmented_memory(evidence: Evidence) -> Iterator[Advice]:
    """Allocators with fragmented free memory."""
    fragmented = [
        (row, used)
        for row, used in _allocators(evidence)
        if (row["fragmentation"] or 0) >= FRAGMENTED and used >= FULL_ENOUGH
    ]
    for (row, used), n_others in first_of_alike(fragmented, _of_allocator):
        yield Advice(
            "memory/fragmentation",
            f"{{allocator}} on {{on_host}}{and_others(n_others)} has {{free_bytes}} free at its "
            "peak, but in pieces: {fragmentation_share} of it is not in the largest one. Try the "
            "environment variable TF_GPU_ALLOCATOR=cuda_malloc_async, and batches of one shape.",
            {"allocator": row["allocator"], "fragmentation_share": row["fragmentation"],
             "free_bytes": row["free_bytes"], "used_share": used, "on_host": row["host"],
             "other_host_count": n_others},
        )  # fmt: skip


def duplicated_arguments(evidence: Evidence) -> Iterator[Advice]:
    """Compiled programs that keep a transposed or converted copy beside an argument."""
    kept = (one for host in evidence.hosts for one in kept_copies(host))
    of_programs = first_of_alike(kept, lambda one: (one.program, one.copy.instruction))
    found = [
        one
        for one, _ in of_programs  # other hosts that run the program have the same copies
        if one.copy.copy_bytes >= max(DUPLICATE_SHARE * one.peak_bytes, LEAST_DUPLICATE_BYTES)
    ]
    for one, n_others in first_of_alike(found, lambda each: each.program):
        copy = one.copy
        numbers: Details = {
            "program": one.program, "argument": copy.argument,
            "argument_bytes": copy.argument_bytes, "copy_bytes": copy.copy_bytes,
            "peak_share": part(copy.copy_bytes, one.peak_bytes), "instruction": copy.instruction,
            "element_type": copy.element_type, "other_count": n_others,
        }  # fmt: skip
        how = "converted" if copy.is_converted else "transposed"
        words = (
            f"{{program}} keeps a {how} copy of its argument {{argument}} in memory at its peak, "
            "{copy_bytes} ({peak_share} of the peak) beside {argument_bytes}"
        )
        if copy.place:
            words += ", made for {line}"
            numbers["line"] = copy.place
        words += " (copies of other arguments: {other_count}). " if n_others else ". "
        words += _PASS_CONVERTED if copy.is_converted else _PASS_TRANSPOSED
        yield Advice("memory/duplicate", words, numbers)


_PASS_CONVERTED = (
    "If nothing else uses the argument as it is, pass it as {element_type}, converted once and "
    "outside of the program: then only one of both is in memory."
)
_PASS_TRANSPOSED = (
    "If nothing else uses the argument as it is, pass it in the other order of dimensions, "
    "transposed once and outside of the program: then only one of both is in memory."
)


def _allocators(evidence: Evidence) -> Iterator[tuple[dict[str, Any], float]]:
    """Rows of the memory profile, and how full each allocator was."""
    if all(most_used_share(host) < FULL_ENOUGH for host in evidence.hosts):
        return  # neither practice applies
    names = {host.name for host in evidence.hosts}
    for row in evidence.memory["summary"].to_rows():
        if row["capacity_bytes"] and row["host"] in names:
            cells: dict[str, Any] = dict(row)
            yield cells, part(cells["peak_bytes"], cells["capacity_bytes"])


def _of_allocator(one: tuple[dict[str, Any], float]) -> str:
    return str(one[0]["allocator"])


def _largest(evidence: Evidence) -> dict[tuple[str, str], dict[str, Any]]:
    """The largest entry at the peak of each host's allocators, where it is known."""
    largest: dict[tuple[str, str], dict[str, Any]] = {}
    for one in evidence.memory["peak"].to_rows():
        row: dict[str, Any] = dict(one)
        place = row["host"], row["allocator"]
        if not str(row["op"]).startswith("("):
            largest[place] = max(largest.get(place, row), row, key=_held)
    return largest


def _held(row: dict[str, Any]) -> int:
    return int(row["allocation_bytes"] * row["occurrences"])
