"""The answer as claims: the step first, then the causes of the difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tfprof.core.text.claims import Claim, Detail, scoped, unknown
from tfprof.insight.diff.comparable import same_recording
from tfprof.insight.diff.difference import Difference, OpChange, least_of
from tfprof.insight.diff.noise import Change
from tfprof.insight.diff.parts import Part
from tfprof.insight.diff.utilization import utilization_claims

_NAMED = 3
_SAID = ("longer", "shorter", "appeared", "gone")

_MORE = 1.2
"""A ratio above this is more than rounding."""

_LARGE = 0.1
"""Change from which more steps are worth recording, as a share of the step."""


def claims_of(found: Difference) -> tuple[Claim, ...]:
    """Claims on a difference, the most important first."""
    counts = [len(side.step_ms) for side in (found.first, found.second)]
    scope = f"{found.first.name} ({counts[0]} steps) and {found.second.name} ({counts[1]} steps)"
    return scoped(_claims(found), scope, "means of the steps, and how much steps differ (Welch)")


def _claims(found: Difference) -> Iterator[Claim]:
    same = same_recording(found.first, found.second)
    if same:
        yield Claim("run", "same_recording", None, details={"what": same}, words="{what}.")
        return
    for note in found.mismatches:
        if note.severity != "info":
            yield Claim("run", "mismatch", None, details={"what": note.message},
                        words="Compare with care: {what}.")  # fmt: skip
    step = found.step
    if step is None:
        yield unknown(
            "step", "step_time_change",
            "There are no steps with a time on both sides; the table compares ops.",
        )  # fmt: skip
        yield from _on_ops(found, None)
        return
    yield _on_step(step)
    yield from _left_out(found)
    yield from utilization_claims(found.first, found.second)
    if not step.before:  # nothing has a share of a step that took no time
        yield from _on_ops(found, None)
        return
    least = least_of(step)
    if step.verdict == "within noise":
        sure = [
            _changed(name.lower(), one, step, "{subject} {value:+} ({step_points})")
            for name, one in found.categories.items()
            if one.verdict in _SAID and abs(one.difference) >= least
        ]
        yield from _listing("More than their own noise changed: {parts:; }.", sure)
        if any(op.time.verdict in _SAID and abs(op.time.difference) >= least for op in found.ops):
            yield from _on_ops(found, step)
        return
    points = {"step_points": _points(step.difference, step)}
    yield from _listing("Of the {step_points}: {parts:; }.", _parts(found.categories, step), points)
    yield from _by_moment(found.parts, step)
    yield from _on_ops(found, step)


def _listing(
    words: str, parts: Sequence[Claim], details: Mapping[str, Detail] | None = None
) -> Iterator[Claim]:
    if parts:
        yield Claim("step", "changes", len(parts), "count", details=details or {},
                    parts=tuple(parts), words=words)  # fmt: skip


def _changed(name: str, one: Change, step: Change | None, words: str, **details: Detail) -> Claim:
    """The change of a part of the step."""
    if step is not None:
        details["step_points"] = _points(one.difference, step)
    return Claim(
        name, "time_change", one.difference, "ms", one.low, one.high,
        details={"verdict": one.verdict, **details}, words=words,
    )  # fmt: skip


def _on_step(step: Change) -> Claim:
    assert step.before is not None and step.after is not None
    relative = abs(step.relative or 0.0)
    details: dict[str, Detail] = {
        "verdict": step.verdict, "before_ms": step.before, "after_ms": step.after,
        "difference_ms": step.difference, "relative_share": relative,
    }  # fmt: skip
    both = "{before_ms:3} before, {after_ms:3} now"
    between = "the difference is between {low:+} and {high:+}"
    by = "longer" if step.difference > 0 else "shorter"
    if step.before:
        by = f"{{relative_share}} {by}"
    value: float | None = step.difference
    reason, words = "", f"Step time is {by}: {both}; {between}."
    if step.low is None or step.high is None:
        value, reason = None, "one step on a side does not show whether that is noise"
        words = f"Step time is {by} ({both}); {{unknown}}."
    elif step.verdict == "within noise" and not step.low <= 0 <= step.high:
        words = (
            f"Step time differs by less than 1 %, as two runs of one program do: {both}; {between}."
        )
    elif step.verdict == "within noise" and relative >= _LARGE:
        words = (
            f"Step time is {by} ({both}), but steps of one run differ so much that this may be "
            f"chance: {between}; record more of them."
        )
    elif step.verdict == "within noise":
        words = f"Step time does not differ by more than the noise of the steps: {both}; {between}."
    return Claim("step", "step_time_change", value, "ms", step.low, step.high, unknown=reason,
                 details=details, words=words)  # fmt: skip


def _left_out(found: Difference) -> Iterator[Claim]:
    """Unusually long steps, which the comparison leaves out but the program spends."""
    sides = (found.first, found.second)
    counts = [len(side.left_out_ms) for side in sides]
    if not any(counts):
        return
    before_ms, after_ms = (
        float(np.concatenate([side.step_ms, side.left_out_ms]).mean()) for side in sides
    )
    yield Claim(
        "step", "steps_left_out", sum(counts), "count",
        details={"first_count": counts[0], "second_count": counts[1], "before_ms": before_ms,
                 "after_ms": after_ms, "difference_ms": after_ms - before_ms},
        words="Left out of this are unusually long steps, {first_count} before and {second_count} "
        "now: with them, a step takes {before_ms:3} before and {after_ms:3} now.",
    )  # fmt: skip


def _parts(categories: dict[str, Change], step: Change) -> list[Claim]:
    """Categories of the step's time, the largest change first; the small ones together."""
    ranked = sorted(categories.items(), key=lambda item: -abs(item[1].difference))
    least = least_of(step)
    named = [item for item in ranked[:_NAMED] if abs(item[1].difference) >= least]
    words = "{step_points} {subject}"
    found = [_changed(name.lower(), one, step, words) for name, one in named]
    return found + _rest(sum(one.difference for _, one in ranked[len(named) :]), step)


