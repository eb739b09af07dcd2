"""The lines of the program that ops come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfprof.core.columns.frames import NO_STACK, Frame
from tfprof.inputs.profiler import Profiler, session_of
from tfprof.profiles.accounting.library_frames import innermost_user_frames

if TYPE_CHECKING:
    from tfprof.profiles.model.profile import Profile


def line_of(profiler: Profiler, op: str) -> Frame | None:
    """The innermost line of the user's own files that made an op; None if it is unknown."""
    profile = session_of(profiler).complete()
    row = profile.ops.row(op)
    return None if row < 0 else line_of_row(profile, row)


def line_of_row(profile: Profile, row: int) -> Frame | None:
    """The innermost line of the user's own files for a row of the op table."""
    stack = int(profile.ops.stack_ids.array[row])
    if stack == NO_STACK:
        return None
    frame = int(innermost_user_frames(profile.stacks)[stack])
    return profile.stacks.frames.values[frame] if frame >= 0 else None


def first_lines(profiler: Profiler, functions: Sequence[str]) -> dict[str, Frame]:
    """The first known line inside each of some functions, or else a line that calls it.

    The ops of a function are in scopes of its name; after several traces, in ``name_1`` and so on.
    """
    profile = session_of(profiler).complete()
    lines: dict[str, Frame] = {}
    for row in range(len(profile.ops)):
        scope, slash, _ = profile.ops.name(row).partition("/")
        function = next((one for one in functions if _is_scope_of(scope, one)), None)
        known = lines.get(function or "")
        if not slash or function is None or (known and known.function == function):
            continue
        frame = line_of_row(profile, row)
        if frame is not None and (known is None or frame.function == function):
            lines[function] = frame
    return lines


def _is_scope_of(scope: str, function: str) -> bool:
    number = scope.removeprefix(function)
    return scope.startswith(function) and (not number or number[1:].isdecimal())
