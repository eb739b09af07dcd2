"""The memory of a step: how long tensors live, and what each allocator holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tfprof.views.write.client_timeline.step import Step
from tfprof.views.write.trace_json import unescaped

_Change = tuple[int, int, str]
"""Time, bytes more or (negative) less, and the tensor."""


class AllocationMaximum(NamedTuple):
    """The most that an allocator held at one time.

    Attributes:
        timestamp: When, µs; 0 if it never held anything.
        num_bytes: How much.
        tensors: Names of the tensors that it held.
    """

    timestamp: int
    num_bytes: int
    tensors: set[str]


@dataclass(slots=True)
class MemoryUse:
    """The memory of a step.

    Attributes:
        numbers: Number of each output of the step: how many distinct names came before it. After
            a repeated name, two outputs have the same number, as in TensorFlow.
        last_uses: When each output was used last, µs.
        totals: Time and bytes held of each allocator, at each change.
        maximums: The most that each allocator held.
    """

    numbers: list[int]
    last_uses: list[int]
    totals: dict[str, list[tuple[int, int]]]
    maximums: dict[str, AllocationMaximum]


def memory_of(step: Step) -> MemoryUse:
    """Follow the memory of a step, for which its outputs must have been read."""
    last_uses = _last_uses(step)
    changes: dict[str, list[_Change]] = {}
    for name, output in step.tensors.items():
        num_bytes, allocator, _ = step.outputs[output]
        start = step.starts[step.makers[output]]
        if (of_allocator := changes.get(allocator)) is None:
            of_allocator = changes[allocator] = []
        of_allocator.append((start, num_bytes, name))
        of_allocator.append((last_uses[output], -num_bytes, name))
    use = MemoryUse(_numbers(step), last_uses, {}, {})
    for allocator, several in changes.items():
        several.sort()
        use.totals[allocator], use.maximums[allocator] = _followed(several)
    return use


def _numbers(step: Step) -> list[int]:
    if len(step.tensors) == len(step.tensor_names):
        return list(range(len(step.tensors)))
    seen: set[str] = set()
    numbers = []
    for name in step.tensor_names:
        numbers.append(len(seen))
        seen.add(name)
    return numbers


def _last_uses(step: Step) -> list[int]:
    """An output is used until its op ends, and until 1 µs before the end of each consumer."""
    find = step.tensors.get
    last_uses = [step.ends[maker] for maker in step.makers]
    for track in step.tracks:
        for _, inputs, _, _, start, duration in track.rows():
            if inputs:
                time = start + duration - 1
                for name in inputs.split(", "):
                    output = find(name)
                    if output is None:
                        output = find(step.name_before_partition(name))
                    if output is not None and last_uses[output] < time:
                        last_uses[output] = time
    return last_uses


def _followed(changes: Sequence[_Change]) -> tuple[list[tuple[int, int]], AllocationMaximum]:
    """The total after each change, and the highest, at its first time."""
    total = highest = timestamp = n_until = 0
    totals = []
    for place, (time, num_bytes, _) in enumerate(changes):
        total += num_bytes
        totals.append((time, total))
        if total > highest:
            highest, timestamp, n_until = total, time, place + 1
    return totals, AllocationMaximum(timestamp, highest, _held(changes[:n_until]))


def _held(changes: Sequence[_Change]) -> set[str]:
    """Tensors in memory after these changes; those of no size stay, as in TensorFlow."""
    held: set[str] = set()
    for _, num_bytes, name in changes:
        (held.discard if num_bytes < 0 else held.add)(name)
    return set(unescaped(sorted(held)))