def _rest(rest_ms: float, step: Change) -> list[Claim]:
    """The rest of a difference, unless it is small."""
    if abs(rest_ms) < least_of(step):
        return []
    return [
        Claim("all else", "time_change", rest_ms, "ms",
              details={"step_points": _points(rest_ms, step)}, words="{step_points} {subject}")
    ]  # fmt: skip


def _by_moment(parts: Sequence[Part], step: Change) -> Iterator[Claim]:
    """The parts that add up to the step, each moment counted once."""
    least = least_of(step)
    named = [
        part for part in parts
        if abs(part.time.difference) >= least and part.time.verdict != "within noise"
    ][:_NAMED]  # fmt: skip
    found = [
        _changed(part.name, part.time, step,
                 "{step_points} {subject} ({cause})" if part.cause else "{step_points} {subject}",
                 cause=part.cause)
        for part in named
    ]  # fmt: skip
    if found:
        found += _rest(step.difference - sum(part.time.difference for part in named), step)
    yield from _listing("Counting each moment once: {parts:; }.", found)


def _on_ops(found: Difference, step: Change | None) -> Iterator[Claim]:
    least = least_of(step)
    named = [op for op in found.ops if op.time.difference and abs(op.time.difference) >= least]
    sure = [op for op in named if op.time.verdict in _SAID]
    if sure:
        shown = [_op(op, step) for op in sure[:_NAMED]]
        yield from _listing("Ops that changed most: {parts:; }.", shown)
    elif named:
        shown = [_op(op, step) for op in named[:_NAMED]]
        yield from _listing("Ops that differ most, perhaps by chance: {parts:; }.", shown)
    elif step is not None:
        yield Claim(
            "ops", "changes", 0, "count",
            words="No op changed by 1 % of the step: the time is spent between or around them.",
        )  # fmt: skip
    moved = sum(op.time.difference for op in sure)
    if step is None or step.verdict not in _SAID or abs(moved) <= _MORE * abs(step.difference):
        return
    if abs(moved) > _MORE * abs(_once(found, sure)):
        yield Claim(
            "ops", "time_change", moved, "ms",
            words="Together the changed ops take {value:+}, more than the step: ops overlap, so "
            "their points do not add up to those of the step.",
        )  # fmt: skip


def _once(found: Difference, ops: Sequence[OpChange]) -> float:
    """By how much some ops changed together, each moment counted once, ms."""
    before, after = found.first.moments.ops, found.second.moments.ops
    return sum(
        float(
            np.mean(after.get(op.name, 0.0)) - np.mean(before.get(op.name_before or op.name, 0.0))
        )
        for op in ops
    )


def _op(op: OpChange, step: Change | None) -> Claim:
    words = "{type} {subject}" if op.type and op.name != op.type else "{subject}"
    words += " {value:+}" if step is None else " {value:+} ({step_points})"
    words += ", {verdict}" if op.time.verdict in ("appeared", "gone") else ""
    words += ": {cause}" if op.cause else ""
    return _changed(op.name, op.time, step, words, type=op.type, cause=op.cause)


def _points(part_ms: float, step: Change) -> float:
    return part_ms / (step.before or 1.0)
