"""Profiles of speedscope as call stacks: those of py-spy, pyinstrument and tfprof."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from tfprof.core.columns.arrow import Coded
from tfprof.core.columns.stacks import SampleType, StackFrame, Stacks, StackTree
from tfprof.errors import MalformedProfileError

_PER_UNIT: Final = {
    "seconds": ("nanoseconds", 1e9), "milliseconds": ("nanoseconds", 1e6),
    "microseconds": ("nanoseconds", 1e3), "nanoseconds": ("nanoseconds", 1.0),
    "bytes": ("bytes", 1.0), "none": ("count", 1.0),
}  # fmt: skip
"""Our unit for each unit of the file, and its scale, as weights are whole numbers."""

_TYPES: Final = {"nanoseconds": "time", "bytes": "bytes", "count": "samples"}

_Weighed = tuple[int, float]
"""A node, and the weight of a sample there."""

_NodeOf = Callable[[int, int], int]
"""The node of a call, by that of its caller and the number of the frame."""


def stacks_of_speedscope(data: bytes, label: str) -> Stacks:
    """The samples of all profiles of a file, labelled by profile; one number for each unit.

    Args:
        data: Its content.
        label: What to call it in errors.

    Raises:
        MalformedProfileError: It is not a speedscope file, or refers to frames that it lacks.
    """
    try:
        return _stacks(json.loads(data), StackTree(len(data), label))
    except (
        ValueError,
        LookupError,
        OverflowError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise MalformedProfileError(
            f"{label}: not a speedscope profile, or damaged: {type(error).__name__}: {error}"
        ) from None


def _stacks(content: Mapping[str, Any], tree: StackTree) -> Stacks:
    frames = [
        StackFrame(str(each["name"]), str(each.get("file") or ""), int(each.get("line") or 0))
        for each in content["shared"]["frames"]
    ]
    profiles = content["profiles"]
    units = [_PER_UNIT[each.get("unit", "none")] for each in profiles]
    kinds = list(dict.fromkeys(unit for unit, _ in units))

    def node_of(caller: int, frame: int) -> int:
        if frame < 0:
            raise IndexError(f"frame {frame}")
        return tree.node(caller, frames[frame])

    nodes, rows, of_profile = [], [], []
    for number, (profile, (unit, factor)) in enumerate(zip(profiles, units, strict=True)):
        weigh = _evented if profile["type"] == "evented" else _sampled
        for node, weight in weigh(profile, node_of):
            nodes.append(node if node >= 0 else tree.node(-1, StackFrame("?")))
            rows.append([round(weight * factor) if unit == kind else 0 for kind in kinds])
            of_profile.append(number)
    return tree.stacks(
        [SampleType(_TYPES[kind], kind) for kind in kinds],
        nodes,
        np.array(rows, np.int64).reshape(-1, len(kinds)).T,
        {"profile": Coded(np.array(of_profile, np.int64), [str(p["name"]) for p in profiles])},
    )


def _sampled(profile: Mapping[str, Any], node_of: _NodeOf) -> Iterator[_Weighed]:
    for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
        node = -1
        for frame in stack:
            node = node_of(node, frame)
        yield node, weight


def _evented(profile: Mapping[str, Any], node_of: _NodeOf) -> Iterator[_Weighed]:
    """The open frames between each event and the next one."""
    stack: list[tuple[int, int]] = []
    before = profile["startValue"]
    for event in profile["events"]:
        if event["at"] > before and stack:
            yield stack[-1][1], event["at"] - before
        before = event["at"]
        frame = event["frame"]
        if event["type"] == "O":
            stack.append((frame, node_of(stack[-1][1] if stack else -1, frame)))
        elif not stack or stack.pop()[0] != frame:
            raise ValueError(f"frame {frame} ends before it begins, or another one")
