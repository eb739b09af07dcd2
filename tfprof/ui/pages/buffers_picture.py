"""The picture of the memory viewer: values of a compiled program at their places, over its run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.captures.facts.hlo_programs import HostProgram, all_programs, chosen_program
from tfprof.captures.hlo.buffer_places import BufferPlaces, PlacedBuffer, buffer_places
from tfprof.captures.hlo.buffers import MemoryUse, memory_use
from tfprof.captures.model.hlo import HloModule
from tfprof.captures.run.result import ToolResult
from tfprof.captures.show.tool_values import number_text
from tfprof.core.columns.numerals import whole_number
from tfprof.core.text.wording import many
from tfprof.ui.pages.document import Block, Control, column, figures, remarks

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run

MOST_BUFFERS: Final = 2000
"""Most values of a picture, the largest ones."""

_SPACES: Final = {0: "main memory", 1: "fast memory on the chip", 5: "memory of the host"}
"""Memory spaces that mean the same on all devices, as in ``xla/layout.h``; HBM is the main one."""


def buffers_picture(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """The values of a program at their places, and what they come to at the peak.

    Args:
        result: The answer of the memory viewer.
        run: The run.
        params: ``program``, ``host`` and ``memory_space``, as of the tool.
    """
    chosen = _program(result, run, params)
    if chosen is None:
        return []
    module = chosen.program.module()
    use = memory_use(module, whole_number(params.get("memory_space", ""), 0))
    places = buffer_places(module, use)
    if not places.placed:
        return []
    blocks = [_picture(chosen, module, use, places), _figures(use, places)]
    if left := _left_out(places):
        blocks.append(remarks([("info", text, "") for text in left]))
    return blocks


def memory_space_control(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Control]:
    """The choice between the memories that the chosen program uses; none if there is only one."""
    chosen = _program(result, run, params)
    buffers = None if chosen is None else chosen.program.module().buffers
    if buffers is None:
        return []
    used = {each.memory_space for each in buffers.allocations if each.size_bytes}
    spaces = sorted({0, *used})
    if len(spaces) < 2:
        return []
    names = [(str(space), _name(space)) for space in spaces]
    shown = params.get("memory_space") or "0"
    return [Control("memory_space", "Memory", "choice", shown, "0", names)]


def _name(space: int) -> str:
    number = f"memory space {space}"
    return f"{_SPACES[space]} ({number})" if space in _SPACES else number


def _program(result: ToolResult, run: Run, params: Mapping[str, str]) -> HostProgram | None:
    table = result.tables.get("programs")
    if table is None or not len(table):
        return None
    # Without a choice the tool's own, which is the first of its table.
    wanted = params.get("program") or str(table.to_rows()[0]["program_id"])
    return chosen_program(all_programs(run, params.get("host") or None), wanted)


def _picture(chosen: HostProgram, module: HloModule, use: MemoryUse, places: BufferPlaces) -> Block:
    placed = places.placed[:MOST_BUFFERS]
    instructions = [each.use.instruction for each in placed]
    n_events = max(len(use.sizes_bytes) - 1, 0)
    levels = use.sizes_bytes or (use.peak_bytes,)
    bare = use.unpadded_bytes or (use.peak_unpadded_bytes,)

    def ends(each: PlacedBuffer) -> int:
        return max(n_events, 1) if each.use.end is None else each.use.end

    return {
        "kind": "buffers",
        "id": "buffers",
        "title": f"Values in {_name(use.memory_space)}",
        "n_events": n_events,
        "total": places.total_bytes,
        "peak": use.peak_position,
        "levels": column(np.array(levels, np.float64)),
        "unpadded_levels": column(np.array(bare, np.float64)),
        "events": column([*use.instructions]),
        "program": str(chosen.program.id),
        "names": column([each.use.name for each in placed]),
        "instructions": column(
            [one.name if one else "" for one in instructions]
        ),
        "kinds": column([each.use.allocation.kind for each in placed]),
        "shapes": column([each.use.shape.text(with_layout=True) for each in placed]),
        "ops": column([one.tf_op if one else "" for one in instructions]),
        "lines": column([module.place(one) for one in instructions]),
        "born": column(np.array([each.use.start or 0 for each in placed], np.int64)),
        "dies": column(np.array([ends(each) for each in placed], np.int64)),
        "offsets": column(np.array([each.offset_bytes for each in placed], np.float64)),
        "sizes": column(np.array([each.size_bytes for each in placed], np.float64)),
        "padding": column(np.array([_padding(each) for each in placed], np.float64)),
        "at_peak": column(np.array([int(each.is_at_peak) for each in placed], np.int64)),
    }  # fmt: skip


def _padding(each: PlacedBuffer) -> float:
    """Bytes beside its elements; NaN where the shape is unknown."""
    bare = each.use.unpadded_bytes
    return each.use.size_bytes - bare if bare else math.nan


def _figures(use: MemoryUse, places: BufferPlaces) -> Block:
    at_peak = [each for each in places.placed if each.is_at_peak]
    paddings = [_padding(each) for each in at_peak]
    known = [each for each in paddings if not math.isnan(each)]
    n_unknown = len(paddings) - len(known)
    return figures([
        {"label": "peak", "value": use.peak_bytes, "unit": "bytes",
         "detail": f"in {len(at_peak):,} {'value' if len(at_peak) == 1 else 'values'}"},
        {"label": "reserved", "value": places.total_bytes, "unit": "bytes",
         "detail": "by the compiler's plan"},
        {"label": "padding at the peak", "value": sum(known) if known else None, "unit": "bytes",
         "detail": f"unknown of {n_unknown:,}" if n_unknown else "sum over these values"},
    ])  # fmt: skip


def _left_out(places: BufferPlaces) -> list[str]:
    left = []
    if len(places.placed) > MOST_BUFFERS:
        rest = places.placed[MOST_BUFFERS:]
        size = number_text(sum(each.size_bytes for each in rest), "bytes")
        left.append(f"The {len(rest):,} smallest values, {size} together, are not drawn.")
    if places.n_untimed:
        size = number_text(places.untimed_bytes, "bytes")
        noun = "value" if places.n_untimed == 1 else many("value")
        left.append(
            f"{places.n_untimed:,} {noun} of temporary memory, {size}, without times in the plan "
            f"{'is' if places.n_untimed == 1 else 'are'} not drawn."
        )
    return left
