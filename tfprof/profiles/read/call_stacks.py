"""CodeDef → call stacks; equal frames are decoded once."""

from __future__ import annotations

from collections.abc import Mapping

from tfprof.core.columns.frames import EMPTY_STACK, Frame, StackTable
from tfprof.core.wire import messages as pb


class StackReader:
    """Adds serialized call stacks to a table.

    Args:
        stacks: The table.
        strings: The strings of the call stacks, by id.

    Attributes:
        unknown: Ids without a string; frames show them as ``unknown#<id>``.
    """

    def __init__(self, stacks: StackTable, strings: Mapping[int, str]) -> None:
        self._stacks = stacks
        self._strings = strings
        self._frames: dict[bytes, tuple[int, int | None]] = {}
        self.unknown: set[int] = set()

    def stack(self, payload: bytes) -> tuple[int, int | None]:
        """Id of a stack given as a CodeDef, and the first of its ids without a string, if any.

        Raises:
            DecodeError: The bytes are no CodeDef.
        """
        frames = self._frames
        intern = self._stacks.rows.intern
        stack_id = EMPTY_STACK
        missing = None
        for trace in pb.CodeDefSlices.FromString(payload).traces[:]:
            frame = frames.get(trace)
            if frame is None:
                frame = frames[trace] = self._frame(pb.CodeDef.Trace.FromString(trace))
            stack_id = intern((stack_id, frame[0]))
            missing = frame[1] if missing is None else missing
        return stack_id, missing

    def _frame(self, trace: pb.CodeDef.Trace) -> tuple[int, int | None]:
        ids = [trace.file_id, trace.function_id]
        if trace.line_id:
            ids.append(trace.line_id)
        file, function, *line = [self._strings.get(i, f"unknown#{i}") for i in ids]
        frame = Frame(file, function, trace.lineno, "".join(line), trace.func_start_line)
        missing = [i for i in ids if i not in self._strings]
        self.unknown.update(missing)
        return self._stacks.frames.intern(frame), missing[0] if missing else None
