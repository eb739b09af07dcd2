"""The answer in one sentence, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfprof.comparison.comparable import same_recording
from tfprof.comparison.noise import Change

if TYPE_CHECKING:
    from tfprof.comparison.difference import Difference, OpChange
    from tfprof.comparison.parts import Part

_NAMED = 3
_LEAST_POINTS = 0.01
"""Parts of a step; smaller changes are named in tables only."""

_SAID = ("longer", "shorter", "appeared", "gone")


_LARGE = 0.1
"""What is seen of a change from which on it is worth more steps, as part of the step."""


def verdict_of(found: Difference) -> tuple[str, ...]:
    """Sentences on a difference, the most important first."""
    return tuple(_sentences(found))


def _sentences(found: Difference) -> Iterator[str]:
    same = same_recording(found.first, found.second)
    if same:
        yield f"{same}."
        return
    for note in found.mismatches:
        if note.severity != "info":
            yield f"Compare with care: {note.message}."
    step = found.step
    if step is None:
        yield "There are no steps with a time on both sides; the table compares ops."
        yield from _on_ops(found.ops, None)
        return
    yield _on_step(step)
    if step.verdict == "within noise":
        yield from _within(found, step)
        return
    parts = [*_parts(found.categories, step)]
    if parts:
        yield f"Of the {_points(step.difference, step)}: {_listed(parts)}."
    yield from _by_moment(found.parts, step)
    yield from _on_ops(found.ops, step)


def _within(found: Difference, step: Change) -> Iterator[str]:
    """What changed for sure although the steps vary by more."""
    sure = [
        f"{name.lower()} {_signed(one.difference)} ({_points(one.difference, step)})"
        for name, one in found.categories.items()
        if one.verdict in _SAID and abs(one.difference) >= _LEAST_POINTS * (step.before or 0.0)
    ]
    if sure:
        yield f"More than their own noise changed: {_listed(sure)}."
    least = _LEAST_POINTS * (step.before or 0.0)
    if any(op.time.verdict in _SAID and abs(op.time.difference) > least for op in found.ops):
        yield from _on_ops(found.ops, step)


def _on_step(step: Change) -> str:
    assert step.before is not None and step.after is not None
    both = f"{time_ms(step.before)} before, {time_ms(step.after)} now"
    word = "longer" if step.difference > 0 else "shorter"
    relative = abs(step.relative or 0.0)
    if step.verdict == "cannot tell":
        return (
            f"Step time is {relative:.1%} {word} ({both}); with one step on a side it cannot be "
            "told whether that is noise."
        )
    assert step.low is not None and step.high is not None
    between = f"between {_signed(step.low)} and {_signed(step.high)}"
    if step.verdict == "within noise":
        is_inside = step.low <= 0 <= step.high
        if is_inside and relative >= _LARGE:
            return (
                f"Step time is {relative:.1%} {word} ({both}), but steps of one run differ so much "
                f"that this may be chance: the difference is {between}; record more of them."
            )
        if is_inside:
            said = "does not differ by more than the noise of the steps"
        else:
            said = "differs by less than 1 %, as two runs of one program do"
        return f"Step time {said}: {both}; the difference is {between}."
    return f"Step time is {relative:.1%} {word}: {both}; the difference is {between}."


def _parts(categories: dict[str, Change], step: Change) -> Iterator[str]:
    """Categories of the step's time, the largest change first; the small ones together."""
    ranked = sorted(categories.items(), key=lambda item: -abs(item[1].difference))
    rest = 0.0
    for place, (name, one) in enumerate(ranked):
        is_large = abs(one.difference) >= _LEAST_POINTS * (step.before or 0.0)
        if place < _NAMED and is_large:
            yield f"{_points(one.difference, step)} {name.lower()}"
        else:
            rest += one.difference
    if abs(rest) >= _LEAST_POINTS * (step.before or 0.0):
        yield f"{_points(rest, step)} all else"


def _by_moment(parts: Sequence[Part], step: Change) -> Iterator[str]:
    """The parts that add up to the step, each moment counted once."""
    least = _LEAST_POINTS * (step.before or 0.0)
    named = [
        part for part in parts
        if abs(part.time.difference) >= least and part.time.verdict != "within noise"
    ][:_NAMED]  # fmt: skip
    if not named:
        return
    said = [
        f"{_points(part.time.difference, step)} {part.name}"
        f"{f' ({part.cause})' if part.cause else ''}"
        for part in named
    ]
    rest = step.difference - sum(part.time.difference for part in named)
    if abs(rest) >= least:
        said.append(f"{_points(rest, step)} all else")
    yield f"Counting each moment once: {_listed(said)}."


def _on_ops(ops: Sequence[OpChange], step: Change | None) -> Iterator[str]:
    least = _LEAST_POINTS * (step.before or 0.0) if step is not None else 0.0
    named = [op for op in ops if abs(op.time.difference) > least]
    sure = [op for op in named if op.time.verdict in _SAID]
    if sure:
        yield f"Ops that changed most: {_listed([_op(op, step) for op in sure[:_NAMED]])}."
    elif named:
        unsure = [_op(op, step) for op in named[:_NAMED]]
        yield f"Ops that differ most, perhaps by chance: {_listed(unsure)}."
    elif step is not None:
        yield "No op changed by 1 % of the step: the time is spent between or around them."
    moved = sum(op.time.difference for op in sure)
    if step is not None and step.verdict in _SAID and abs(moved) > 1.2 * abs(step.difference):
        yield (
            f"Together the changed ops take {_signed(moved)}, more than the step: ops overlap, so "
            "their points do not add up to those of the step."
        )


def _op(op: OpChange, step: Change | None) -> str:
    share = f" ({_points(op.time.difference, step)})" if step is not None and step.before else ""
    state = f", {op.time.verdict}" if op.time.verdict in ("appeared", "gone") else ""
    cause = f": {op.cause}" if op.cause else ""
    name = op.name if op.name == op.type else f"{op.type} {op.name}".lstrip()
    return f"{name} {_signed(op.time.difference)}{share}{state}{cause}"


def _points(part_ms: float, step: Change) -> str:
    points = 100 * part_ms / (step.before or 1.0)
    return f"{points:+.1f} points"


def _signed(milliseconds: float) -> str:
    sign = "-" if milliseconds < 0 else "+"
    return f"{sign}{time_ms(abs(milliseconds))}"


def time_ms(milliseconds: float) -> str:
    """A time with three digits in the unit that suits it, as tables have it.

    >>> time_ms(2.9), time_ms(0.112), time_ms(0.0)
    ('2.90 ms', '112 µs', '0 µs')
    """
    for factor, unit in ((1e-3, "s"), (1.0, "ms"), (1e3, "µs")):
        value = milliseconds * factor
        if value >= 1 or unit == "µs":
            text = f"{value:,.0f}" if value >= 999.5 or not value else f"{value:#.3g}".rstrip(".")
            return f"{text} {unit}"
    raise AssertionError


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else "; ".join(parts)
