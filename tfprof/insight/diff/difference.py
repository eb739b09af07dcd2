"""Compares two runs: the step, its categories, and op by op."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tfprof.captures.run.result import Note
from tfprof.errors import UsageError
from tfprof.insight.diff.comparable import mismatches, n_renamed
from tfprof.insight.diff.noise import Change, change
from tfprof.insight.diff.parts import Op, Part, parts_of, plain_type
from tfprof.insight.diff.side import OpCosts, Side, same_kind
from tfprof.insight.diff.structure import Pair, by_name, by_structure

Match = Literal["name", "structure"]

LEAST_POINTS = 0.01
"""Share of a step; smaller changes are not reported: two runs of one program have them, too."""

_LEAST_COMMON = 0.01
"""Share of the time of both runs that matched ops must have, for the runs to be comparable; unless
most ops are only renamed, such as by a renamed scope."""

_STEP, _TABLE, _TABLE_OF_CHANGED = 5, 15, 3
"""Of 100 comparisons of a program with itself, at most 5 may claim a change. Runs differ by more
than their steps show, so 2 of the 5 cover chance among steps: half of that for the step, a sixth
for each of the tables of categories, parts and ops. Once the step has changed, the tables share all
5, because then something has changed for sure."""

_US_PER_MS = 1000.0


@dataclass(frozen=True, slots=True)
class OpChange:
    """An op in two runs.

    Attributes:
        name: Its name in the second run, or in the first if it is gone.
        name_before: Its name in the first, if it has another one there.
        type: Its type.
        time: Its time in a step.
        cause: Another difference: element type, shape, number of runs, device.
    """

    name: str
    name_before: str
    type: str
    time: Change
    cause: str


@dataclass(frozen=True, slots=True, repr=False)
class Difference:
    """Two runs compared.

    Attributes:
        first: The run before.
        second: The run after.
        step: Time of a step; None if a run has no steps.
        categories: Time of the step by category; empty for profiles.
        ops: Every op that ran in either, the largest difference first.
        parts: Parts of the step, which add up: kinds of ops, and time that belongs to no op.
        mismatches: Differences other than time.
    """

    first: Side
    second: Side
    step: Change | None
    categories: dict[str, Change]
    ops: tuple[OpChange, ...]
    parts: tuple[Part, ...]
    mismatches: tuple[Note, ...]

    def __repr__(self) -> str:
        return f"<Difference of {self.first.name} and {self.second.name}: {len(self.ops):,} ops>"


def difference(first: Side, second: Side, match: Match = "name") -> Difference:
    """Compare two runs.

    Args:
        first: The run before.
        second: The run after.
        match: How ops are matched: by ``name``, or by ``structure``: type, shape and order.

    Raises:
        UsageError: A capture and a profile, or runs that have nothing in common.
    """
    same_kind(first, second)
    if match not in ("name", "structure"):
        raise UsageError(f"match={match!r} must be name or structure")
    pairs = (by_name if match == "name" else by_structure)(first.ops, second.ops)
    _check_common(first, second, pairs)
    has_steps = len(first.step_ms) and len(second.step_ms)
    step = change(first.step_ms, second.step_ms, _STEP) if has_steps else None
    is_changed = step is not None and step.verdict in ("longer", "shorter")
    n_families = _TABLE_OF_CHANGED if is_changed else _TABLE
    least_ms = least_of(step)
    categories = {}
    if step is not None and first.category_ms.keys() == second.category_ms.keys():
        sides = first.category_ms, second.category_ms
        spent = [name for name in sides[0] if any(side[name].any() for side in sides)]
        for name in spent:
            before, after = (side[name] for side in sides)
            categories[name] = change(before, after, n_families * len(spent), least_ms)
    ops = sorted(
        _op_changes(first.ops, second.ops, pairs, n_families, least_ms), key=_by_difference
    )
    found = mismatches(first, second, pairs)
    parts = () if step is None else tuple(_parts(first, second, ops, n_families, least_ms))
    return Difference(first, second, step, categories, tuple(ops), parts, tuple(found))


def least_of(step: Change | None) -> float:
    """Smaller changes are not reported, ms."""
    return 0.0 if step is None else LEAST_POINTS * (step.before or 0.0)


def _check_common(first: Side, second: Side, pairs: Sequence[Pair]) -> None:
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    for one, other in ((first, second), (second, first)):
        if not len(one.ops):
            raise UsageError(f"{one.name} has no op with a time, so there is nothing to compare")
        rows = [b if one is second else a for a, b in both]
        least_us = _LEAST_COMMON * one.ops.micros.sum()
        if one.ops.micros[rows].sum() < least_us and not n_renamed(first.ops, second.ops, pairs):
            raise UsageError(
                f"{first.name} and {second.name} are different programs: ops of both have less "
                f"than 1 % of the time of {one.name}, and the others are not of the types of "
                f"those of {other.name} either"
            )


def _parts(
    first: Side, second: Side, ops: Sequence[OpChange], n_families: int, least_ms: float
) -> list[Part]:
    """Parts of the step; ops that occur only in the moments are matched by name."""
    pairs = [
        Op(
            "" if op.time.before is None else op.name_before or op.name,
            "" if op.time.after is None else op.name, op.type, op.cause,
        )
        for op in ops
    ]  # fmt: skip
    known = [{op.before for op in pairs}, {op.after for op in pairs}]
    left = [
        [name for name in side.moments.ops if name not in names]
        for side, names in zip((first, second), known, strict=True)
    ]
    pairs += [
        Op(name if name in left[0] else "", name if name in left[1] else "", "", "")
        for name in dict.fromkeys([*left[0], *left[1]])
    ]
    return parts_of(first.moments, second.moments, pairs, n_families, least_ms)


def _op_changes(
    first: OpCosts, second: OpCosts, pairs: Sequence[Pair], n_families: int, least_ms: float
) -> Iterator[OpChange]:
    for a, b in pairs:
        before = None if a is None else first.micros[a] / _US_PER_MS
        after = None if b is None else second.micros[b] / _US_PER_MS
        costs, row = (first, a) if b is None else (second, b)
        assert row is not None
        name = costs.names[row]
        yield OpChange(
            name,
            first.names[a] if a is not None and first.names[a] != name else "",
            costs.types[row],
            change(before, after, n_families * len(pairs), least_ms),
            _cause(first, second, a, b) if a is not None and b is not None else "",
        )


def _cause(first: OpCosts, second: OpCosts, a: int, b: int) -> str:
    """Differences other than time."""
    said = []
    for before, after, form in (
        (first.dtypes[a], second.dtypes[b], "{1} now, {0} before"),
        (plain_type(first.types[a]), plain_type(second.types[b]), "{1} now, {0} before"),
        (first.shapes[a], second.shapes[b], "output {1} now, {0} before"),
        (first.devices[a], second.devices[b], "on {1} now, on {0} before"),
    ):
        if before != after and before and after:
            said.append(form.format(before, after))
    runs = first.runs[a], second.runs[b]
    if runs[0] != runs[1]:
        said.append(f"{runs[1]:g} runs a step now, {runs[0]:g} before")
    return "; ".join(said)


def _by_difference(op: OpChange) -> tuple[float, str]:
    return -abs(op.time.difference), op.name
