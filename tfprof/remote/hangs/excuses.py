"""Reasons for which a process without progress does not hang, as far as they can be seen."""

from __future__ import annotations

from tfprof.captures.run.hang_record import Frame, Rank

_BYTES_PER_SECOND = 1 << 20
_COMPILES = ("backend_compile", "compile_or_get_cached")
_RESTS = ("run_forever", "serve_forever", "wait_for_termination", "interact")
"""Functions in which a program waits for requests or for its user."""


def excuse(rank: Rank, bytes_per_second: float) -> str:
    """Why a rank does not hang; empty if nothing speaks against it.

    Args:
        rank: The rank.
        bytes_per_second: What its process reads and writes.
    """
    frames = rank.main.frames if rank.main is not None else ()
    if any(_is_compiling(frame) for frame in frames):
        return f"{rank} compiles"
    if rank.state not in ("stopped", "silent", "ended") and bytes_per_second > _BYTES_PER_SECOND:
        return f"{rank} reads or writes files"
    if frames and any(_is_function(frame, _RESTS) for frame in frames):
        return f"{rank} waits for requests or its user"
    return ""


def _is_compiling(frame: Frame) -> bool:
    return not frame.is_own and _is_function(frame, _COMPILES)


def _is_function(frame: Frame, names: tuple[str, ...]) -> bool:
    """By its name alone: ``py-spy`` puts the class in front."""
    return frame.function.rpartition(".")[2].startswith(names)
