"""Practices for the memory of devices: how full and how fragmented it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfprof.captures.facts.statistics import part
from tfprof.captures.practices.evidence import Evidence, and_others, first_of_alike
from tfprof.captures.run.result import Advice

NEAR_CAPACITY = 0.9
FRAGMENTED = 0.3
FULL_ENOUGH = 0.7
"""Below this, fragmentation does no harm, as much of the memory is free."""


def memory_near_capacity(evidence: Evidence) -> Iterator[Advice]:
    """Allocators with hardly any free memory."""
    full = [one for one in _allocators(evidence) if one[1] >= NEAR_CAPACITY]
    largest = _largest(evidence) if full else {}
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
        words += (
            " Use a smaller batch or mixed precision, or compute activations again in the backward "
            "pass (tf.recompute_grad)."
        )
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


def _allocators(evidence: Evidence) -> Iterator[tuple[dict[str, Any], float]]:
    """Rows of the memory profile, and how full each allocator was."""
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
