"""What happens to files of captures on their way, and hosts that differ from the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfprof.core.wire import messages as pb
from tfprof.core.wire.varints import encode_varint
from tfprof.testing.xspace_builders import event, line, plane, xspace

DAMAGE = {
    "missing": "a link to a file that is gone",
    "empty": "a file of no bytes",
    "truncated": "the first 60 % of the bytes",
    "duplicate": "the bytes of the first host",
    "foreign": "a web page, or another protobuf",
    "steps": "its steps are numbered otherwise, and half of them are missing",
    "epoch": "its clock is thirty years behind",
    "version": "fields and a plane of a profiler that does not exist yet",
}

_KEPT = 0.6

_PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Denied</body></html>\n"

_FUTURE = 1000
"""Number of a field that no XSpace has."""


def damaged(path: Path, chunks: Sequence[Any], damage: str, first: Path) -> dict[str, Any]:
    """Write a file, or what has become of it.

    Args:
        path: The file.
        chunks: What it should hold.
        damage: Of ``DAMAGE``; empty for none.
        first: The file of the first host.

    Returns:
        What to know about it.
    """
    path.unlink(missing_ok=True)
    if damage == "missing":
        path.symlink_to(path.with_name("gone.pb"))
        return {}
    if damage == "duplicate":
        path.write_bytes(first.read_bytes())
        return {"same_as": first.name.partition(".")[0]}
    if damage == "empty":
        chunks = []
    elif damage == "foreign":
        # The name decides between the two, so that the same run has both.
        is_page = int("".join(filter(str.isdigit, path.name)) or 0) % 2 == 0
        chunks = [_PAGE if is_page else _other_message()]
    left = sum(map(len, chunks))
    if damage == "truncated":
        left = int(left * _KEPT)
    size = 0
    with path.open("wb") as stream:
        for chunk in chunks:
            size += stream.write(memoryview(chunk)[: left - size])
    return {"bytes": size}


def _other_message() -> bytes:
    """The bytes of a graph."""
    graph = pb.GraphDef()
    for number in range(20):
        graph.node.add(name=f"dense_{number}/MatMul", op="MatMul", input=[f"x{number}", "w"])
    return graph.SerializeToString()


def tail_of(damage: str, origin_ns: int) -> bytes:
    """What a file has behind the fields of others.

    Args:
        damage: Of ``DAMAGE``; empty for none.
        origin_ns: The first timestamp of the capture.
    """
    if damage != "version":
        return b""
    future = plane("/host:future", line(event("tomorrow", 10, 5)), began_ns=origin_ns)
    return encode_varint(_FUTURE << 3) + b"\x01" + xspace(future).SerializeToString()
