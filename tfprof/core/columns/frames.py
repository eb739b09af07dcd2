"""Call stacks as an array tree: a stack is a row that points to the stack of its caller.

Stacks that share their outer frames share those rows, so a training graph of 10,000 nodes
holds some thousands of rows, not 10,000 lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tfprof.core.columns.strings import InternTable

NO_STACK = -1
"""No call stack was recorded."""
EMPTY_STACK = 0
"""A call stack was recorded, and it has no frames."""

_FUNCTION_WIDTH = 20


class Frame(NamedTuple):
    """One Python call: its place in the source.

    Attributes:
        file: Path as recorded.
        function: Function name.
        line_number: 1-based line of the call.
        line_text: Source line, or ``""``.
        function_start_line: First line of the function, -1 if unknown.
    """

    file: str
    function: str
    line_number: int
    line_text: str = ""
    function_start_line: int = -1

    @property
    def label(self) -> str:
        """``<file name>:<line>:<function>``, the original's text of a code-view node.

        A function name of 20 characters or more is cut to 17 and ``...``.
        """
        name = self.function
        if len(name.encode()) >= _FUNCTION_WIDTH:
            name = name.encode()[: _FUNCTION_WIDTH - 3].decode("utf-8", "ignore") + "..."
        return f"{self.file.rpartition('/')[2]}:{self.line_number}:{name}"

    @property
    def place(self) -> str:
        """``net/train.py:43 in conv2d``, with the path as recorded."""
        function = f" in {self.function}" if self.function else ""
        return f"{self.file}:{self.line_number}{function}"


class StackTable:
    """All call stacks of a profile.

    Attributes:
        frames: Distinct frames.
        rows: Distinct stacks as (caller's stack, frame); row 0 is the empty stack.
    """

    __slots__ = ("frames", "rows")

    def __init__(self) -> None:
        self.frames: InternTable[Frame] = InternTable()
        self.rows: InternTable[tuple[int, int]] = InternTable([(-1, -1)])

    def intern(self, frames: Iterable[Frame]) -> int:
        """Id of a stack given from its outermost to its innermost frame."""
        return self.intern_ids(map(self.frames.intern, frames))

    def intern_ids(self, frame_ids: Iterable[int]) -> int:
        """Id of a stack given by the ids of its frames, outermost first."""
        stack = EMPTY_STACK
        for frame_id in frame_ids:
            stack = self.rows.intern((stack, frame_id))
        return stack

    def add_table(self, other: StackTable) -> list[int]:
        """Intern all stacks of another table; returns the id of each, by its id there."""
        frames = [self.frames.intern(frame) for frame in other.frames.values]
        stacks = [EMPTY_STACK]
        for caller, frame in other.rows.values[1:]:
            stacks.append(self.rows.intern((stacks[caller], frames[frame])))
        return stacks

    def frame_ids(self, stack: int) -> list[int]:
        """Frame ids of a stack, outermost first."""
        ids: list[int] = []
        while stack > EMPTY_STACK:
            stack, frame = self.rows[stack]
            ids.append(frame)
        ids.reverse()
        return ids
