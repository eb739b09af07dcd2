"""Stacks for speedscope, by the schema that its files name."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from tfprof.core.columns.stacks import SampleType, Stacks
from tfprof.core.version import __version__

_UNITS = {
    "nanoseconds": "nanoseconds", "microseconds": "microseconds", "milliseconds": "milliseconds",
    "seconds": "seconds", "bytes": "bytes",
}  # fmt: skip


def speedscope_chunks(stacks: Stacks, name: str) -> Iterator[bytes]:
    """One profile for each kind of number; stacks that differ only in labels are merged.

    Args:
        stacks: The stacks.
        name: Name of the profile.
    """
    frames = [
        {"name": frame.name, **({"file": frame.file} if frame.file else {}),
         **({"line": frame.line} if frame.line > 0 else {})}
        for frame in stacks.frames
    ]  # fmt: skip
    head = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": f"tfprof {__version__}",
        "name": name,
        "activeProfileIndex": stacks.default,
        "shared": {"frames": frames},
    }
    yield json.dumps(head)[:-1].encode() + b',"profiles":['
    for kind, told in enumerate(stacks.types):
        yield b",\n" if kind else b"\n"
        yield from _profile(stacks, kind, told)
    yield b"]}\n"


def _profile(stacks: Stacks, kind: int, told: SampleType) -> Iterator[bytes]:
    own = stacks.own(kind)
    nodes = np.flatnonzero(own > 0).tolist()
    weights = own[nodes].tolist()
    head = {
        "type": "sampled", "name": f"{told.name} ({told.unit})",
        "unit": _UNITS.get(told.unit, "none"), "startValue": 0, "endValue": sum(weights),
    }  # fmt: skip
    yield json.dumps(head)[:-1].encode() + b',"samples":['
    for first in range(0, len(nodes), 4096):
        own_paths = list(stacks.paths(nodes[first : first + 4096]))
        yield (b"," if first else b"") + json.dumps(own_paths, separators=(",", ":"))[1:-1].encode()
    yield b'],"weights":' + json.dumps(weights, separators=(",", ":")).encode() + b"}"
