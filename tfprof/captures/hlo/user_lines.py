"""The user's line and scope behind a value of a program: its own, else those that it passes on to.

What a compiler adds, such as a copy, often has neither.
"""

from __future__ import annotations

from tfprof.captures.hlo.buffers import BufferUse
from tfprof.captures.hlo.value_flow import Users, flow_of
from tfprof.captures.model.hlo import HloModule, Instruction
from tfprof.core.columns.library_files import is_library_file


def user_place(module: HloModule, instruction: Instruction) -> str:
    """The innermost line behind an instruction that is not a library's, else the innermost one.

    Returns:
        ``file:line``; empty without any.
    """
    for frame in module.stack(instruction):
        if frame.file and frame.line > 0 and not is_library_file(frame.file):
            return f"{frame.file}:{frame.line}"
    return module.place(instruction)


def place_of(module: HloModule, users_of: Users, one: BufferUse) -> str:
    """The line behind a value, ``file:line``; empty if unknown."""
    places = (user_place(module, each) for each in _carriers(users_of, one))
    return next(filter(None, places), "")


def scope_of(users_of: Users, one: BufferUse) -> str:
    """The framework's scope behind a value: an op's name without its last part; or empty."""
    scopes = (each.op_name.rpartition("/")[0] for each in _carriers(users_of, one))
    return next(filter(None, scopes), "")


def _carriers(users_of: Users, one: BufferUse) -> tuple[Instruction, ...]:
    """The instruction that computes a value, and those that it passes unchanged."""
    if one.instruction is None:
        return ()
    return one.instruction, *flow_of(users_of, one.instruction, one.buffer.index).through
