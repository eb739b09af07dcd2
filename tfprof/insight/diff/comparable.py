"""How comparable two runs are, and what each mismatch means for the comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.framework import words_for
from tfprof.captures.run.result import Note
from tfprof.insight.diff.side import OpCosts, Side
from tfprof.insight.diff.structure import Pair

_FEW_STEPS = 3
_MOST_ALIKE = 0.5
_MOST_COMMON = 0.5
_MOST_SHAPES = 0.5
"""A first dimension that changed in at least this share of all shapes is the batch."""


def same_recording(first: Side, second: Side) -> str:
    """A remark if both are the same recording, perhaps in two files; otherwise empty."""
    if (
        not len(first.ops)
        or first.step_ms.tolist() != second.step_ms.tolist()
        or first.ops.names != second.ops.names
        or first.ops.micros.tolist() != second.ops.micros.tolist()
    ):
        return ""
    return f"{first.name} and {second.name} are the same recording, so there is nothing to compare"


def mismatches(first: Side, second: Side, pairs: Sequence[Pair]) -> list[Note]:
    """Differences other than time and their consequences, the most serious first."""
    return [*_machines(first, second), *_graphs(first.ops, second.ops, pairs),
            *_steps(first, second)]  # fmt: skip


def _machines(first: Side, second: Side) -> Iterator[Note]:
    if first.run is None or second.run is None:
        devices = [sorted({name for name in side.ops.devices if name}) for side in (first, second)]
        if devices[0] != devices[1] and all(devices):
            yield _differs(
                "devices",
                ", ".join(devices[0]),
                ", ".join(devices[1]),
                "times are those of different devices",
            )
        return
    one, other = environment(first.run), environment(second.run)
    for what, before, after, means in (
        ("device", one.device_type, other.device_type, "times are those of different devices"),
        ("number of devices", one.n_cores, other.n_cores, "each does another share of the work"),
        ("number of hosts", one.n_tasks, other.n_tasks, "each does another share of the work"),
        ("framework", words_for(first.run.hosts).framework, words_for(second.run.hosts).framework,
         "names of ops differ; --match structure compares by type"),
    ):  # fmt: skip
        if before != after:
            yield _differs(what, str(before) or "unknown", str(after) or "unknown", means)


def _graphs(first: OpCosts, second: OpCosts, pairs: Sequence[Pair]) -> Iterator[Note]:
    for side, costs, rows in (
        ("first", first, [a for a, b in pairs if a is not None and b is not None]),
        ("second", second, [b for a, b in pairs if a is not None and b is not None]),
    ):
        total = costs.micros.sum()
        share = float(costs.micros[rows].sum() / total) if total else 1.0
        if share < _MOST_COMMON:
            yield Note("warning", f"ops of both have only {share:.0%} of the time of the {side}: "
                       "these are mostly different programs")  # fmt: skip
            break
    only_first = sum(1 for _, b in pairs if b is None)
    only_second = sum(1 for a, _ in pairs if a is None)
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    if only_first or only_second:
        ops = "op" if len(both) == 1 else "ops"
        counts = f"{len(both):,} {ops} in both, {only_first:,} only in the first, {only_second:,}"
        hint = _hint(n_renamed(first, second, pairs))
        yield Note("info", f"the programs differ: {counts} only in the second{hint}")
    batches = Counter(
        (before, after)
        for a, b in both
        if (before := _first_dimension(first.shapes[a])) is not None
        and (after := _first_dimension(second.shapes[b])) is not None
    )
    changed = {pair: count for pair, count in batches.items() if pair[0] != pair[1]}
    if changed:
        pair, count = max(changed.items(), key=lambda item: (item[1], item[0]))
        if count >= _MOST_SHAPES * sum(batches.values()):
            yield _differs("first dimension of most outputs, usually the batch", str(pair[0]),
                           str(pair[1]), "a step does another amount of work")  # fmt: skip


def n_renamed(first: OpCosts, second: OpCosts, pairs: Sequence[Pair]) -> int:
    """Number of ops that seem only renamed: as many of a type were removed as added."""
    gone = Counter(first.types[a] for a, b in pairs if a is not None and b is None)
    new = Counter(second.types[b] for a, b in pairs if b is not None and a is None)
    n_alike = (gone & new).total()
    return n_alike if n_alike >= _MOST_ALIKE * max(gone.total(), new.total()) else 0


def _hint(n_alike: int) -> str:
    if not n_alike:
        return ""
    return (
        f"; {n_alike:,} that are gone have the types of {n_alike:,} new ones: if scopes were "
        "renamed, match by structure"
    )


def _first_dimension(shapes: str) -> int | None:
    head = shapes.partition(",")[0].partition("×")[0]
    return int(head) if head.isdecimal() and "×" in shapes else None


def _steps(first: Side, second: Side) -> Iterator[Note]:
    for side in (first, second):
        n_steps = len(side.step_ms)
        if n_steps == 0:
            yield Note("warning", f"{side.name} has no steps with a time, so only what ops cost is "
                       "compared")  # fmt: skip
        elif n_steps < _FEW_STEPS:
            yield Note("warning", f"{side.name} has {n_steps} "
                       f"{'step' if n_steps == 1 else 'steps'}: with fewer than {_FEW_STEPS}, "
                       "noise hides most differences; record more")  # fmt: skip


def _differs(what: str, before: str, after: str, means: str) -> Note:
    return Note("warning", f"{what}: {before} in the first, {after} in the second; {means}")
