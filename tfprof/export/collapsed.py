"""Stacks as lines ``main;work;inner 42``, for flame graphs."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.core.columns.stacks import StackFrame, Stacks
from tfprof.core.text.characters import escaped


def collapsed_chunks(stacks: Stacks, kind: int | None = None) -> Iterator[bytes]:
    """A line for each stack that has a weight, those that differ only in labels together.

    Semicolons in names become colons, and control characters are written as ``\\\\x0a``.

    Args:
        stacks: The stacks.
        kind: Which of their numbers; the default one if None.
    """
    own = stacks.own(stacks.default if kind is None else kind).tolist()
    names = [_name(frame) for frame in stacks.frames]
    nodes = [node for node, weight in enumerate(own) if weight > 0]
    for node, path in zip(nodes, stacks.paths(nodes), strict=True):
        line = ";".join([names[frame] for frame in path])
        yield f"{line} {own[node]}\n".encode("utf-8", "replace")


def _name(frame: StackFrame) -> str:
    text = escaped(frame.name).replace(";", ":").strip() or "?"
    place = f" ({escaped(frame.file).replace(';', ':')}:{frame.line})" if frame.file else ""
    return text + place
