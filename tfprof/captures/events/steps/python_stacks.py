"""Call stacks of ops, from the Python tracer's frames."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tfprof.captures.events.steps.forest import Forest
from tfprof.core.columns.frames import Frame, StackTable
from tfprof.core.columns.numerals import whole_number

_CALL = re.compile(r"\$(?P<file>.+\.py):(?P<line>\d+) (?P<function>.+)", re.DOTALL)


def python_stacks(forest: Forest, events: Mapping[str, int]) -> tuple[StackTable, dict[str, int]]:
    """The Python calls that led to ops.

    An op's calls are those around its first run on the same thread, or around the event that led to
    it. Ops in a function have the call of the function, not the lines that created the ops. The
    tracer records the first lines of functions; calls of C functions are left out.

    Args:
        forest: Events with their nesting and links.
        events: The first run of each op, by name.

    Returns:
        The stacks, and the stack of each op that has one.
    """
    frames = {
        kind: frame
        for kind, name in enumerate(forest.timeline.names)
        if name.startswith("$") and (frame := _frame(name)) is not None
    }
    stacks, stack_ids = StackTable(), dict[str, int]()
    if not frames:
        return stacks, stack_ids
    kinds = forest.timeline.kinds

    def is_call(event: int) -> bool:
        return int(kinds[event]) in frames

    stack_of: dict[int, int] = {}
    for name, event in events.items():
        innermost = forest.nearest(event, is_call, itself=False)
        if innermost < 0:
            continue
        if innermost not in stack_of:
            stack_of[innermost] = stacks.intern(_calls(forest, innermost, frames))
        stack_ids[name] = stack_of[innermost]
    return stacks, stack_ids


def _calls(forest: Forest, event: int, frames: Mapping[int, Frame]) -> list[Frame]:
    """The calls around an event, itself included, the outermost first."""
    parents, kinds = forest.nesting.parents, forest.timeline.kinds
    calls = []
    while event >= 0:
        frame = frames.get(int(kinds[event]))
        if frame is not None:
            calls.append(frame)
        event = int(parents[event])
    return calls[::-1]


def _frame(name: str) -> Frame | None:
    call = _CALL.fullmatch(name)
    if call is None:
        return None
    line = whole_number(call["line"])
    return Frame(call["file"], call["function"], line, function_start_line=line)
