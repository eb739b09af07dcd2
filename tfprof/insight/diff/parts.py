"""The change of the step time as parts that add up to it: kinds of ops in a scope, and the rest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tfprof.insight.diff.moments import Moments
from tfprof.insight.diff.noise import Change, change
from tfprof.insight.diff.shared_time import Float64Array
from tfprof.insight.diff.structure import plain_name

_MOST_OF_IT: Final = 0.8
"""A scope is named if it holds at least this share of the change in a type of op."""

_CANCELS: Final = 0.5
"""Ops of a type are split by the sign of their change if their sum is below this share of it."""


@dataclass(frozen=True, slots=True)
class Op:
    """An op of both runs.

    Attributes:
        before: Its name in the first run; empty if it is not there.
        after: Its name in the second.
        type: Its type.
        cause: Another difference.
    """

    before: str
    after: str
    type: str
    cause: str

    @property
    def name(self) -> str:
        """Its name in the second run, or else in the first."""
        return self.after or self.before


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the change.

    Attributes:
        name: ``MatMul in layer_3``, ``waiting for input``.
        time: Its time in a step.
        cause: Another difference that most of it has; empty if unknown.
        n_ops: Number of ops; 0 for time that belongs to no op.
    """

    name: str
    time: Change
    cause: str
    n_ops: int


def plain_type(op_type: str) -> str:
    """The type of an op without the library that computes it, or the number of its function.

    >>> plain_type("_MklMatMul"), plain_type("__inference_step_554")
    ('MatMul', 'step')
    """
    return plain_name(op_type.removeprefix("_MklNative").removeprefix("_Mkl"))


def parts_of(
    first: Moments, second: Moments, ops: Sequence[Op], n_families: int = 1, least_ms: float = 0.0
) -> list[Part]:
    """All parts, the largest change first.

    Args:
        first: The run before.
        second: The run after.
        ops: Ops of both, each of either in one of them.
        n_families: Multiplies the number of rows compared, for the intervals.
        least_ms: Smaller differences are not reported.
    """
    lengths = [
        len(next(iter((*one.ops.values(), *one.other.values())), ())) for one in (first, second)
    ]
    nothing = [np.zeros(length) for length in lengths]
    before = [first.ops.get(op.before, nothing[0]) for op in ops]
    after = [second.ops.get(op.after, nothing[1]) for op in ops]
    moved = np.array([_mean(b) - _mean(a) for a, b in zip(before, after, strict=True)] or [0.0])
    found: list[tuple[str, str, int, Float64Array, Float64Array]] = []
    n_before = Counter(_kind_of(op) for op in ops if op.before)
    n_after = Counter(_kind_of(op) for op in ops if op.after)
    causes = [_cause_of(op, n_before, n_after) for op in ops]
    for name, rows in _groups(ops, moved):
        sums = [np.sum([times[row] for row in rows], axis=0) for times in (before, after)]
        found.append((name, _cause([causes[row] for row in rows], moved[rows]), len(rows), *sums))
    for what in sorted({*first.other, *second.other}):
        found.append((
            what, "", 0, first.other.get(what, nothing[0]), second.other.get(what, nothing[1]),
        ))  # fmt: skip
    n_compared = n_families * len(found)
    parts = [
        Part(name, change(a, b, n_compared, least_ms), cause, n_ops)
        for name, cause, n_ops, a, b in found
    ]
    return sorted(parts, key=lambda part: (-abs(part.time.difference), part.name))


def _mean(values: Float64Array) -> float:
    """The mean over steps; 0 of a run without any."""
    return float(values.mean()) if len(values) else 0.0


def _kind_of(op: Op) -> str:
    """The type of an op, or else the last part of its name."""
    return plain_type(op.type) or op.name.rpartition("/")[2]


def _groups(ops: Sequence[Op], moved: Float64Array) -> Iterator[tuple[str, list[int]]]:
    by_type: defaultdict[str, list[int]] = defaultdict(list)
    for row, op in enumerate(ops):
        by_type[_kind_of(op)].append(row)
    for op_type, rows in sorted(by_type.items()):
        cancels = abs(moved[rows].sum()) < _CANCELS * np.abs(moved[rows]).sum()
        signs = (True, False) if cancels else (None,)
        for sign in signs:
            chosen = [row for row in rows if sign is None or bool(moved[row] > 0) is sign]
            if chosen:
                yield from _narrowed(op_type, chosen, ops, moved)


def _narrowed(
    op_type: str, rows: list[int], ops: Sequence[Op], moved: Float64Array
) -> Iterator[tuple[str, list[int]]]:
    """Ops of a type, split into those in the scope with most of the change, and the others."""
    whole = float(moved[rows].sum())
    scope, inside = "", rows
    while True:
        below: defaultdict[str, list[int]] = defaultdict(list)
        for row in inside:
            rest = ops[row].name[len(scope) + 1 if scope else 0 :]
            head, slash, _ = rest.partition("/")
            if slash:
                below[f"{scope}/{head}" if scope else head].append(row)
        most = max(below, key=lambda one: abs(float(moved[below[one]].sum())), default="")
        if not most or not whole or float(moved[below[most]].sum()) / whole < _MOST_OF_IT:
            break
        scope, inside = most, below[most]
    yield (f"{op_type} in {scope}" if scope else op_type), inside
    others = sorted({*rows} - {*inside})
    if others:
        yield f"{op_type} elsewhere", others


def _cause_of(op: Op, n_before: Counter[str], n_after: Counter[str]) -> str:
    """Another difference of an op; for an op of one run alone, the fate of its type."""
    if op.before and op.after:
        return op.cause
    before, after = n_before[_kind_of(op)], n_after[_kind_of(op)]
    if op.before and after < before:
        return "fewer ops" if after else "gone"
    if op.after and before < after:
        return "more ops" if before else "new"
    return "other names"


def _cause(causes: Sequence[str], moved: Float64Array) -> str:
    """Another difference that ops with at least half of the change share."""
    weights: defaultdict[str, float] = defaultdict(float)
    for cause, by in zip(causes, moved.tolist(), strict=True):
        weights[cause] += abs(by)
    whole = float(np.abs(moved).sum())
    most = max(weights, key=lambda one: weights[one], default="")
    return most if whole and weights[most] >= 0.5 * whole else ""
