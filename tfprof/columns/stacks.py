"""Call stacks with weights, as sampling profilers count them and flame graphs show them.

What pprof, speedscope, callgrind and collapsed stacks have in common: a tree of calls, samples at
its nodes, and several numbers and labels of each sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tfprof.columns.arrow import Coded
from tfprof.columns.columns import Int64Array, sums_by

_MOST = int(np.iinfo(np.int64).max)


class StackFrame(NamedTuple):
    """What a call is.

    Attributes:
        name: Function, op or scope.
        file: Source file; empty if it is not known.
        line: Line in it, 0 if it is not known.
    """

    name: str
    file: str = ""
    line: int = 0


class SampleType(NamedTuple):
    """What a number of samples is, and its unit, such as ``time`` in ``nanoseconds``."""

    name: str
    unit: str


@dataclass(frozen=True, eq=False)
class Stacks:
    """Samples at the nodes of a tree of calls.

    Attributes:
        frames: Distinct frames.
        parents: The caller of each node, -1 for the outermost calls; callers come first,
            shape (n nodes,).
        frame_of: The frame of each node, shape (n nodes,).
        types: What the numbers are.
        nodes: The innermost call of each sample, shape (n samples,).
        values: Numbers of the samples, shape (n types, n samples).
        labels: What else is known of samples, by name of the label.
        numbers: Labels that are numbers; -1 where there is none.
        default: Which type is meant if nobody says.
    """

    frames: Sequence[StackFrame]
    parents: Int64Array
    frame_of: Int64Array
    types: Sequence[SampleType]
    nodes: Int64Array
    values: Int64Array
    labels: Mapping[str, Coded] = field(default_factory=dict)
    numbers: Mapping[str, Int64Array] = field(default_factory=dict)
    default: int = 0

    def own(self, kind: int) -> Int64Array:
        """Sum of the samples at each node, shape (n nodes,).

        What 64 bits cannot hold ends there: weights of hostile files may be as large.
        """
        sums = sums_by(self.nodes, self.values[kind], len(self.parents))
        about = np.bincount(self.nodes, self.values[kind], len(self.parents))
        sums[about >= _MOST] = _MOST
        sums[about <= -_MOST] = -_MOST
        return sums

    def totals(self, kind: int) -> Int64Array:
        """Sum of the samples at each node and all below it, shape (n nodes,), as ``own``."""
        sums = self.own(kind).tolist()
        above = self.parents.tolist()
        for node in range(len(sums) - 1, -1, -1):
            if above[node] >= 0:
                sums[above[node]] += sums[node]
        return np.array([min(max(total, -_MOST), _MOST) for total in sums], np.int64)

    def paths(self, nodes: Iterable[int]) -> Iterator[list[int]]:
        """Frames from the outermost call to each of some nodes, one after the other.

        Not of all at once: a stack may be 100,000 calls deep, in a hostile file.
        """
        parents, frames = self.parents.tolist(), self.frame_of.tolist()
        for node in nodes:
            path, at = [], node
            while at >= 0:
                path.append(frames[at])
                at = parents[at]
            yield path[::-1]


class StackTree:
    """Grows a tree of calls."""

    def __init__(self) -> None:
        self._frames: dict[StackFrame, int] = {}
        self._nodes: dict[tuple[int, int], int] = {}

    def node(self, parent: int, frame: StackFrame) -> int:
        """The node of a call; made if there is none.

        Args:
            parent: The node of its caller, -1 for none.
            frame: What is called.
        """
        number = self._frames.setdefault(frame, len(self._frames))
        return self._nodes.setdefault((parent, number), len(self._nodes))

    def stacks(
        self,
        types: Sequence[SampleType],
        nodes: Sequence[int] | Int64Array,
        values: Int64Array,
        labels: Mapping[str, Coded] | None = None,
        numbers: Mapping[str, Int64Array] | None = None,
        default: int = 0,
    ) -> Stacks:
        """The stacks of samples at the nodes; arguments are the attributes of ``Stacks``."""
        pairs = np.array([*self._nodes], np.int64).reshape(-1, 2)
        return Stacks(
            [*self._frames], pairs[:, 0], pairs[:, 1], types, np.asarray(nodes, np.int64),
            values, labels or {}, numbers or {}, default,
        )  # fmt: skip
