"""All derived lines of a host and its devices."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.captures.events.derived.gpu import gpu_lines
from tfprof.captures.events.derived.host import host_lines
from tfprof.captures.events.derived.lines import DerivedLine, HloLookup
from tfprof.captures.events.derived.tpu import tpu_lines
from tfprof.captures.events.steps.grouping import Groups
from tfprof.captures.events.timeline.names import GPU_PREFIX, TENSOR_CORE
from tfprof.captures.events.timeline.timeline import Timeline
from tfprof.captures.rules import OURS, Rules


@dataclass(frozen=True)
class DerivedLines:
    """Derived lines.

    Attributes:
        lines: In the order of the planes.
        display_ids: Place of each stream among the lines of its GPU, by line.
    """

    lines: tuple[DerivedLine, ...]
    display_ids: dict[int, int]


def derive_lines(
    timeline: Timeline, groups: Groups, hlo: HloLookup, *, rules: Rules = OURS
) -> DerivedLines:
    """Derive all lines; none if the file already has its steps, and so these lines.

    Args:
        timeline: The events.
        groups: Their steps.
        hlo: Finds the op and the source of an instruction.
        rules: Whether threads that ran XLA:CPU have derived lines.
    """
    if groups.are_given:
        return DerivedLines((), {})
    lines: list[DerivedLine] = []
    display_ids: dict[int, int] = {}
    for number, plane in enumerate(timeline.space.planes):
        if plane.name.startswith(GPU_PREFIX):
            made, own_ids = gpu_lines(timeline, groups, number, hlo, rules=rules)
            lines += made
            display_ids |= own_ids
        elif TENSOR_CORE.fullmatch(plane.name):
            lines += tpu_lines(timeline, groups, number)
    if not rules.derives_no_host_lines:
        lines += host_lines(timeline, groups, hlo)
    return DerivedLines(tuple(lines), display_ids)
