"""Call stacks with weights, as sampling profilers count them and flame graphs show them.

What pprof, speedscope, callgrind and collapsed stacks have in common: a tree of calls, samples at
its nodes, and several numbers and labels of each sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tfprof.core.columns.arrow import Coded
from tfprof.core.columns.columns import Int64Array, sums_by
from tfprof.errors import MalformedProfileError

_MOST = int(np.iinfo(np.int64).max)

_NODES_OF_SMALL_FILES = 100_000
"""Most calls in the tree of any file; a larger file may have as many as it has bytes."""

_CALLS_OF_SMALL_FILES = 1_000_000
"""The same for the calls of all stacks."""

_REPEATED = 2
"""Most repetitions of that many calls in the stacks of the samples."""

_NUMBERED = 4
"""Most repetitions, counted once for each number of the samples."""


class StackFrame(NamedTuple):
    """The function of a call.

    Attributes:
        name: Function, op or scope.
        file: Source file; empty if it is not known.
        line: Line in it, 0 if it is not known.
    """

    name: str
    file: str = ""
    line: int = 0


class SampleType(NamedTuple):
    """Type and unit of a number of samples, such as ``time`` in ``nanoseconds``."""

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
        types: Types of the numbers.
        nodes: The innermost call of each sample, shape (n samples,).
        values: Numbers of the samples, shape (n types, n samples).
        labels: Labels of samples, by name of the label.
        numbers: Labels that are numbers; -1 where there is none.
        default: Index of the default type.
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

        Sums saturate at 64 bits: weights of hostile files may exceed them.
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
        if min(sums, default=0) >= -_MOST and max(sums, default=0) <= _MOST:
            return np.array(sums, np.int64)
        return np.array([min(max(total, -_MOST), _MOST) for total in sums], np.int64)

    def paths(self, nodes: Iterable[int]) -> Iterator[list[int]]:
        """Frames from the outermost call to each of some nodes, node by node.

        Not all at once: in a hostile file, a stack may be 100,000 calls deep.
        """
        parents, frames = self.parents.tolist(), self.frame_of.tolist()
        for node in nodes:
            path, at = [], node
            while at >= 0:
                path.append(frames[at])
                at = parents[at]
            yield path[::-1]


class StackTree:
    """Grows a tree of calls.

    A place of a program may stand for many inlined calls, so that a few bytes of a hostile file
    may stand for billions of them: their number is limited by the size of the file.

    Args:
        n_bytes: Size of the file with the calls.
        label: Its name in errors.
    """

    def __init__(self, n_bytes: int = _MOST, label: str = "") -> None:
        self._frames: dict[StackFrame, int] = {}
        self._nodes: dict[tuple[int, int], int] = {}
        self._most = max(n_bytes, _CALLS_OF_SMALL_FILES)
        self._most_nodes = max(n_bytes, _NODES_OF_SMALL_FILES)
        self._n_counted, self._label = 0, label

    def node(self, parent: int, frame: StackFrame) -> int:
        """The node of a call; made if there is none.

        Args:
            parent: The node of its caller, -1 for none.
            frame: The called function.

        Raises:
            MalformedProfileError: There are more calls than a file of that size may hold.
        """
        return self.below(parent, self.frame(frame))

    def frame(self, frame: StackFrame) -> int:
        """The number of a called function."""
        return self._frames.setdefault(frame, len(self._frames))

    def below(self, parent: int, number: int) -> int:
        """As ``node``, by the number of the called function."""
        node = self._nodes.setdefault((parent, number), len(self._nodes))
        if node >= self._most_nodes:
            raise self._too_many(self._most_nodes)
        return node

    def count(self, n_calls: int, n_numbers: int) -> None:
        """Count the calls of a stack before they are added.

        Args:
            n_calls: How many there are.
            n_numbers: How many numbers the samples have, which are written one after the other.

        Raises:
            MalformedProfileError: All stacks together have more than a file of that size may hold.
        """
        self._n_counted += n_calls
        most = self._most * min(_REPEATED, _NUMBERED / max(n_numbers, 1))
        if self._n_counted > most:
            raise self._too_many(int(most))

    def _too_many(self, most: int) -> MalformedProfileError:
        return MalformedProfileError(
            f"{self._label}: the stacks have more than {most:,} calls, too many for its size; "
            "it is damaged, or was made to use up memory"
        )

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
